"""Deformed normals against the reference: unit length, inverse transposes, mirrors, blends that are singular."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import reference as ref
import tolerance
from hypothesis import given
from numpy.typing import NDArray
from rigs import ALL_POSES, Rig, make_rig, rigs
from subjects import each_inherited, each_method, skin_of, skin_separation
from test_deform import random_space, well_defined

import two_phase_skinning as tps

Array = NDArray[np.float64]


def compare(rig: Rig, method: tps.AnyMethod, inherited: tps.AnyInherited, phase: int | None = None) -> None:
    s = skin_separation(rig, inherited)
    expected = ref.deform_normals(ref.normal_matrices(s, rig.normalised, method, phase), rig.normals)
    bound, certain = tolerance.normal_bounds(rig, s, method, phase)
    actual = skin_of(rig, normals=rig.normals).deform_normals(
        rig.world, method=method, inherited=inherited, phase=phase
    )
    assert actual.dtype == np.float32 and actual.shape == rig.normals.shape
    np.testing.assert_allclose(np.linalg.norm(actual.astype(np.float64), axis=1), 1, rtol=0, atol=1e-6)
    # A determinant that is zero but for rounding has either sign.
    flipped = np.logical_not(certain) & ((actual * expected).sum(axis=1) < 0)
    expected[flipped] *= -1
    good = well_defined(rig, s, method)
    tolerance.assert_within(actual[good], expected[good], bound[good], method)


@each_method
@each_inherited
@given(rig=rigs(poses=ALL_POSES))
def test_normals(method: tps.AnyMethod, inherited: tps.AnyInherited, rig: Rig) -> None:
    compare(rig, method, inherited)


@pytest.mark.parametrize("method", ["two_phase", "dual_quaternion"])
@pytest.mark.parametrize("phase", [1, 2])
@given(rig=rigs(poses=ALL_POSES))
def test_phases(method: tps.AnyMethod, phase: int, rig: Rig) -> None:
    compare(rig, method, "after", phase)


@each_method
@given(rig=rigs())
def test_on_one_joint_it_is_the_inverse_transpose(method: tps.AnyMethod, rig: Rig) -> None:
    """The surface's tangents and its normal stay at a right angle."""
    rig = replace(rig, weights=np.eye(len(rig.parents))[rig.weights.argmax(axis=1)])
    whole = ref.lin(ref.skinning_matrices(rig.world, rig.bind))[rig.weights.argmax(axis=1)]
    expected = np.einsum("vba,vb->va", np.linalg.inv(whole), rig.normals)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    bound, _ = tolerance.normal_bounds(rig, skin_separation(rig), method)
    actual = skin_of(rig, normals=rig.normals).deform_normals(rig.world, method=method)
    tolerance.assert_within(actual, expected, bound, method)


@each_method
@given(rig=rigs())
def test_blend(method: tps.AnyMethod, rig: Rig) -> None:
    blend = np.random.default_rng(rig.seed).random(len(rig.points)).astype(np.float32).astype(np.float64)
    s = skin_separation(rig)
    linear = ref.lin(ref.vertex_matrices(s, rig.normalised, method, blend=blend))
    expected = ref.deform_normals(ref.normal_matrices(s, rig.normalised, method, blend=blend), rig.normals)
    # The blended 3x3's error, twice through its cofactors (products of two entries), over the normal's length.
    entry = tolerance.bounds(rig, s, method).linear + tolerance.bounds(rig, s, "linear").linear
    size = np.linalg.norm(linear, axis=(1, 2))
    moved = np.einsum("vab,vb->va", ref.signed_cofactor(linear), rig.normals)
    bound = 8 * size * (entry + 4 * tolerance.U32 * size) / np.linalg.norm(moved, axis=1) + 4 * tolerance.U32
    certain = np.abs(np.linalg.det(linear)) > 6 * size**2 * entry
    good = well_defined(rig, s, method) & certain.astype(bool)
    assert good.any()
    actual = skin_of(rig, normals=rig.normals).deform_normals(rig.world, method=method, blend=blend)
    tolerance.assert_within(actual[good], expected[good], bound[good], f"{method}, blend")


@each_method
@given(rig=rigs())
def test_space(method: tps.AnyMethod, rig: Rig) -> None:
    rng = np.random.default_rng(rig.seed)
    space = random_space(rng)
    s = skin_separation(rig)
    placed = replace(rig, points=ref.deform(np.linalg.inv(space)[None], rig.points))
    expected = ref.deform_normals(ref.normal_matrices(s, rig.normalised, method, space=space), rig.normals)
    bound, certain = tolerance.normal_bounds(rig, s, method)
    # In and out of the space: two more inverse transposes, each with its condition.
    bound = bound * np.linalg.cond(space[:3, :3]) ** 2 * 4
    good = well_defined(rig, s, method) & certain.astype(bool)
    actual = skin_of(placed, normals=rig.normals).deform_normals(rig.world, method=method, space=space)
    tolerance.assert_within(actual[good], expected[good], bound[good], f"{method} in a space")


@each_method
def test_a_mirrored_joint_keeps_normals_outside(method: tps.AnyMethod) -> None:
    """A sphere mirrored along x is a sphere: its normals must still point outwards."""
    rng = np.random.default_rng(0)
    normals = rng.normal(size=(50, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    world = np.array([np.diag([-1.0, 1, 1, 1])])
    rig = one_joint(normals, normals, world)
    skin = skin_of(rig, normals=normals)
    points, turned = skin.deform(world, method=method), skin.deform_normals(world, method=method)
    np.testing.assert_allclose(turned, points, rtol=0, atol=1e-6)


def one_joint(points: Array, normals: Array, world: Array) -> Rig:
    ones = np.ones((len(points), 1))
    return Rig(np.array([-1]), np.eye(4)[None], np.array([True]), world, points, normals, ones, "given", 0)


@each_method
@pytest.mark.parametrize("inherited", ["before", "after"])
def test_a_flattened_surface_has_the_normal_of_the_plane(method: tps.AnyMethod, inherited: tps.AnyInherited) -> None:
    """Zero scale along z: the cofactors are defined, all normals become +z or -z, as they were; sgn 0 = +1."""
    normals = np.array([[0.6, 0, 0.8], [0.6, 0, -0.8], [0, 0, 1], [0, 0.8, -0.6]])
    world = np.array([np.diag([1.0, 1, 0, 1])])
    skin = skin_of(one_joint(normals, normals, world), normals=normals)
    actual = skin.deform_normals(world, method=method, inherited=inherited)
    np.testing.assert_allclose(actual, np.sign(normals[:, 2:]) * [[0, 0, 1]], rtol=0, atol=1e-6)


@each_method
@pytest.mark.parametrize("kept", [(0, 0, 0), (1, 0, 0)])
def test_a_normal_that_is_sent_to_zero_keeps_its_rest_direction(
    method: tps.AnyMethod, kept: tuple[int, int, int]
) -> None:
    normals = np.array([[0.6, 0, 0.8], [0, 1, 0]])
    world = np.array([ref.affine(np.diag(np.array(kept, float)))])
    skin = skin_of(one_joint(normals, normals, world), normals=normals)
    np.testing.assert_allclose(skin.deform_normals(world, method=method), normals, rtol=0, atol=1e-6)


@each_method
def test_a_vertex_without_weights_keeps_its_normal(method: tps.AnyMethod) -> None:
    rig = make_rig(2, pose="stretch")
    loose = rig.weights.sum(axis=1) == 0
    actual = skin_of(rig, normals=rig.normals).deform_normals(rig.world, method=method)
    np.testing.assert_allclose(actual[loose], rig.normals[loose], rtol=0, atol=4 * tolerance.U32)


@each_method
def test_the_length_of_the_given_normals_does_not_matter(method: tps.AnyMethod) -> None:
    rig = make_rig(2)
    one = skin_of(rig, normals=rig.normals).deform_normals(rig.world, method=method)
    other = skin_of(rig, normals=4 * rig.normals).deform_normals(rig.world, method=method)
    np.testing.assert_allclose(one, other, rtol=0, atol=16 * tolerance.U32)
