"""The methods that are compared. Blender's two come from `in_blender`; these are OpenUSD's and this package's."""

from __future__ import annotations

import numpy as np
from limbs import Limb
from numpy.typing import NDArray
from pxr import Gf, UsdSkel, Vt

import two_phase_skinning as tps

Array = NDArray[np.float64]
METHODS = ("linear", "Preserve Volume", "OpenUSD DQ", "two-phase after", "two-phase before")


def openusd_dual_quaternion(limb: Limb, world: Array) -> Array:
    """UsdSkel's dual quaternion skinning, which blends the joints' stretch about the origin before.

    It takes Vt arrays (lists give wrong points without an error), row vectors, and the same number of influences for
    each point; the last argument is `inSerial`.
    """
    points = Vt.Vec3fArray.FromNumpy(limb.points.astype(np.float32))
    xforms = Vt.Matrix4dArray.FromNumpy(np.ascontiguousarray((world @ np.linalg.inv(limb.bind)).transpose(0, 2, 1)))
    vertices, joints = limb.weights.shape
    indices = Vt.IntArray.FromNumpy(np.tile(np.arange(joints, dtype=np.int32), vertices))
    weights = Vt.FloatArray.FromNumpy(limb.weights.astype(np.float32).ravel())
    ok = UsdSkel.SkinPoints("dualQuaternion", Gf.Matrix4d(1), xforms, indices, weights, joints, points, True)
    if not ok:
        raise RuntimeError("UsdSkel.SkinPoints failed")
    return np.array(points, dtype=np.float64)


def two_phase(limb: Limb, world: Array, inherits: bool) -> tuple[Array, Array]:
    """This package's two readings of inherited scale: after and before the bend."""
    skeleton = tps.Skeleton(limb.parents, limb.bind, inherits=np.full(len(world), inherits))
    skin = tps.Skin(limb.points, limb.weights, skeleton)
    after, before = (skin.deform(world, inherited=where, threads=1).astype(np.float64) for where in ("after", "before"))
    return after, before
