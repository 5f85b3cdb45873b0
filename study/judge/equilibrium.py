"""What a limb of flesh does: the elastic equilibrium around bones that move as the rig says.

The bones are cores of the solid. Their nodes move with their joint's own skinning matrix T; the rest is free. Where
joints scale, the flesh has grown: its growth is exp(sum of h_j log U_j), U_j the right stretch of T_j, and h_j the
harmonic function that is 1 on the core of bone j and 0 on the others: no weights of any skin, no separation of any
method.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from skfem import BilinearForm, condense, solve
from skfem.helpers import dot, grad

from judge.limb import Pose
from judge.solid import Solid, relax

Array = NDArray[np.float64]
Index = NDArray[np.int64]

SMALLEST_STEP = 1 / 64


@dataclass
class Body:
    """A limb's solid: which nodes the bones hold, how far each bone reaches, and where the skin's vertices are."""

    solid: Solid
    held: Index  # (N,): the joint that holds a node, or -1
    skin: Array  # sparse (V,N): the skin's vertices from the nodes
    scale: float  # a length for tolerances: the limb's radius

    def __post_init__(self) -> None:
        self.free = np.flatnonzero(np.repeat(self.held < 0, 3))
        self.reach = harmonic(self.solid, self.held)


def harmonic(solid: Solid, held: Index) -> Array:
    """(N,J): harmonic functions that are 1 on the nodes of one joint and 0 on those of the others."""

    @BilinearForm
    def laplace(u, v, _):  # type: ignore[no-untyped-def]
        return dot(grad(u), grad(v))

    stiffness = laplace.assemble(solid.basis)
    fixed = np.flatnonzero(held >= 0)
    columns = []
    for joint in range(held.max() + 1):
        columns.append(solve(*condense(stiffness, x=(held == joint).astype(float), D=fixed)))
    return np.stack(columns, axis=1).clip(0, 1)


def log_stretches(skinning: Array) -> Array:
    """(J,3,3): log U of T = R U."""
    values, vectors = np.linalg.eigh(skinning[:, :3, :3].transpose(0, 2, 1) @ skinning[:, :3, :3])
    return (vectors * (0.5 * np.log(values))[:, None, :]) @ vectors.transpose(0, 2, 1)


def growth(body: Body, skinning: Array) -> Array | None:
    """At the quadrature points, (E,Q,3,3)."""
    logs = log_stretches(skinning)
    if np.abs(logs).max() < 1e-9:
        return None
    reach = np.einsum("eqa,eaj->eqj", body.solid.values, body.reach[body.solid.nodes])
    values, vectors = np.linalg.eigh(np.einsum("eqj,jab->eqab", reach, logs))
    return (vectors * np.exp(values)[..., None, :]) @ vectors.swapaxes(-1, -2)


def moved(body: Body, x: Array, before: Array, after: Array) -> Array:
    """A guess: nodes carried by the blend of what each joint does from one load to the next; the bones' exactly."""
    change = after @ np.linalg.inv(before)
    guess = np.einsum("nj,jab,nb->na", body.reach, change[:, :3, :3], x, optimize=True) + body.reach @ change[:, :3, 3]
    bone = body.held >= 0
    mine = after[body.held[bone]]
    guess[bone] = np.einsum("nab,nb->na", mine[:, :3, :3], body.solid.rest[bone]) + mine[:, :3, 3]
    return guess


def equilibrium(body: Body, pose: Pose) -> Array | None:
    """The nodes in equilibrium, (N,3), or None where Newton's method finds none."""
    x, part, step = body.solid.rest, 0.0, 1 / pose.steps()
    now = pose.skinning(0)
    while part < 1:
        target = min(1.0, part + step)
        if target > 1 - 1e-9:
            target = 1.0
        then = pose.skinning(target)
        body.solid.grow(growth(body, then))
        last = target == 1.0
        guess = moved(body, x, now, then)
        found, good = relax(body.solid, body.free, guess, body.scale, 1e-3 if last else 2e-2, 60 if last else 20)
        if good:
            x, part, now = found, target, then
        else:
            step /= 2
            if step < SMALLEST_STEP:
                return None
    return x
