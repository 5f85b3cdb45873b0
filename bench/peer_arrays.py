"""What one writes without a library for skinning: a sparse matrix product with SciPy, and NumPy in chunks."""

from collections.abc import Callable
from typing import Any

import numpy as np
from expected import dual_quaternions, skinning_matrices
from numpy.typing import NDArray
from peer_numba import as_rows
from scene import Scene
from task import Task

CHUNK = 8192  # vertices whose matrices fit into the cache together

Array = NDArray[np.float32]


def scipy_linear(scene: Scene) -> Task:
    """The weights as a sparse matrix times the joints' matrices gives each vertex's matrix."""
    from scipy.sparse import csr_array

    mesh = scene.mesh
    count, width = mesh.joints.shape
    start = np.arange(0, count * width + 1, width, dtype=np.int32)
    matrices = as_rows(skinning_matrices(scene.scaled))
    weights = csr_array((mesh.weights.ravel(), mesh.joints.astype(np.int32).ravel(), start), (count, len(matrices)))
    points = homogeneous(mesh.points)
    out = np.empty_like(mesh.points)

    def run() -> None:
        np.einsum("vij,vj->vi", (weights @ matrices).reshape(count, 3, 4), points, out=out)

    return Task("SciPy CSR", "linear", run, lambda: out)


def homogeneous(points: Array) -> Array:
    return np.concatenate([points, np.ones((len(points), 1), np.float32)], axis=1)


def linear_chunk(points: Array, joints: Any, weights: Array, matrices: Array) -> Array:
    blended = (weights[:, None, :] @ matrices[joints]).reshape(-1, 3, 4)
    return np.einsum("vij,vj->vi", blended, homogeneous(points))


def rigid_chunk(points: Array, joints: Any, weights: Array, quaternions: Array) -> Array:
    rows = quaternions[joints]
    pivot = rows[np.arange(len(points)), weights.argmax(axis=1), :4]
    signed = np.copysign(weights, (rows[..., :4] @ pivot[:, :, None])[..., 0])
    r0, r1, r2, r3, d0, d1, d2, d3 = (signed[:, None, :] @ rows)[:, 0].T.copy()
    x, y, z = points.T.copy()
    s = 2 / (r0 * r0 + r1 * r1 + r2 * r2 + r3 * r3)
    tx, ty, tz = r1 * z - r2 * y + r3 * x + d0, r2 * x - r0 * z + r3 * y + d1, r0 * y - r1 * x + r3 * z + d2
    a = x + s * (r1 * tz - r2 * ty + r3 * d0 - d3 * r0)
    b = y + s * (r2 * tx - r0 * tz + r3 * d1 - d3 * r1)
    c = z + s * (r0 * ty - r1 * tx + r3 * d2 - d3 * r2)
    return np.stack([a, b, c], axis=1)


def numpy_task(scene: Scene, method: str, deform: Callable[[Array, Any, Array], Array]) -> Task:
    mesh = scene.mesh
    joints, out = mesh.joints.astype(np.intp), np.empty_like(mesh.points)

    def run() -> None:
        for start in range(0, len(mesh), CHUNK):
            some = slice(start, start + CHUNK)
            out[some] = deform(mesh.points[some], joints[some], mesh.weights[some])

    return Task("NumPy", method, run, lambda: out, every=3)


def tasks(scene: Scene) -> list[Task]:
    """On one thread: neither of them uses more here."""
    matrices = as_rows(skinning_matrices(scene.scaled))
    quaternions = dual_quaternions(skinning_matrices(scene.rigid)).astype(np.float32)
    parts = scene.scaled.skeleton.separate(scene.scaled.world)
    nonrigid, rigid = as_rows(parts.nonrigid), dual_quaternions(parts.rigid).astype(np.float32)
    return [
        scipy_linear(scene),
        numpy_task(scene, "linear", lambda p, j, w: linear_chunk(p, j, w, matrices)),
        numpy_task(scene, "dual_quaternion", lambda p, j, w: rigid_chunk(p, j, w, quaternions)),
        numpy_task(scene, "two_phase", lambda p, j, w: rigid_chunk(linear_chunk(p, j, w, nonrigid), j, w, rigid)),
    ]
