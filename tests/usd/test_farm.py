"""Frames spread over real worker processes: the result is that of one process, whatever becomes of the workers."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scenes
from distributed import Client, LocalCluster
from pxr import Usd, UsdGeom

from two_phase_skinning import usd
from two_phase_skinning.command import main


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
    clips = tmp_path / "other.usd.clips"
    assert not [path.name for path in clips.iterdir() if path.name.startswith(".") and path.stat().st_size == 0]


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


def test_no_scheduler_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = scenes.make(tmp_path, scenes.varying)
    assert main(["bake", str(source), str(tmp_path / "baked.usd"), "--scheduler", "nonsense"]) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("two-phase-skin: scheduler: nonsense: cannot be reached")
    assert [path.name for path in tmp_path.iterdir()] == ["varying.usda"]
