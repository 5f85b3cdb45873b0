"""The command, as it is typed: what it says, its exit status, and what is left when it does not come to its end."""

from __future__ import annotations

import importlib.metadata
import io
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scenes
from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel, Vt

from two_phase_skinning import usd
from two_phase_skinning.command import main
from two_phase_skinning.command._progress import SECONDS_BETWEEN, Progress, clock

COMMAND = [sys.executable, "-P", "-m", "two_phase_skinning"]


def run(*arguments: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def test_bake(tmp_path: Path) -> None:
    source = scenes.make(tmp_path, scenes.scaled)
    done = run("bake", source, tmp_path / "baked.usd", "--compare", "linear", "--frames", "1:9:0.5")
    assert (done.returncode, done.stderr) == (0, "")
    report = usd.bake(source, tmp_path / "again.usd", frames=np.arange(1, 9.1, 0.5), compare="linear")
    distance = report.distances["/Man/Skin"]
    assert done.stdout.startswith(
        f"/Man/Skin: linear is up to {distance.largest:.6g} away (point {distance.point} at time {distance.time:g}), "
        f"{distance.mean:.6g} on average\n"
    )
    assert re.search(r"baked\.usd: 1 prims, 17 frames, 1 to 9, in \d+\.\d s\n$", done.stdout)
    ours, theirs = (Usd.Stage.Open(str(tmp_path / f"{name}.usd")) for name in ("baked", "again"))
    for frame in report.times:
        points = [stage.GetAttributeAtPath("/Man/Skin.points").Get(frame) for stage in (ours, theirs)]
        np.testing.assert_array_equal(*points)


def test_arguments_reach_the_bake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = scenes.make(tmp_path, scenes.scaled)
    skin = usd.Scene(source)["/Man/Skin"]
    for arguments, expected in (
        (["--method", "linear"], skin.deform(5, "linear")),
        (["--method", "scene"], skin.deform(5)),
        (["--inherited", "before", "--threads", "1"], skin.deform(5, "two_phase", "before")),
        (["--prim", "/Man/Skin", "--normals", "none"], skin.deform(5, "two_phase")),
    ):
        assert main(["bake", str(source), str(tmp_path / "baked.usda"), *arguments]) == 0
        layer = Sdf.Layer.OpenAsAnonymous(str(tmp_path / "baked.usda"))
        np.testing.assert_array_equal(layer.QueryTimeSample("/Man/Skin.points", 5), expected)
    assert capsys.readouterr().err == ""


def test_the_console_script_is_the_command() -> None:
    (script,) = importlib.metadata.entry_points(group="console_scripts", name="two-phase-skin")
    assert script.load() is main


def test_progress(tmp_path: Path) -> None:
    source = scenes.make(tmp_path, scenes.varying)
    done = run("bake", source, tmp_path / "baked.usd", "--frames", "1:5", "--progress")
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1].rstrip() == "[" + "#" * 30 + "] 5/5 frames, 0:00 left"


def test_progress_says_how_long_it_will_take() -> None:
    stream = io.StringIO()
    progress = Progress(True, stream)
    time.sleep(2 * SECONDS_BETWEEN)
    progress(1, 40)  # the other 39 take at least 39 times as long
    drawn = re.fullmatch(r"\r\[\.{30}\] 1/40 frames, (\d+):(\d\d) left ", stream.getvalue())
    assert drawn
    minutes, seconds = drawn.groups()
    assert 60 * int(minutes) + int(seconds) >= round(39 * 2 * SECONDS_BETWEEN)
    progress(2, 40)  # at once: not drawn
    assert stream.getvalue().count("frames") == 1
    progress(40, 40)
    assert stream.getvalue().endswith("] 40/40 frames, 0:00 left ")


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0:00"), (59.6, "1:00"), (3725, "1:02:05"), (360000, "100:00:00")])
def test_time_left(seconds: float, text: str) -> None:
    assert clock(seconds) == text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--frames", "1:x"], 'argument --frames: "1:x"; expected frames as 12, 1:48, 1:48:0.5 or 1:10,20:30'),
        (["--frames", "9:1"], 'argument --frames: "9:1"; expected frames'),
        (["--frames", "1:9:0"], 'argument --frames: "1:9:0"; expected frames'),
        (["--frames", "nan"], 'argument --frames: "nan"; expected frames'),
        (["--method", "magic"], "argument --method: invalid choice: 'magic'"),
    ],
)
def test_wrong_arguments(tmp_path: Path, arguments: list[str], words: str) -> None:
    done = run("bake", "in.usd", tmp_path / "out.usd", *arguments)
    assert done.returncode == 2 and words in done.stderr and "Traceback" not in done.stderr


def test_threads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bake", "in.usd", str(tmp_path / "out.usd"), "--threads=-1"]) == 1
    assert capsys.readouterr().err == "two-phase-skin: threads: -1; expected 0 (choose) or more\n"


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("12", [12]),
        ("1:3", [1, 2, 3]),
        ("1:2:0.5", [1, 1.5, 2]),
        ("-1:0,5", [-1, 0, 5]),
        ("0:0.3:0.1", [0, 0.1, 0.2, 0.3]),
    ],
)
def test_frames(tmp_path: Path, text: str, times: list[float]) -> None:
    source = scenes.make(tmp_path, scenes.varying)
    assert main(["bake", str(source), str(tmp_path / "baked.usda"), f"--frames={text}"]) == 0
    layer = Sdf.Layer.OpenAsAnonymous(str(tmp_path / "baked.usda"))
    np.testing.assert_allclose(layer.ListTimeSamplesForPath("/Man/none.points"), times, atol=1e-12)


# ---- scenes that are wrong: the message names the prim or the file


def skin_of(stage: Usd.Stage) -> UsdSkel.BindingAPI:
    scenes.character(stage)
    return scenes.bind(scenes.add_mesh(stage, "/Man/Skin").GetPrim(), 40)


def without_weights(stage: Usd.Stage) -> None:
    skin_of(stage).GetPrim().RemoveProperty("primvars:skel:jointWeights")


def two_sizes(stage: Usd.Stage) -> None:
    skin_of(stage).GetJointWeightsPrimvar().SetElementSize(2)


def too_few(stage: Usd.Stage) -> None:
    binding = skin_of(stage)
    for primvar in (binding.GetJointIndicesPrimvar(), binding.GetJointWeightsPrimvar()):
        primvar.Set(primvar.Get()[:-3])


def out_of_range(stage: Usd.Stage) -> None:
    primvar = skin_of(stage).GetJointIndicesPrimvar()
    primvar.Set(Vt.IntArray([4] * 120))


def negative(stage: Usd.Stage) -> None:
    primvar = skin_of(stage).GetJointWeightsPrimvar()
    primvar.Set(Vt.FloatArray([-0.5, 1, 0.5] * 40))


def negative_and_rigid(stage: Usd.Stage) -> None:
    scenes.character(stage)
    ball = UsdGeom.Sphere.Define(stage, "/Man/Ball").GetPrim()
    scenes.bind(ball, 1, width=1, constant=True).GetJointWeightsPrimvar().Set([-0.5])


def endless(stage: Usd.Stage) -> None:
    skin_of(stage)
    places = UsdSkel.Animation(stage.GetPrimAtPath("/Man/Moves")).GetTranslationsAttr()
    places.Set(Vt.Vec3fArray([Gf.Vec3f(float("inf"), 0, 0)] * 4), 9)


def unknown_joint(stage: Usd.Stage) -> None:
    skin_of(stage).CreateJointsAttr(["hip", "hip/knee", "hip/arm", "hip/tail"])


def flat_bind(stage: Usd.Stage) -> None:
    skin_of(stage)
    flat = [Gf.Matrix4d(1)] * 3 + [Gf.Matrix4d().SetScale(Gf.Vec3d(1, 0, 1))]
    UsdSkel.Skeleton(stage.GetPrimAtPath("/Man/Bones")).GetBindTransformsAttr().Set(Vt.Matrix4dArray(flat))


def few_binds(stage: Usd.Stage) -> None:
    skin_of(stage)
    bones = UsdSkel.Skeleton(stage.GetPrimAtPath("/Man/Bones"))
    bones.GetBindTransformsAttr().Set(bones.GetBindTransformsAttr().Get()[:2])


def child_first(stage: Usd.Stage) -> None:
    skin_of(stage)
    UsdSkel.Skeleton(stage.GetPrimAtPath("/Man/Bones")).GetJointsAttr().Set(["a/b", "a", "c", "d"])


def few_normals(stage: Usd.Stage) -> None:
    attribute = skin_of(stage).GetPrim().GetAttribute("normals")
    attribute.Set(attribute.Get()[:7])


def wrong_corner(stage: Usd.Stage) -> None:
    prim = skin_of(stage).GetPrim()
    prim.GetAttribute("normals").SetMetadata("interpolation", "faceVarying")
    prim.GetAttribute("faceVertexIndices").Set(Vt.IntArray([40] * 40))


def shape_out_of_range(stage: Usd.Stage) -> None:
    binding = skin_of(stage)
    scenes.add_shape_weights(UsdSkel.Animation(stage.GetPrimAtPath("/Man/Moves")))
    scenes.add_shapes(stage, binding.GetPrim(), 40)
    UsdSkel.BlendShape(stage.GetPrimAtPath("/Man/Skin/some")).GetPointIndicesAttr().Set([1, 2, 40])


def shape_of_another_mesh(stage: Usd.Stage) -> None:
    binding = skin_of(stage)
    scenes.add_shape_weights(UsdSkel.Animation(stage.GetPrimAtPath("/Man/Moves")))
    scenes.add_shapes(stage, binding.GetPrim(), 39)


def another_count_later(stage: Usd.Stage) -> None:
    attribute = skin_of(stage).GetPrim().GetAttribute("points")
    attribute.Set(scenes.cloud(40), 1)
    attribute.Set(scenes.cloud(41), 5)


def nothing_skinned(stage: Usd.Stage) -> None:
    scenes.add_mesh(stage, "/Rock")


WRONG: list[tuple[Callable[[Usd.Stage], None], str]] = [
    (without_weights, "prim </Man/Skin>: primvars:skel:jointWeights: missing; expected jointIndices and jointWeights"),
    (two_sizes, "prim </Man/Skin>: primvars:skel:jointIndices and jointWeights: elementSize 3 and 2, interpolation"),
    (too_few, "prim </Man/Skin>: jointIndices and jointWeights: for 39 points; expected 40"),
    (out_of_range, "prim </Man/Skin>: jointIndices: 4; expected 0..3"),
    (negative, "prim </Man/Skin>: jointWeights: -0.5; expected 0 or more"),
    (negative_and_rigid, "prim </Man/Ball>: jointWeights: -0.5; expected 0 or more"),
    (endless, "prim </Man/Skin>: world: "),
    (unknown_joint, 'prim </Man/Skin>: skel:joints: "hip/arm" has weight; expected a joint of the skeleton'),
    (flat_bind, "prim </Man/Bones>: bind: "),
    (few_binds, "prim </Man/Bones>: "),
    (child_first, "prim </Man/Bones>: not a valid Skeleton; expected joints, parents first, and a bindTransform for"),
    (few_normals, "prim </Man/Skin>: 7 normals; expected 40"),
    (wrong_corner, "prim </Man/Skin>: faceVertexIndices: outside of the 40 points"),
    (shape_out_of_range, "prim </Man/Skin>: blend shape: pointIndices outside of the 40 points"),
    (shape_of_another_mesh, "prim </Man/Skin>: blend shape: 39 offsets; expected 40"),
    (another_count_later, "prim </Man/Skin>: 41 points at time 5.0; expected 40, as are bound"),
    (nothing_skinned, "nothing_skinned.usda: nothing is skinned; expected prims with UsdSkel bindings beneath a Skel"),
]


@pytest.mark.parametrize(("scene", "words"), WRONG, ids=[scene.__name__ for scene, _words in WRONG])
def test_wrong_scenes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], scene: Callable[[Usd.Stage], None], words: str
) -> None:
    target = tmp_path / "baked.usd"
    target.write_text("what was there")
    source = scenes.make(tmp_path, scene)
    assert main(["bake", str(source), str(target)]) == 1
    said = capsys.readouterr()
    assert said.err.startswith(f"two-phase-skin: {words}") and said.err.count("\n") == 1 and said.out == ""
    assert target.read_text() == "what was there"
    assert sorted(os.listdir(tmp_path)) == sorted([source.name, target.name])


@pytest.mark.parametrize(
    ("source", "target", "arguments", "words"),
    [
        ("none.usd", "out.usd", [], "none.usd: no such file; expected a USD file"),
        ("notes.txt", "out.usd", [], "notes.txt: cannot be opened as USD ("),
        ("broken.usda", "out.usd", [], "broken.usda: cannot be opened as USD ("),
        ("varying.usda", "varying.usda", [], "varying.usda: the scene is made of this file; expected another for"),
        ("varying.usda", "none/out.usd", [], "none/out.usd: no such folder; expected one that is there"),
        ("varying.usda", "out.usdz", [], "out.usdz: suffix '.usdz'; expected one of .usd, .usdc, .usda"),
        ("varying.usda", "out.usd", ["--prim", "/Who"], "prim </Who>: not on the stage; expected the path of a prim"),
        ("varying.usda", "out.usd", ["--prim", "Man"], "prim <Man>: not on the stage; expected the path of a prim"),
        ("varying.usda", "out.usd", ["--prim", "/Man/Bones"], "prim </Man/Bones>: nothing is skinned at or beneath it"),
        ("varying.usda", "out.usd", ["--normals", "usdskel"], 'normals: "usdskel" with method "two_phase"; expected'),
    ],
)
def test_wrong_files_and_prims(tmp_path: Path, source: str, target: str, arguments: list[str], words: str) -> None:
    scenes.make(tmp_path, scenes.varying)
    (tmp_path / "notes.txt").write_text("not a scene")
    (tmp_path / "broken.usda").write_text("#usda 1.0\ndef Mesh {")
    done = run("bake", tmp_path / source, tmp_path / target, *arguments)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert words in done.stderr.splitlines()[-1].replace(str(tmp_path) + os.sep, "")
    assert sorted(os.listdir(tmp_path)) == ["broken.usda", "notes.txt", "varying.usda"]


# ---- when it does not come to its end

LIMITED = """
import resource, signal, sys
from two_phase_skinning.command import main
from two_phase_skinning.command._progress import SECONDS_BETWEEN, Progress, clock
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
sys.exit(main(sys.argv[2:]))
"""


def large(stage: Usd.Stage) -> None:
    scenes.character(stage)
    scenes.bind(scenes.add_mesh(stage, "/Man/Skin", 40000).GetPrim(), 40000)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit of that kind")
@pytest.mark.parametrize("room", [0, 1000, 2_000_000, 40_000_000])
@pytest.mark.parametrize("suffix", [".usd", ".usda"])
def test_the_disk_is_full(tmp_path: Path, room: int, suffix: str) -> None:
    """No file may become larger than this: to who writes, the same as a full disk, at each place that it can come."""
    source, target = scenes.make(tmp_path, large, ".usdc"), tmp_path / f"baked{suffix}"
    target.write_text("what was there")
    command = [sys.executable, "-P", "-c", LIMITED, str(room), "bake", source, target, "--frames", "1:9:0.1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stderr.startswith(f"two-phase-skin: {target}: cannot be written (") and done.stderr.count("\n") == 1
    assert target.read_text() == "what was there"
    assert sorted(os.listdir(tmp_path)) == sorted([source.name, target.name])


@pytest.mark.skipif(os.name == "nt", reason="a console's Ctrl-C reaches the tests too")
def test_ctrl_c(tmp_path: Path) -> None:
    source, target = scenes.make(tmp_path, large, ".usdc"), tmp_path / "baked.usd"
    target.write_text("what was there")
    command = [*COMMAND, "bake", str(source), str(target), "--frames", "1:9:0.00001", "--progress"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while process.stderr.read(1) not in ("]", ""):  # then it is at work
            pass
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert rest.splitlines()[-1] == f"two-phase-skin: stopped; {target} is as it was"
    assert target.read_text() == "what was there"
    assert sorted(os.listdir(tmp_path)) == sorted([source.name, target.name])


# ---- what is not installed

BLOCKED = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
"""


def test_the_package_needs_no_openusd(tmp_path: Path) -> None:
    code = BLOCKED.format(absent=["pxr", "distributed", "dask"]) + (
        "import two_phase_skinning\n"
        "from two_phase_skinning.command import main\n"
        "assert not {'pxr', 'distributed', 'dask'} & set(sys.modules)\n"
        "sys.exit(main(['bake', 'a.usd', 'b.usd']))\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.strip().splitlines() == [
        "two-phase-skin: two_phase_skinning.usd: OpenUSD's Python modules (pxr) are not installed; expected them: "
        'pip install "two-phase-skinning[usd]"'
    ]


def test_importing_the_package_brings_no_openusd() -> None:
    code = "import sys, two_phase_skinning.command; print({'pxr', 'distributed'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
