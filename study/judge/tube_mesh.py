"""A tube of hexahedra around a straight chain of bones: a square core that holds the bones, and layers of flesh."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from skfem import MeshHex

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True)
class Fineness:
    """Elements around the tube (a multiple of 8), layers of flesh, spacing near joints and elsewhere, in radii."""

    around: int = 16
    layers: int = 3
    near: float = 0.2
    far: float = 0.4


@dataclass
class TubeMesh:
    mesh: MeshHex
    along: Array  # (S,), where along the chain each slice is
    core: NDArray[np.bool_]  # (N,), nodes of the bone's core
    surface: Index  # (S, around), the nodes of the skin, ring by ring


def disc(around: int, layers: int, core: float) -> tuple[Array, Index, Index, Index]:
    """A unit disc of quadrilaterals: places (n,2), quads (m,4), the core's nodes, the nodes of the rim in order."""
    side = around // 4
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, side + 1)] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
    equal = np.tan(np.pi / 4 * grid)  # so that the rim has equal angles
    length = np.linalg.norm(equal, axis=1, keepdims=True)
    rounded = equal * np.abs(grid).max(axis=1, keepdims=True) / np.where(length > 0, length, 1)
    inner = core * (0.5 * rounded + 0.5 * 0.85 * grid)  # half way between a circle and a square
    number = np.arange((side + 1) ** 2).reshape(side + 1, side + 1)
    quads = [np.stack([number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]], axis=-1).reshape(-1, 4)]
    rim = np.concatenate([number[:-1, 0], number[-1, :-1], number[:0:-1, -1], number[0, :0:-1]])
    towards = rounded[rim] / np.linalg.norm(rounded[rim], axis=1, keepdims=True)
    places, previous = [inner], rim
    for layer in range(1, layers + 1):
        share = layer / layers
        places.append((1 - share) * inner[rim] + share * towards)
        ring = len(number.ravel()) + (layer - 1) * around + np.arange(around)
        quads.append(np.stack([previous, ring, np.roll(ring, -1), np.roll(previous, -1)], axis=-1))
        previous = ring
    return np.concatenate(places), np.concatenate(quads), number.ravel(), previous


def slices(lengths: Array, radius: float, fineness: Fineness) -> Array:
    """Places of the slices along the chain; one is on each joint."""
    ends = np.concatenate([[0], np.cumsum(lengths)])
    joints = ends[1:-1]
    marks = np.unique(np.clip(np.concatenate([ends, joints - 2 * radius, joints + 2 * radius]), 0, ends[-1]).round(9))
    pieces = [np.zeros(1)]
    for a, b in pairwise(marks):
        near = len(joints) and np.abs((a + b) / 2 - joints).min() < 2 * radius
        count = max(1, round((b - a) / ((fineness.near if near else fineness.far) * radius)))
        pieces.append(np.linspace(a, b, count + 1)[1:])
    return np.concatenate(pieces)


def tube_mesh(lengths: Array, radius: float, core: float, fineness: Fineness) -> TubeMesh:
    """The tube stands on the z axis. core: the radius of the bones' core, over the tube's."""
    places, quads, core_nodes, rim = disc(fineness.around, fineness.layers, core)
    along = slices(lengths, radius, fineness)
    size = len(places)
    points = np.empty((len(along), size, 3))
    points[:, :, :2], points[:, :, 2] = radius * places, along[:, None]
    low = (size * np.arange(len(along) - 1))[:, None, None] + quads
    corners = np.concatenate([low, low + size], axis=2).reshape(-1, 8)
    # scikit-fem numbers a hexahedron's corners by their coordinates: 000 001 010 100 011 101 110 111 in z, y, x
    hexahedra = corners[:, [0, 4, 3, 1, 7, 5, 2, 6]]
    is_core = np.zeros((len(along), size), dtype=bool)
    is_core[:, core_nodes] = True
    surface = size * np.arange(len(along))[:, None] + rim
    return TubeMesh(MeshHex(points.reshape(-1, 3).T.copy(), hexahedra.T.copy()), along, is_core.ravel(), surface)
