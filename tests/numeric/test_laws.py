"""The laws that the method obeys, on the reference (float64) and on the product (float64 joints, float32 vertices)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import reference as ref
import tolerance
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from rigs import ALL_POSES, Rig, make_rig, moved, one_joint_each, renumbered, rigid_motion, rigs, rotation, without
from subjects import METHODS, Product, Subject, both, each_inherited, each_method, skin_separation

import two_phase_skinning as tps

Array = NDArray[np.float64]

EXACT = 1e-9  # the definition's own figure for the float64 stage, of the rig's size


def largest(*arrays: Array) -> float:
    return float(max(np.abs(a).max() for a in arrays))


def flags_of(seed: int, joints: int) -> dict[str, NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    return {"nonrigid": rng.random(joints) < 0.7, "rigid": rng.random(joints) < 0.7}


# ---------------------------------------------------------------- 2. exactness


@both
@each_inherited
@given(rig=rigs(poses=ALL_POSES), muted=st.booleans())
def test_the_parts_make_the_pose_again(subject: Subject, inherited: tps.AnyInherited, rig: Rig, muted: bool) -> None:
    flags = flags_of(rig.seed, len(rig.parents)) if muted else {}
    s = subject.separate(rig, inherited, **flags)
    whole = ref.skinning_matrices(s.world, s.first)
    parts = s.inherited @ s.rigid @ s.nonrigid
    assert largest(parts - whole) <= EXACT * max(rig.size, largest(whole))
    if not muted:
        np.testing.assert_array_equal(s.world, rig.world)


@both
@each_inherited
@given(rig=rigs(poses=ALL_POSES), muted=st.booleans())
def test_the_rigid_part_is_rigid(subject: Subject, inherited: tps.AnyInherited, rig: Rig, muted: bool) -> None:
    s = subject.separate(rig, inherited, **(flags_of(rig.seed, len(rig.parents)) if muted else {}))
    turn = ref.lin(s.rigid)
    assert largest(turn @ turn.transpose(0, 2, 1) - np.eye(3)) <= 1e-12
    assert (np.linalg.det(turn) > 0).all()
    np.testing.assert_array_equal(s.rigid[:, 3], np.broadcast_to([0, 0, 0, 1], (len(turn), 4)))


@both
@each_inherited
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(2, 6))
def test_exact_below_inherited_scales_of_condition_a_million(
    subject: Subject, inherited: tps.AnyInherited, seed: int, count: int
) -> None:
    rng = np.random.default_rng(seed)
    rig = make_rig(seed, count=count, topology="chain", edges="inheriting", pose="rigid")
    user = ref.user_local(rig.world, ref.bind_local(rig.bind, rig.parents), rig.parents)
    user[0] = user[0] @ ref.affine(rotation(rng) @ np.diag([1e3, 1.0, 1e-3]) @ rotation(rng))
    world = ref.pose_world(ref.bind_local(rig.bind, rig.parents), user, rig.parents)
    s = subject.separate(replace(rig, world=world), inherited)
    whole = ref.skinning_matrices(world, rig.bind)
    assert largest(s.inherited @ s.rigid @ s.nonrigid - whole) <= EXACT * largest(whole, ref.org(world))
    turn = ref.lin(s.rigid)
    assert largest(turn @ turn.transpose(0, 2, 1) - np.eye(3)) <= 1e-12


@both
@each_inherited
@given(rig=rigs(poses=ALL_POSES))
def test_a_vertex_on_one_joint_lands_where_the_joint_takes_it(
    subject: Subject, inherited: tps.AnyInherited, rig: Rig
) -> None:
    rig = one_joint_each(rig)
    whole = ref.skinning_matrices(rig.world, rig.bind)[rig.weights.argmax(axis=1)]
    expected = ref.deform(whole, rig.points)
    for method in METHODS:
        actual = subject.positions(rig, method, inherited)
        tolerance.assert_within(actual, expected, subject.bound(rig, method, inherited) + 1e-12 * rig.size, method)


# ---------------------------------------------------------------- 3. no scale


@both
@each_inherited
@given(rig=rigs(poses=("rigid",), binds=("rigid",)))
def test_without_scale_two_phase_is_dual_quaternion_skinning(
    subject: Subject, inherited: tps.AnyInherited, rig: Rig
) -> None:
    two_phase = subject.positions(rig, "two_phase", inherited)
    dual_quaternion = subject.positions(rig, "dual_quaternion", inherited)
    bound = subject.bound(rig, "two_phase", inherited) + subject.bound(rig, "dual_quaternion", inherited)
    tolerance.assert_within(two_phase, dual_quaternion, bound + 1e-12 * rig.size, "two_phase against dual_quaternion")


# ---------------------------------------------------------------- 5. the seed's claim


@both
@given(rig=rigs(binds=("rigid",), edges=("compensating",)), uniform=rigs(poses=("uniform",), binds=("rigid",)))
def test_before_is_the_claim_where_the_rest_is_rigid(subject: Subject, rig: Rig, uniform: Rig) -> None:
    for case in (replace(rig, world=compensated_pose(rig)), uniform):
        s = subject.separate(case, "before")
        local = ref.bind_local(case.bind, case.parents)
        n = s.nonrigid_part
        m = np.zeros_like(case.bind)
        for j in ref.parents_first(case.parents):
            p = case.parents[j]
            if p < 0:
                m[j] = case.bind[j]
            elif case.inherits[j]:
                m[j] = m[p] @ n[p] @ local[j]
            else:
                m[j] = m[p] @ ref.affine(ref.lin(local[j]), ref.lin(n[p]) @ ref.org(local[j]))
        p_claim = m @ n @ np.linalg.inv(case.bind)
        scale = max(case.size, largest(m, p_claim))
        assert largest(s.second - m) <= EXACT * scale
        assert largest(s.nonrigid - p_claim) <= EXACT * scale


def compensated_pose(rig: Rig) -> Array:
    """The rig's own pose where it is one of a compensating rig without offsets: turned and scaled about each head."""
    rng = np.random.default_rng(rig.seed)
    local = ref.bind_local(rig.bind, rig.parents)
    world, frame = np.zeros_like(rig.bind), np.zeros_like(rig.bind)
    for j in ref.parents_first(rig.parents):
        base = ref.base_frame(j, rig.parents, rig.inherits, local, world, frame)
        frame[j] = base @ ref.affine(rotation(rng))
        world[j] = frame[j] @ ref.affine(np.diag(rng.uniform(0.6, 1.6, 3)))
    return world


@both
@given(rig=rigs(edges=("compensating",), binds=("rigid",)))
def test_before_and_after_agree_on_compensating_chains(subject: Subject, rig: Rig) -> None:
    before, after = subject.separate(rig, "before"), subject.separate(rig, "after")
    for name in ("second", "nonrigid", "rigid"):
        a, b = getattr(before, name), getattr(after, name)
        assert largest(a - b) <= EXACT * max(rig.size, largest(a)), name
    assert largest(after.inherited - np.eye(4)) <= EXACT
    np.testing.assert_array_equal(before.inherited, np.broadcast_to(np.eye(4), before.inherited.shape))


# ---------------------------------------------------------------- 6. phase 2 is rigid; heads


@both
@each_inherited
@given(rig=rigs(poses=ALL_POSES))
def test_vertices_with_equal_weights_keep_their_distances_in_phase_2(
    subject: Subject, inherited: tps.AnyInherited, rig: Rig
) -> None:
    rig = replace(rig, weights=np.repeat(rig.weights[:10], 4, axis=0))
    one = subject.positions(rig, "two_phase", inherited, phase=1).reshape(10, 4, 3)
    two = subject.positions(rig, "two_phase", inherited, phase=2).reshape(10, 4, 3)
    allowed = subject.bound(rig, "two_phase", inherited, phase=1) + subject.bound(rig, "two_phase", inherited, phase=2)
    distances = [np.linalg.norm(x[:, :, None] - x[:, None], axis=-1) for x in (one, two)]
    bound = 2 * np.sqrt(3) * allowed.reshape(10, 4).max(axis=1)  # two ends, each off in three coordinates
    assert (np.abs(distances[0] - distances[1]).max(axis=(1, 2)) <= bound + 1e-12 * rig.size).all()


@both
@given(rig=rigs(edges=("compensating",), binds=("rigid",)))
def test_on_compensating_chains_the_bent_intermediate_shape_is_the_result(subject: Subject, rig: Rig) -> None:
    bent, final = subject.positions(rig, phase=2), subject.positions(rig)
    tolerance.assert_within(final, bent, subject.bound(rig) + 1e-12 * rig.size, "phase 2 against the result")


@both
@each_inherited
@given(rig=rigs(poses=ALL_POSES), still=st.booleans())
def test_heads_do_not_break(subject: Subject, inherited: tps.AnyInherited, rig: Rig, still: bool) -> None:
    if still:  # no joint has a translation of its own: t' = 0
        rig = replace(rig, world=without_offsets(rig))
    s = subject.separate(rig, inherited)
    regular = not any(ref.is_singular(ref.lin(m)) for m in (*rig.world, *rig.separate(inherited).frame))
    for j, p in enumerate(rig.parents):
        if p < 0:
            continue
        scale = max(rig.size, largest(s.nonrigid, s.rigid, s.inherited, ref.skinning_matrices(s.world, s.first)))
        head = ref.org(s.first[j])
        own, parents = (ref.apply(s.nonrigid[k], head) for k in (j, p))
        assert largest(own - parents) <= EXACT * scale, f"P, joint {j}"
        bent, parents = ref.apply(s.rigid[j], own), ref.apply(s.rigid[p], own)
        if still:
            assert largest(bent - parents) <= EXACT * scale, f"Q, joint {j}"
        if regular and (still or rig.inherits[j]):
            own, parents = (ref.apply(s.inherited[k], bent) for k in (j, p))
            assert largest(own - parents) <= EXACT * scale, f"E, joint {j}"


def without_offsets(rig: Rig) -> Array:
    """The pose with every t' taken out, by the same recursion that would put it in."""
    local = ref.bind_local(rig.bind, rig.parents)
    parts = ref.user_parts(rig.parents, rig.inherits, local, rig.world)
    world, frame = np.zeros_like(local), np.zeros_like(local)
    for j in ref.parents_first(rig.parents):
        base = ref.base_frame(j, rig.parents, rig.inherits, local, world, frame)
        frame[j] = base @ ref.affine(parts.rotation[j])
        world[j] = frame[j] @ parts.nonrigid[j]
    return world


# ---------------------------------------------------------------- 7. invariance


@both
@each_inherited
@given(rig=rigs())
def test_a_rigid_motion_of_everything_moves_the_result(subject: Subject, inherited: tps.AnyInherited, rig: Rig) -> None:
    motion = rigid_motion(np.random.default_rng(rig.seed), reach=3)
    whole = moved(rig, motion)
    for method in ("two_phase", "linear"):
        expected = ref.deform(motion[None], subject.positions(rig, method, inherited))
        bound = (
            2 * (subject.bound(rig, method, inherited) + subject.bound(whole, method, inherited)) + 1e-12 * whole.size
        )
        tolerance.assert_within(subject.positions(whole, method, inherited), expected, bound, method)


@both
@given(rig=rigs())
def test_dual_quaternion_follows_a_turn_about_the_origin(subject: Subject, rig: Rig) -> None:
    # Its stretch is about the origin of the points' space by definition: no other rigid motion carries it along.
    motion = ref.affine(rotation(np.random.default_rng(rig.seed)))
    whole = moved(rig, motion)
    expected = ref.deform(motion[None], subject.positions(rig, "dual_quaternion"))
    bound = 2 * (subject.bound(rig, "dual_quaternion") + subject.bound(whole, "dual_quaternion")) + 1e-12 * rig.size
    tolerance.assert_within(subject.positions(whole, "dual_quaternion"), expected, bound, "dual_quaternion")


@both
@each_inherited
@given(rig=rigs(poses=ALL_POSES))
def test_the_numbering_of_joints_changes_nothing(subject: Subject, inherited: tps.AnyInherited, rig: Rig) -> None:
    order = np.random.default_rng(rig.seed).permutation(len(rig.parents))
    other = renumbered(rig, order)
    s, t = subject.separate(rig, inherited), subject.separate(other, inherited)
    for name in ("second", "nonrigid_part", "nonrigid", "rigid", "inherited", "world"):
        a, b = getattr(s, name)[order], getattr(t, name)
        assert largest(a - b) <= EXACT * max(1, largest(a)), name
    for method in METHODS:
        bound = 2 * subject.bound(rig, method, inherited) + 1e-12 * rig.size
        expected = subject.positions(rig, method, inherited)
        tolerance.assert_within(subject.positions(other, method, inherited), expected, bound, method)


# ---------------------------------------------------------------- 8. support joints


@both
@each_inherited
@each_method
@given(rig=rigs(poses=ALL_POSES))
def test_leaving_out_joints_that_carry_nothing_changes_nothing(
    subject: Subject, inherited: tps.AnyInherited, method: tps.AnyMethod, rig: Rig
) -> None:
    bare = np.random.default_rng(rig.seed).random(len(rig.parents)) < 0.5
    weights = np.where(bare, 0, rig.weights)
    assume((weights > 0).any())
    rig = replace(rig, weights=weights)
    gone = ~ref.carrying(rig.parents, rig.weighted)
    less = without(rig, gone)
    bound = 2 * subject.bound(rig, method, inherited) + 1e-12 * rig.size
    expected = subject.positions(less, method, inherited)
    tolerance.assert_within(subject.positions(rig, method, inherited), expected, bound, "with against without")


@both
@each_inherited
@given(seed=st.integers(0, 2**32 - 1))
def test_muting_a_scaled_support_joint_changes_the_result(
    subject: Subject, inherited: tps.AnyInherited, seed: int
) -> None:
    rig = make_rig(seed, count=3, topology="chain", edges="inheriting", pose="stretch")
    rig = replace(rig, weights=rig.weights * [0, 1, 1])
    assert ref.support_joints(rig.parents, rig.weighted).tolist() == [True, False, False]
    nonrigid = np.array([False, True, True])
    difference = subject.positions(rig, inherited=inherited) - subject.positions(
        rig, inherited=inherited, nonrigid=nonrigid
    )
    # A scale that differs from 1 by a tenth at least somewhere moves some vertex by more than any rounding.
    scales = np.linalg.svd(ref.lin(rig.separate().nonrigid_part[0]), compute_uv=False)
    assume(np.abs(scales - 1).max() > 0.1)
    assert np.abs(difference).max() > 1e-3


# ---------------------------------------------------------------- 9. no jumps


@both
@each_inherited
@given(rig=rigs(poses=("rigid", "uniform", "stretch", "shear", "free"), most_joints=5), muted=st.booleans())
def test_a_small_change_of_the_pose_is_a_small_change_of_the_result(
    subject: Subject, inherited: tps.AnyInherited, rig: Rig, muted: bool
) -> None:
    rng = np.random.default_rng(rig.seed)
    step = 1e-6
    world = rig.world.copy()
    world[:, :3] += step * rng.uniform(-1, 1, world[:, :3].shape)
    near = replace(rig, world=world)
    flags: dict[str, Any] = flags_of(rig.seed, len(rig.parents)) if muted else {}
    s, t = (subject.separate(r, inherited, **flags) for r in (rig, near))
    # "The same order": a chain of five joints with scales from 0.6 divides by 0.6**5 at most, about 13; the rotations
    # and their blends add their own small factors. A jump would be some 1e5 steps.
    for name in ("second", "nonrigid_part", "nonrigid", "rigid", "inherited", "world"):
        a, b = getattr(s, name), getattr(t, name)
        assert largest(a - b) <= 100 * step * max(rig.size, largest(a)), name
    skin = skin_separation(rig, inherited, **flags)
    blend = ref.blend_rigid(rig.normalised, skin.rigid)
    away = blend.nearest_dot > 0.1
    difference = np.abs(
        subject.positions(rig, inherited=inherited, **flags) - subject.positions(near, inherited=inherited, **flags)
    )
    bound = 100 * step * rig.size + 2 * subject.bound(rig, inherited=inherited, **flags)
    assert (difference.max(axis=1) <= bound)[away].all()


@given(rig=rigs(edges=("inheriting",), poses=("rigid",)))
def test_leaving_out_the_last_phase_is_not_a_jump(rig: Rig) -> None:
    """The inherited part is left out where it is 1 to 1e-12 for every joint: on both sides of that, the same result."""
    local = ref.bind_local(rig.bind, rig.parents)
    user = ref.user_local(rig.world, local, rig.parents)
    product = Product()
    results = []
    for scale in (0, 1e-13, 1e-11, 1e-9):
        scaled = user @ ref.affine(np.diag([1 + scale, 1, 1]))
        results.append(product.positions(replace(rig, world=ref.pose_world(local, scaled, rig.parents))))
    bound = 2 * product.bound(rig) + 100 * 1e-9 * rig.size
    for other in results[1:]:
        tolerance.assert_within(other, results[0], bound, "with a scale of almost 1")
