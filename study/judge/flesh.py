"""The candidates: changes of two-phase skinning towards what flesh does. docs/flesh.md has their mathematics.

An edge is a joint with its parent. What depends on the rest alone is found when binding (`bind`), what depends on the
pose alone once a frame and edge (`edges_of`); the rest is one formula a vertex (`deform`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from quaternions import CONJUGATE, blended_quaternions, product, quaternions, rotated, without_real_part

from judge.limb import Limb, Pose

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True)
class Amounts:
    """All 0: two-phase skinning."""

    slide: float = 0  # in a bend, flesh moves to the inner side
    spread: float = 0  # rotations go over the whole reach of the weights
    stiffness: float = 0  # in a twist, the thin part of a limb turns more


FLESH = Amounts(1, 1, 1)
# what a slide of 1 is, fitted to the elastic surfaces of the poses that are not held
INWARDS = 0.46
SIDEWAYS = 0.4


# ---- when binding


@dataclass
class Bound:
    """What a vertex keeps from the rest."""

    axis: Array  # (V,3), of its limb, unit
    offset: Array  # (V,3), from the limb's axis
    share: Array  # (V,E), the weight on the far side of each edge
    spread: Array  # (V,E), that share as the twist has it when it is spread wholly


def below(parents: Index) -> NDArray[np.bool_]:
    """(J,J): joint j is i or one of its descendants."""
    result = np.eye(len(parents), dtype=bool)
    for j in range(len(parents)):
        above = parents[j]
        while above >= 0:
            result[above, j] = True
            above = parents[above]
    return result


def curved(share: Array, a: float) -> Array:
    """The smaller a, the wider the fall; infinite: as it is."""
    if not np.isfinite(a):
        return share
    near, far = share / (share + a), (1 - share) / (1 - share + a)
    return near / (near + far)


CURVES = (0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4, 0.56, 0.8, 1.1, 1.6, 2.2, 3.2, np.inf)
NO_SECTION = 0.01  # added to areas, so that a limb without any section divides too
LEAST = 0.02  # of a share that says something of its profile


def straightening(share: Array, place: Array) -> float:
    """The curve of CURVES that makes the share's fall along the bone the straightest; infinite if it is straight."""
    between = (share > LEAST) & (share < 1 - LEAST)
    if between.sum() < 8:
        return np.inf
    unevenness = []
    for a in CURVES:
        curve = curved(share[between], a)
        slope, start = np.polyfit(place[between], curve, 1)
        unevenness.append(((slope * place[between] + start - curve) ** 2).mean() / np.ptp(curve) ** 2)
    return CURVES[int(np.argmin(unevenness))]


def bind(limb: Limb, weights: Array) -> Bound:
    edges = np.flatnonzero(limb.parents >= 0)
    heads, directions = limb.bind[edges, :3, 3], limb.bind[edges, :3, 1]
    share = weights @ below(limb.parents)[edges].T
    bends = share * (1 - share) + 1e-12
    bends /= bends.sum(axis=1, keepdims=True)
    axis = bends @ directions
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    from_heads = limb.points[:, None] - heads
    feet = heads + np.einsum("vea,ea->ve", from_heads, directions)[..., None] * directions
    offset = limb.points - np.einsum("ve,vea->va", bends, feet)
    places = np.einsum("vea,ea->ev", from_heads, directions)
    spread = [curved(s, straightening(s, place)) for s, place in zip(share.T, places, strict=True)]
    return Bound(axis, offset, share, np.stack(spread, axis=1))


# ---- once a frame


@dataclass
class Edges:
    """What each edge does in a pose."""

    inner: Array  # (E,3): to the inner side of the bend, as long as the sine of its angle
    swing: Array  # (E,3): the bend as a rotation vector
    twist: Array  # (E,), angle about the child's direction
    stiffness: Array  # (E,): the area of the child's section over the parent's, each against rest


def unit(vectors: Array) -> Array:
    """Zero where there is no direction."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)


def dot(a: Array, b: Array) -> Array:
    return (a * b).sum(axis=1, keepdims=True)


def sections(skinning: Array, directions: Array) -> Array:
    """The area of sections across `directions` after linear maps, against that before: |cof(T) d|."""
    linear = skinning[:, :3, :3]
    rows = [np.cross(linear[:, a], linear[:, b]) for a, b in ((1, 2), (2, 0), (0, 1))]
    return np.linalg.norm(np.einsum("eab,eb->ea", np.stack(rows, axis=1), directions), axis=1)


def edges_of(pose: Pose, nonrigid: Array, rigid: Array) -> Edges:
    child = np.flatnonzero(pose.limb.parents >= 0)
    parent = pose.limb.parents[child]
    rest = pose.limb.bind[child, :3, 1]
    along = unit(np.einsum("eab,eb->ea", nonrigid[child, :3, :3], rest))
    there, here = (np.einsum("eab,eb->ea", rigid[j, :3, :3], along) for j in (child, parent))
    half_cosine = np.sqrt((1 + dot(here, there)).clip(0) / 2)
    normal = np.cross(here, there)
    sine = np.linalg.norm(normal, axis=1, keepdims=True)
    swing = normal * np.arctan2(sine, dot(here, there)) / sine.clip(1e-12)
    real = quaternions(rigid[:, :3, :3])
    apart = product(real[parent] * CONJUGATE, real[child])
    apart *= np.where(apart[:, :1] < 0, -1, 1)
    twist = 2 * np.arctan2(dot(apart[:, 1:], along)[:, 0], apart[:, 0])
    t = pose.skinning()
    ratio = (sections(t[child], rest) + NO_SECTION) / (sections(t[parent], rest) + NO_SECTION)
    return Edges(half_cosine * (there - here), swing, twist, ratio)


# ---- once a vertex


def more_rotation(bound: Bound, edges: Edges, amounts: Amounts, axis: Array) -> Array:
    """(V,3): the rotation vector by which a section turns beyond what dual quaternions turn it."""
    u = bound.share
    spread = u + amounts.spread * (bound.spread - u)
    ratio = edges.stiffness**amounts.stiffness
    twist = ratio * spread / (1 + (ratio - 1) * spread)
    return ((twist - u) @ edges.twist)[:, None] * axis + (spread - u) @ edges.swing


def turned(vectors: Array, rotation: Array) -> Array:
    """By rotation vectors."""
    angle = np.linalg.norm(rotation, axis=1, keepdims=True)
    axis = rotation / angle.clip(1e-12)
    across = np.cross(axis, vectors)
    return vectors + np.sin(angle) * across + (1 - np.cos(angle)) * np.cross(axis, across)


def slide(offset: Array, away: Array) -> Array:
    """How flesh moves in a bend: inwards, outside and inside twice as far as beside; and the sides widen."""
    reach = np.linalg.norm(offset, axis=1, keepdims=True)
    inner = dot(offset, away)
    inwards = reach * away + inner * offset / reach.clip(1e-12)
    sideways = dot(away, away) * offset - inner * away
    return INWARDS * inwards + SIDEWAYS * sideways


def deform(pose: Pose, weights: Array, amounts: Amounts, inherited: str = "before") -> Array:
    limb, bound = pose.limb, bind(pose.limb, weights)
    s = pose.skeleton.separate(pose.world(), inherited=inherited)
    edges = edges_of(pose, s.nonrigid, s.rigid)
    phase1 = np.einsum("vj,jab->vab", weights, s.nonrigid[:, :3])
    offset, axis, points = (
        np.einsum("vab,vb->va", phase1[:, :, :3], vectors) for vectors in (bound.offset, bound.axis, limb.points)
    )
    real = quaternions(s.rigid[:, :3, :3])
    blended, signed = blended_quaternions(weights, real)
    length = np.linalg.norm(signed @ real, axis=1, keepdims=True)
    dual = signed @ product(without_real_part(s.rigid[:, :3, 3]), real) / length
    bent = rotated(blended, points + phase1[:, :, 3]) + product(dual, blended * CONJUGATE)[:, 1:]

    offset, axis = rotated(blended, offset), rotated(blended, unit(axis))
    spread = turned(offset, more_rotation(bound, edges, amounts, axis))
    away = 2 * bound.share * (1 - bound.share) @ edges.inner
    bent += spread - offset + amounts.slide * slide(spread, away)
    space = np.einsum("vj,jab->vab", weights, s.inherited[:, :3])
    return np.einsum("vab,vb->va", space[:, :, :3], bent) + space[:, :, 3]
