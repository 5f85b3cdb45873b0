"""Which joints move a prim, and how much: UsdSkel's primvars in the skeleton's joint numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from two_phase_skinning import Skeleton
from two_phase_skinning.usd._arrays import time_code
from two_phase_skinning.usd._errors import SceneError


class Influences(NamedTuple):
    """Padded: (V, K) joint numbers of the skeleton, and (V, K) float32 weights, as they are written in the scene."""

    joints: NDArray[np.int64]
    weights: NDArray[np.float32]

    def of(self, rows: NDArray[np.int64]) -> Influences:
        """Those of some of the vertices, in another order."""
        return Influences(self.joints[rows], self.weights[rows])


def joint_order(query: Any, skeleton: Skeleton) -> NDArray[np.int64]:
    """The skeleton's number of each joint of the prim's own order, skel:joints; -1 where the skeleton has none."""
    own = query.GetJointOrder()
    if own is None:
        return np.arange(len(skeleton))
    numbers = {name: number for number, name in enumerate(skeleton.names or ())}
    return np.array([numbers.get(str(name), -1) for name in own], dtype=np.int64)


def check_binding(prim: Any, query: Any) -> None:
    """Raises SceneError where the prim is half bound, or bound in a way that UsdSkel does not know."""
    joints, weights = query.GetJointIndicesPrimvar(), query.GetJointWeightsPrimvar()
    if query.HasJointInfluences() or not (joints or weights):
        return
    for present, absent, name in ((joints, weights, "jointWeights"), (weights, joints, "jointIndices")):
        if present and not absent:
            raise SceneError.at(prim, f"primvars:skel:{name}: missing; expected jointIndices and jointWeights together")
    sizes = joints.GetElementSize(), weights.GetElementSize()
    kinds = joints.GetInterpolation(), weights.GetInterpolation()
    raise SceneError.at(
        prim,
        f"primvars:skel:jointIndices and jointWeights: elementSize {sizes[0]} and {sizes[1]}, interpolation {kinds[0]} "
        f"and {kinds[1]}; expected the same for both, a positive size, and constant or vertex",
    )


def influences(prim: Any, query: Any, order: NDArray[np.int64], time: float | None) -> Influences:
    """The prim's influences: a row for each point, or one row where they are constant."""
    width = query.GetNumInfluencesPerComponent()
    code = time_code(time)
    joints = np.array(query.GetJointIndicesPrimvar().ComputeFlattened(code), dtype=np.int64)
    weights = np.array(query.GetJointWeightsPrimvar().ComputeFlattened(code), dtype=np.float32)
    if len(joints) != len(weights) or len(joints) % width:
        words = f"{len(joints)} jointIndices, {len(weights)} jointWeights; expected as many, {width} for each point"
        raise SceneError.at(prim, words)
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        raise SceneError.at(prim, f"jointWeights: {weights[bad][0]}; expected 0 or more")
    used = weights != 0
    wrong = used & ((joints < 0) | (joints >= len(order)))
    if wrong.any():
        raise SceneError.at(prim, f"jointIndices: {joints[wrong][0]}; expected 0..{len(order) - 1}")
    numbers = np.zeros(len(joints), dtype=np.int64)
    numbers[used] = order[joints[used]]
    if (numbers < 0).any():
        name = query.GetJointOrder()[int(joints[numbers < 0][0])]
        raise SceneError.at(prim, f'skel:joints: "{name}" has weight; expected a joint of the skeleton')
    return Influences(numbers.reshape(-1, width), weights.reshape(-1, width))
