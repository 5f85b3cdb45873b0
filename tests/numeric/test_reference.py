"""The reference's small pieces, against brute force and closed forms: the judge is judged first."""

from __future__ import annotations

import numpy as np
import pytest
import reference as ref
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from rigs import rigid_motion, rotation

Array = NDArray[np.float64]
seeds = st.integers(0, 2**32 - 1)


def distance(q: Array, a: Array, c: Array) -> float:
    return float(np.linalg.norm(q @ a - c))


def of_rank(rng: np.random.Generator, rank: int) -> Array:
    return rng.normal(size=(3, rank)) @ rng.normal(size=(rank, 3))


@given(seed=seeds, ranks=st.tuples(st.integers(1, 3), st.integers(1, 3)))
def test_no_rotation_is_better_than_the_best(seed: int, ranks: tuple[int, int]) -> None:
    rng = np.random.default_rng(seed)
    a, c = (of_rank(rng, rank) for rank in ranks)
    best = ref.best_rotation(a, c, rotation(rng))
    np.testing.assert_allclose(best @ best.T, np.eye(3), rtol=0, atol=1e-14)
    assert np.linalg.det(best) > 0
    for size in (np.pi, 0.1, 0.001):
        for _ in range(20):
            assert distance(rotation(rng, size) @ best, a, c) >= distance(best, a, c) - 1e-12


@given(seed=seeds)
def test_among_the_best_the_nearest_is_taken(seed: int) -> None:
    rng = np.random.default_rng(seed)
    near = rotation(rng)
    a, c = of_rank(rng, 1), of_rank(rng, 3)
    best = ref.best_rotation(a, c, near)
    axis = best @ np.linalg.svd(a)[0][:, 0]
    k = ref.cross_matrix(axis)
    for angle in np.linspace(-np.pi, np.pi, 41):
        other = (np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k) @ best
        assert distance(other, a, c) <= distance(best, a, c) + 1e-12  # it is one of the best
        assert np.linalg.norm(other - near) >= np.linalg.norm(best - near) - 1e-12


@pytest.mark.parametrize("zero", ["a", "c"])
def test_nothing_to_fit_gives_the_named_rotation(zero: str) -> None:
    near = rotation(np.random.default_rng(1))
    a, c = (np.zeros((3, 3)) if zero == name else np.eye(3) for name in "ac")
    np.testing.assert_array_equal(ref.best_rotation(a, c, near), near)


@given(seed=seeds, sign=st.sampled_from([1.0, -1.0]))
def test_polar_parts(seed: int, sign: float) -> None:
    rng = np.random.default_rng(seed)
    x = rotation(rng) @ np.diag(rng.uniform(0.2, 3, 3) * [1, 1, sign]) @ rotation(rng)
    turn, n = ref.polar(x)
    np.testing.assert_allclose(turn @ n, x, rtol=0, atol=1e-13)
    assert np.linalg.det(turn) > 0
    if sign > 0:
        np.testing.assert_allclose(n, n.T, rtol=0, atol=1e-13)
        assert (np.linalg.eigvalsh(n) > 0).all()
    else:  # the mirrored rest is symmetric after one of the four mirrors, and no other mirror turns less
        assert any(np.allclose(n @ m, (n @ m).T, atol=1e-12) for m in ref.MIRRORS)
        for mirror in ref.MIRRORS:
            assert np.trace(turn) >= np.trace(ref.polar(x @ mirror)[0]) - ref.EQUAL_TRACES


@pytest.mark.parametrize("signs", [(-1, 1, 1), (1, -1, 1), (1, 1, -1), (-1, -1, -1)])
def test_a_mirror_along_an_axis_is_no_rotation(signs: tuple[int, int, int]) -> None:
    x = np.diag(np.multiply(signs, [0.5, 1, 2]))
    turn, n = ref.polar(x)
    np.testing.assert_allclose(turn, np.eye(3), rtol=0, atol=1e-15)
    np.testing.assert_allclose(n, x, rtol=0, atol=1e-15)


def test_of_equal_mirrors_the_first() -> None:
    x = np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 1]])  # a quarter turn after a mirror along x, or along y
    traces = [np.trace(ref.polar_rotation(x @ m)) for m in ref.MIRRORS]
    first = int(np.flatnonzero(np.array(traces) >= max(traces) - ref.EQUAL_TRACES)[0])
    assert np.count_nonzero(np.array(traces) >= max(traces) - ref.EQUAL_TRACES) > 1  # there is a tie to break
    np.testing.assert_allclose(ref.polar(x)[0], ref.polar_rotation(x @ ref.MIRRORS[first]), rtol=0, atol=1e-15)


@given(seed=seeds)
def test_quaternions_and_rotations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rotation(rng), rotation(rng)
    qa, qb = ref.quaternion(a), ref.quaternion(b)
    np.testing.assert_allclose(ref.rotation_of(qa), a, rtol=0, atol=1e-14)
    np.testing.assert_allclose(ref.rotation_of(ref.product(qa, qb)), a @ b, rtol=0, atol=1e-14)


@given(seed=seeds)
def test_half_of_two_motions_is_half_of_the_screw(seed: int) -> None:
    """Equal weights of 1 and a motion: the motion whose square is that one, exactly, for dual quaternions."""
    rng = np.random.default_rng(seed)
    whole = ref.affine(rotation(rng, 3.0), rng.uniform(-2, 2, 3))
    half = ref.blend_rigid(np.array([[0.5, 0.5]]), np.array([np.eye(4), whole])).matrices[0]
    np.testing.assert_allclose(half @ half, whole, rtol=0, atol=1e-11)


@given(seed=seeds)
def test_blending_equal_motions_is_that_motion(seed: int) -> None:
    motion = rigid_motion(np.random.default_rng(seed))
    blended = ref.blend_rigid(np.array([[0.2, 0.3, 0.5]]), np.array([motion] * 3)).matrices[0]
    np.testing.assert_allclose(blended, motion, rtol=0, atol=1e-13)


@given(seed=seeds)
def test_cofactor_is_the_inverse_transpose_times_the_determinant(seed: int) -> None:
    a = np.random.default_rng(seed).normal(size=(3, 3))
    expected = np.linalg.det(a) * np.linalg.inv(a).T
    np.testing.assert_allclose(ref.cofactor(a[None])[0], expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(ref.cofactor(np.diag([2.0, 3, 0])[None])[0], np.diag([0, 0, 6.0]))


def test_carrying_and_support_joints() -> None:
    #      0 - 1 - 2    3 - 4    (2 and 3 weighted, 1 and 0 support; 4 carries nothing)
    parents = np.array([-1, 0, 1, -1, 3])
    weighted = np.array([False, False, True, True, False])
    assert ref.carrying(parents, weighted).tolist() == [True, True, True, True, False]
    assert ref.support_joints(parents, weighted).tolist() == [True, True, False, False, False]
