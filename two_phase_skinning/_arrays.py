"""Reading array arguments whose shape is needed before the core sees them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_array(value: Any, name: str) -> NDArray[Any]:
    """numpy.asarray, with the argument named where that fails. The core checks dtype and values."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: cannot be read as an array ({error}); expected an array of numbers") from None
