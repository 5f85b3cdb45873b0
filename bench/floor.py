"""The memory floor of floor.c, for every method alike."""

import ctypes
import platform
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from clock import timed
from compiled import library
from scene import Scene

NAME = "memory floor"


@cache
def copy_vertices() -> Any:
    native = "-march=native" if platform.machine() in ("x86_64", "AMD64") else "-mcpu=native"
    function = ctypes.CDLL(str(library("floor", native, "-ffast-math"))).copy_vertices
    function.argtypes = [ctypes.c_int64, *[ctypes.c_void_p] * 4, ctypes.c_int]
    function.restype = None
    return function


def timed_copy(scene: Scene, threads: int) -> Callable[[], float]:
    """A sample of a call that reads 36 bytes a vertex and writes 12."""
    mesh = scene.mesh
    arrays = (mesh.points, mesh.joints, mesh.weights, np.empty_like(mesh.points))
    addresses = [array.ctypes.data for array in arrays]
    copy = copy_vertices()

    def run(_keep: object = arrays) -> None:
        copy(len(mesh), *addresses, threads)

    return timed(run)
