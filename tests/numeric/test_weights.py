"""Weights: all four input forms say the same, rows are cleaned and normalised when the skin is made."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import reference as ref
import scipy.sparse
import tolerance
from hypothesis import given
from numpy.typing import NDArray
from rigs import Rig, make_rig, rigs
from subjects import each_method, skin_of, skin_separation

import two_phase_skinning as tps

Array = NDArray[np.float64]
FORMS = ("dense", "padded", "csr", "csr_array", "csc_matrix", "coo_array", "lil_matrix")


def padded(weights: Array) -> tuple[NDArray[np.int64], Array]:
    """(indices, weights), each (V,K): rows filled up with joint 0 at weight 0."""
    width = max(1, int(np.max(np.count_nonzero(weights > 0, axis=1))))
    indices = np.zeros((len(weights), width), np.int64)
    values = np.zeros((len(weights), width))
    for v, row in enumerate(weights):
        joints = np.flatnonzero(row)
        indices[v, : len(joints)], values[v, : len(joints)] = joints, row[joints]
    return indices, values


def csr(weights: Array) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """(indptr, indices, weights)."""
    rows, joints = np.nonzero(weights)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(weights)))])
    return indptr, joints, weights[rows, joints]


def in_form(weights: Array, form: str) -> Any:
    if form == "dense":
        return weights
    if form == "padded":
        return padded(weights)
    if form == "csr":
        return csr(weights)
    return getattr(scipy.sparse, form)(weights)


@pytest.mark.parametrize("form", FORMS)
@given(rig=rigs())
def test_every_form_gives_the_same_bits(form: str, rig: Rig) -> None:
    expected = skin_of(rig).deform(rig.world)
    actual = skin_of(rig, in_form(rig.weights, form)).deform(rig.world)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("form", FORMS)
@each_method
def test_every_form_against_the_reference(form: str, method: tps.AnyMethod) -> None:
    rig = make_rig(11, count=7)
    s = skin_separation(rig)
    expected = ref.deform(ref.vertex_matrices(s, rig.normalised, method), rig.points)
    actual = skin_of(rig, in_form(rig.weights, form)).deform(rig.world, method=method)
    tolerance.assert_within(actual, expected, tolerance.bounds(rig, s, method).position, form)


@pytest.mark.parametrize("index_type", [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize("weight_type", [np.float32, np.float64])
def test_every_integer_and_weight_type(index_type: type, weight_type: type) -> None:
    rig = make_rig(12)
    expected = skin_of(rig).deform(rig.world)
    indices, weights = padded(rig.weights)
    actual = skin_of(rig, (indices.astype(index_type), weights.astype(weight_type))).deform(rig.world)
    np.testing.assert_array_equal(actual, expected)
    indptr, indices, weights = csr(rig.weights)
    if indptr[-1] <= np.iinfo(index_type).max:
        arrays: tuple[NDArray[Any], ...] = (
            indptr.astype(index_type),
            indices.astype(index_type),
            weights.astype(weight_type),
        )
        np.testing.assert_array_equal(skin_of(rig, arrays).deform(rig.world), expected)


def test_lists_and_integer_weights() -> None:
    rig = make_rig(13)
    whole = np.round(rig.weights * 8)
    expected = skin_of(replace(rig, weights=whole)).deform(rig.world)
    np.testing.assert_array_equal(skin_of(rig, whole.astype(np.int32)).deform(rig.world), expected)
    np.testing.assert_array_equal(skin_of(rig, whole.tolist()).deform(rig.world), expected)
    indices, weights = padded(whole)
    np.testing.assert_array_equal(skin_of(rig, (indices.tolist(), weights.tolist())).deform(rig.world), expected)


def test_strided_and_fortran_arrays() -> None:
    rig = make_rig(14)
    expected = skin_of(rig).deform(rig.world)
    np.testing.assert_array_equal(skin_of(rig, np.asfortranarray(rig.weights)).deform(rig.world), expected)
    np.testing.assert_array_equal(skin_of(rig, np.repeat(rig.weights, 2, axis=1)[:, ::2]).deform(rig.world), expected)
    indices, weights = padded(rig.weights)
    twice = (np.repeat(indices, 2, axis=0)[::2], np.asfortranarray(weights))
    np.testing.assert_array_equal(skin_of(rig, twice).deform(rig.world), expected)


@given(rig=rigs())
def test_rows_need_not_sum_to_1(rig: Rig) -> None:
    factors = 2.0 ** np.random.default_rng(rig.seed).integers(-6, 6, len(rig.points))  # exact, so that bits compare
    expected = skin_of(rig).deform(rig.world)
    actual = skin_of(rig, rig.weights * factors[:, None]).deform(rig.world)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("factor", [1e-300, 1e-30, 1e30, 1e300])
def test_very_small_and_very_large_rows(factor: float) -> None:
    """Normalised in float64, before anything is rounded to float32."""
    rig = make_rig(15)
    s = skin_separation(rig)
    expected = ref.deform(ref.vertex_matrices(s, rig.normalised), rig.points)
    actual = skin_of(rig, rig.weights * factor).deform(rig.world)
    tolerance.assert_within(actual, expected, tolerance.bounds(rig, s).position, f"rows times {factor}")


def test_a_joint_twice_in_a_row_is_summed() -> None:
    rig = make_rig(16)
    indices, weights = padded(rig.weights)
    expected = skin_of(rig).deform(rig.world)
    # Halves are exact, so that their sums are the very weights.
    doubled = (np.concatenate([indices, indices], axis=1), np.concatenate([weights, weights], axis=1) / 2)
    np.testing.assert_array_equal(skin_of(rig, doubled).deform(rig.world), expected)
    order = np.random.default_rng(0).permutation(doubled[0].shape[1])
    shuffled = (doubled[0][:, order], doubled[1][:, order])
    np.testing.assert_array_equal(skin_of(rig, shuffled).deform(rig.world), expected)


def test_zeros_are_as_if_they_were_not_there() -> None:
    rig = make_rig(17, count=6)
    rig = replace(rig, weights=rig.weights * [1, 1, 0, 1, 1, 1])
    joints = np.indices(rig.weights.shape)[1].ravel()
    explicit = scipy.sparse.csr_array(
        (rig.weights.ravel(), joints, np.arange(0, rig.weights.size + 1, rig.weights.shape[1])), shape=rig.weights.shape
    )
    assert explicit.nnz == rig.weights.size
    np.testing.assert_array_equal(skin_of(rig, explicit).deform(rig.world), skin_of(rig).deform(rig.world))


def test_a_zero_weight_does_not_make_a_joint_carry() -> None:
    """What carries decides which joints are post; an explicit zero must not."""
    rig = make_rig(18, count=3, topology="chain", edges="inheriting", pose="stretch")
    rig = replace(rig, weights=np.tile([0.5, 0.5, 0], (len(rig.points), 1)))
    indices = np.tile([0, 1, 2], (len(rig.points), 1))
    actual = skin_of(rig, (indices, rig.weights)).deform(rig.world)
    np.testing.assert_array_equal(actual, skin_of(rig, rig.weights).deform(rig.world))
    s = skin_separation(rig)
    expected = ref.deform(ref.vertex_matrices(s, rig.normalised), rig.points)
    tolerance.assert_within(actual, expected, tolerance.bounds(rig, s).position, "with zeros")
    # The two readings are far apart here, or this would test nothing.
    other = ref.deform(ref.vertex_matrices(rig.separate(), rig.normalised), rig.points)
    assert np.abs(other - expected).max() > 1e-3


def test_negative_zero_is_zero() -> None:
    rig = make_rig(19)
    weights = np.where(rig.weights == 0, -0.0, rig.weights)
    np.testing.assert_array_equal(skin_of(rig, weights).deform(rig.world), skin_of(rig).deform(rig.world))


@pytest.mark.parametrize("method", ["two_phase", "dual_quaternion"])
def test_of_equally_heavy_joints_the_lowest_leads(method: tps.AnyMethod) -> None:
    """Three rotations in a row, 0, 100 and 200 degrees, equal weights: whom the others are aligned to decides."""
    angles = np.radians([0.0, 100, 200])
    turns = [np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]]) for a in angles]
    world = np.array([ref.affine(t) for t in turns])
    count, points = 3, np.array([[1.0, 0, 0]])
    ones = np.ones((1, count)) / count
    rig = Rig(np.full(3, -1), np.tile(np.eye(4), (3, 1, 1)), np.ones(3, bool), world, points, points, ones, "given", 0)
    results = []
    for order in ([0, 1, 2], [1, 0, 2], [2, 1, 0]):
        turned = replace(rig, world=world[order])
        expected = ref.deform(ref.vertex_matrices(turned.separate(), ones, method), points)
        for indices in ([[0, 1, 2]], [[2, 1, 0]], [[1, 2, 0]]):  # the order in which the row lists them is nothing
            actual = skin_of(turned, (np.array(indices), ones)).deform(turned.world, method=method)
            np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-6)
        results.append(expected)
    assert np.abs(results[0] - results[1]).max() > 0.1


def test_no_weights_at_all() -> None:
    rig = make_rig(20)
    empty = replace(rig, weights=np.zeros_like(rig.weights))
    for form in ("dense", "csr", "csr_array"):
        actual = skin_of(empty, in_form(empty.weights, form)).deform(rig.world)
        np.testing.assert_array_equal(actual, rig.points.astype(np.float32))
    none = (np.zeros((len(rig.points), 0), int), np.zeros((len(rig.points), 0)))
    np.testing.assert_array_equal(skin_of(empty, none).deform(rig.world), rig.points.astype(np.float32))


@given(rig=rigs())
def test_what_a_skin_says_of_its_weights(rig: Rig) -> None:
    """Rows kept heaviest first, sums of 1 in float32, and which joints have weight."""
    skin = skin_of(rig)
    indptr, indices, weights = skin.weights
    np.testing.assert_array_equal(np.diff(indptr), (rig.weights > 0).sum(axis=1))
    rebuilt = scipy.sparse.csr_array((weights, indices, indptr), shape=rig.weights.shape).toarray()
    np.testing.assert_allclose(rebuilt, rig.normalised, rtol=2 * tolerance.U32, atol=0)
    for start, end in itertools.pairwise(indptr):
        assert (np.diff(weights[start:end]) <= 0).all()
    assert skin.weighted.dtype == bool
    np.testing.assert_array_equal(skin.weighted, rig.weighted)
