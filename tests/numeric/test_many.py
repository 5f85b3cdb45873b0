"""Many meshes in one call: each comes out as if it were alone, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rigs import make_rig
from subjects import METHODS, each_method, skin_of

import two_phase_skinning as tps

# Small ones, and one that is worth several threads by itself.
RIGS = [
    make_rig(seed, count=9, vertices=vertices, influences=6)
    for seed, vertices in enumerate((300, 4001, 70_000, 20, 2500, 900))
]
SKINS = [skin_of(rig) for rig in RIGS]
WORLDS = [rig.world for rig in RIGS]


@pytest.mark.parametrize("threads", [0, 1, 2, 7])
@each_method
def test_as_if_alone(method: tps.AnyMethod, threads: int) -> None:
    together = tps.deform_many(SKINS, WORLDS, method=method, threads=threads)
    assert len(together) == len(SKINS)
    for skin, world, points in zip(SKINS, WORLDS, together, strict=True):
        np.testing.assert_array_equal(points, skin.deform(world, method=method, threads=1))


def test_writes_to_out() -> None:
    outs = [np.full((len(skin), 3), 7, np.float32) if index % 2 else None for index, skin in enumerate(SKINS)]
    result = tps.deform_many(SKINS, WORLDS, inherited="before", out=outs)
    for skin, world, points, out in zip(SKINS, WORLDS, result, outs, strict=True):
        assert out is None or points is out
        np.testing.assert_array_equal(points, skin.deform(world, inherited="before"))


def test_one_skin_in_many_poses_and_frames() -> None:
    frames = np.array([RIGS[1].world] * 3) @ np.diag([1.1, 0.9, 1.2, 1])
    result = tps.deform_many([SKINS[1]] * 3, [frames[0], frames, RIGS[1].world], threads=3)
    for points, world in zip(result, (frames[0], frames, RIGS[1].world), strict=True):
        np.testing.assert_array_equal(points, SKINS[1].deform(world))


def test_nothing_to_do() -> None:
    assert tps.deform_many([], []) == []


def test_rows_of_one_array_are_apart() -> None:
    block = np.zeros((4, 300, 3), np.float32)
    worlds = np.array([WORLDS[0]] * 4)
    for method in METHODS:
        result = tps.deform_many([SKINS[0]] * 4, list(worlds), method=method, out=list(block))
        assert all(points.base is block for points in result)
        np.testing.assert_array_equal(block, [SKINS[0].deform(WORLDS[0], method=method)] * 4)


@pytest.mark.parametrize("fault", ["another's out", "another's world"])
def test_shared_memory_is_refused_and_nothing_written(fault: str) -> None:
    memory = np.zeros(2 * 300 * 3, np.float32)
    outs = [memory[: 300 * 3].reshape(300, 3), memory[300 * 3 :].reshape(300, 3)]
    worlds = [WORLDS[0], WORLDS[0].copy()]
    if fault == "another's out":
        outs[1] = memory[299 * 3 : 599 * 3].reshape(300, 3)
    else:
        worlds[1] = memory[: 9 * 32].view(np.float64).reshape(9, 4, 4)
        worlds[1][:] = WORLDS[0]
    before = memory.copy()
    with pytest.raises(ValueError, match="out: an entry shares memory with another mesh's array"):
        tps.deform_many([SKINS[0]] * 2, worlds, out=outs)
    np.testing.assert_array_equal(memory, before)


def test_every_option_of_each_mesh() -> None:
    rng = np.random.default_rng(2)
    joints = len(RIGS[0].parents)
    options: dict[str, Any] = {
        "points": [rng.normal(size=(len(skin), 3)) if n % 2 else None for n, skin in enumerate(SKINS)],
        "blend": [rng.random(len(skin)) if n % 3 else 0.25 for n, skin in enumerate(SKINS)],
        "nonrigid": [rng.random(joints) < 0.7 for _ in SKINS],
        "rigid": [None if n % 2 else rng.random(joints) < 0.7 for n in range(len(SKINS))],
        "space": [np.diag([n + 1.0, 2, 1, 1]) for n in range(len(SKINS))],
    }
    together = tps.deform_many(SKINS, WORLDS, offsets=True, **options)
    for n, (skin, world) in enumerate(zip(SKINS, WORLDS, strict=True)):
        own = {name: values[n] for name, values in options.items()}
        np.testing.assert_array_equal(together[n], skin.deform(world, offsets=True, **own))


def test_a_space_that_is_singular_names_its_mesh_and_nothing_is_written() -> None:
    out = [np.full((len(skin), 3), 7, np.float32) for skin in SKINS]
    spaces = [np.eye(4)] * 5 + [np.diag([1.0, 0, 1, 1])]
    with pytest.raises(ValueError, match=r"^space: entry 5: cannot be inverted; expected"):
        tps.deform_many(SKINS, WORLDS, out=out, space=spaces)
    assert all((each == 7).all() for each in out)
