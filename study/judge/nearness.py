"""How near a skin is to the elastic limb. Lengths are in the limb's radii."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from judge.limb import Limb, Pose

Array = NDArray[np.float64]
Index = NDArray[np.int64]

FIGURES = ("rms", "largest", "shape", "girth", "bulge", "volume", "twist")
SAMPLES = 5  # along each side of a triangle


def areas(points: Array, triangles: Index) -> Array:
    """(V,): a third of the triangles around each vertex."""
    a, b, c = points[triangles].transpose(1, 0, 2)
    each = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6
    return np.bincount(triangles.ravel(), np.repeat(each, 3), minlength=len(points))


def volume(points: Array, triangles: Index) -> float:
    a, b, c = points[triangles].transpose(1, 0, 2)
    return float((a * np.cross(b, c)).sum() / 6)


@dataclass
class Surface:
    """Samples of a triangulated surface, to find how far a point is from it."""

    tree: cKDTree
    samples: Array
    normals: Array

    @classmethod
    def of(cls, points: Array, triangles: Index) -> Surface:
        u, v = (grid.ravel() for grid in np.meshgrid(np.arange(SAMPLES + 1), np.arange(SAMPLES + 1)))
        inside = u + v <= SAMPLES
        u, v = u[inside] / SAMPLES, v[inside] / SAMPLES
        a, b, c = points[triangles].transpose(1, 0, 2)
        samples = a[:, None] + u[:, None] * (b - a)[:, None] + v[:, None] * (c - a)[:, None]
        normals = np.cross(b - a, c - a)
        normals /= np.linalg.norm(normals, axis=1, keepdims=True) + 1e-300
        samples = samples.reshape(-1, 3)
        return cls(cKDTree(samples), samples, np.repeat(normals, len(u), axis=0))

    def distance(self, points: Array) -> Array:
        """Along the normal of the nearest sample."""
        _, nearest = self.tree.query(points)
        return np.abs(((points - self.samples[nearest]) * self.normals[nearest]).sum(axis=1))


def outward(pose: Pose) -> Array:
    """(J,3): from each joint's head to the outer side of its bend; 0 where it does not bend."""
    skinning = pose.skinning()[:, :3, :3]
    result = np.zeros((len(skinning), 3))
    for child, parent in enumerate(pose.limb.parents):
        if parent >= 0:
            along = pose.limb.bind[child, :3, 1]
            inner = unit(skinning[child] @ along) - unit(skinning[parent] @ along)
            result[child] = -unit(inner) if np.linalg.norm(inner) > 0.1 else 0
    return result


def unit(vector: Array) -> Array:
    return vector / np.linalg.norm(vector)


def bulges(pose: Pose, points: Array) -> Array:
    """(J,): how far out the skin stands over each joint that bends, within two radii of it at rest."""
    heads = pose.world()[:, :3, 3]
    near = np.linalg.norm(pose.limb.points[:, None] - pose.limb.bind[:, :3, 3], axis=2) < 2 * pose.limb.radius
    reach = np.einsum("vja,ja->vj", points[:, None] - heads, outward(pose)) / pose.limb.radius
    return np.where(near, reach, -np.inf).max(axis=0)


def girths(points: Array, rings: Index) -> Array:
    ring = points[rings]
    return np.linalg.norm(np.roll(ring, 1, axis=1) - ring, axis=2).sum(axis=1)


def twist_width(limb: Limb, pose: Pose, points: Array) -> float:
    """From a tenth to nine tenths of the first joint's twist, along the tube at rest, in radii."""
    ring, rest = points[limb.rings], limb.points[limb.rings]
    ring, rest = (each - each.mean(axis=1, keepdims=True) for each in (ring, rest))
    product = np.einsum("ska,skb->sab", ring, rest)
    u, _, vt = np.linalg.svd(product)
    flip = np.ones((len(ring), 3))
    flip[:, 2] = np.linalg.det(u @ vt)
    turn = (u * flip[:, None]) @ vt
    angle = np.unwrap(2 * np.arctan2(turn[:, 1, 0] - turn[:, 0, 1], 1 + np.trace(turn, axis1=1, axis2=2)))
    share = np.maximum.accumulate((angle - angle[0]) / (angle[-1] - angle[0]))
    return float((np.interp(0.9, share, limb.along) - np.interp(0.1, share, limb.along)) / limb.radius)


@dataclass
class Elastic:
    """The elastic skin of one pose, and what is compared with it."""

    pose: Pose
    points: Array

    def __post_init__(self) -> None:
        limb = self.pose.limb
        self.weight = areas(limb.points, limb.triangles)
        self.weight /= self.weight.sum()
        self.surface = Surface.of(self.points, limb.triangles)
        self.volume = volume(self.points, limb.triangles)
        self.bulges = bulges(self.pose, self.points)
        self.bends = np.linalg.norm(outward(self.pose), axis=1) > 0
        self.near_joints = 3 * np.pi * limb.radius**3 * (len(limb.parents) - 1)

    def figures(self, points: Array) -> dict[str, float]:
        """The FIGURES of a skin; nan where one does not apply. Girth, bulge, volume and twist are differences."""
        limb = self.pose.limb
        distance = np.linalg.norm(points - self.points, axis=1) / limb.radius
        shape = self.surface.distance(points) / limb.radius
        result = dict.fromkeys(FIGURES, np.nan)
        result["rms"] = float(np.sqrt(self.weight @ distance**2))
        result["largest"] = float(distance.max())
        result["shape"] = float(np.sqrt(self.weight @ shape**2))
        result["volume"] = (volume(points, limb.triangles) - self.volume) / self.near_joints
        if self.bends.any():
            result["bulge"] = float((bulges(self.pose, points)[self.bends] - self.bulges[self.bends]).mean())
        if limb.rings is not None:
            ratio = np.log(girths(points, limb.rings) / girths(self.points, limb.rings))
            result["girth"] = float(np.sqrt(np.average(ratio**2, weights=np.gradient(limb.along))))
            if self.pose.kind == "twist" and len(limb.parents) == 2:
                width = (twist_width(limb, self.pose, each) for each in (points, self.points))
                result["twist"] = next(width) - next(width)
        return result
