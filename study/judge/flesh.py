"""The candidates: four changes of two-phase skinning towards what flesh does. docs/flesh.md has their mathematics.

What depends on the rest alone is found when binding (`bind`); the rest is one formula a vertex (`deform`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from quaternions import CONJUGATE, blended_quaternions, product, quaternions, rotated, without_real_part

from judge.limb import Limb, Pose

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Amounts:
    """All 0: two-phase skinning."""

    slide: float = 0  # to the inner side of a bend, in radii at the sine of half the angle
    swell: float = 0  # what the limb widens for the volume that the slide would lose
    spread: float = 0  # of the twist, 0 to 1
    stiffness: float = 0  # power of the section's area with which a joint's weight counts in the twist
    even: float = 0  # 0 to 1: the twist's speed


@dataclass
class Bound:
    """What a vertex keeps from the rest."""

    axis: Array  # (V,3), of its limb, unit
    offset: Array  # (V,3), from the limb's axis
    twist: Array  # (V,J), weights of the twist
    turn: Array  # (V,J), how much of each joint's direction the slide counts; sums to 0


def descends(parents: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(J,J): joint i is an ancestor of joint j."""
    result = np.zeros((len(parents), len(parents)), dtype=bool)
    for j in range(len(parents)):
        above = parents[j]
        while above >= 0:
            result[above, j] = True
            above = parents[above]
    return result


def curved(weights: Array, a: float) -> Array:
    """w / (w + a), made to sum to 1: the smaller a, the wider."""
    if not np.isfinite(a):
        return weights
    result = weights / (weights + a)
    return result / result.sum(axis=1, keepdims=True)


CURVES = (0.1, 0.14, 0.2, 0.28, 0.4, 0.56, 0.8, 1.1, 1.6, 2.2, 3.2, np.inf)
LEAST = 0.02  # of a weight that says something of its profile


def straightening(limb: Limb, weights: Array) -> float:
    """The curve of CURVES that makes the weights' fall across the joints the straightest; infinite if it is straight."""
    unevenness = np.zeros(len(CURVES))
    for child, parent in enumerate(limb.parents):
        if parent < 0:
            continue
        pair = weights[:, [parent, child]]
        between = (pair.min(axis=1) > LEAST) & (pair.sum(axis=1) > 0.9)
        if between.sum() < 8:
            continue
        place = limb.points[between] @ limb.bind[child, :3, 1]
        for number, a in enumerate(CURVES):
            share = curved(pair[between] / pair[between].sum(axis=1, keepdims=True), a)[:, 1]
            slope, start = np.polyfit(place, share, 1)
            unevenness[number] += ((slope * place + start - share) ** 2).mean() / np.ptp(share) ** 2
    return CURVES[int(unevenness.argmin())]


def bind(limb: Limb, weights: Array, spread: float) -> Bound:
    heads, directions = limb.bind[:, :3, 3], limb.bind[:, :3, 1]
    axis = weights @ directions
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    from_heads = limb.points[:, None] - heads
    feet = heads + np.einsum("vja,ja->vj", from_heads, directions)[..., None] * directions
    offset = limb.points - np.einsum("vj,vja->va", weights, feet)
    ancestors = descends(limb.parents).astype(float)
    turn = 2 * weights * (weights @ ancestors - weights @ ancestors.T)
    twist = (1 - spread) * weights + spread * curved(weights, straightening(limb, weights))
    return Bound(axis, offset, twist, turn)


# ---- one frame


def sections(skinning: Array, directions: Array) -> Array:
    """(J,): the area of a bone's section against that at rest."""
    across = np.linalg.svd(directions[:, None, :])[2][:, 1:]  # two directions across each bone
    edges = np.einsum("jab,jkb->jka", skinning[:, :3, :3], across)
    return np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)


def speed(cosine: Array) -> Array:
    """phi / sin phi, phi the half angle between a joint's rotation and the blend."""
    half = np.arccos(cosine.clip(0, 1))
    return np.where(half < 1e-4, 1 + half**2 / 6, half / np.sin(half).clip(1e-300))


def twists(weights: Array, real: Array, even: float) -> Array:
    """The rotation whose twist is taken, (V,4)."""
    blended, signed = blended_quaternions(weights, real)
    signed = signed * (1 + even * (speed(np.abs(blended @ real.T)) - 1))
    blended = signed @ real
    return blended / np.linalg.norm(blended, axis=1, keepdims=True)


def about(axis: Array, q: Array) -> Array:
    """The part of the rotation q that turns about the axis."""
    twist = np.concatenate([q[:, :1], axis * (axis * q[:, 1:]).sum(axis=1, keepdims=True)], axis=1)
    return twist / np.linalg.norm(twist, axis=1, keepdims=True)


def deform(pose: Pose, weights: Array, amounts: Amounts, inherited: str = "before") -> Array:
    limb, bound = pose.limb, bind(pose.limb, weights, amounts.spread)
    s = pose.skeleton.separate(pose.world(), inherited=inherited)
    phase1 = np.einsum("vj,jab->vab", weights, s.nonrigid[:, :3])
    offset = np.einsum("vab,vb->va", phase1[:, :, :3], bound.offset)
    middle = np.einsum("vab,vb->va", phase1[:, :, :3], limb.points) + phase1[:, :, 3] - offset
    axis = np.einsum("vab,vb->va", phase1[:, :, :3], bound.axis)
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)

    real = quaternions(s.rigid[:, :3, :3])
    blended, signed = blended_quaternions(weights, real)
    length = np.linalg.norm(signed @ real, axis=1, keepdims=True)
    dual = signed @ product(without_real_part(s.rigid[:, :3, 3]), real) / length
    area = sections(pose.skinning(), limb.bind[:, :3, 1])
    stiff = bound.twist * area**amounts.stiffness
    apart = product(blended * CONJUGATE, twists(stiff / stiff.sum(axis=1, keepdims=True), real, amounts.even))
    turned = rotated(about(axis, apart), offset)

    away = np.einsum("vj,jab,vb->va", bound.turn, s.rigid[:, :3, :3], axis, optimize=True)
    wider = 1 + amounts.swell * (away**2).sum(axis=1, keepdims=True)
    bent = rotated(blended, middle + wider * turned) + product(dual, blended * CONJUGATE)[:, 1:]
    bent += amounts.slide * np.linalg.norm(offset, axis=1, keepdims=True) * away
    space = np.einsum("vj,jab->vab", weights, s.inherited[:, :3])
    return np.einsum("vab,vb->va", space[:, :, :3], bent) + space[:, :, 3]
