"""The skins in use, on any limb: linear, Blender's Preserve Volume, and two-phase in both readings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from quaternions import CONJUGATE, blended_quaternions, product, quaternions, without_real_part

import two_phase_skinning as tps
from judge.limb import Pose

Array = NDArray[np.float64]


def linear(pose: Pose, weights: Array) -> Array:
    t, p = pose.skinning(), pose.limb.points
    return np.einsum("vj,jab,vb->va", weights, t[:, :3, :3], p, optimize=True) + weights @ t[:, :3, 3]


def upright(linear_parts: Array) -> Array:
    """Rotations as Blender takes them from a bone's matrix: y as it is, x made square to it."""
    y = linear_parts[:, :, 1] / np.linalg.norm(linear_parts[:, :, 1], axis=1, keepdims=True)
    z = np.cross(linear_parts[:, :, 0], y)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    return np.stack([np.cross(y, z), y, z], axis=2)


def preserve_volume(pose: Pose, weights: Array) -> Array:
    """Blends, for each vertex, the rigid motions that carry this very vertex to where its joints' matrices take it."""
    t = pose.skinning()
    turns = upright(pose.world()[:, :3, :3]) @ upright(pose.limb.bind[:, :3, :3]).transpose(0, 2, 1)
    real = quaternions(turns)
    blended, signed = blended_quaternions(weights, real)
    targets = np.einsum("jab,vb->vja", t[:, :3, :3], pose.limb.points) + t[:, :3, 3]
    each = product(without_real_part(targets), np.broadcast_to(real, (*targets.shape[:2], 4)))
    dual = np.einsum("vj,vjq->vq", signed, each)
    return product(dual / np.linalg.norm(signed @ real, axis=1, keepdims=True), blended * CONJUGATE)[:, 1:]


def two_phase(pose: Pose, weights: Array, inherited: str) -> Array:
    skin = tps.Skin(pose.limb.points, weights, pose.skeleton)
    return skin.deform(pose.world(), inherited=inherited, threads=1).astype(np.float64)
