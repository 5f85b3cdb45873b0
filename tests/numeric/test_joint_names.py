"""Joints by name where a number is wanted, weights as pairs, and what a skeleton and a skin say of themselves."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from rigs import make_rig
from subjects import skeleton_of, skin_of

import two_phase_skinning as tps

BIND = np.tile(np.eye(4), (3, 1, 1))
BIND[1:, 1, 3] = 1, 2
NAMES = ["root", "arm", "hand"]
SKELETON = tps.Skeleton([None, "root", "arm"], BIND, names=NAMES)
POINTS = np.array([[0.2, y, 0] for y in (0.5, 1, 2.5, 9)])
ROWS = [[("root", 1)], [("root", 0.5), ("arm", 0.5)], {"hand": 2.0}, []]


def test_parents_by_name() -> None:
    assert tps.Skeleton([-1, 0, 1], BIND, names=NAMES) == SKELETON
    with pytest.raises(ValueError, match=r"^parents: no joint is named 'leg'; expected one of the skeleton's names"):
        tps.Skeleton([None, "leg", "arm"], BIND, names=NAMES)


def test_index() -> None:
    assert [SKELETON.index(name) for name in NAMES] == [SKELETON.index(j) for j in range(3)] == [0, 1, 2]
    for wrong in ("leg", 3, -1):
        with pytest.raises(ValueError, match=r"^joint: "):
            SKELETON.index(wrong)


def test_increments_by_name() -> None:
    user = np.tile(np.eye(4), (3, 1, 1))
    turn = np.array([[0.0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    local = tps.bind_local(BIND, SKELETON.parents)
    np.testing.assert_array_equal(
        SKELETON.increment_world(user, "hand", turn), tps.increment_world(user, 2, turn, local, SKELETON.parents)
    )
    np.testing.assert_array_equal(SKELETON.increment_local(user, "arm", turn), tps.increment_local(user, 1, turn))


def test_a_name_twice_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^names: 'a' at joints 0 and 2; expected each name once"):
        tps.Skeleton([-1, 0, 1], BIND, names=["a", "b", "a"])


def test_weights_as_pairs_and_padded_with_minus_one() -> None:
    dense = tps.Skin(POINTS, [[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1], [0, 0, 0]], SKELETON)
    by_name = tps.Skin(POINTS, ROWS, SKELETON)
    by_number = tps.Skin(POINTS, [[(0, 1.0)], [(0, 0.5), (1, 0.5)], [(2, 1.0)], []], SKELETON)
    padded = tps.Skin(POINTS, ([[0, -1], [0, 1], [2, -1], [-1, -1]], [[1, 0], [0.5, 0.5], [3, 0], [0, 0]]), SKELETON)
    for skin in (by_name, by_number, padded):
        for ours, expected in zip(skin.weights, dense.weights, strict=True):
            np.testing.assert_array_equal(ours, expected)
    with pytest.raises(ValueError, match=r"^weights: vertex 0 has joint -1; expected"):
        tps.Skin(POINTS[:1], ([[-1]], [[0.5]]), SKELETON)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[("leg", 1)], [], [], []], r"weights: vertex 0: joint: no joint is named 'leg'"),
        ([[], [(0.5, 1)], [], []], r"weights: vertex 1: joint: float; expected an int"),
        ([[(0, 1)], [(1,)], [], []], r"weights: vertex 1 has .*; expected pairs"),
        ([[(0, 1)], [1], [], []], r"weights: vertex 1 has .*; expected pairs"),
        ([[(0, 1)], [], []], r"weights: 3 rows; expected 4"),
        ([[(0, 1)], [(7, 1)], [], []], r"weights: vertex 1 has joint 7; expected 0\.\.2"),
    ],
)
def test_pairs_that_are_wrong(rows: list[object], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        tps.Skin(POINTS, rows, SKELETON)


def test_vertices_without_weights_are_reported() -> None:
    np.testing.assert_array_equal(tps.Skin(POINTS, ROWS, SKELETON).unweighted, [3])


def test_points_and_normals_at_rest() -> None:
    rig = make_rig(5)
    skin = skin_of(rig, normals=3 * rig.normals)
    np.testing.assert_array_equal(skin.points, rig.points.astype(np.float32))
    assert skin.normals is not None
    np.testing.assert_allclose(np.linalg.norm(skin.normals, axis=1), 1, rtol=1e-6)
    assert skin_of(rig).normals is None
    skin.points[:] = 0  # a copy
    assert (skin.points != 0).any()


def test_equality_and_hash() -> None:
    rig = make_rig(5)
    one, two = skeleton_of(rig), skeleton_of(rig)
    assert one == two and hash(one) == hash(two) and len({one, two}) == 1
    assert one != tps.Skeleton(rig.parents, rig.bind, inherits=~rig.inherits) and one != "skeleton"
    assert one != tps.Skeleton(rig.parents, rig.bind, inherits=rig.inherits, names=list("abcdef"))
    assert (len(one), repr(one)) == (6, "<Skeleton of 6 joints>")


def test_geom_bind() -> None:
    """UsdSkel's: points and normals go into the skeleton's space first, replaced points too."""
    rig = make_rig(6, pose="shear")
    rng = np.random.default_rng(1)
    geom = np.eye(4)
    geom[:3] = rng.normal(size=(3, 4))
    points = rig.points @ geom[:3, :3].T + geom[:3, 3]
    normals = rig.normals @ np.linalg.inv(geom[:3, :3])
    skin = skin_of(rig, normals=rig.normals, geom_bind=geom)
    moved = tps.Skin(points, rig.weights, skeleton_of(rig), normals=normals)
    again = pickle.loads(pickle.dumps(skin))
    for each in (skin, again):
        np.testing.assert_allclose(each.deform(rig.world), moved.deform(rig.world), atol=1e-5)
        np.testing.assert_allclose(each.deform_normals(rig.world), moved.deform_normals(rig.world), atol=1e-4)
        np.testing.assert_allclose(each.deform(rig.world, points=rig.points), moved.deform(rig.world), atol=1e-5)
    with pytest.raises(ValueError, match=r"^geom_bind: shape \(3, 3\); expected \(4, 4\)"):
        skin_of(rig, geom_bind=np.eye(3))
