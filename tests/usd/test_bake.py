"""Whole shots baked: what is in the file, and that nothing skins it once more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scenes
from pxr import Gf, Kind, Usd, UsdGeom, UsdSkel, Vt

from two_phase_skinning import usd

METHODS = ("two_phase", "linear", "dual_quaternion")


def baked(tmp_path: Path, scene: Any, suffix: str = ".usd", **arguments: Any) -> tuple[usd.Scene, Usd.Stage]:
    source = scenes.make(tmp_path, scene)
    usd.bake(source, tmp_path / f"baked{suffix}", **arguments)
    return usd.Scene(source), Usd.Stage.Open(str(tmp_path / f"baked{suffix}"))


def points_of(stage: Usd.Stage, path: str, time: float) -> np.ndarray:
    return np.array(UsdGeom.PointBased(stage.GetPrimAtPath(path)).GetPointsAttr().Get(time))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["placed", "shapes", "kinds", "changing", "inherited", "rigid", "crowd"])
def test_the_file_has_what_each_prim_becomes(tmp_path: Path, name: str, method: Any) -> None:
    scene, stage = baked(tmp_path, {**scenes.SCENES, "crowd": scenes.crowd}[name], method=method)
    assert len(scene.skins) > 0 and len(scene.times) > 2
    for skin in scene.skins:
        prim = stage.GetPrimAtPath(skin.path)
        for time in scene.times:
            if skin.moves_points:
                np.testing.assert_array_equal(points_of(stage, skin.path, time), skin.deform(time, method))
                judge = UsdGeom.Boundable.ComputeExtentFromPlugins(UsdGeom.Boundable(prim), time)
                if judge:  # OpenUSD computes none for NURBS patches and tetrahedra without more of them
                    np.testing.assert_allclose(UsdGeom.Boundable(prim).GetExtentAttr().Get(time), judge, atol=1e-6)
            if skin.moves_normals:
                normals = UsdGeom.PointBased(prim).GetNormalsAttr().Get(time)
                np.testing.assert_array_equal(normals, skin.deform_normals(time, method))
            if skin.moves_transform:
                local = UsdGeom.Xformable(prim).GetLocalTransformation(time)
                np.testing.assert_allclose(np.array(local).T, skin.transform(time, method), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", [*scenes.SCENES, "crowd"])
def test_nothing_is_skinned_once_more(tmp_path: Path, name: str) -> None:
    made = {**scenes.SCENES, "crowd": scenes.crowd}[name]
    _scene, stage = baked(tmp_path, made)
    again = usd.Scene(stage)
    assert not again.skins
    before = {
        p.GetPath(): UsdGeom.PointBased(p).GetPointsAttr().Get(5) for p in stage.Traverse() if p.HasAttribute("points")
    }
    roots = [prim for prim in stage.Traverse() if prim.IsA(UsdSkel.Root)]
    assert [root.GetName() for root in roots] == (["Bind"] if name == "resting" else [])  # nothing was skinned there
    assert UsdSkel.BakeSkinning(stage.Traverse())
    for path, points in before.items():
        np.testing.assert_array_equal(points, stage.GetAttributeAtPath(f"{path}.points").Get(5))


def test_boxes_of_particles(tmp_path: Path) -> None:
    """One width each, one for all, none, and no particles at all."""

    def dust(stage: Usd.Stage) -> None:
        scenes.character(stage)
        for name, widths in (("Each", [0.1, 0.2, 0.3, 0.4]), ("All", [0.6]), ("No", []), ("Gone", [])):
            count = 0 if name == "Gone" else 4
            points = UsdGeom.Points.Define(stage, f"/Man/{name}")
            points.CreatePointsAttr(scenes.cloud(count))
            if widths:
                points.CreateWidthsAttr(Vt.FloatArray(widths))
            scenes.bind(points.GetPrim(), count)

    _scene, stage = baked(tmp_path, dust)
    for name, widths in (("Each", [0.1, 0.2, 0.3, 0.4]), ("All", [0.6]), ("No", [0])):
        points = points_of(stage, f"/Man/{name}", 5)
        half = np.array(widths)[:, None] / 2
        box = stage.GetAttributeAtPath(f"/Man/{name}.extent").Get(5)
        np.testing.assert_allclose(box, [(points - half).min(axis=0), (points + half).max(axis=0)], atol=1e-6)
    assert not np.any(stage.GetAttributeAtPath("/Man/Gone.extent").Get(5))


def test_only_one_prim(tmp_path: Path) -> None:
    scene, stage = baked(tmp_path, scenes.varying, prims=["/Man/vertex"])
    left = usd.Scene(stage)
    assert [skin.path for skin in left.skins] == ["/Man/faceVarying", "/Man/varying", "/Man/none"]
    assert stage.GetPrimAtPath("/Man").IsA(UsdSkel.Root)
    for path, skinned in (("/Man/vertex", True), ("/Man/none", False)):
        moved = np.abs(points_of(stage, path, 1) - points_of(stage, path, 9)).max() > 0.1
        assert moved == skinned
    np.testing.assert_array_equal(points_of(stage, "/Man/vertex", 3), scene["/Man/vertex"].deform(3, "two_phase"))


def test_frames_that_are_asked_for(tmp_path: Path) -> None:
    scene, stage = baked(tmp_path, scenes.varying, frames=[8, 2, 2.5])
    attribute = stage.GetAttributeAtPath("/Man/none.points")
    assert attribute.GetTimeSamples() == [2, 2.5, 8]
    np.testing.assert_array_equal(attribute.Get(2.5), scene["/Man/none"].deform(2.5, "two_phase"))


def test_a_pose_that_does_not_move_is_written_once(tmp_path: Path) -> None:
    scene, stage = baked(tmp_path, scenes.resting)
    attribute = stage.GetAttributeAtPath("/Rest/Skin.points")
    assert attribute.GetTimeSamples() == [] and scene["/Rest/Skin"].moves_points
    np.testing.assert_array_equal(attribute.Get(), scene["/Rest/Skin"].deform(None, "two_phase"))


def test_normals_of_a_primvar_stay_one(tmp_path: Path) -> None:
    def by_primvar(stage: Usd.Stage) -> None:
        scenes.character(stage, scaled=True)
        scenes.bind(scenes.add_mesh(stage, "/Man/Skin", normals="primvar").GetPrim(), 40)

    scene, stage = baked(tmp_path, by_primvar)
    primvar = UsdGeom.PrimvarsAPI(stage.GetPrimAtPath("/Man/Skin")).GetPrimvar("normals")
    assert primvar.GetInterpolation() == UsdGeom.Tokens.faceVarying and not primvar.IsIndexed()
    np.testing.assert_array_equal(primvar.ComputeFlattened(4), scene["/Man/Skin"].deform_normals(4, "two_phase"))


def test_normals_by_usdskels_rule_or_none(tmp_path: Path) -> None:
    scene, stage = baked(tmp_path, scenes.varying, method="linear", normals="usdskel")
    skin = scene["/Man/vertex"]
    theirs = UsdGeom.Mesh(stage.GetPrimAtPath(skin.path)).GetNormalsAttr().Get(4)
    np.testing.assert_array_equal(theirs, skin.deform_normals(4, "linear", rule="usdskel"))
    assert np.abs(theirs - skin.deform_normals(4, "linear")).max() > 1e-3, "the rules differ"
    _scene, stage = baked(tmp_path, scenes.varying, normals="none")
    normals = UsdGeom.Mesh(stage.GetPrimAtPath(skin.path)).GetNormalsAttr()
    assert normals.Get(4) is None and not normals.HasAuthoredValue()


def test_the_layer_says_what_the_scene_says(tmp_path: Path) -> None:
    def centimetres(stage: Usd.Stage) -> None:
        scenes.varying(stage)
        UsdGeom.SetStageMetersPerUnit(stage, 0.01)
        UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
        stage.SetTimeCodesPerSecond(48)
        stage.SetFramesPerSecond(48)
        stage.SetDefaultPrim(stage.GetPrimAtPath("/Man"))

    scene, stage = baked(tmp_path, centimetres)
    assert UsdGeom.GetStageMetersPerUnit(stage) == 0.01 and UsdGeom.GetStageUpAxis(stage) == "Z"
    assert stage.GetDefaultPrim().GetPath() == "/Man" and stage.GetTimeCodesPerSecond() == 48
    assert stage.GetStartTimeCode() == scenes.FIRST and stage.GetEndTimeCode() == scenes.LAST
    assert stage.GetRootLayer().subLayerPaths[0] == f"./{scene.stage.GetRootLayer().GetDisplayName()}"


def test_a_scene_without_a_range_gets_that_of_the_bake(tmp_path: Path) -> None:
    def open_ended(stage: Usd.Stage) -> None:
        scenes.varying(stage)
        stage.GetRootLayer().ClearStartTimeCode()
        stage.GetRootLayer().ClearEndTimeCode()

    scene, stage = baked(tmp_path, open_ended)
    assert scene.times.tolist() == [1, 4.5, 9]
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (1, 9)


def test_boxes_kept_by_models_are_computed_anew(tmp_path: Path) -> None:
    def hinted(stage: Usd.Stage) -> None:
        scenes.varying(stage)
        model = UsdGeom.ModelAPI.Apply(stage.GetPrimAtPath("/Man"))
        Usd.ModelAPI(model).SetKind(Kind.Tokens.component)
        model.SetExtentsHint(Vt.Vec3fArray([Gf.Vec3f(0), Gf.Vec3f(0.1)]))

    _scene, stage = baked(tmp_path, hinted)
    cache = UsdGeom.BBoxCache(5, [UsdGeom.Tokens.default_], useExtentsHint=True)
    box = cache.ComputeWorldBound(stage.GetPrimAtPath("/Man")).ComputeAlignedRange()
    points = np.concatenate([points_of(stage, f"/Man/{n}", 5) for n in ("vertex", "faceVarying", "varying", "none")])
    np.testing.assert_allclose([box.GetMin(), box.GetMax()], [points.min(axis=0), points.max(axis=0)], atol=1e-6)


def test_each_format_is_what_its_name_says(tmp_path: Path) -> None:
    for suffix, start in ((".usd", b"PXR-USDC"), (".usdc", b"PXR-USDC"), (".usda", b"#usda")):
        _scene, stage = baked(tmp_path, scenes.varying, suffix)
        assert (tmp_path / f"baked{suffix}").read_bytes().startswith(start)
        assert points_of(stage, "/Man/none", 1).shape == (40, 3)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "baked.usd",
        "baked.usda",
        "baked.usdc",
        "varying.usda",
    ]


def test_distances_are_those_between_the_methods(tmp_path: Path) -> None:
    source = scenes.make(tmp_path, scenes.scaled)
    report = usd.bake(source, tmp_path / "baked.usd", compare="linear")
    scene = usd.Scene(source)
    skin = scene["/Man/Skin"]
    lengths = np.array(
        [np.linalg.norm(skin.deform(t, "two_phase") - skin.deform(t, "linear"), axis=1) for t in scene.times]
    )
    frame, point = np.unravel_index(lengths.argmax(), lengths.shape)
    distance = report.distances["/Man/Skin"]
    assert lengths.max() > 0.01
    np.testing.assert_allclose([distance.largest, distance.mean], [lengths.max(), lengths.mean()], rtol=1e-5)
    assert (distance.time, distance.point) == (scene.times[frame], point)


def test_points_without_weights_are_reported_and_stay(tmp_path: Path) -> None:
    def bare(stage: Usd.Stage) -> None:
        scenes.character(stage)
        binding = scenes.bind(scenes.add_mesh(stage, "/Man/Skin").GetPrim(), 40)
        weights = np.array(binding.GetJointWeightsPrimvar().Get())
        weights[:6] = 0
        binding.GetJointWeightsPrimvar().Set(Vt.FloatArray.FromNumpy(weights))

    source = scenes.make(tmp_path, bare)
    report = usd.bake(source, tmp_path / "baked.usd")
    assert report.warnings == ["prim </Man/Skin>: 2 points have no weights, and stay where they are bound"]
    skin = usd.Scene(source)["/Man/Skin"]
    np.testing.assert_array_equal(skin.deform(5)[:2], skin.points()[:2])


def test_what_is_bound_by_no_weight_stays(tmp_path: Path) -> None:
    def loose(stage: Usd.Stage) -> None:
        scenes.character(stage)
        ball = UsdGeom.Sphere.Define(stage, "/Man/Ball").GetPrim()
        scenes.bind(ball, 1, width=2, constant=True).GetJointWeightsPrimvar().Set([0, 0])

    _scene, stage = baked(tmp_path, loose)
    local = UsdGeom.Xformable(stage.GetPrimAtPath("/Man/Ball")).GetLocalTransformation(5)
    np.testing.assert_array_equal(local, np.eye(4))


def test_a_prim_that_is_scaled_to_nothing(tmp_path: Path) -> None:
    """A way to hide it for some frames."""

    def hidden(stage: Usd.Stage) -> None:
        scenes.character(stage)
        mesh = scenes.add_mesh(stage, "/Man/Skin")
        scenes.bind(mesh.GetPrim(), 40)
        scale = mesh.AddScaleOp()
        for time, size in ((1, 1), (4, 1), (5, 0), (9, 0)):
            scale.Set(Gf.Vec3f(size), time)

    _scene, stage = baked(tmp_path, hidden)
    for name in ("points", "normals", "extent"):
        values = [np.array(stage.GetAttributeAtPath(f"/Man/Skin.{name}").Get(time)) for time in range(1, 10)]
        assert np.isfinite(values).all() and np.abs(values).max() < 10, name


MEASURED = """
import resource, sys
import numpy as np
from two_phase_skinning import usd
usd.bake(sys.argv[1], sys.argv[2], frames=np.linspace(1, 9, int(sys.argv[3])))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024))
"""


def big(stage: Usd.Stage) -> None:
    scenes.character(stage)
    scenes.bind(scenes.add_mesh(stage, "/Man/Skin", 40000, normals="none").GetPrim(), 40000)


def cast(stage: Usd.Stage) -> None:
    """As many points, in forty characters that are not alike."""
    for seed in range(40):
        scenes.character(stage, f"/Man{seed}")
        mesh = scenes.add_mesh(stage, f"/Man{seed}/Skin", 1000, normals="none")
        scenes.bind(mesh.GetPrim(), 1000, seed=seed)


@pytest.mark.skipif(os.name == "nt", reason="there is no getrusage on Windows")
@pytest.mark.parametrize("scene", [big, cast])
def test_memory_does_not_grow_with_the_frames(tmp_path: Path, scene: Any) -> None:
    source = scenes.make(tmp_path, scene, ".usdc")
    peaks = []
    for frames in (80, 320):
        run = [sys.executable, "-P", "-c", MEASURED, source, tmp_path / "baked.usd", str(frames)]
        peaks.append(int(subprocess.run(run, check=True, capture_output=True, text=True).stdout))
    written = 240 * 40000 * 12
    assert (tmp_path / "baked.usd").stat().st_size > written
    assert peaks[1] - peaks[0] < written / 4, "what was written is not held"
