"""Limbs to look at: a tube around a chain of bones, its weights, and random squash-and-stretch poses of it.

A tube is rings of RING vertices, `points` seen as (rings, RING, 3). One ring lies on the head of each joint.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Array = NDArray[np.float64]

RING = 24  # vertices around a tube
RINGS_PER_BONE = 16
KINDS = ("twist", "bend", "both")
EDGES = ("inherited", "compensated")


@dataclass
class Limb:
    """A chain at rest: J bones by their matrices (y along the bone) and lengths, and the tube around them."""

    name: str
    bind: Array  # (J,4,4)
    lengths: Array  # (J,)
    radius: float
    points: Array = field(init=False)  # (V,3)
    weights: Array = field(init=False)  # (V,J)
    along: Array = field(init=False)  # (rings,), where along the chain each ring is
    head_rings: Array = field(init=False)  # (J - 1,), the rings on the heads of all joints but the first

    def __post_init__(self) -> None:
        starts = np.concatenate([[0], np.cumsum(self.lengths)])
        count = RINGS_PER_BONE
        pieces = [np.linspace(a, b, count, endpoint=False) for a, b in pairwise(starts)]
        self.along = np.concatenate([*pieces, starts[-1:]])
        self.head_rings = np.arange(1, len(self.lengths)) * count
        self.points = self._tube(starts).reshape(-1, 3).astype(np.float32).astype(np.float64)
        self.weights = np.repeat(self._weights(starts), RING, axis=0)

    @property
    def parents(self) -> NDArray[np.int64]:
        return np.arange(-1, len(self.lengths) - 1)

    def _tube(self, starts: Array) -> Array:
        heads = self.bind[:, :3, 3]
        tip = heads[-1] + self.lengths[-1] * self.bind[-1, :3, 1]
        corners = np.vstack([heads, tip])
        centres = np.stack([np.interp(self.along, starts, corners[:, axis]) for axis in range(3)], axis=1)
        tangent = np.gradient(centres, self.along, axis=0)
        tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
        side = self.bind[0, :3, 0] - (tangent @ self.bind[0, :3, 0])[:, None] * tangent
        side /= np.linalg.norm(side, axis=1, keepdims=True)
        front = np.cross(side, tangent)
        angle = np.arange(RING) * 2 * np.pi / RING
        ring = np.cos(angle)[:, None] * side[:, None] + np.sin(angle)[:, None] * front[:, None]
        return centres[:, None] + self.radius * ring

    def _weights(self, starts: Array) -> Array:
        """Smooth steps across each joint's head, over 0.4 of the shorter bone to either side."""
        result = np.ones((len(self.along), len(self.lengths)))
        for j in range(1, len(self.lengths)):
            reach = 0.4 * min(self.lengths[j - 1], self.lengths[j])
            x = np.clip((self.along - starts[j]) / (2 * reach) + 0.5, 0, 1)
            step = x * x * x * (x * (6 * x - 15) + 10)
            result[:, j] *= step
            result[:, :j] *= 1 - step[:, None]
        return result


def random_chain(rng: Generator) -> Limb:
    """A straight chain of 3 to 5 bones up the z axis, each with its own length and roll."""
    count = int(rng.integers(3, 6))
    lengths = rng.uniform(0.8, 1.25, count)
    bind = np.broadcast_to(np.eye(4), (count, 4, 4)).copy()
    for j in range(count):
        roll = rng.uniform(-np.pi, np.pi)
        x, z = np.array([np.cos(roll), np.sin(roll), 0]), np.array([np.sin(roll), -np.cos(roll), 0])
        bind[j, :3, :3] = np.stack([x, [0, 0, 1], z], axis=1)
        bind[j, 2, 3] = lengths[:j].sum()
    return Limb(f"chain of {count}", bind, lengths, float(rng.uniform(0.18, 0.28)))


def rotation(axis: Array, angle: float) -> Array:
    x, y, z = axis / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def random_scales(rng: Generator, joints: int, edges: str) -> Array:
    """(J,3), across, along and across the bones. Each keeps its volume: 0.6 to 1.65 long, up to 1.5 : 1 / 1.5 flat.

    Where scale is inherited, what the joints of the chain have adds up: some of them scale, and together about as much.
    """
    stretch, flat = (rng.uniform(-most, most, joints) for most in (0.5, 0.4))
    if edges == "inherited":
        some = int(rng.integers(1, joints))
        share = np.where(rng.permutation(joints) < some, some**-0.5, 0)
        stretch, flat = share * stretch, share * flat
    return np.exp(np.stack([flat - stretch / 2, stretch, -flat - stretch / 2], axis=1))


def random_pose(rng: Generator, joints: int, kind: str, edges: str) -> Array:
    """The user's transforms, (J,4,4): squash and stretch, and all but the root twist by 20 to 110 degrees or bend by 15
    to 80 about any axis across the bone."""
    user = np.broadcast_to(np.eye(4), (joints, 4, 4)).copy()
    for j, scale in enumerate(random_scales(rng, joints, edges)):
        turn = np.eye(3)
        if j > 0 and kind in ("bend", "both"):
            direction = rng.uniform(0, 2 * np.pi)
            axis = np.array([np.cos(direction), 0, np.sin(direction)])
            turn = rotation(axis, np.radians(rng.uniform(15, 80)))
        if j > 0 and kind in ("twist", "both"):
            turn = turn @ rotation(np.array([0.0, 1, 0]), np.radians(rng.uniform(20, 110)) * rng.choice([-1, 1]))
        user[j, :3, :3] = turn * scale
    return user
