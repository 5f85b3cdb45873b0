"""An elbow and a knee of the demo's body to judge, with its automatic weights, as tetrahedra of second order."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tetgen
from numpy.typing import NDArray
from scipy.sparse import csr_array
from skfem import Basis, ElementTetP2, MeshTet

from judge.equilibrium import Body
from judge.limb import Limb
from judge.solid import Solid
from judge.tubes import Judge

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """A limb of the body: a chain of joints, what of the mesh belongs to it, and its radius at the joint that bends."""

    chain: tuple[str, ...]
    low: tuple[float, float, float]  # the corners of a box in the rig's space, in metres
    high: tuple[float, float, float]
    radius: float
    bends: int  # the joint of the chain that bends
    twists: int


PARTS = {
    "elbow": Part(
        ("DEF-upper_arm.L", "DEF-upper_arm.L.001", "DEF-forearm.L", "DEF-forearm.L.001"),
        (0.25, -1, 1),
        (0.62, 1, 1.7),
        0.047,
        2,
        3,
    ),
    "knee": Part(
        ("DEF-thigh.L", "DEF-thigh.L.001", "DEF-shin.L", "DEF-shin.L.001"), (0, -1, 0.2), (0.3, 1, 0.85), 0.06, 2, 3
    ),
}


def cores(heads: Array, tails: Array, radius: float) -> tuple[Array, Index]:
    """Points of the bones' cores, and the bone of each: the axis and six lines around it."""
    points, bones = [], []
    for bone, (head, tail) in enumerate(zip(heads, tails, strict=True)):
        length = np.linalg.norm(tail - head)
        across = np.linalg.svd((tail - head)[None])[2][1:]
        angle = np.arange(6) * np.pi / 3
        around = radius * (np.cos(angle)[:, None] * across[0] + np.sin(angle)[:, None] * across[1])
        for place in np.arange(0.5 * radius, length, 1.3 * radius):
            station = head + place / length * (tail - head) + np.vstack([np.zeros((1, 3)), around])
            points.append(station)
            bones.append(np.full(len(station), bone))
    return np.concatenate(points), np.concatenate(bones)


@dataclass
class Character:
    """The body as `judge/export_body.py` writes it."""

    points: Array
    triangles: Index
    names: list[str]
    bind: Array
    lengths: Array
    weights: Array

    @classmethod
    def load(cls, path: Path) -> Character:
        with np.load(path) as file:
            return cls(
                file["points"].astype(float),
                file["triangles"],
                file["names"].tolist(),
                file["bind"],
                file["lengths"],
                file["weights"],
            )

    def chain_weights(self, chain: tuple[str, ...], vertices: Index) -> Array:
        """(V,J): the chain's weights; what other joints have goes to the nearest bone of the chain."""
        columns = [self.names.index(name) for name in chain]
        result = self.weights[vertices][:, columns]
        others = self.weights[vertices].sum(axis=1) - result.sum(axis=1)
        heads = self.bind[columns, :3, 3]
        middles = heads + 0.5 * self.lengths[columns, None] * self.bind[columns, :3, 1]
        nearest = np.linalg.norm(self.points[vertices][:, None] - middles, axis=2).argmin(axis=1)
        result[np.arange(len(vertices)), nearest] += others
        return result / result.sum(axis=1, keepdims=True)


@dataclass
class Tetrahedra:
    """The part's mesh; its vertices are numbered among all: the body's, then the cores', then others."""

    mesh: MeshTet
    numbers: Index  # (n,), increasing
    cut: NDArray[np.bool_]  # (n,), on the cut from the rest of the body

    @classmethod
    def of(cls, part: Part, points: Array, triangles: Index) -> Tetrahedra:
        mesher = tetgen.TetGen(points, triangles.astype(np.int32))
        nodes, tetrahedra, *_ = mesher.tetrahedralize(order=1, mindihedral=10, minratio=1.5, nobisect=True)
        middle = nodes[tetrahedra].mean(axis=1)
        mine = ((middle > part.low) & (middle < part.high)).all(axis=1)
        numbers, corners = np.unique(tetrahedra[mine], return_inverse=True)
        cut = np.isin(numbers, tetrahedra[~mine])
        return cls(MeshTet(nodes[numbers].T.copy(), corners.reshape(-1, 4).T.copy()), numbers, cut)


def held_vertices(made: Tetrahedra, part: Part, bones: Index, first: int, heads: Array, margin: float) -> Index:
    """The joint that holds each vertex, or -1: cores clear of the joints that turn, and the cuts by the end bones.

    bones: of the core's points, which are numbered from `first`.
    """
    result = np.full(len(made.numbers), -1)
    places = made.mesh.p.T
    core = (made.numbers >= first) & (made.numbers < first + len(bones))
    turning = heads[[part.bends, part.twists]]
    clear = np.linalg.norm(places[:, None] - turning, axis=2).min(axis=1) > margin * part.radius
    result[core & clear] = bones[made.numbers[core & clear] - first]
    last = len(part.chain) - 1
    far = np.linalg.norm(places - heads[last], axis=1) < np.linalg.norm(places - heads[0], axis=1)
    result[made.cut] = np.where(far, last, 0)[made.cut]
    return result


def part_of(character: Character, name: str, judge: Judge) -> tuple[Limb, Body]:
    part = PARTS[name]
    columns = [character.names.index(joint) for joint in part.chain]
    bind = character.bind[columns].astype(float)
    heads = bind[:, :3, 3]
    tails = heads + character.lengths[columns, None] * bind[:, :3, 1]
    core, bones = cores(heads, tails, judge.core * part.radius)
    made = Tetrahedra.of(part, np.concatenate([character.points, core]), character.triangles)
    at_vertices = held_vertices(made, part, bones, len(character.points), heads, judge.margin)

    basis = Basis(made.mesh, ElementTetP2(), intorder=2)
    held = np.full(basis.N, -1)
    held[basis.nodal_dofs[0]] = at_vertices
    ends = at_vertices[made.mesh.edges]
    held[basis.edge_dofs[0]] = np.where(ends[0] == ends[1], ends[0], -1)

    skin = np.flatnonzero(made.numbers < len(character.points))
    vertices = made.numbers[skin]
    own = np.isin(character.triangles, vertices).all(axis=1)
    triangles = np.searchsorted(vertices, character.triangles[own])
    weights = {"automatic": character.chain_weights(part.chain, vertices)}
    limb = Limb(np.arange(-1, len(columns) - 1), bind, character.points[vertices], triangles, weights, part.radius)
    size = len(skin)
    pick = csr_array((np.ones(size), (np.arange(size), basis.nodal_dofs[0][skin])), shape=(size, basis.N))
    return limb, Body(Solid(basis, judge.nu), held, pick, part.radius)
