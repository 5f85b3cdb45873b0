"""Names for the arrays that the package takes and gives, and reading those whose shape is needed before the core."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Float32Array: TypeAlias = NDArray[np.float32]
Float64Array: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]


def as_array(value: Any, name: str) -> NDArray[Any]:
    """numpy.asarray, with the argument named where that fails. The core checks dtype and values."""
    if np.ma.is_masked(value):
        raise ValueError(f"{name}: has masked elements; expected an array without a mask")
    try:
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
            return np.from_dlpack(value)
        return np.asarray(value)
    except MemoryError:
        raise
    except Exception as error:
        # a ValueError stays one; what else an object may raise, such as torch's RuntimeError, is a TypeError
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise kind(f"{name}: cannot be read as an array ({error}); expected an array of numbers") from error


def affine(matrix: Any, name: str) -> Float64Array:
    """A finite (4, 4) matrix with the last row 0 0 0 1."""
    array = as_array(matrix, name)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name}: dtype {array.dtype}; expected real numbers")
    if array.shape != (4, 4):
        raise ValueError(f"{name}: shape {array.shape}; expected (4, 4)")
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: is not finite; expected finite numbers")
    if np.abs(array[3] - [0, 0, 0, 1]).max() > 1e-5:
        raise ValueError(f"{name}: has the last row {array[3]}; expected 0 0 0 1 (matrices are for column vectors)")
    return array.astype(np.float64)
