"""Unit quaternions w x y z of rotations, in arrays, and their blend."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def quaternions(rotations: Array) -> Array:
    """Unit quaternions of rotations (J,3,3): the dominant eigenvector of Davenport's matrix."""
    r = rotations
    k = np.empty((len(r), 4, 4))
    trace = np.trace(r, axis1=1, axis2=2)
    k[:, 0, 0] = trace
    k[:, 1:, 1:] = r + r.transpose(0, 2, 1) - trace[:, None, None] * np.eye(3)
    k[:, 0, 1:] = k[:, 1:, 0] = np.stack([r[:, 2, 1] - r[:, 1, 2], r[:, 0, 2] - r[:, 2, 0], r[:, 1, 0] - r[:, 0, 1]], 1)
    return np.linalg.eigh(k)[1][:, :, 3]


def product(a: Array, b: Array) -> Array:
    (aw, av), (bw, bv) = ((q[..., :1], q[..., 1:]) for q in (a, b))
    return np.concatenate([aw * bw - (av * bv).sum(-1, keepdims=True), aw * bv + bw * av + np.cross(av, bv)], axis=-1)


def without_real_part(vectors: Array) -> Array:
    return np.concatenate([np.zeros((*vectors.shape[:-1], 1)), vectors], axis=-1)


CONJUGATE = np.array([1, -1, -1, -1])


def rotated(q: Array, vectors: Array) -> Array:
    return product(product(q, without_real_part(vectors)), q * CONJUGATE)[:, 1:]


def blended_quaternions(weights: Array, real: Array) -> tuple[Array, Array]:
    """(V,4) unit quaternions, and the weights with the signs that align each to the vertex's heaviest joint."""
    signed = weights * np.where(real[weights.argmax(axis=1)] @ real.T < 0, -1.0, 1.0)
    blended = signed @ real
    return blended / np.linalg.norm(blended, axis=1, keepdims=True), signed
