"""UsdSkel's rules as a choice, with OpenUSD itself for a judge: normals by the joints, weights as they are given."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
import reference as ref
import tolerance
from hypothesis import given
from rigs import REGULAR_POSES, Rig, make_rig, rigs
from subjects import skeleton_of, skin_of, skin_separation
from test_deform import well_defined
from test_judges_openusd import usd_normals, usd_points

import two_phase_skinning as tps


@given(rig=rigs(poses=REGULAR_POSES))
def test_linear_normals_by_the_joints_are_openusds(rig: Rig) -> None:
    held = rig.weights.sum(axis=1) > 0
    actual = skin_of(rig, normals=rig.normals).deform_normals(rig.world, "linear", rule="joints")
    # float32 sums, divided by a length that may be short
    difference = np.abs(actual - usd_normals(rig, "linear"))[held]
    assert difference.max() < 2e-3 and np.median(difference) < 1e-6


@given(rig=rigs(poses=REGULAR_POSES))
def test_dual_quaternion_normals_by_the_joints(rig: Rig) -> None:
    """By the formula, since OpenUSD takes for the rotation one that is only near to the polar one."""
    held = well_defined(rig, skin_separation(rig), "dual_quaternion") & (rig.weights.sum(axis=1) > 0)
    left, stretch, right = np.linalg.svd(ref.lin(ref.skinning_matrices(rig.world, rig.bind)))
    unstretched = right.transpose(0, 2, 1) / stretch[:, None, :] @ right
    blended = np.einsum("vj,jab,vb->va", rig.normalised, unstretched, rig.normals)
    posed = replace(rig, bind=np.tile(np.eye(4), (len(left), 1, 1)))  # a pose of these rotations alone
    posed.world = posed.bind.copy()
    posed.world[:, :3, :3] = left @ right
    turns = tps.Skin(rig.points, rig.weights, skeleton_of(posed)).matrices(posed.world, "dual_quaternion")[:, :, :3]
    expected = np.einsum("vab,vb->va", turns, blended)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True) + (~held)[:, None]
    actual = skin_of(rig, normals=rig.normals).deform_normals(rig.world, "dual_quaternion", rule="joints")
    difference = np.abs(actual - expected)[held]
    assert not held.any() or (difference.max() < 2e-3 and np.median(difference) < 1e-6)


def test_normals_by_the_joints_far_away_singular_and_by_frames() -> None:
    rig = make_rig(4, pose="shear")
    skin = skin_of(rig, normals=rig.normals)
    near = skin.deform_normals(rig.world, "linear", rule="joints")
    away = replace(rig, points=rig.points + 1e5)
    far = skin_of(away, normals=rig.normals).deform_normals(rig.world, "linear", rule="joints")
    np.testing.assert_array_equal(far, near)
    flat = rig.world @ np.diag([1.0, 1, 0, 1])
    out = np.empty((2, len(skin), 3), np.float32)
    frames = skin.deform_normals(np.array([rig.world, flat]), "linear", rule="joints", out=out, threads=2)
    assert frames is out
    np.testing.assert_array_equal(frames[0], near)
    np.testing.assert_allclose(np.linalg.norm(frames[1], axis=1), 1, atol=1e-6)
    loose = rig.weights.sum(axis=1) == 0
    np.testing.assert_allclose(near[loose], skin.normals[loose], atol=1e-7)  # type: ignore[index]


def test_rules_that_are_refused() -> None:
    rig = make_rig(4)
    skin = skin_of(rig, normals=rig.normals)
    with pytest.raises(ValueError, match=r'^rule: \'usd\'; expected "surface" or "joints"'):
        skin.deform_normals(rig.world, "linear", rule="usd")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r'^rule: "joints" with method "two_phase"; expected "surface"'):
        skin.deform_normals(rig.world, rule="joints")
    with pytest.raises(ValueError, match=r'^space: given together with rule "joints"; expected None'):
        skin.deform_normals(rig.world, "linear", rule="joints", space=np.eye(4))
    with pytest.raises(ValueError, match=r"^normals: None; expected"):
        skin_of(rig).deform_normals(rig.world, "linear", rule="joints")
    np.testing.assert_array_equal(skin.deform_normals(rig.world, rule="surface"), skin.deform_normals(rig.world))


@given(rig=rigs(poses=REGULAR_POSES))
def test_weights_as_they_are_given(rig: Rig) -> None:
    """OpenUSD's sum, which leaves out no factor: each vertex is scaled by its sum, about the origin."""
    skin = tps.Skin(rig.points, rig.weights, skeleton_of(rig), normalise=False)
    matrices = ref.skinning_matrices(rig.world, rig.bind)
    expected = np.einsum("vj,jab,vb->va", rig.weights, matrices, np.c_[rig.points, np.ones(len(rig.points))])[:, :3]
    held = rig.weights.sum(axis=1) > 0
    bound = 1e-5 * rig.size * (1 + rig.weights.sum(axis=1))
    assert (np.abs(usd_points(rig, "linear", rig.weights) - expected).max(axis=1) <= bound).all()
    for each in (skin, pickle.loads(pickle.dumps(skin))):
        assert (np.abs(each.deform(rig.world, "linear") - expected).max(axis=1) <= bound)[held].all()
        offsets = each.deform(rig.world, "linear", offsets=True) + rig.points
        assert (np.abs(offsets - expected).max(axis=1) <= bound)[held].all()
        np.testing.assert_allclose(
            np.add.reduceat(each.weights[2], each.weights[0][:-1][held]), rig.weights.sum(axis=1)[held], rtol=1e-6
        )


def test_what_normalise_may_be() -> None:
    rig = make_rig(1)
    with pytest.raises(TypeError, match=r"^normalise: 1; expected True or False"):
        skin_of(rig, normalise=1)
    sums = rig.normalised
    plain, kept = skin_of(rig, weights=sums), skin_of(rig, weights=sums, normalise=False)
    bound = 2 * tolerance.bounds(rig, skin_separation(rig), "two_phase").position
    tolerance.assert_within(kept.deform(rig.world), plain.deform(rig.world).astype(float), bound, "two_phase")
