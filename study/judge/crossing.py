"""Whether a surface runs through itself: where flesh would touch, a judge without contact is no judge any more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]


def near_pairs(points: Array, triangles: Index) -> Index:
    """(n,2): triangles whose boxes meet and that share no vertex; each pair in both orders."""
    corners = points[triangles]
    low, high = corners.min(axis=1), corners.max(axis=1)
    found = []
    for number in range(len(triangles) - 1):
        later = slice(number + 1, None)
        meet = ((low[later] <= high[number]) & (high[later] >= low[number])).all(axis=1)
        others = np.flatnonzero(meet) + number + 1
        found.append(np.stack([np.full(len(others), number), others], axis=1))
    pairs = np.concatenate(found)
    shared = (triangles[pairs[:, 0], :, None] == triangles[pairs[:, 1], None]).any(axis=(1, 2))
    pairs = pairs[~shared]
    return np.concatenate([pairs, pairs[:, ::-1]])


def pierced(starts: Array, ends: Array, corners: Array) -> NDArray[np.bool_]:
    """Segments (n,3) to (n,3) that go through triangles (n,3,3)."""

    def side(a: Array, b: Array, c: Array, d: Array) -> Array:
        return np.sign((np.cross(b - a, c - a) * (d - a)).sum(axis=1))

    a, b, c = corners.transpose(1, 0, 2)
    apart = side(a, b, c, starts) * side(a, b, c, ends) < 0
    turns = [side(starts, ends, p, q) for p, q in ((a, b), (b, c), (c, a))]
    return apart & (turns[0] == turns[1]) & (turns[1] == turns[2])


def crosses(points: Array, triangles: Index) -> bool:
    pairs = near_pairs(points, triangles)
    first, second = points[triangles[pairs[:, 0]]], points[triangles[pairs[:, 1]]]
    return any(bool(pierced(first[:, k], first[:, k - 2], second).any()) for k in range(3))
