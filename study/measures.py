"""What is measured on a posed tube. Every figure is one number a pose."""

from __future__ import annotations

import numpy as np
from limbs import RING, Limb
from numpy.typing import NDArray

Array = NDArray[np.float64]


def girths(limb: Limb, posed: Array) -> Array:
    """The length of each ring of the posed tube, against that of the rings one radius away to either side."""
    rings = posed.reshape(-1, RING, 3)
    girth = np.linalg.norm(np.roll(rings, 1, axis=1) - rings, axis=2).sum(axis=1)
    before = np.interp(limb.along - limb.radius, limb.along, girth)
    after = np.interp(limb.along + limb.radius, limb.along, girth)
    return girth / (0.5 * (before + after))


def roughness(limb: Limb, posed: Array) -> float:
    """The rms second derivative of the positions along the limb, times the radius: 1 is a bend of one radius."""
    rings = posed.reshape(-1, RING, 3)
    slope = np.diff(rings, axis=0) / np.diff(limb.along)[:, None, None]
    middle = 0.5 * (limb.along[1:] + limb.along[:-1])
    second = np.diff(slope, axis=0) / np.diff(middle)[:, None, None]
    return float(limb.radius * np.sqrt((second**2).sum(axis=2).mean()))


def volume(posed: Array) -> float:
    """The volume of the tube, closed by a fan at each end."""
    rings = posed.reshape(-1, RING, 3)
    a, b = rings[:-1], rings[1:]
    a2, b2 = np.roll(a, -1, axis=1), np.roll(b, -1, axis=1)
    triangles = [(a, a2, b), (b, a2, b2)]
    for ring, flip in ((rings[0], True), (rings[-1], False)):
        centre = np.broadcast_to(ring.mean(axis=0), ring.shape)
        following = np.roll(ring, -1, axis=0)
        triangles.append((centre, following, ring) if flip else (centre, ring, following))
    return abs(sum(float(np.einsum("...i,...i", p, np.cross(q, r)).sum()) for p, q, r in triangles)) / 6


def volume_ratio(limb: Limb, skinning: Array, posed: Array) -> float:
    """Against the volume that it would have if each bone scaled its own share of the tube by its determinant."""
    rings = limb.points.reshape(-1, RING, 3)
    share = limb.weights[::RING] @ np.linalg.det(skinning[:, :3, :3])
    thickness = np.gradient(limb.along)
    thickness[[0, -1]] *= 0.5  # half a step at either end
    expected = volume(rings) * float(share @ thickness) / float(thickness.sum())
    return volume(posed) / expected


def head_gap(limb: Limb, world: Array, posed: Array) -> float:
    """How far the middle of the ring on a joint's head is from where the joint is, in radii: the worst joint's."""
    middles = posed.reshape(-1, RING, 3)[limb.head_rings].mean(axis=1)
    return float(np.linalg.norm(middles - world[1:, :3, 3], axis=1).max() / limb.radius)


FIGURES = ("narrowest ring", "widest ring", "roughness", "volume", "gap at heads")
IDEAL = {"narrowest ring": 1.0, "widest ring": 1.0, "roughness": 0.0, "volume": 1.0, "gap at heads": 0.0}


def measure(limb: Limb, world: Array, posed: Array) -> Array:
    """The FIGURES of one posed tube."""
    skinning = world @ np.linalg.inv(limb.bind)
    ratio = girths(limb, posed)
    return np.array(
        [
            ratio.min(),
            ratio.max(),
            roughness(limb, posed),
            volume_ratio(limb, skinning, posed),
            head_gap(limb, world, posed),
        ]
    )
