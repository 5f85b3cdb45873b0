"""When a scene must be sampled so that its skins are right at each frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pxr import UsdGeom

from two_phase_skinning.usd._skin import SceneSkin


def authored(skin: SceneSkin) -> set[float]:
    """The times at which anything is authored that the skin depends on; empty: it does not vary."""
    return {time for source in _sources(skin) for time in source}


def _sources(skin: SceneSkin) -> Iterator[Iterable[float]]:
    animation = skin.skeleton.query.GetAnimQuery()
    if skin.shapes:
        yield animation.GetBlendShapeWeightTimeSamples()
    if skin.point_based:
        yield UsdGeom.PointBased(skin.prim).GetPointsAttr().GetTimeSamples()
    if skin.moves_normals and skin.normals:
        yield skin.normals.attribute.GetTimeSamples()
    if skin.skinned:
        if animation:
            yield animation.GetJointTransformTimeSamples()
        yield skin.query.GetJointIndicesPrimvar().GetTimeSamples()
        yield skin.query.GetJointWeightsPrimvar().GetTimeSamples()
        bind = skin.query.GetGeomBindTransformAttr()
        yield bind.GetTimeSamples() if bind else ()
        for prim in (skin.skeleton.prim, skin.prim.GetParent() if skin.rigid else skin.prim):
            yield from _transform_samples(prim)


def _transform_samples(prim: Any) -> Iterator[Iterable[float]]:
    while prim and not prim.IsPseudoRoot():
        if prim.IsA(UsdGeom.Xformable):
            xformable = UsdGeom.Xformable(prim)
            yield xformable.GetTimeSamples()
            if xformable.GetResetXformStack():
                return
        prim = prim.GetParent()


def sample_times(stage: Any, skins: Iterable[SceneSkin]) -> NDArray[np.float64]:
    """The authored times, and the stage's frames between the first and the last of them: (F,), ascending.

    In between a viewer interpolates points along straight lines, which joints do not move on: hence each frame. Source
    of the rule: UsdSkelBakeSkinning. Empty where nothing varies.
    """
    times = {time for skin in skins for time in authored(skin)}
    if len(times) > 1 and stage.HasAuthoredTimeCodeRange():
        step = stage.GetTimeCodesPerSecond() / stage.GetFramesPerSecond()
        start, end = stage.GetStartTimeCode(), stage.GetEndTimeCode()
        frames = start + step * np.arange(int((end - start) / step + 1e-6) + 1) if end >= start else np.zeros(0)
        first, last = min(times), max(times)
        times.update(frames[(frames >= first) & (frames <= last)].tolist())
    return np.array(sorted(times), dtype=np.float64)
