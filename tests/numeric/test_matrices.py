"""Each vertex's whole deformation as one matrix: against the reference, and against what deform does."""

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
from test_deform import well_defined

import two_phase_skinning as tps

Array = NDArray[np.float64]


def homogeneous(matrices: Array) -> Array:
    """(V,3,4) with the row 0 0 0 1."""
    return np.concatenate([matrices, np.broadcast_to([0.0, 0, 0, 1], (len(matrices), 1, 4))], axis=1)


@each_method
@each_inherited
@given(rig=rigs(poses=ALL_POSES))
def test_matrices(method: tps.AnyMethod, inherited: tps.AnyInherited, rig: Rig) -> None:
    s = skin_separation(rig, inherited)
    expected = ref.vertex_matrices(s, rig.normalised, method)
    bound = tolerance.bounds(rig, s, method)
    actual = skin_of(rig).matrices(rig.world, method=method, inherited=inherited)
    assert actual.dtype == np.float32 and actual.shape == (len(rig.points), 3, 4)
    good = well_defined(rig, s, method)
    tolerance.assert_within(actual[good, :, :3], ref.lin(expected)[good], bound.linear[good], f"{method}, linear part")
    tolerance.assert_within(
        actual[good, :, 3], ref.org(expected)[good], bound.translation[good], f"{method}, translation"
    )


@each_method
@given(rig=rigs(poses=ALL_POSES))
def test_matrices_move_the_points_as_deform_does(method: tps.AnyMethod, rig: Rig) -> None:
    skin = skin_of(rig)
    matrices = skin.matrices(rig.world, method=method).astype(np.float64)
    by_matrix = ref.deform(homogeneous(matrices), rig.points)
    bound = tolerance.bounds(rig, skin_separation(rig), method)
    reach = np.linalg.norm(rig.points, axis=1)
    allowed = bound.position + bound.translation + bound.linear * reach
    tolerance.assert_within(skin.deform(rig.world, method=method), by_matrix, allowed, method)


@each_method
@given(rig=rigs())
def test_inverse_matrices_carry_an_edit_back_to_rest(method: tps.AnyMethod, rig: Rig) -> None:
    skin = skin_of(rig)
    s = skin_separation(rig)
    forth = ref.vertex_matrices(s, rig.normalised, method)
    conditions = np.linalg.cond(ref.lin(forth))
    good = well_defined(rig, s, method) & (conditions < 100)
    back = skin.inverse_matrices(rig.world, method=method)
    assert back.dtype == np.float32 and back.shape == (len(rig.points), 3, 4)
    expected = np.linalg.inv(forth)
    # An inverse is off by |A^-1|^2 times what the matrix is off by.
    bound = tolerance.bounds(rig, s, method)
    size = np.linalg.norm(ref.lin(expected), axis=(1, 2))
    linear = 2 * size**2 * bound.linear + 8 * tolerance.U32 * size
    place = np.linalg.norm(ref.org(forth), axis=1)
    translation = linear * place + size * bound.translation + 8 * tolerance.U32 * (size * place)
    tolerance.assert_within(back[good, :, :3], ref.lin(expected)[good], linear[good], "linear part")
    tolerance.assert_within(back[good, :, 3], ref.org(expected)[good], translation[good] + 1e-6, "translation")


@each_method
def test_the_inverse_of_a_flat_deformation_is_its_pseudo_inverse(method: tps.AnyMethod) -> None:
    points = np.random.default_rng(0).normal(size=(6, 3))
    linear = np.diag([2.0, 1, 0])
    world = np.array([ref.affine(linear, np.array([1.0, 2, 3]))])
    rig = Rig(np.array([-1]), np.eye(4)[None], np.array([True]), world, points, points, np.ones((6, 1)), "given", 0)
    back = homogeneous(skin_of(rig).inverse_matrices(world, method=method).astype(np.float64))
    np.testing.assert_allclose(ref.lin(back), np.broadcast_to(np.diag([0.5, 1, 0]), (6, 3, 3)), rtol=0, atol=1e-6)
    # A posed point that is moved in the plane comes back as far as the plane knows.
    posed = ref.deform(world, points)
    np.testing.assert_allclose(ref.deform(back, posed)[:, :2], points[:, :2], rtol=0, atol=1e-5)


@each_method
def test_a_vertex_without_weights_has_the_identity(method: tps.AnyMethod) -> None:
    rig = make_rig(1)
    loose = rig.weights.sum(axis=1) == 0
    skin = skin_of(rig)
    for matrices in (skin.matrices(rig.world, method=method), skin.inverse_matrices(rig.world, method=method)):
        np.testing.assert_array_equal(matrices[loose], np.eye(4)[None, :3])


@pytest.mark.parametrize("phase", [1, 2])
def test_phases(phase: int) -> None:
    rig = make_rig(8, edges="inheriting")
    s = skin_separation(rig)
    expected = ref.vertex_matrices(s, rig.normalised, "two_phase", phase)
    bound = tolerance.bounds(rig, s, "two_phase", phase)
    actual = skin_of(rig).matrices(rig.world, phase=phase)
    tolerance.assert_within(actual[:, :, :3], ref.lin(expected), bound.linear, "linear part")
    tolerance.assert_within(actual[:, :, 3], ref.org(expected), bound.translation, "translation")


@each_method
@given(rig=rigs())
def test_space(method: tps.AnyMethod, rig: Rig) -> None:
    space = ref.affine(np.diag([0.5, 2, 1]), np.array([0.3, -0.2, 0.1]))
    s = skin_separation(rig)
    expected = ref.vertex_matrices(s, rig.normalised, method, space=space)
    placed = replace(rig, points=ref.deform(np.linalg.inv(space)[None], rig.points))
    actual = skin_of(placed).matrices(rig.world, method=method, space=space)
    bound = tolerance.bounds(rig, s, method)
    # S^-1 A S: |S^-1| |S| is below 6; the translation also takes A's linear error times the origin of S.
    good = well_defined(rig, s, method)
    tolerance.assert_within(actual[good, :, :3], ref.lin(expected)[good], 6 * bound.linear[good], "linear part")
    tolerance.assert_within(actual[good, :, 3], ref.org(expected)[good], 12 * bound.translation[good], "translation")
