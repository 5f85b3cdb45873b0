"""A soft solid at rest in equilibrium: finite elements of scikit-fem, a neo-Hookean material, Newton's method.

    W(F) = mu/2 (|F|^2 - 3) - mu ln J + lam/8 (J - 1/J)^2,    J = det F

lam = 2 mu nu / (1 - 2 nu), so that small deformations are Hooke's with Poisson's ratio nu. A solid may have grown: F is
then counted from the grown rest, F = grad x G^-1 with the growth G at each quadrature point.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import splu
from skfem import Basis

Array = NDArray[np.float64]
Index = NDArray[np.int64]

COLLAPSED = 1e-3  # a quadrature point whose volume falls below this is no shape at all

_even = np.zeros((3, 3, 3))
_even[[0, 1, 2], [1, 2, 0], [2, 0, 1]] = 1
EPSILON = _even - _even.transpose(0, 2, 1)
# the second derivative of det F, (81, 9): times F it is d cof(F) / dF as a 9 x 9 matrix
CURVATURE = np.einsum("ikm,jln->ijklmn", EPSILON, EPSILON).reshape(81, 9)


def cofactors(f: Array) -> Array:
    """cof F = det F F^-T of (..., 3, 3), by cross products of the rows."""
    a, b, c = f[..., 0, :], f[..., 1, :], f[..., 2, :]
    return np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=-2)


@dataclass
class Solid:
    """A mesh with scalar elements, used for each coordinate; node n has the unknowns 3n, 3n+1, 3n+2."""

    basis: Basis
    nu: float = 0.45
    mu: float = 1.0
    gradients: Array = field(init=False)  # (E,Q,A,3): of the A shape functions, by the grown rest
    volumes: Array = field(init=False)  # (E,Q): of the quadrature points, grown

    def __post_init__(self) -> None:
        self.lam = 2 * self.mu * self.nu / (1 - 2 * self.nu)
        self.nodes = np.ascontiguousarray(self.basis.element_dofs.T)
        self.rest = np.ascontiguousarray(self.basis.doflocs.T)
        shapes = [self.basis.basis[a][0] for a in range(self.basis.Nbfun)]
        self._ungrown = np.stack([s.grad for s in shapes], axis=0).transpose(2, 3, 0, 1)  # (E,Q,A,3)
        self.values = np.stack([np.broadcast_to(s, self.basis.dx.shape) for s in shapes], axis=-1)  # (E,Q,A)
        unknowns = (3 * self.nodes[:, :, None] + np.arange(3)).reshape(len(self.nodes), -1)
        # int32, as the factorisation wants its indices
        self._rows = np.repeat(unknowns, unknowns.shape[1], axis=1).ravel().astype(np.int32)
        self._columns = np.tile(unknowns, unknowns.shape[1]).ravel().astype(np.int32)
        self._unknowns = unknowns
        self.grow(None)

    def grow(self, growth: Array | None) -> None:
        """Sets the growth, (E,Q,3,3); None: none."""
        if growth is None:
            self.gradients, self.volumes = self._ungrown, np.asarray(self.basis.dx)
        else:
            self.gradients = self._ungrown @ np.linalg.inv(growth)
            self.volumes = np.asarray(self.basis.dx) * np.linalg.det(growth)
        elements, points, shapes, _ = self.gradients.shape
        strain = np.zeros((elements, points, 3, 3, shapes, 3))  # F_ij = sum over a, i of x_ai B_ij,ai
        for i in range(3):
            strain[:, :, i, :, :, i] = self.gradients.transpose(0, 1, 3, 2)
        self._strain = strain.reshape(elements, points, 9, 3 * shapes)

    def deformation(self, x: Array) -> tuple[Array, Array]:
        """F and J at the quadrature points."""
        f = x[self.nodes].transpose(0, 2, 1)[:, None] @ self.gradients
        return f, np.linalg.det(f)

    def energy(self, x: Array) -> float:
        f, j = self.deformation(x)
        if not j.min() > COLLAPSED:
            return np.inf
        density = self.mu * ((f * f).sum(axis=(2, 3)) / 2 - 1.5 - np.log(j)) + self.lam / 8 * (j - 1 / j) ** 2
        return float((self.volumes * density).sum())

    def forces(self, x: Array) -> Array:
        """The gradient of the energy, (N,3)."""
        f, j = self.deformation(x)
        stress = self.mu * f + self._pressure(j)[..., None, None] * cofactors(f)
        each = (self.volumes[..., None, None] * stress).reshape(*j.shape, 1, 9) @ self._strain
        total = np.bincount(self._unknowns.ravel(), each.sum(axis=1).ravel(), minlength=self.rest.size)
        return total.reshape(-1, 3)

    def _pressure(self, j: Array) -> Array:
        return self.lam / 4 * (j - j**-3) - self.mu / j

    def stiffness(self, x: Array, convex: bool) -> csr_array:
        """The Hessian of the energy; `convex`: with the negative part at each quadrature point left out."""
        f, j = self.deformation(x)
        c = cofactors(f).reshape(*j.shape, 9)
        hessian = (f.reshape(-1, 9) @ CURVATURE.T).reshape(*j.shape, 9, 9) * self._pressure(j)[..., None, None]
        steep = self.lam / 4 * (1 + 3 * j**-4) + self.mu / j**2
        hessian += (steep[..., None] * c)[..., None] * c[..., None, :] + self.mu * np.eye(9)
        if convex:
            values, vectors = np.linalg.eigh(hessian)
            hessian = (vectors * values.clip(1e-6 * self.mu)[..., None, :]) @ vectors.swapaxes(-1, -2)
        elements, points, _, unknowns = self._strain.shape
        half = (self.volumes[..., None, None] * hessian) @ self._strain
        stacked = self._strain.reshape(elements, 9 * points, unknowns)
        each = stacked.swapaxes(1, 2) @ half.reshape(elements, 9 * points, unknowns)
        size = self.rest.size
        return csr_array((each.ravel(), (self._rows, self._columns)), shape=(size, size))


class Unstable(Exception):
    """The stiffness is not positive definite."""


def solve(stiffness: csr_array, right: Array, free: Index) -> Array:
    """Displacements (N,3) under the load `right`, the unknowns `free` alone being free."""
    chosen = stiffness[free][:, free].tocsc()
    factors = splu(chosen, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0, options={"SymmetricMode": True})
    if not (factors.U.diagonal() > 0).all():
        raise Unstable
    result = np.zeros(right.size)
    result[free] = factors.solve(right.ravel()[free])
    return result.reshape(right.shape)


def relax(
    solid: Solid, free: Index, x: Array, scale: float, tolerance: float = 1e-3, most: int = 40
) -> tuple[Array, bool]:
    """Newton's method from x, whose fixed nodes are in place; True if the last whole step was below tolerance * scale.

    free: the unknowns that may change.
    """
    energy = solid.energy(x)
    if not np.isfinite(energy):
        return x, False
    for _ in range(most):
        forces = solid.forces(x)
        try:
            step = solve(solid.stiffness(x, convex=False), -forces, free)
        except Unstable:
            step = solve(solid.stiffness(x, convex=True), -forces, free)
        slope, length = float((forces * step).sum()), float(np.abs(step).max())
        part = min(1.0, 0.5 * scale / length)
        while not solid.energy(x + part * step) <= energy + 1e-4 * part * slope + 1e-13 * abs(energy):
            part /= 2
            if part < 1e-6:
                return x, length < tolerance * scale
        x = x + part * step
        energy = solid.energy(x)
        if part * length < tolerance * scale and part == 1:
            return x, True
    return x, False
