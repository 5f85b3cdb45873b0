"""Weights in any of the accepted forms, brought to compressed rows."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from two_phase_skinning._arrays import as_array


class Rows(NamedTuple):
    """Vertex i has the entries start[i] .. start[i + 1] - 1."""

    start: NDArray[Any]
    joints: NDArray[Any]
    weights: NDArray[Any]


def compressed_rows(weights: Any, vertex_count: int, joint_count: int) -> Rows:
    """What the core reads, from dense, padded, CSR or scipy.sparse weights. The core checks values and ranges."""
    if hasattr(weights, "tocsr"):
        return _from_sparse(weights, (vertex_count, joint_count))
    if isinstance(weights, tuple) and len(weights) == 2:
        return _from_padded(*weights, vertex_count)
    if isinstance(weights, tuple) and len(weights) == 3:
        return Rows(*(as_array(part, "weights") for part in weights))
    if isinstance(weights, tuple):
        raise ValueError(
            f"weights: a tuple of {len(weights)}; expected (indices, weights), (indptr, indices, weights), "
            "a dense (V, J) array or a scipy.sparse matrix"
        )
    return _from_dense(weights, (vertex_count, joint_count))


def _check_real(array: NDArray[Any]) -> None:
    if array.dtype.kind not in "fiu":
        raise TypeError(f"weights: dtype {array.dtype}; expected real numbers")


def _check_shape(shape: tuple[int, ...], expected: tuple[int, int]) -> None:
    if tuple(shape) != expected:
        raise ValueError(f"weights: shape {tuple(shape)}; expected {expected}")


def _from_sparse(weights: Any, shape: tuple[int, int]) -> Rows:
    _check_shape(weights.shape, shape)
    rows = weights.tocsr()
    return Rows(rows.indptr, rows.indices, rows.data)


def _from_padded(indices: Any, weights: Any, vertex_count: int) -> Rows:
    indices, weights = as_array(indices, "weights: indices"), as_array(weights, "weights")
    if indices.ndim != 2 or indices.shape[0] != vertex_count:
        raise ValueError(f"weights: indices of shape {indices.shape}; expected ({vertex_count}, K)")
    if weights.shape != indices.shape:
        raise ValueError(f"weights: shape {weights.shape}; expected {indices.shape}, that of the indices")
    count, width = indices.shape
    return Rows(np.arange(count + 1, dtype=np.int64) * width, indices.reshape(-1), weights.reshape(-1))


def _from_dense(weights: Any, shape: tuple[int, int]) -> Rows:
    dense = as_array(weights, "weights")
    _check_real(dense)
    _check_shape(dense.shape, shape)
    vertices, joints = np.nonzero(dense)
    start = np.zeros(shape[0] + 1, dtype=np.int64)
    np.cumsum(np.bincount(vertices, minlength=shape[0]), out=start[1:])
    return Rows(start, joints, dense[vertices, joints])
