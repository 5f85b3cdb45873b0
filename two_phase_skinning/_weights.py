"""Weights in any of the accepted forms, brought to compressed rows."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from two_phase_skinning._arrays import IntArray, as_array


class Rows(NamedTuple):
    """Vertex i has the entries start[i] .. start[i + 1] - 1."""

    start: NDArray[Any]
    joints: NDArray[Any]
    weights: NDArray[Any]


def compressed_rows(weights: Any, vertex_count: int, joint_count: int, index: Callable[[Any, str], int]) -> Rows:
    """What the core reads, from any form that Skin documents. index: the number of a joint that is named.

    The core checks values and ranges.
    """
    if hasattr(weights, "tocsr"):
        return _from_sparse(weights, (vertex_count, joint_count))
    if isinstance(weights, tuple) and len(weights) == 2:
        return _from_padded(*weights, vertex_count)
    if isinstance(weights, tuple) and len(weights) == 3:
        return Rows(*(as_array(part, "weights") for part in weights))
    if isinstance(weights, tuple):
        raise ValueError(
            f"weights: a tuple of {len(weights)}; expected (indices, weights), (indptr, indices, weights), "
            "a dense (V, J) array, a list of rows of pairs or a scipy.sparse matrix"
        )
    if isinstance(weights, list) and _has_pairs(weights):
        return _from_pairs(weights, vertex_count, index)
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


def _starts(counts: NDArray[Any]) -> IntArray:
    start = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=start[1:])
    return start


def _from_padded(indices: Any, weights: Any, vertex_count: int) -> Rows:
    indices, weights = as_array(indices, "weights: indices"), as_array(weights, "weights")
    if indices.ndim != 2 or indices.shape[0] != vertex_count:
        raise ValueError(f"weights: indices of shape {indices.shape}; expected ({vertex_count}, K)")
    if weights.shape != indices.shape:
        raise ValueError(f"weights: shape {weights.shape}; expected {indices.shape}, that of the indices")
    if indices.dtype.kind == "i" and weights.dtype.kind in "fiu":
        used = (indices != -1) | (weights != 0)  # a weight on -1 is for the core to refuse
        if not used.all():
            return Rows(_starts(used.sum(axis=1)), indices[used], weights[used])
    count, width = indices.shape
    return Rows(np.arange(count + 1, dtype=np.int64) * width, indices.reshape(-1), weights.reshape(-1))


def _has_pairs(weights: list[Any]) -> bool:
    """Rows of (joint, weight) pairs, or mappings from joints to weights? Else they are dense rows of numbers."""
    first = next((row for row in weights if isinstance(row, Mapping) or (isinstance(row, list | tuple) and row)), None)
    return isinstance(first, Mapping) or (first is not None and isinstance(first[0], tuple))


def _from_pairs(weights: list[Any], vertex_count: int, index: Callable[[Any, str], int]) -> Rows:
    if len(weights) != vertex_count:
        raise ValueError(f"weights: {len(weights)} rows; expected {vertex_count}, one for each vertex")
    counts = np.zeros(vertex_count, dtype=np.int64)
    joints: list[int] = []
    values: list[Any] = []
    for vertex, row in enumerate(weights):
        try:
            pairs = [(joint, weight) for joint, weight in (row.items() if isinstance(row, Mapping) else row)]
        except (TypeError, ValueError):
            raise TypeError(f"weights: vertex {vertex} has {row!r}; expected pairs of a joint and a weight") from None
        joints.extend(index(joint, f"weights: vertex {vertex}: joint") for joint, _ in pairs)
        values.extend(weight for _, weight in pairs)
        counts[vertex] = len(pairs)
    return Rows(_starts(counts), np.array(joints, dtype=np.int64), as_array(values, "weights"))


def _from_dense(weights: Any, shape: tuple[int, int]) -> Rows:
    dense = as_array(weights, "weights")
    _check_real(dense)
    _check_shape(dense.shape, shape)
    vertices, joints = np.nonzero(dense)
    return Rows(_starts(np.bincount(vertices, minlength=shape[0])), joints, dense[vertices, joints])
