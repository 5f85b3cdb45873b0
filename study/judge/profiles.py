"""Weights of a chain of bones along a tube: profiles of the fall from one bone to the next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PROFILES = ("smootherstep", "ramp", "sigmoid")


def step(x: Array, profile: str) -> Array:
    """From 0 at x <= 0 to 1 at x >= 1."""
    x = x.clip(0, 1)
    if profile == "smootherstep":
        return x**3 * (x * (6 * x - 15) + 10)
    if profile == "ramp":
        return x
    raw = 1 / (1 + np.exp(-8 * (2 * x - 1)))  # sigmoid: as heat has it, with long tails
    least = 1 / (1 + np.exp(8))
    return ((raw - least) / (1 - 2 * least)).clip(0, 1)


def chain_weights(along: Array, lengths: Array, profile: str, reach: float = 0.4) -> Array:
    """(S,J): steps across each joint's head, over `reach` of the shorter bone to either side."""
    heads = np.cumsum(lengths)[:-1]
    result = np.ones((len(along), len(lengths)))
    for j, head in enumerate(heads, start=1):
        half = reach * min(lengths[j - 1], lengths[j])
        share = step((along - head) / (2 * half) + 0.5, profile)
        result[:, j] *= share
        result[:, :j] *= 1 - share[:, None]
    return result
