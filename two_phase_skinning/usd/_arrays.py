"""OpenUSD's values as arrays in this package's conventions, and back.

OpenUSD multiplies row vectors from the left, so its matrices are the transposes of ours. Matrices are inverted and
chained by OpenUSD, and points moved by plain sums and products: linear algebra libraries round as the processor is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pxr import Gf, Usd, Vt

Matrix = NDArray[np.float64]
Points = NDArray[np.float32]


def time_code(time: float | None) -> Usd.TimeCode:
    """OpenUSD's time; None is its default time, at which values that do not vary are kept."""
    return Usd.TimeCode.Default() if time is None else Usd.TimeCode(time)


def matrix(value: Gf.Matrix4d) -> Matrix:
    """(4, 4) for column vectors."""
    return np.array(value, dtype=np.float64).T


def matrices(values: Vt.Matrix4dArray) -> Matrix:
    """(N, 4, 4) for column vectors."""
    return np.array(values, dtype=np.float64).reshape(-1, 4, 4).transpose(0, 2, 1)


def usd_matrix(value: Matrix) -> Gf.Matrix4d:
    """A matrix for row vectors."""
    return Gf.Matrix4d(value.T.tolist())


def vectors(values: Any) -> Points:
    """(N, 3) float32; a copy."""
    return np.array(values, dtype=np.float32).reshape(-1, 3)


def usd_vectors(values: Points) -> Vt.Vec3fArray:
    """An array of float32 vectors."""
    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(values, dtype=np.float32))


def moved(points: Points, transform: Matrix) -> Points:
    """(N, 3) points through a (4, 4) matrix, computed in float64; the same array where nothing moves."""
    if np.array_equal(transform, np.eye(4)):
        return points
    return np.asarray(_turned(points, transform) + transform[:3, 3], dtype=np.float32)


def moved_normals(normals: Points, transform: Matrix) -> Points:
    """(N, 3) normals through the inverse transpose of a (4, 4) matrix, of unit length; zero ones stay zero."""
    turned = _turned(normals, matrix(inverse(usd_matrix(transform))).T)
    x, y, z = turned.T
    length = np.sqrt(x * x + y * y + z * z)
    return np.asarray(turned / np.where(length > 0, length, 1)[:, None], dtype=np.float32)


def inverse(value: Gf.Matrix4d) -> Gf.Matrix4d:
    """The inverse; the pseudo-inverse of a matrix that has none, as of a prim that is scaled to nothing."""
    if value.GetDeterminant() == 0:
        return Gf.Matrix4d(np.linalg.pinv(np.array(value)).tolist())
    return value.GetInverse()


def _turned(vectors: Points, transform: Matrix) -> NDArray[np.float64]:
    x, y, z = (vectors[:, axis : axis + 1].astype(np.float64) * transform[:3, axis] for axis in range(3))
    return x + y + z
