"""Numba: kernels as an expert would write them by hand, parallel and with fast mathematics.

The number of influences is a constant of the compiled code, sums stay in registers, joints are 16-bit numbers, and
neither matrices nor dual quaternions are gathered before use.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from expected import dual_quaternions, skinning_matrices
from numba import float32, njit, prange
from scene import Scene
from task import Task


class Kernels(NamedTuple):
    """linear(points, joints, weights, matrices (J, 12), out), rigid(..., dual quaternions (J, 8), out) and
    two_phase(..., matrices, dual quaternions, out)."""

    linear: Callable[..., None]
    rigid: Callable[..., None]
    two_phase: Callable[..., None]


@cache
def kernels(influences: int) -> Kernels:
    inline = njit(fastmath=True, inline="always")
    parallel = njit(fastmath=True, parallel=True, nogil=True)

    @inline
    def blend_linear(v: int, x: Any, y: Any, z: Any, joints: Any, weights: Any, matrices: Any) -> Any:
        a, b, c = float32(0), float32(0), float32(0)
        for k in range(influences):
            m, w = matrices[joints[v, k]], weights[v, k]
            a += w * (m[0] * x + m[1] * y + m[2] * z + m[3])
            b += w * (m[4] * x + m[5] * y + m[6] * z + m[7])
            c += w * (m[8] * x + m[9] * y + m[10] * z + m[11])
        return a, b, c

    @inline
    def blend_rigid(v: int, x: Any, y: Any, z: Any, joints: Any, weights: Any, quaternions: Any) -> Any:
        heaviest = 0
        for k in range(1, influences):
            if weights[v, k] > weights[v, heaviest]:
                heaviest = k
        pivot = quaternions[joints[v, heaviest]]
        r0, r1, r2, r3 = float32(0), float32(0), float32(0), float32(0)
        d0, d1, d2, d3 = float32(0), float32(0), float32(0), float32(0)
        for k in range(influences):
            q, w = quaternions[joints[v, k]], weights[v, k]
            if q[0] * pivot[0] + q[1] * pivot[1] + q[2] * pivot[2] + q[3] * pivot[3] < float32(0):
                w = -w
            r0, r1, r2, r3 = r0 + w * q[0], r1 + w * q[1], r2 + w * q[2], r3 + w * q[3]
            d0, d1, d2, d3 = d0 + w * q[4], d1 + w * q[5], d2 + w * q[6], d3 + w * q[7]
        s = float32(2) / (r0 * r0 + r1 * r1 + r2 * r2 + r3 * r3)
        tx, ty, tz = r1 * z - r2 * y + r3 * x + d0, r2 * x - r0 * z + r3 * y + d1, r0 * y - r1 * x + r3 * z + d2
        a = x + s * (r1 * tz - r2 * ty + r3 * d0 - d3 * r0)
        b = y + s * (r2 * tx - r0 * tz + r3 * d1 - d3 * r1)
        c = z + s * (r0 * ty - r1 * tx + r3 * d2 - d3 * r2)
        return a, b, c

    @parallel
    def linear(points: Any, joints: Any, weights: Any, matrices: Any, out: Any) -> None:
        for v in prange(points.shape[0]):
            x, y, z = points[v, 0], points[v, 1], points[v, 2]
            out[v, 0], out[v, 1], out[v, 2] = blend_linear(v, x, y, z, joints, weights, matrices)

    @parallel
    def rigid(points: Any, joints: Any, weights: Any, quaternions: Any, out: Any) -> None:
        for v in prange(points.shape[0]):
            x, y, z = points[v, 0], points[v, 1], points[v, 2]
            out[v, 0], out[v, 1], out[v, 2] = blend_rigid(v, x, y, z, joints, weights, quaternions)

    @parallel
    def two_phase(points: Any, joints: Any, weights: Any, matrices: Any, quaternions: Any, out: Any) -> None:
        for v in prange(points.shape[0]):
            x, y, z = points[v, 0], points[v, 1], points[v, 2]
            x, y, z = blend_linear(v, x, y, z, joints, weights, matrices)
            out[v, 0], out[v, 1], out[v, 2] = blend_rigid(v, x, y, z, joints, weights, quaternions)

    return Kernels(linear, rigid, two_phase)


def as_rows(matrices: Any) -> Any:
    """(J, 12) float32: the upper three rows of each matrix."""
    return np.ascontiguousarray(matrices[:, :3].reshape(len(matrices), 12), dtype=np.float32)


def tasks(scene: Scene, threads: int) -> list[Task]:
    """The kernels get ready-made matrices and dual quaternions: making them is not in their time, but it is in ours."""
    kernel, out = kernels(scene.mesh.joints.shape[1]), np.empty_like(scene.mesh.points)
    vertices = (scene.mesh.points, scene.mesh.joints, scene.mesh.weights)
    rigid = dual_quaternions(skinning_matrices(scene.rigid)).astype(np.float32)
    parts = scene.scaled.skeleton.separate(scene.scaled.world)
    both = (as_rows(parts.nonrigid), dual_quaternions(parts.rigid).astype(np.float32))

    def task(method: str, kernel: Callable[..., None], *joints: Any) -> Task:
        def run() -> None:
            numba.set_num_threads(threads)  # a part of the call: a microsecond
            kernel(*vertices, *joints, out)

        return Task("numba", method, run, lambda: out)

    return [
        task("linear", kernel.linear, as_rows(skinning_matrices(scene.scaled))),
        task("dual_quaternion", kernel.rigid, rigid),
        task("two_phase", kernel.two_phase, *both),
    ]
