"""What UsdSkel bakes is what we compute, for each thing that it binds.

The judge is UsdSkel.BakeSkinning. Normals are compared by its own rule here; tests/usd/test_normals.py has ours.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scenes
from pxr import Sdf, Usd, UsdGeom, UsdSkel, UsdUtils

from two_phase_skinning import usd

TOLERANCE = 1e-6


def baked_by_usdskel(path: Path) -> Usd.Stage:
    """The scene in memory, baked by OpenUSD."""
    layer = Sdf.Layer.CreateAnonymous()
    UsdUtils.CopyLayerMetadata(Sdf.Layer.FindOrOpen(str(path)), layer)
    layer.subLayerPaths.append(str(path))
    stage = Usd.Stage.Open(layer)
    assert UsdSkel.BakeSkinning(stage.Traverse())
    return stage


def assert_same(skin: usd.SceneSkin, judge: Usd.Prim, time: float | None) -> set[str]:
    """Compares what moves, relative to the size of it; says what that was."""
    code = Usd.TimeCode.Default() if time is None else Usd.TimeCode(time)
    compared = set()
    if skin.moves_points:
        expected = np.array(UsdGeom.PointBased(judge).GetPointsAttr().Get(code))
        size = max(1, float(np.abs(expected).max()))
        np.testing.assert_allclose(skin.deform(time), expected, rtol=0, atol=TOLERANCE * size, err_msg=skin.path)
        compared.add("points")
    if skin.moves_transform:
        expected = np.array(UsdGeom.Xformable(judge).GetLocalTransformation(code)).T
        np.testing.assert_allclose(skin.transform(time), expected, rtol=0, atol=5 * TOLERANCE, err_msg=skin.path)
        compared.add("transform")
    if skin.moves_normals:
        expected = np.array(UsdGeom.PointBased(judge).GetNormalsAttr().Get(code), np.float64)
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
        actual = skin.deform_normals(time, rule="usdskel")
        np.testing.assert_allclose(actual, expected, rtol=0, atol=TOLERANCE, err_msg=skin.path)
        compared.add("normals")
    return compared


@pytest.mark.parametrize(
    ("name", "skins", "kinds"),
    [
        ("varying", 4, {"points", "normals"}),
        ("scaled", 1, {"points"}),
        ("placed", 2, {"points", "normals"}),
        ("ordered", 2, {"points", "normals"}),
        ("inherited", 3, {"points", "normals", "transform"}),
        ("quaternions", 2, {"points", "normals"}),
        ("stretched", 1, {"points", "normals"}),
        ("rigid", 6, {"transform"}),
        ("kinds", 6, {"points"}),
        ("shapes", 3, {"points", "normals"}),
        ("nested", 2, {"points", "normals"}),
        ("resting", 1, {"points", "normals"}),
        ("changing", 1, {"points", "normals"}),
    ],
)
def test_each_scene(tmp_path: Path, name: str, skins: int, kinds: set[str]) -> None:
    path = scenes.make(tmp_path, scenes.SCENES[name])
    scene, judge = usd.Scene(path), baked_by_usdskel(path)
    assert len(scene.skins) == skins
    compared: set[str] = set()
    for skin in scene.skins:
        for time in scene.times.tolist() or [None]:
            compared |= assert_same(skin, judge.GetPrimAtPath(skin.path), time)
    assert compared == kinds


def test_instances_are_characters_of_their_own(tmp_path: Path) -> None:
    """UsdSkel bakes no instances; so the judge is the same crowd of copies."""
    copies = scenes.make(tmp_path, scenes.copies)
    scene, judge = usd.Scene(scenes.make(tmp_path, scenes.crowd)), baked_by_usdskel(copies)
    assert [skin.path for skin in scene.skins] == [
        f"/Crowd/Man{number}/{name}" for number in range(3) for name in ("Skin", "Ball")
    ]
    assert all(skin.prim.IsInstanceProxy() for skin in scene.skins)
    for skin in scene.skins:
        for time in scene.times:
            assert_same(skin, judge.GetPrimAtPath(skin.path), time)
    first, second = scene["/Crowd/Man0/Skin"], scene["/Crowd/Man1/Skin"]
    assert first.bound(1) is second.bound(1), "instances share what is bound"
    assert np.abs(first.deform(1) - second.deform(1)).max() > 0.1, "and move on their own"


def test_times_are_those_that_usdskel_bakes(tmp_path: Path) -> None:
    for name in ("varying", "placed", "shapes", "changing"):
        path = scenes.make(tmp_path, scenes.SCENES[name])
        scene, judge = usd.Scene(path), baked_by_usdskel(path)
        for skin in scene.skins:
            baked = UsdGeom.PointBased(judge.GetPrimAtPath(skin.path)).GetPointsAttr().GetTimeSamples()
            assert scene.times.tolist() == baked, name
    assert not usd.Scene(scenes.make(tmp_path, scenes.resting)).times.size
