"""How far a float32 kernel may be from the float64 reference: derived from what it must compute, not fitted.

A sum of K products of rounded numbers is off by at most about (K + 4) u times the sum of their magnitudes (Higham,
"Accuracy and Stability of Numerical Algorithms", 3.1: K additions; a rounding each of weight, matrix entry and product,
and one of the point). A 3x4 times a point adds three more. Magnitudes are taken relative to the mesh's centre, as the
method demands: without that, the bound would be exceeded far from the origin. Each later phase passes an earlier error
on, times its own largest stretch. u is float32's unit roundoff; Frobenius norms, which are never too small, stand for
the componentwise sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import reference as ref
from numpy.typing import NDArray
from rigs import Rig

Array = NDArray[np.float64]

U32 = 2.0**-24
# Roundings in a blend beside its K terms: matrices times a point; dual quaternions on their way to a motion.
SUM, RIGID = 8, 24


@dataclass
class Bounds:
    """For every vertex: most error of a position, of the linear part of its matrix, of its translation."""

    position: Array
    linear: Array
    translation: Array


def centre_of(points: Array) -> Array:
    return (points.min(axis=0) + points.max(axis=0)) / 2


def about(matrices: Array, centre: Array) -> Array:
    """The same maps, of points relative to `centre`."""
    return ref.affine(np.eye(3), -centre) @ matrices @ ref.affine(np.eye(3), centre)


def size_of(matrices: Array) -> Array:
    """Frobenius norms of the linear parts."""
    return np.linalg.norm(ref.lin(matrices), axis=(1, 2))


def bounds(
    rig: Rig,
    s: ref.Separation,
    method: str = "two_phase",
    phase: int | None = None,
    points: Array | None = None,
) -> Bounds:
    weights = rig.normalised
    count = (weights > 0).sum(axis=1)
    bound_points = rig.points if points is None else points
    centre = centre_of(rig.points)
    place = bound_points - centre
    reach = np.linalg.norm(place, axis=1)

    steps: list[tuple[str, Array]]
    if method == "linear":
        steps = [("blend", ref.skinning_matrices(s.world, s.first))]
    else:
        parts = ref.dual_quaternion_parts(s) if method == "dual_quaternion" else (s.nonrigid, s.rigid)
        steps = [("blend", parts[0]), ("rigid", parts[1])]
        if method == "two_phase":
            steps.append(("blend", s.inherited))
    steps = steps[:phase]

    position = U32 * (reach + np.linalg.norm(place, axis=1))  # the point itself, taken to the centre
    offset = np.zeros(len(weights))  # the same for a point at the centre, from whose image the translation follows
    at_centre = np.zeros(len(weights))
    stretch, linear = np.ones(len(weights)), np.zeros(len(weights))
    for kind, matrices in steps:
        local = about(matrices, centre)
        shift = np.linalg.norm(ref.org(local), axis=1)
        if kind == "blend":
            size = weights @ size_of(local)
            own = (count + SUM) * U32
            position = size * position + own * (size * reach + weights @ shift)
            offset = size * offset + own * (size * at_centre + weights @ shift)
            linear = size * linear + own * size * stretch
            reach, at_centre = size * reach + weights @ shift, size * at_centre + weights @ shift
            stretch = size * stretch
        else:
            length = ref.blend_rigid(weights, matrices).length
            farthest = np.where(weights > 0, shift, 0).max(axis=1)
            own = (count + RIGID) * U32 / length
            position = position + own * (reach + farthest / length)
            offset = offset + own * (at_centre + farthest / length)
            linear = linear + own * stretch
            reach, at_centre = reach + farthest / length, at_centre + farthest / length
    result = np.abs(centre).max() + reach
    return Bounds(
        position=position + 2 * U32 * result,
        linear=linear + U32 * stretch,
        translation=offset + linear * np.linalg.norm(centre) + 3 * U32 * (result + stretch * np.linalg.norm(centre)),
    )


def normal_bounds(
    rig: Rig, s: ref.Separation, method: str = "two_phase", phase: int | None = None
) -> tuple[Array, Array]:
    """For every vertex: most error of its unit normal, and whether the sign of a determinant is certain.

    The cofactors of A are products of two of its entries: off by at most 4 |A| times the error of A. The direction
    of a vector of length l that is off by e is off by 2 e / l.
    """
    weights = rig.normalised
    count = (weights > 0).sum(axis=1)
    error, length = np.full(len(weights), 2 * U32), np.ones(len(weights))
    normal = rig.normals
    certain = np.ones(len(weights), bool)
    if method == "linear":
        sources = [ref.skinning_matrices(s.world, s.first)]
    else:
        parts = ref.dual_quaternion_parts(s) if method == "dual_quaternion" else (s.nonrigid, s.rigid)
        sources = [*parts, s.inherited] if method == "two_phase" else [*parts]
    for step, matrices in zip(ref.phases(s, weights, method, phase), sources[:phase], strict=True):
        if step.is_rigid:
            assert step.blend is not None
            error = error + (count + RIGID) * U32 / step.blend.length * length
            normal = np.einsum("vab,vb->va", ref.lin(step.matrices), normal)
        else:
            size = weights @ size_of(matrices)
            entry = (count + SUM) * U32 * size
            cofactors = ref.signed_cofactor(ref.lin(step.matrices))
            error = np.linalg.norm(cofactors, axis=(1, 2)) * error + 4 * size * entry * length
            certain &= np.abs(np.linalg.det(ref.lin(step.matrices))) > 6 * size**2 * entry
            normal = np.einsum("vab,vb->va", cofactors, normal)
        length = np.linalg.norm(normal, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = np.where(length > 0, 2 * error / length, np.inf) + 4 * U32
    empty = count == 0
    return np.where(empty, 4 * U32, bound), certain | empty


def assert_within(actual: NDArray[Any], expected: NDArray[Any], bound: Array, what: str) -> None:
    """Every row of `actual` within its `bound` of `expected`; the message shows the worst."""
    error = np.abs(np.asarray(actual, np.float64) - expected).reshape(len(expected), -1).max(axis=1)
    excess = error - bound
    worst = int(np.argmax(np.where(np.isnan(excess), np.inf, excess)))
    message = f"{what}: vertex {worst} is off by {error[worst]:.3g}, allowed {bound[worst]:.3g}"
    assert error[worst] <= bound[worst], message
