"""Skeleton.pose: what the user does to each joint, with scale passed on or stopped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference as ref
from rigs import make_rig
from subjects import skeleton_of

import two_phase_skinning as tps


def user_transforms(seed: int, count: int) -> np.ndarray:
    """Turned, moved, and stretched along the joint's own axes."""
    rig = make_rig(seed, pose="stretch", edges="inheriting")
    user = ref.user_local(rig.world, ref.bind_local(rig.bind, rig.parents), rig.parents)
    return np.resize(user, (count, 4, 4))


def test_where_all_inherit_it_is_pose_world() -> None:
    for seed in range(4):
        rig = make_rig(seed, edges="inheriting")
        user = user_transforms(seed + 10, len(rig.parents))
        local = tps.bind_local(rig.bind, rig.parents)
        expected = tps.pose_world(local, user, rig.parents)
        np.testing.assert_allclose(skeleton_of(rig).pose(user), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("edges", ["inheriting", "compensating", "mixed"])
def test_separation_finds_what_the_user_did(edges: str) -> None:
    """N' is the stretch of U, whatever stands above the joint."""
    for seed in range(4):
        rig = make_rig(seed, edges=edges)
        user = user_transforms(seed + 10, len(rig.parents))
        skeleton = skeleton_of(rig)
        found = skeleton.separate(skeleton.pose(user)).nonrigid_part[:, :3, :3]
        for stretch, transform in zip(found, user, strict=True):
            turn = transform[:3, :3] @ np.linalg.inv(stretch)
            np.testing.assert_allclose(turn @ turn.T, np.eye(3), rtol=0, atol=1e-9)
            np.testing.assert_allclose(stretch, stretch.T, rtol=0, atol=1e-9)


def test_a_compensating_chain_by_hand() -> None:
    """The worked example's compensating case: the child is displaced by the parent's stretch, and keeps its size."""
    bind = np.tile(np.eye(4), (2, 1, 1))
    bind[1, 1, 3] = 1
    user = np.array([np.diag([1.0, 2, 1, 1]), [[0.0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]])
    world = tps.Skeleton([-1, 0], bind, compensating=[True, True]).pose(user)
    np.testing.assert_array_equal(world[1], [[0, -1, 0, 0], [1, 0, 0, 2], [0, 0, 1, 0], [0, 0, 0, 1]])


def test_many_frames_are_each_frame() -> None:
    rig = make_rig(2, edges="mixed")
    skeleton = skeleton_of(rig)
    frames = np.array([user_transforms(seed, len(rig.parents)) for seed in range(5)])
    np.testing.assert_array_equal(skeleton.pose(frames), [skeleton.pose(user) for user in frames])


@pytest.mark.parametrize("user", [np.zeros((3, 4, 4)), np.full((2, 4, 4), np.nan), "pose"])
def test_wrong_input_names_the_argument(user: Any) -> None:
    skeleton = tps.Skeleton([-1, 0], np.tile(np.eye(4), (2, 1, 1)))
    with pytest.raises((TypeError, ValueError), match=r"^user: .*; expected"):
        skeleton.pose(user)
