"""The separation into non-rigid, rigid and inherited parts, against the reference: 1e-10 of the rig's size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import reference as ref
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from rigs import ALL_POSES, EDGES, Rig, make_rig, rigs, rotation
from subjects import FIELDS, each_inherited, skeleton_of

import two_phase_skinning as tps

Array = NDArray[np.float64]


def assert_same(actual: tps.Separation, expected: ref.Separation, rig: Rig) -> None:
    for name in FIELDS:
        a, b = getattr(actual, name), getattr(expected, name)
        assert a.dtype == np.float64 and a.shape == b.shape, name
        scale = max(rig.size, np.abs(b).max())
        assert np.abs(a - b).max() <= 1e-10 * scale, (name, np.abs(a - b).max())


@each_inherited
@pytest.mark.parametrize("edges", EDGES)
@given(rig=rigs(poses=ALL_POSES))
def test_every_field(inherited: tps.AnyInherited, edges: str, rig: Rig) -> None:
    chance = {"inheriting": 1.0, "compensating": 0.0, "mixed": 0.5}[edges]
    rig = replace(rig, inherits=np.random.default_rng(rig.seed).random(len(rig.parents)) < chance)
    assert_same(skeleton_of(rig).separate(rig.world, inherited=inherited), rig.separate(inherited), rig)


@each_inherited
@given(rig=rigs(poses=ALL_POSES), which=st.sampled_from(["weighted", "nonrigid", "rigid", "all"]))
def test_association_flags(inherited: tps.AnyInherited, rig: Rig, which: str) -> None:
    rng = np.random.default_rng(rig.seed)
    names = ("weighted", "nonrigid", "rigid")
    flags = {name: rng.random(len(rig.parents)) < 0.6 for name in names if which in (name, "all")}
    actual = skeleton_of(rig).separate(rig.world, inherited=inherited, **flags)
    assert_same(actual, rig.separate(inherited, **flags), rig)


@each_inherited
@given(rig=rigs(poses=ALL_POSES))
def test_joints_that_carry_nothing_are_left_out(inherited: tps.AnyInherited, rig: Rig) -> None:
    weighted = np.random.default_rng(rig.seed).random(len(rig.parents)) < 0.3
    s = skeleton_of(rig).separate(rig.world, inherited=inherited, weighted=weighted)
    gone = ~ref.carrying(rig.parents, weighted)
    identity = np.broadcast_to(np.eye(4), rig.bind.shape)
    for name, expected in [
        ("first", rig.bind),
        ("second", rig.bind),
        ("nonrigid_part", identity),
        ("rigid", identity),
        ("inherited", identity),
        ("world", rig.world),
    ]:
        np.testing.assert_array_equal(getattr(s, name)[gone], expected[gone], err_msg=name)
    whole = ref.skinning_matrices(rig.world, rig.bind)
    np.testing.assert_allclose(s.nonrigid[gone], whole[gone], rtol=0, atol=1e-12 * max(1, np.abs(whole).max()))


def inheriting_below(rig: Rig) -> NDArray[np.bool_]:
    """Joints that inherit, at random, and all joints below them."""
    inherits = np.random.default_rng(rig.seed).random(len(rig.parents)) < 0.4
    for j in ref.parents_first(rig.parents):
        inherits[j] |= rig.parents[j] >= 0 and inherits[rig.parents[j]]
    return inherits


@pytest.mark.parametrize("edges", ["inheriting", "compensating", "inheriting below"])
@given(rig=rigs(binds=("rigid",)), weighted=st.booleans())
def test_an_irregular_joint_elsewhere_changes_nothing(edges: str, rig: Rig, weighted: bool) -> None:
    """A mirrored root of its own: without it, regular poses of rigid binds are separated by closed forms."""
    chances = {"inheriting": np.ones(len(rig.parents), bool), "compensating": np.zeros(len(rig.parents), bool)}
    rig = replace(rig, inherits=chances.get(edges, inheriting_below(rig)))
    mirrored = replace(
        rig,
        parents=np.append(rig.parents, -1),
        bind=np.append(rig.bind, np.eye(4)[None], axis=0),
        inherits=np.append(rig.inherits, False),
        world=np.append(rig.world, np.diag([1.0, -2, 3, 1])[None], axis=0),
    )
    flags = {"weighted": np.random.default_rng(rig.seed).random(len(rig.parents)) < 0.6} if weighted else {}
    more_flags = {name: np.append(flag, True) for name, flag in flags.items()}
    for inherited in ("after", "before"):
        expected = rig.separate(inherited, **flags)
        assert_same(skeleton_of(rig).separate(rig.world, inherited=inherited, **flags), expected, rig)
        among = skeleton_of(mirrored).separate(mirrored.world, inherited=inherited, **more_flags)
        for name in FIELDS:
            a, b = getattr(among, name)[:-1], getattr(expected, name)
            assert np.abs(a - b).max() <= 1e-10 * max(rig.size, np.abs(b).max()), name


@given(rig=rigs())
def test_support_joints(rig: Rig) -> None:
    weighted = np.random.default_rng(rig.seed).random(len(rig.parents)) < 0.4
    support = skeleton_of(rig).support_joints(weighted)
    assert support.dtype == bool
    np.testing.assert_array_equal(support, ref.support_joints(rig.parents, weighted))


@each_inherited
@given(rig=rigs())
def test_compensating_is_the_edges_of_the_parents(inherited: tps.AnyInherited, rig: Rig) -> None:
    compensating = np.random.default_rng(rig.seed).random(len(rig.parents)) < 0.5
    inherits = ref.edges(rig.parents, compensating, None)
    by_joint = tps.Skeleton(rig.parents, rig.bind, compensating=compensating)
    by_edge = tps.Skeleton(rig.parents, rig.bind, inherits=inherits)
    for name in FIELDS:
        a, b = (getattr(s.separate(rig.world, inherited=inherited), name) for s in (by_joint, by_edge))
        np.testing.assert_array_equal(a, b, err_msg=name)


@each_inherited
@given(rig=rigs())
def test_without_masks_every_joint_inherits(inherited: tps.AnyInherited, rig: Rig) -> None:
    plain = tps.Skeleton(rig.parents, rig.bind)
    inheriting = tps.Skeleton(rig.parents, rig.bind, inherits=np.ones(len(rig.parents), bool))
    for name in FIELDS:
        a, b = (getattr(s.separate(rig.world, inherited=inherited), name) for s in (plain, inheriting))
        np.testing.assert_array_equal(a, b, err_msg=name)


@each_inherited
@given(rig=rigs(poses=ALL_POSES))
def test_an_edge_to_a_root_means_nothing(inherited: tps.AnyInherited, rig: Rig) -> None:
    roots = rig.parents < 0
    for name in FIELDS:
        a, b = (
            getattr(skeleton_of(replace(rig, inherits=flags)).separate(rig.world, inherited=inherited), name)
            for flags in (rig.inherits | roots, rig.inherits & ~roots)
        )
        np.testing.assert_array_equal(a, b, err_msg=name)


# What a rule decides, one small case each: a single root joint at the origin, so that x = W.
SQRT_HALF = np.sqrt(0.5)
RULES = {
    "mirror x": np.diag([-1.0, 2, 3]),
    "mirror y": np.diag([1.0, -2, 3]),
    "mirror z": np.diag([1.0, 2, -3]),
    "mirror all": np.diag([-1.0, -2, -3]),
    "mirrored half turn, a tie": np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 1]]),
    "flat": np.diag([1.0, 0, 2]),
    "flat and mirrored-looking": np.diag([-1.0, 0, 2]),
    "flat, both negative": np.diag([-1.0, 0, -2]),
    "a line along x, reversed": np.diag([-1.0, 0, 0]),
    "a line turned": np.array([[0.0, 0, 0], [2, 0, 0], [0, 0, 0]]),
    "a line onto a diagonal": np.array([[SQRT_HALF, 0, 0], [SQRT_HALF, 0, 0], [0, 0, 0]]),
    "a point": np.zeros((3, 3)),
    "nearly flat, still regular": np.diag([1.0, 1, 1e-7]),
    "nearly flat and singular": np.diag([1.0, 1, 1e-10]),
    "nearly flat, regular and mirrored": np.diag([1.0, 1, -1e-7]),
    "nearly flat, singular, so not mirrored": np.diag([1.0, 1, -1e-10]),
}


@each_inherited
@pytest.mark.parametrize("rule", [name for name in RULES if name != "a line along x, reversed"])
def test_rules_for_mirrored_and_singular_transforms(inherited: tps.AnyInherited, rule: str) -> None:
    world = np.array([ref.affine(RULES[rule], np.array([1.0, 2, 3]))])
    expected = ref.separate(np.array([-1]), np.eye(4)[None], np.array([True]), world, inherited)
    actual = tps.Skeleton([-1], np.eye(4)[None]).separate(world, inherited=inherited)
    for name in FIELDS:
        np.testing.assert_allclose(getattr(actual, name), getattr(expected, name), rtol=0, atol=1e-12, err_msg=name)


@each_inherited
def test_a_reversed_line_turns_by_180_degrees_about_any_axis_across(inherited: tps.AnyInherited) -> None:
    """The one place where the nearest rotation is not unique either: every choice must still be one of the best."""
    world = np.array([ref.affine(RULES["a line along x, reversed"])])
    s = tps.Skeleton([-1], np.eye(4)[None]).separate(world, inherited=inherited)
    q = s.rigid[0, :3, :3]
    np.testing.assert_allclose(q @ q.T, np.eye(3), rtol=0, atol=1e-14)
    np.testing.assert_allclose(q @ [1, 0, 0], [-1, 0, 0], rtol=0, atol=1e-14)
    np.testing.assert_allclose(np.trace(q), -1, rtol=0, atol=1e-14)
    np.testing.assert_allclose((s.inherited @ s.rigid @ s.nonrigid)[0], world[0], rtol=0, atol=1e-14)


def with_rule(seed: int, edges: str, rule: str) -> Rig:
    """A chain of four posed joints, one of the upper three with the rule's matrix for its own transform."""
    rig = make_rig(seed, count=4, topology="chain", edges=edges, pose="stretch")
    local = ref.bind_local(rig.bind, rig.parents)
    user = ref.user_local(rig.world, local, rig.parents)
    # A slight turn first: a line that is reversed exactly has no nearest rotation.
    matrix = RULES[rule] @ rotation(np.random.default_rng(seed), 0.5)
    user[seed % 3] = ref.affine(matrix, ref.org(user[seed % 3]))
    return replace(rig, world=ref.pose_world(local, user, rig.parents))


@each_inherited
@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("rule", [name for name in RULES if not name.startswith("nearly")])
def test_the_rules_above_other_joints(inherited: tps.AnyInherited, edges: str, rule: str) -> None:
    for seed in range(5):
        rig = with_rule(seed, edges, rule)
        assert_same(skeleton_of(rig).separate(rig.world, inherited=inherited), rig.separate(inherited), rig)


@each_inherited
@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("rule", [name for name in RULES if name.startswith("nearly")])
def test_nearly_singular_joints_above_others_are_still_exact(
    inherited: tps.AnyInherited, edges: str, rule: str
) -> None:
    """Here the parts themselves amplify rounding by 1e7 to 1e10; what they make together must still be the pose."""
    for seed in range(5):
        rig = with_rule(seed, edges, rule)
        s = skeleton_of(rig).separate(rig.world, inherited=inherited)
        whole = ref.skinning_matrices(s.world, s.first)
        turn = ref.lin(s.rigid)
        assert np.abs(turn @ turn.transpose(0, 2, 1) - np.eye(3)).max() <= 1e-12
        assert np.isfinite(s.nonrigid).all() and np.isfinite(s.inherited).all()
        # Undoing a scale of condition 1e10 multiplies roundings of 1e-16, a handful of them, by that much.
        assert np.abs(s.inherited @ s.rigid @ s.nonrigid - whole).max() <= 1e-5 * max(rig.size, np.abs(whole).max())


@each_inherited
def test_repeating_a_call_gives_the_same_bits_and_leaves_its_inputs(inherited: tps.AnyInherited) -> None:
    rig = make_rig(5)
    world = rig.world.copy()
    skeleton = skeleton_of(rig)
    one, two = skeleton.separate(world, inherited=inherited), skeleton.separate(world, inherited=inherited)
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_array_equal(world, rig.world)
