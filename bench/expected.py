"""What every program that is compared has to compute: plainly, in float64, for some of the vertices."""

import numpy as np
from numpy.typing import NDArray
from scene import Mesh, Rig

Array = NDArray[np.float64]
TOLERANCE = 1e-4


def linear_stage(matrices: Array, mesh: Mesh, points: Array) -> Array:
    blended = np.einsum("vk,vkij->vij", mesh.weights.astype(np.float64), matrices[mesh.joints])
    return np.einsum("vij,vj->vi", blended[:, :3, :3], points) + blended[:, :3, 3]


def dual_quaternions(matrices: Array) -> Array:
    """(J, 8): real and dual part, x y z w each, of rotations with translations."""
    from scipy.spatial.transform import Rotation

    real = Rotation.from_matrix(matrices[:, :3, :3]).as_quat()
    move = matrices[:, :3, 3]
    dual = np.empty_like(real)
    dual[:, :3] = (real[:, 3:] * move + np.cross(move, real[:, :3])) / 2
    dual[:, 3] = -np.sum(move * real[:, :3], axis=1) / 2
    return np.concatenate([real, dual], axis=1)


def rigid_stage(matrices: Array, mesh: Mesh, points: Array) -> Array:
    """Dual quaternions, each with the sign of the vertex's heaviest, blended and normalised (Kavan et al. 2008)."""
    rows = dual_quaternions(matrices)[mesh.joints]
    heaviest = np.take_along_axis(rows, mesh.weights.argmax(1)[:, None, None], axis=1)[:, 0]
    sign = np.where(np.einsum("vke,ve->vk", rows[..., :4], heaviest[:, :4]) < 0, -1.0, 1.0)
    blended = np.einsum("vk,vke->ve", sign * mesh.weights, rows)
    blended /= np.linalg.norm(blended[:, :4], axis=1, keepdims=True)
    real, real_w, dual, dual_w = blended[:, :3], blended[:, 3:4], blended[:, 4:7], blended[:, 7:]
    turned = points + 2 * np.cross(real, np.cross(real, points) + real_w * points)
    return turned + 2 * (real_w * dual - dual_w * real + np.cross(real, dual))


def skinning_matrices(rig: Rig) -> Array:
    return rig.world @ np.linalg.inv(rig.skeleton.bind)


def stretches(matrices: Array) -> tuple[Array, Array]:
    """Each matrix as a rotation with translation times a symmetric stretch about the origin."""
    left, values, right = np.linalg.svd(matrices[:, :3, :3])
    rigid, stretch = matrices.copy(), np.tile(np.eye(4), (len(matrices), 1, 1))
    rigid[:, :3, :3] = left @ right
    stretch[:, :3, :3] = np.swapaxes(right, 1, 2) @ (values[:, :, None] * right)
    return rigid, stretch


def deformed(what: str, rig: Rig, mesh: Mesh) -> Array:
    """what: "linear"; "dual_quaternion", a stretch about the origin first; "two_phase"."""
    points = mesh.points.astype(np.float64)
    if what == "linear":
        return linear_stage(skinning_matrices(rig), mesh, points)
    if what == "dual_quaternion":
        rigid, stretch = stretches(skinning_matrices(rig))
        return rigid_stage(rigid, mesh, linear_stage(stretch, mesh, points))
    parts = rig.skeleton.separate(rig.world)
    rigid = rigid_stage(parts.rigid, mesh, linear_stage(parts.nonrigid, mesh, points))
    return linear_stage(parts.inherited, mesh, rigid)


def sample_of(mesh: Mesh) -> slice:
    """About 20,000 vertices from everywhere."""
    return slice(None, None, max(1, len(mesh) // 20_000))


def check(who: str, what: str, rig: Rig, mesh: Mesh, result: NDArray[np.float32]) -> float:
    """The largest error of a result; SystemExit if that is too large to call it the same work."""
    some = sample_of(mesh)
    part = Mesh(mesh.points[some], mesh.joints[some], mesh.weights[some])
    error = float(np.abs(result[some] - deformed(what, rig, part)).max())
    if not error <= TOLERANCE:
        raise SystemExit(f"{who}, {what}, {len(mesh):,} vertices: off by {error:.1e}; expected at most {TOLERANCE:.0e}")
    return error
