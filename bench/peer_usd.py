"""OpenUSD: UsdSkel.SkinPoints, the library's own loop over vertices, with arrays in its own types."""

import numpy as np
from expected import skinning_matrices
from pxr import Gf, UsdSkel, Vt, Work
from scene import Scene
from task import Task


def tasks(scene: Scene, threads: int) -> list[Task]:
    """Against two-phase skinning stands its dual quaternion skinning of scaled joints: two blends as well, but the
    stretch is about the origin and not about the joint."""
    if threads > 1:
        Work.SetConcurrencyLimit(threads)
    mesh, tokens = scene.mesh, UsdSkel.Tokens
    joints = Vt.IntArray.FromNumpy(mesh.joints.astype(np.int32).ravel())
    weights = Vt.FloatArray.FromNumpy(mesh.weights.ravel())
    width, identity = mesh.joints.shape[1], Gf.Matrix4f(1)
    last = [Vt.Vec3fArray()]

    def prepare() -> tuple[Vt.Vec3fArray]:
        last[0] = Vt.Vec3fArray.FromNumpy(mesh.points)  # SkinPoints works in place
        return (last[0],)

    def task(method: str, token: str, computes: str) -> Task:
        # for row vectors: transposed
        matrices = np.swapaxes(skinning_matrices(scene.rig_of(method)), 1, 2).astype(np.float32)
        transforms = Vt.Matrix4fArray.FromNumpy(np.ascontiguousarray(matrices))

        def run(points: Vt.Vec3fArray) -> None:
            UsdSkel.SkinPoints(token, identity, transforms, joints, weights, width, points, threads == 1)

        return Task("OpenUSD", method, run, lambda: np.array(last[0]), prepare, computes)

    return [
        task("linear", tokens.classicLinear, "linear"),
        task("dual_quaternion", tokens.dualQuaternion, "dual_quaternion"),
        task("two_phase", tokens.dualQuaternion, "dual_quaternion"),
    ]
