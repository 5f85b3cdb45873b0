"""The joint matrices of the first seed: against the reference, and their laws to 1e-12 relative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference as ref
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from rigs import Rig, rigid_motion, rigs
from subjects import skeleton_of

import two_phase_skinning as tps

Array = NDArray[np.float64]


def assert_close(actual: Array, expected: Array, scale: float = 1.0) -> None:
    assert isinstance(actual, np.ndarray) and actual.dtype == np.float64
    assert actual.shape == expected.shape
    assert np.abs(actual - expected).max() <= 1e-12 * max(scale, np.abs(expected).max())


def condition(*stacks: Array) -> float:
    """What rounding is multiplied by on the way through an inverse."""
    return float(max(np.linalg.cond(m).max() for m in stacks))


@given(rig=rigs())
def test_each_function_equals_its_formula(rig: Rig) -> None:
    local = ref.bind_local(rig.bind, rig.parents)
    user = ref.user_local(rig.world, local, rig.parents)
    grow = condition(rig.bind, rig.world)
    assert_close(tps.bind_local(rig.bind, rig.parents), local, grow)
    assert_close(tps.bind_world(local, rig.parents), rig.bind, grow)
    assert_close(tps.user_local(rig.world, local, rig.parents), user, grow)
    assert_close(tps.pose_world(local, user, rig.parents), rig.world, grow)
    assert_close(tps.skinning_matrices(rig.world, rig.bind), ref.skinning_matrices(rig.world, rig.bind), grow)
    matrices = ref.skinning_matrices(rig.world, rig.bind)
    assert_close(tps.world_from_skinning(matrices, rig.bind), rig.world, grow)


@given(rig=rigs())
def test_round_trips(rig: Rig) -> None:
    """W = T B, and there and back again."""
    grow = condition(rig.bind, rig.world)
    local = tps.bind_local(rig.bind, rig.parents)
    user = tps.user_local(rig.world, local, rig.parents)
    assert_close(tps.skinning_matrices(rig.world, rig.bind) @ rig.bind, rig.world, grow)
    assert_close(tps.bind_world(local, rig.parents), rig.bind, grow)
    assert_close(tps.pose_world(local, user, rig.parents), rig.world, grow)


@given(rig=rigs(), pick=st.integers(0, 8))
def test_a_world_increment_moves_the_joint_by_it_and_its_descendants_follow(rig: Rig, pick: int) -> None:
    joint = pick % len(rig.parents)
    grow = condition(rig.bind, rig.world) ** 2
    increment = rigid_motion(np.random.default_rng(rig.seed))
    local = tps.bind_local(rig.bind, rig.parents)
    user = tps.user_local(rig.world, local, rig.parents)
    changed = tps.increment_world(user, joint, increment, local, rig.parents)
    assert_close(changed, ref.increment_world(user, joint, increment, local, rig.parents), grow)
    world = tps.pose_world(local, changed, rig.parents)
    below = ref.carrying(np.array([-1] * len(rig.parents)), np.zeros(len(rig.parents), bool))
    for j in ref.parents_first(rig.parents):
        below[j] = j == joint or (rig.parents[j] >= 0 and below[rig.parents[j]])
    assert_close(world[joint], increment @ rig.world[joint], grow)
    assert_close(world[below], increment @ rig.world[below], grow)
    assert_close(world, np.where(below[:, None, None], increment @ rig.world, rig.world), grow)


@given(rig=rigs(), pick=st.integers(0, 8))
def test_a_local_increment_is_multiplied_from_the_left(rig: Rig, pick: int) -> None:
    joint = pick % len(rig.parents)
    increment = rigid_motion(np.random.default_rng(rig.seed))
    user = ref.user_local(rig.world, ref.bind_local(rig.bind, rig.parents), rig.parents)
    before = user.copy()
    changed = tps.increment_local(user, joint, increment)
    assert_close(changed, ref.increment_local(user, joint, increment))
    np.testing.assert_array_equal(user, before)
    others = np.arange(len(user)) != joint
    np.testing.assert_array_equal(changed[others], user[others])


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.int8, np.uint16])
def test_any_real_dtype_and_any_strides(dtype: type) -> None:
    rng = np.random.default_rng(2)
    bind = np.broadcast_to(np.eye(4), (5, 4, 4)).copy()
    bind[:, :3, 3] = rng.integers(0, 9, (5, 3))
    parents = np.array([-1, 0, 1, 1, -1])
    expected = tps.bind_local(bind, parents)
    fortran: NDArray[Any] = np.asfortranarray(bind.astype(dtype))
    strided: NDArray[Any] = np.repeat(bind.astype(dtype), 2, axis=0)[::2]
    reversed_twice = bind[::-1].copy()[::-1]
    for form in (bind.astype(dtype), fortran, strided, reversed_twice, bind.tolist()):
        np.testing.assert_array_equal(tps.bind_local(form, parents), expected)
    for numbers in (parents.astype(np.int8), parents.astype(np.int32), parents.tolist(), np.repeat(parents, 2)[::2]):
        np.testing.assert_array_equal(tps.bind_local(bind, numbers), expected)


def test_thousands_of_joints_in_a_chain_listed_backwards() -> None:
    count = 5000
    parents = np.append(np.arange(1, count), -1)  # the last is the root
    local = np.broadcast_to(np.eye(4), (count, 4, 4)).copy()
    local[:, 1, 3] = 1
    bind = tps.bind_world(local, parents)
    np.testing.assert_array_equal(bind[:, 1, 3], np.arange(count, 0, -1))
    s = tps.Skeleton(parents, bind).separate(bind)
    np.testing.assert_allclose(s.rigid, np.broadcast_to(np.eye(4), bind.shape), rtol=0, atol=1e-9)


@given(rig=rigs())
def test_a_skeleton_keeps_what_it_was_given(rig: Rig) -> None:
    skeleton = skeleton_of(rig)
    np.testing.assert_array_equal(skeleton.parents, rig.parents)
    np.testing.assert_array_equal(skeleton.bind, rig.bind)
