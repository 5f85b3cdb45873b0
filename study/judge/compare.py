"""Every method beside the elastic limb, in every pose, with every profile of the weights."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from judge.body_poses import BodyWanted
from judge.crossing import crosses
from judge.flesh import FLESH, Amounts, deform
from judge.limb import Pose
from judge.nearness import Elastic
from judge.poses import Wanted
from judge.skins import linear, preserve_volume, two_phase
from judge.tubes import Judge

Array = NDArray[np.float64]
Method = Callable[[Pose, Array], Array]

BASE = "Preserve Volume"


def flesh(amounts: Amounts, inherited: str = "before") -> Method:
    return lambda pose, weights: deform(pose, weights, amounts, inherited)


METHODS: dict[str, Method] = {
    "linear": linear,
    BASE: preserve_volume,
    "two-phase after": lambda pose, weights: two_phase(pose, weights, "after"),
    "two-phase before": lambda pose, weights: two_phase(pose, weights, "before"),
    "slide": flesh(Amounts(slide=1)),
    "spread": flesh(Amounts(spread=1)),
    "stiffness": flesh(Amounts(stiffness=1)),
    "Flesh, before": flesh(FLESH),
    "Flesh, after": flesh(FLESH, "after"),
}


@dataclass
class Found:
    """Figures by (method, profile), (FIGURES) each, of one pose."""

    wanted: Wanted | BodyWanted
    figures: dict[tuple[str, str], dict[str, float]] = field(default_factory=dict)


def compare(
    poses: Sequence[Wanted | BodyWanted],
    surfaces: list[Array | None],
    judge: Judge,
    profiles: tuple[str, ...],
    name: str,
) -> list[Found]:
    """Of the poses whose equilibrium was found and does not run through itself."""
    result = []
    for wanted, surface in zip(poses, surfaces, strict=True):
        print(f"\r{name}: methods in {len(result)} of {len(poses)} poses ", end="", file=sys.stderr, flush=True)
        if surface is None:
            continue
        pose = wanted.pose(judge)
        if crosses(surface, pose.limb.triangles):
            continue
        elastic = Elastic(pose, surface)
        found = Found(wanted)
        for profile in profiles:
            weights = pose.limb.weights[profile]
            for method, skin in METHODS.items():
                found.figures[method, profile] = elastic.figures(skin(pose, weights))
        result.append(found)
    print(file=sys.stderr)
    return result


def ratio(found: list[Found], method: str, profile: str, figure: str) -> float:
    """To Preserve Volume with the same weights: the geometric mean over the poses."""
    pairs = [(f.figures[method, profile][figure], f.figures[BASE, profile][figure]) for f in found]
    return float(np.exp(np.mean([np.log(own / base) for own, base in pairs]))) if pairs else np.nan


def mean(found: list[Found], method: str, profile: str, figure: str, absolute: bool = False) -> float:
    """Over the poses to which the figure applies."""
    values = np.array([f.figures[method, profile][figure] for f in found])
    values = values[np.isfinite(values)]
    return float((np.abs(values) if absolute else values).mean()) if len(values) else np.nan
