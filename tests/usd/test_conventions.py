"""The lines of docs/conventions.md do what the page says, as they stand there. Blender's are in tests/blender."""

from __future__ import annotations

import os
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scenes
from pxr import Usd, UsdSkel

import two_phase_skinning as tps
from two_phase_skinning.command import main, parser

PAGE = Path(__file__).parents[2] / "docs" / "conventions.md"


def code(label: str) -> str:
    """All lines of that kind on the page."""
    blocks = re.findall(rf"^```python {label}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.S | re.M)
    assert blocks, label
    return "".join(blocks)


def run(label: str, **names: Any) -> dict[str, Any]:
    names.update(np=np, tps=tps)
    exec(code(label), names)
    return names


def turned(axis: int, angle: float, place: tuple[float, float, float]) -> np.ndarray:
    """For column vectors: a turn about an axis, then a move."""
    c, s = np.cos(angle), np.sin(angle)
    matrix = np.eye(4)
    first, second = (axis + 1) % 3, (axis + 2) % 3
    matrix[[first, first, second, second], [first, second, first, second]] = c, -s, s, c
    matrix[:3, 3] = place
    return matrix


BIND = np.array([turned(0, 0.3, (1, 2, 3)), turned(1, -0.8, (0, 4, 3)), turned(2, 0.5, (-1, 5, 0))])
WORLD = np.array([turned(2, 0.9, (1, 2, 4)), turned(0, 0.4, (1, 3, 5)), turned(1, 1.2, (0, 6, 1))])
PARENTS = [-1, 0, 1]
POINTS = np.random.default_rng(1).normal(size=(12, 3)).astype(np.float32)
JOINTS = np.random.default_rng(2).integers(0, 3, (12, 4)).astype(np.uint16)
WEIGHTS = np.random.default_rng(3).dirichlet((1, 1, 1, 1), 12).astype(np.float32)


def blended(points: np.ndarray) -> np.ndarray:
    """Linear blend skinning from its definition."""
    matrices = np.einsum("vk,vkij->vij", WEIGHTS.astype(np.float64), (WORLD @ np.linalg.inv(BIND))[JOINTS])
    return np.einsum("vij,vj->vi", matrices[:, :3, :3], points) + matrices[:, :3, 3]


def test_usd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def shot(stage: Usd.Stage) -> None:
        scenes.placed(stage)
        UsdSkel.Root.Define(stage, "/Man")
        scenes.bind(scenes.add_mesh(stage, "/Man/Skin").GetPrim(), 40)

    source = scenes.make(tmp_path, shot)
    monkeypatch.chdir(tmp_path)
    names = run("usd")
    judge = Usd.Stage.Open(str(source))
    assert UsdSkel.BakeSkinning(judge.Traverse())
    expected = np.array(judge.GetAttributeAtPath("/Man/Skin.points").Get(5))
    np.testing.assert_allclose(names["points"], expected, atol=5e-6)
    move = names["to_prim"]
    in_prim = names["in_skel_space"] @ move[:3, :3].T + move[:3, 3]
    np.testing.assert_allclose(in_prim, expected, atol=5e-6)
    bind = run("usd-matrices", skeleton=UsdSkel.Skeleton(judge.GetPrimAtPath("/Man/Bones")))["bind"]
    np.testing.assert_array_equal(bind, names["skin"].skeleton.skeleton.bind)
    assert np.abs(bind[:, :3, 3]).max() > 0.5 and not bind[:, 3, :3].any()


def test_gltf() -> None:
    """The accessors' bytes are those of a file: little-endian float32, column by column."""
    inverse = np.linalg.inv(BIND)
    data = b"".join(struct.pack("<16f", *(m[row, column] for column in range(4) for row in range(4))) for m in inverse)
    nodes = np.array([np.eye(4), WORLD[2], WORLD[0], WORLD[1]])  # the skin's joints are the nodes 2, 3 and 1
    names = run(
        "gltf",
        inverse_bind_matrices=np.frombuffer(data, "<f4"),
        position=POINTS,
        joints_0=JOINTS,
        weights_0=WEIGHTS,
        parents=PARENTS,
        node_matrices=nodes,
        skin_joints=[2, 3, 1],
    )
    np.testing.assert_allclose(names["bind"], BIND, atol=1e-5)
    actual = names["skin"].deform(names["world"], method="linear")
    np.testing.assert_allclose(actual, blended(POINTS), atol=1e-5)


def test_maya() -> None:
    """Its lists: a row vector's matrix, row by row, which has the translation at its end."""
    geometry = turned(1, 0.7, (2, 0, 1))

    def listed(matrix: np.ndarray) -> list[float]:
        numbers = [float(matrix[row, column]) for column in range(4) for row in range(4)]
        assert numbers[12:15] == matrix[:3, 3].tolist()
        return numbers

    names = run(
        "maya",
        world_matrices=[listed(matrix) for matrix in WORLD],
        bind_pre_matrices=[listed(np.linalg.inv(matrix)) for matrix in BIND],
        geom_matrix=listed(geometry),
        points=POINTS,
    )
    skin = tps.Skin(names["points"], (JOINTS, WEIGHTS), tps.Skeleton(PARENTS, names["bind"]))
    expected = blended(POINTS @ geometry[:3, :3].T + geometry[:3, 3])
    np.testing.assert_allclose(skin.deform(names["world"], method="linear"), expected, atol=1e-5)


def test_who_copies() -> None:
    """What the table says of arrays: copies in, new arrays out, strided and integer ones are read."""
    points, bind = POINTS.copy(), BIND.copy()
    skin = tps.Skin(points, (JOINTS, WEIGHTS), tps.Skeleton(PARENTS, bind))
    before = skin.deform(WORLD)
    points[:], bind[:] = 0, 0
    np.testing.assert_array_equal(skin.deform(WORLD), before)
    assert skin.deform(WORLD) is not before and before.dtype == np.float32
    out = np.full_like(before, np.nan)
    assert skin.deform(WORLD, out=out) is out
    np.testing.assert_array_equal(out, before)
    strided = np.asfortranarray(np.repeat(WORLD, 2, axis=0))[::2]
    np.testing.assert_array_equal(skin.deform(strided), before)
    np.testing.assert_array_equal(skin.deform(np.array([WORLD, WORLD])), [before, before])


def test_the_command_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = scenes.make(tmp_path, scenes.varying)
    os.rename(source, tmp_path / "shot.usd")
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    command = re.search(r"^    two-phase-skin (bake shot\.usd baked\.usd)$", page, flags=re.M)
    assert command and main(command[1].split()) == 0
    assert sorted(os.listdir()) == ["baked.usd", "shot.usd"]
    listed = set(re.findall(r"^\| `(--\w+)`", page, flags=re.M))
    (commands,) = (action for action in parser()._actions if action.dest == "command")
    assert listed == {name for name in commands.choices["bake"]._option_string_actions if name.startswith("--")} - {
        "--help"
    }
