"""Frames spread over real worker processes: the result is that of one process, whatever becomes of the workers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scenes
from distributed import Client, LocalCluster
from pxr import Sdf, Usd, UsdGeom

from two_phase_skinning import usd
from two_phase_skinning.command import main
from two_phase_skinning.usd._chunk import Chunk, bake_chunk, build
from two_phase_skinning.usd._options import Options


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        yield cluster


def assert_same_to_the_bit(one: Path, other: Path, times: Any) -> None:
    """All that is authored, at the times and between them."""
    stages = [Usd.Stage.Open(str(path)) for path in (one, other)]
    paths = [attribute.GetPath() for prim in stages[0].Traverse() for attribute in prim.GetAuthoredAttributes()]
    assert len(paths) > 4
    for path in paths:
        ours, theirs = (stage.GetAttributeAtPath(path) for stage in stages)
        assert ours.GetTimeSamples() == theirs.GetTimeSamples(), path
        for time in [*times, *(np.array(times[:-1]) + np.diff(times) / 3)]:
            np.testing.assert_array_equal(ours.Get(time), theirs.Get(time), err_msg=f"{path} at {time}")


def two_families(stage: Usd.Stage) -> None:
    """Two root prims; points, a transform, and a character that does not move."""
    for root in ("/Left", "/Right"):
        scenes.character(stage, root)
        scenes.bind(scenes.add_mesh(stage, f"{root}/Skin").GetPrim(), 40)
        scenes.bind(UsdGeom.Sphere.Define(stage, f"{root}/Ball").GetPrim(), 1, width=1, constant=True)
    scenes.resting(stage)


@pytest.mark.parametrize("scene", [two_families, scenes.crowd, scenes.shapes])
def test_the_result_is_that_of_one_process(tmp_path: Path, cluster: LocalCluster, scene: Any) -> None:
    source = scenes.make(tmp_path, scene)
    one, other = tmp_path / "one.usd", tmp_path / "other.usd"
    alone = usd.bake(source, one, compare="linear")
    seen: list[tuple[int, int]] = []
    report = usd.bake(
        source,
        other,
        compare="linear",
        scheduler=cluster.scheduler_address,
        progress=lambda *counts: seen.append(counts),
    )
    assert_same_to_the_bit(one, other, report.times)
    assert not usd.Scene(other).skins
    assert report.times == alone.times and report.skins == alone.skins
    assert sorted(seen) == seen and seen[-1] == (len(report.times),) * 2
    assert alone.distances.keys() == report.distances.keys() and len(alone.distances) > 0
    for path, distance in report.distances.items():
        expected = alone.distances[path]
        assert (distance.largest, distance.time, distance.point) == (expected.largest, expected.time, expected.point)
        assert distance.count == expected.count
        np.testing.assert_allclose(distance.mean, expected.mean, rtol=1e-12)


def large(stage: Usd.Stage) -> None:
    scenes.character(stage, scaled=True)
    scenes.bind(scenes.add_mesh(stage, "/Man/Skin", 20000).GetPrim(), 20000)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_worker_that_dies_costs_its_chunk(tmp_path: Path) -> None:
    source = scenes.make(tmp_path, large, ".usdc")
    frames = np.linspace(1, 9, 161).tolist()
    usd.bake(source, tmp_path / "one.usd", frames=frames)
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        with Client(cluster.scheduler_address, set_as_default=False) as client:
            before = set(client.run(os.getpid).values())
        killed: list[int] = []

        def kill_one(done: int, total: int) -> None:
            if not killed:  # others are at work then, and more chunks wait
                assert done < total / 2
                killed.append(min(before))
                os.kill(killed[0], signal.SIGKILL)

        usd.bake(source, tmp_path / "other.usd", frames=frames, scheduler=cluster.scheduler_address, progress=kill_one)
        with Client(cluster.scheduler_address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
            assert killed[0] not in client.run(os.getpid).values()
    assert_same_to_the_bit(tmp_path / "one.usd", tmp_path / "other.usd", frames)
    assert not [path.name for path in (tmp_path / "other.usd.clips").iterdir() if path.name.startswith(".")]


def test_threads_of_one_worker(tmp_path: Path) -> None:
    source = scenes.make(tmp_path, scenes.changing)
    report = usd.bake(source, tmp_path / "one.usd")
    with LocalCluster(n_workers=1, threads_per_worker=2, processes=True, dashboard_address=":0") as cluster:
        usd.bake(source, tmp_path / "other.usd", scheduler=cluster.scheduler_address)
    assert_same_to_the_bit(tmp_path / "one.usd", tmp_path / "other.usd", report.times)


def with_clips_of_its_own(folder: Path) -> Path:
    """A scene whose animation comes from a value clip."""
    layer = Sdf.Layer.FindOrOpen(str(scenes.make(folder, scenes.varying)))
    clip = Sdf.Layer.CreateNew(str(folder / "moves.usda"))
    Sdf.CreatePrimInLayer(clip, "/Man")
    Sdf.CopySpec(layer, "/Man/Moves", clip, "/Man/Moves")
    clip.Save()
    stage = Usd.Stage.Open(layer)
    for attribute in stage.GetPrimAtPath("/Man/Moves").GetAttributes():
        if attribute.GetNumTimeSamples():
            attribute.Clear()
    clips = Usd.ClipsAPI(stage.GetPrimAtPath("/Man"))
    clips.SetClipAssetPaths([Sdf.AssetPath("./moves.usda")])
    clips.SetClipManifestAssetPath(Sdf.AssetPath("./moves.usda"))
    clips.SetClipPrimPath("/Man")
    clips.SetClipActive([(0, 0)])
    clips.SetClipTimes([(0, 0), (10, 10)])
    layer.Save()
    return Path(layer.realPath)


def test_a_scene_keeps_the_clips_of_its_own(tmp_path: Path, cluster: LocalCluster) -> None:
    """One prim is baked; the others still move by the scene's clips."""
    source = with_clips_of_its_own(tmp_path)
    expected = usd.Scene(source)
    arguments: dict[str, Any] = {"prims": ["/Man/none"], "frames": [1, 5, 9]}
    usd.bake(source, tmp_path / "one.usd", **arguments)
    usd.bake(source, tmp_path / "other.usd", scheduler=cluster.scheduler_address, **arguments)
    assert_same_to_the_bit(tmp_path / "one.usd", tmp_path / "other.usd", [1, 5, 9])
    others = usd.Scene(tmp_path / "other.usd")
    assert len(others.skins) == 3
    for skin in others.skins:
        np.testing.assert_array_equal(skin.deform(5), expected[skin.path].deform(5))
        assert np.abs(skin.deform(5) - skin.deform(1)).max() > 0.1


def test_workers_read_what_has_changed(tmp_path: Path, cluster: LocalCluster) -> None:
    """A file that the scene refers to is written anew between two bakes by the same workers."""
    shot = tmp_path / "shot.usda"
    found = []
    for seed in (1, 2):
        scenes.make(tmp_path, scenes.varying)
        layer = Sdf.Layer.FindOrOpen(str(tmp_path / "varying.usda"))
        layer.Reload(True)
        stage = Usd.Stage.Open(layer)
        stage.RemovePrim("/Man/Moves")
        scenes.add_animation(stage, "/Man/Moves", seed=seed)
        layer.Save()
        if not shot.exists():
            top = Sdf.Layer.CreateNew(str(shot))
            top.subLayerPaths.append("./varying.usda")
            top.Save()
        usd.bake(shot, tmp_path / "baked.usd", scheduler=cluster.scheduler_address)
        baked = Usd.Stage.Open(str(tmp_path / "baked.usd"))
        found.append(np.array(baked.GetAttributeAtPath("/Man/none.points").Get(4.5)))
        np.testing.assert_array_equal(found[-1], usd.Scene(shot)["/Man/none"].deform(4.5, "two_phase"))
    assert np.abs(found[0] - found[1]).max() > 0.1


def test_workers_that_run_something_else_are_refused(tmp_path: Path) -> None:
    version, kernel = build()
    options = Options()
    chunk = Chunk("1", "shot.usda", ("/Man",), (1.0,), None, options, str(tmp_path / "chunk.usdc"), ("0.1", "slow"))
    words = f"scheduler: a worker has version {version} on {kernel}; expected version 0.1 on slow, as the others"
    with pytest.raises(usd.SceneError, match=re.escape(words)):
        bake_chunk(chunk)


def test_clips_that_are_not_ours_are_left(tmp_path: Path) -> None:
    source, folder = scenes.make(tmp_path, scenes.varying), tmp_path / "baked.usd.clips"
    folder.mkdir()
    (folder / "chunk_0.usdc").touch()
    (folder / "notes.txt").touch()
    usd.bake(source, tmp_path / "baked.usd")
    assert sorted(os.listdir(folder)) == ["chunk_0.usdc", "notes.txt"]


@pytest.mark.skipif(os.name == "nt", reason="a console's Ctrl-C reaches the tests too")
def test_ctrl_c(tmp_path: Path, cluster: LocalCluster) -> None:
    source, target = scenes.make(tmp_path, large, ".usdc"), tmp_path / "baked.usd"
    target.write_text("what was there")
    command = [sys.executable, "-P", "-m", "two_phase_skinning", "bake", str(source), str(target), "--progress"]
    command += ["--frames", "1:9:0.001", "--scheduler", cluster.scheduler_address]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while process.stderr.read(1) not in ("]", ""):  # then the first chunk is done
            pass
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=60)[1]
    assert process.returncode == 130, rest
    assert rest.splitlines()[-1] == f"two-phase-skin: stopped; {target} is as it was"
    assert target.read_text() == "what was there"
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        client.submit(os.getpid, pure=False).result(timeout=60)  # after what the workers were at
    assert sorted(os.listdir(tmp_path)) == sorted([source.name, target.name])


def test_baking_again_leaves_one_set_of_clips(tmp_path: Path, cluster: LocalCluster) -> None:
    source, target = scenes.make(tmp_path, scenes.varying), tmp_path / "baked.usd"
    for method in ("linear", "two_phase", "linear"):
        usd.bake(source, target, method=method, scheduler=cluster.scheduler_address)
        assert len(list(tmp_path.iterdir())) == 3, "the scene, the output and its clips"
        skin = usd.Scene(source)["/Man/none"]
        stage = Usd.Stage.Open(str(target))
        points = stage.GetAttributeAtPath("/Man/none.points").Get(5)
        np.testing.assert_array_equal(points, skin.deform(5, method))
    usd.bake(source, target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["baked.usd", "varying.usda"]


def test_what_a_worker_refuses_is_said_here(
    tmp_path: Path, cluster: LocalCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    def few_normals(stage: Usd.Stage) -> None:
        scenes.varying(stage)
        attribute = stage.GetAttributeAtPath("/Man/vertex.normals")
        attribute.Set(attribute.Get()[:7])

    source, target = scenes.make(tmp_path, few_normals), tmp_path / "baked.usd"
    target.write_text("what was there")
    assert main(["bake", str(source), str(target), "--scheduler", cluster.scheduler_address]) == 1
    assert capsys.readouterr().err == "two-phase-skin: prim </Man/vertex>: 7 normals; expected 40\n"
    assert target.read_text() == "what was there"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["baked.usd", "few_normals.usda"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit of that kind")
def test_the_disk_of_a_worker_is_full(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """To who writes, that no file may become larger is the same as a full disk."""
    source, target = scenes.make(tmp_path, large, ".usdc"), tmp_path / "baked.usd"
    target.write_text("what was there")
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        with Client(cluster.scheduler_address, set_as_default=False) as client:
            client.run(limit_files, 1_000_000)
        assert main(["bake", str(source), str(target), "--scheduler", cluster.scheduler_address]) == 1
    assert re.fullmatch(r"two-phase-skin: .*chunk_\d+\.usdc: cannot be written \(.*\)\n", capsys.readouterr().err)
    assert target.read_text() == "what was there"
    assert sorted(os.listdir(tmp_path)) == sorted([source.name, target.name])


def limit_files(size: int) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_no_scheduler_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = scenes.make(tmp_path, scenes.varying)
    assert main(["bake", str(source), str(tmp_path / "baked.usd"), "--scheduler", "nonsense"]) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("two-phase-skin: scheduler: nonsense: cannot be reached")
    assert [path.name for path in tmp_path.iterdir()] == ["varying.usda"]
