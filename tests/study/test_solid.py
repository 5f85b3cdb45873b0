"""The elastic judge against known answers: a stretched block, a bent beam, a twisted and a widened tube."""

import numpy as np
import pytest
from scipy.optimize import brentq, fsolve

pytest.importorskip("skfem", reason="scikit-fem is not installed; `make test-study` installs it")
from judge.solid import Solid, relax
from judge.tube_mesh import Fineness, tube_mesh
from skfem import Basis, ElementHex1, ElementTetP2, MeshHex, MeshTet


def block(sides, counts, nu, element=None):
    """A block from the origin."""
    grid = [np.linspace(0, side, count + 1) for side, count in zip(sides, counts, strict=True)]
    if element is None:
        return Solid(Basis(MeshHex.init_tensor(*grid), ElementHex1(), intorder=3), nu)
    return Solid(Basis(MeshTet.init_tensor(*grid), element, intorder=2), nu)


def at_rest(solid, moves, fixed):
    """Equilibrium with the unknowns `fixed` (N,3) moved as `moves` says, by steps."""
    free = np.flatnonzero(~fixed.ravel())
    x = solid.rest.copy()
    for part in np.linspace(0.25, 1, 4):
        x[fixed] = (solid.rest + part * (moves - solid.rest))[fixed]
        x, good = relax(solid, free, x, 0.1, tolerance=1e-8, most=60)
        assert good
    return x


def test_forces_and_stiffness_are_the_derivatives_of_the_energy():
    solid = block((1, 1, 1), (2, 2, 2), 0.45)
    rng = np.random.default_rng(0)
    x = solid.rest + rng.normal(size=solid.rest.shape) * 0.03
    way = rng.normal(size=x.shape)
    h = 1e-6
    slope = (solid.energy(x + h * way) - solid.energy(x - h * way)) / (2 * h)
    np.testing.assert_allclose((solid.forces(x) * way).sum(), slope, rtol=1e-7)
    curve = (solid.forces(x + h * way) - solid.forces(x - h * way)).ravel() / (2 * h)
    np.testing.assert_allclose(solid.stiffness(x, convex=False) @ way.ravel(), curve, atol=1e-6 * np.abs(curve).max())


@pytest.mark.parametrize("element", [None, ElementTetP2()])
@pytest.mark.parametrize("stretch", [0.6, 1.8])
def test_a_block_pulled_long_gets_as_thin_as_the_material_says(element, stretch):
    solid = block((1, 1, 1), (2, 2, 2), 0.45, element)
    low, high = solid.rest[:, 2] < 1e-9, solid.rest[:, 2] > 1 - 1e-9
    fixed = np.zeros(solid.rest.shape, dtype=bool)
    fixed[low | high, 2] = True
    fixed[solid.rest[:, 0] < 1e-9, 0] = True
    fixed[solid.rest[:, 1] < 1e-9, 1] = True
    x = at_rest(solid, solid.rest * [1, 1, stretch], fixed)

    def pull_across(thin):  # dW / d(thin), over 2, of F = diag(thin, thin, stretch)
        j = thin**2 * stretch
        return solid.mu * (thin - 1 / thin) + solid.lam / 4 * (j - j**-3) * thin * stretch

    thin = brentq(pull_across, 0.3, 2)
    np.testing.assert_allclose(x, solid.rest * [thin, thin, stretch], atol=1e-7)


def test_a_beam_bent_by_its_ends_stores_the_energy_of_euler_and_bernoulli():
    length, thick, angle, nu = 4.0, 0.4, 0.3, 0.0
    errors = []
    for along in (20, 80):
        solid = block((thick, thick, length), (1, 2, along), nu)
        ends = (solid.rest[:, 2] < 1e-9) | (solid.rest[:, 2] > length - 1e-9)
        turn = angle * (solid.rest[:, 2] / length - 0.5)
        arc = length / angle
        y = solid.rest[:, 1] - thick / 2
        height, side = (arc - y) * np.sin(turn) + length / 2, arc - (arc - y) * np.cos(turn)
        moves = np.stack([solid.rest[:, 0], side + thick / 2, height], axis=1)
        fixed = np.repeat(ends[:, None], 3, axis=1)
        young = 2 * solid.mu * (1 + nu)
        expected = 0.5 * young * thick**4 / 12 * angle**2 / length
        errors.append(solid.energy(at_rest(solid, moves, fixed)) / expected - 1)
    assert abs(errors[1]) < 0.01
    assert abs(errors[1]) < 0.1 * abs(errors[0])


def tube(nu, fineness):
    made = tube_mesh(np.array([2.0]), 1.0, 0.3, fineness)
    return made, Solid(Basis(made.mesh, ElementHex1(), intorder=3), nu)


def test_a_twisted_tube_stores_the_energy_of_its_polar_moment():
    """Against the polar moment of the polygon that the mesh's section is."""
    errors = []
    for around in (16, 24):
        _, solid = tube(0.3, Fineness(around=around, layers=around // 4, far=0.5))
        z = solid.rest[:, 2]
        angle = 0.2 * z / 2
        moves = solid.rest.copy()
        moves[:, 0] = np.cos(angle) * solid.rest[:, 0] - np.sin(angle) * solid.rest[:, 1]
        moves[:, 1] = np.sin(angle) * solid.rest[:, 0] + np.cos(angle) * solid.rest[:, 1]
        ends = (z < 1e-9) | (z > 2 - 1e-9)
        x = at_rest(solid, moves, np.repeat(ends[:, None], 3, axis=1))
        corner = 2 * np.pi / around
        polar = around / 12 * np.sin(corner) * (2 + np.cos(corner))
        errors.append(solid.energy(x) / (0.5 * solid.mu * polar * 0.1**2 * 2) - 1)
    assert max(np.abs(errors)) < 0.005


def test_a_tube_around_a_growing_core_widens_as_lame_says():
    """Plane strain: u = A r + B / r between the core, pushed out by 1 %, and the free skin."""
    nu, push = 0.45, 0.01
    made, solid = tube(nu, Fineness(around=32, layers=8, far=1.0))
    flat = np.linalg.norm(solid.rest[:, :2], axis=1)
    # the core's rim is no circle: take the ring of flesh next to it as the inner wall
    fixed = np.zeros(solid.rest.shape, dtype=bool)
    fixed[:, 2] = True
    inner = 1 / 8 + 0.3 * 7 / 8
    wall = flat < inner + 0.06
    fixed[wall] = True
    a, b = fsolve(lambda c: [c[0] * inner + c[1] / inner - push * inner, c[0] / (1 - 2 * nu) - c[1]], [0.0, push])
    shift = np.divide(a * flat + b / flat.clip(1e-9), flat, out=np.zeros_like(flat), where=flat > 1e-9)
    moves = solid.rest * np.stack([1 + shift, 1 + shift, np.ones_like(shift)], axis=1)
    moves[flat < 1e-9] = solid.rest[flat < 1e-9]
    x = at_rest(solid, moves, fixed)
    skin = made.surface.ravel()
    widening = np.linalg.norm(x[skin, :2], axis=1) / np.linalg.norm(solid.rest[skin, :2], axis=1) - 1
    np.testing.assert_allclose(widening, a + b, rtol=0.02)
