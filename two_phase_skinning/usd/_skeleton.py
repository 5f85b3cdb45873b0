"""Skeletons of a scene: hierarchy and bind pose once, a pose for each time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pxr import UsdSkel

from two_phase_skinning import Skeleton
from two_phase_skinning.usd._arrays import matrices, time_code
from two_phase_skinning.usd._errors import SceneError, errors_at


class SceneSkeleton:
    """A UsdSkelSkeleton prim, in its own space ("skel space"), with the animation that is bound to it.

    prim: the prim. skeleton: its joints as a two_phase_skinning.Skeleton, named as in ``joints``; all of them inherit
    their parent's scale, as UsdSkel has it. Errors are SceneErrors that name the prim.
    """

    def __init__(self, prim: Any, query: Any, kept: dict[Any, Skeleton], stage: Any) -> None:
        self._stage = stage  # prims do not keep their stage
        if not query:
            raise SceneError.at(
                prim, "not a valid Skeleton; expected joints, parents first, and a bindTransform for each"
            )
        self.prim = prim
        self.query = query
        source = prim.GetPrimInPrototype() if prim.IsInstanceProxy() else prim
        if source.GetPath() not in kept:
            kept[source.GetPath()] = self._read()
        self.skeleton = kept[source.GetPath()]

    def _read(self) -> Skeleton:
        names = [str(joint) for joint in self.query.GetJointOrder()]
        bind = matrices(self.query.GetJointWorldBindTransforms())
        if len(bind) != len(names):
            raise SceneError.at(self.prim, f"{len(bind)} bindTransforms; expected {len(names)}, one for each joint")
        parents = np.array(self.query.GetTopology().GetParentIndices(), dtype=np.int64)
        with errors_at(self.prim):
            return Skeleton(parents, bind, names=names)

    @property
    def path(self) -> str:
        """The prim's path."""
        return str(self.prim.GetPath())

    @property
    def poses(self) -> bool:
        """Is there a pose: animation of its joints, or authored restTransforms? Else UsdSkel does not skin."""
        animated = bool(self.query.GetAnimQuery()) and not self.query.GetMapper().IsNull()
        return animated or bool(self.query.GetSkeleton().GetRestTransformsAttr().HasAuthoredValue())

    def pose(self, time: float | None = None) -> NDArray[np.float64]:
        """The posed joint matrices W in skel space: (J, 4, 4) float64, in the scene's unit.

        time: in the stage's time codes; None: UsdSkel's default time. Raises SceneError where there is no pose.
        """
        posed = self.query.ComputeJointSkelTransforms(time_code(time)) if self.poses else None
        if not posed:
            raise SceneError.at(self.prim, "has no pose; expected animation of its joints, or restTransforms")
        return matrices(posed)

    def shape_weights(self, time: float | None = None) -> Any:
        """The weights of the animation's blend shapes, in the animation's order: a Vt.FloatArray."""
        return self.query.GetAnimQuery().ComputeBlendShapeWeights(time_code(time))

    @property
    def has_shape_weights(self) -> bool:
        """Does the animation say how far blend shapes are applied?"""
        animation = self.query.GetAnimQuery()
        if not animation:
            return False
        weights = UsdSkel.Animation(animation.GetPrim()).GetBlendShapeWeightsAttr()
        return bool(weights and weights.HasAuthoredValue())

    def __repr__(self) -> str:
        return f"<SceneSkeleton <{self.path}> of {len(self.skeleton)} joints>"
