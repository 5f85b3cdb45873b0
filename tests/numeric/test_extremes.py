"""Numbers that are finite but very large or very small are still exact: nothing overflows on the way to the parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import reference as ref
from numpy.typing import NDArray
from rigs import Rig, make_rig
from subjects import FIELDS, each_inherited, each_method, skeleton_of, skin_of

import two_phase_skinning as tps

Array = NDArray[np.float64]
FACTORS = (1e-60, 1e-30, 1e-20, 1e-9, 1e9, 1e20, 1e30, 1e60)


def assert_exact(rig: Rig, inherited: tps.AnyInherited) -> None:
    s = skeleton_of(rig).separate(rig.world, inherited=inherited)
    for name in FIELDS:
        assert np.isfinite(getattr(s, name)).all(), name
    turn = ref.lin(s.rigid)
    assert np.abs(turn @ turn.transpose(0, 2, 1) - np.eye(3)).max() <= 1e-12
    whole = ref.skinning_matrices(rig.world, rig.bind)
    assert np.abs(s.inherited @ s.rigid @ s.nonrigid - whole).max() <= 1e-9 * np.abs(whole).max()


def with_scaled_roots(rig: Rig, factor: float) -> Rig:
    """The pose with the roots' own scale times a factor; what inherits follows."""
    local = ref.bind_local(rig.bind, rig.parents)
    parts = ref.user_parts(rig.parents, rig.inherits, local, rig.world)
    world, frame = np.zeros_like(local), np.zeros_like(local)
    for j in ref.parents_first(rig.parents):
        base = ref.base_frame(j, rig.parents, rig.inherits, local, world, frame)
        frame[j] = base @ ref.affine(parts.rotation[j], parts.translation[j])
        own = ref.lin(parts.nonrigid[j]) * (factor if rig.parents[j] < 0 else 1)
        world[j] = frame[j] @ ref.affine(own)
    return replace(rig, world=world)


@each_inherited
@pytest.mark.parametrize("edges", ["inheriting", "compensating", "mixed"])
@pytest.mark.parametrize("factor", FACTORS)
def test_roots_scaled_very_much_or_very_little(inherited: tps.AnyInherited, edges: str, factor: float) -> None:
    for seed in range(4):
        assert_exact(with_scaled_roots(make_rig(seed, edges=edges, pose="shear"), factor), inherited)


@each_inherited
@pytest.mark.parametrize("factor", FACTORS)
def test_a_rig_in_other_units(inherited: tps.AnyInherited, factor: float) -> None:
    """Bind, pose and offsets times a factor: the rotations and scales are the same, the offsets times the factor."""
    rig = make_rig(7, pose="shear")
    units = np.ones((4, 4))
    units[:3, 3] = factor
    one = skeleton_of(rig).separate(rig.world, inherited=inherited)
    other = skeleton_of(replace(rig, bind=rig.bind * units)).separate(rig.world * units, inherited=inherited)
    for name in FIELDS:
        np.testing.assert_allclose(getattr(other, name) / units, getattr(one, name), rtol=0, atol=1e-9, err_msg=name)


@each_method
@pytest.mark.parametrize("factor", [1e-15, 1e-6, 1e6, 1e15])
def test_a_mesh_in_other_units(method: tps.AnyMethod, factor: float) -> None:
    """float32 too: a model in nanometres, or in light years, is skinned as one in metres."""
    rig = make_rig(8, pose="shear")
    factor = float(2.0 ** np.round(np.log2(factor)))  # so that scaling the points rounds nothing
    units = np.ones((4, 4))
    units[:3, 3] = factor
    big = replace(rig, bind=rig.bind * units, world=rig.world * units, points=rig.points * factor)
    one = skin_of(rig).deform(rig.world, method=method).astype(np.float64)
    other = skin_of(big).deform(big.world, method=method).astype(np.float64)
    np.testing.assert_allclose(other / factor, one, rtol=0, atol=1e-5 * rig.size)


@each_method
def test_results_that_float32_cannot_hold_are_infinite_not_an_error(method: tps.AnyMethod) -> None:
    rig = make_rig(9)
    world = np.diag([1e60, 1e60, 1e60, 1]) @ rig.world
    result = skin_of(rig).deform(world, method=method)
    loose = rig.weights.sum(axis=1) == 0
    np.testing.assert_array_equal(result[loose], rig.points[loose].astype(np.float32))
    assert not np.isfinite(result[~loose]).all()
