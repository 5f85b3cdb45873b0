"""What is measured: a skeleton with three poses, and meshes whose vertices hang on random joints by random weights.

Random is the hard case: neighbours in the mesh share no joints, and no row of weights is sorted.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import two_phase_skinning as tps


@dataclass(frozen=True)
class Mesh:
    """points (V, 3), joints (V, K) and weights (V, K); rows of weights sum to 1 and name each joint once."""

    points: NDArray[np.float32]
    joints: NDArray[np.uint16]
    weights: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.points)


class Rig(NamedTuple):
    """A skeleton in the pose `world`."""

    skeleton: tps.Skeleton
    world: NDArray[np.float64]


def rotations(rng: np.random.Generator, count: int, angle: float) -> NDArray[np.float64]:
    """(count, 3, 3): small turns about random axes, `angle` radians or so (Rodrigues)."""
    axis = rng.normal(size=(count, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    turn = rng.normal(scale=angle, size=(count, 1, 1))
    cross = np.cross(np.eye(3)[None], axis[:, None, :])
    return np.eye(3) + np.sin(turn) * cross + (1 - np.cos(turn)) * (cross @ cross)


def affine(linear: NDArray[np.float64], origin: NDArray[np.float64] | float = 0.0) -> NDArray[np.float64]:
    result = np.tile(np.eye(4), (len(linear), 1, 1))
    result[:, :3, :3] = linear
    result[:, :3, 3] = origin
    return result


def rig(joints: int, pose: str) -> Rig:
    """A tree of joints, two children each, that turn by some 30 degrees each.

    pose: "rigid"; "scaled", every joint scales itself alone; "inherited", every joint passes its scale on to its
    children.
    """
    rng = np.random.default_rng(joints)
    parents = (np.arange(joints) + 1) // 2 - 1
    bind_local = affine(rotations(rng, joints, 0.5), rng.normal(scale=0.2, size=(joints, 3)))
    motion = affine(rotations(rng, joints, 0.5))
    # What is inherited multiplies up along a limb, so it is less there.
    amount = 0.03 if pose == "inherited" else 0.15
    shear = np.triu(rng.normal(scale=amount / 5, size=(joints, 3, 3)), 1)
    scale = affine(np.eye(3) * rng.uniform(1 - amount, 1 + amount, (joints, 1, 3)) + shear)
    bind = tps.bind_world(bind_local, parents)
    skeleton = tps.Skeleton(parents, bind, inherits=np.full(joints, pose == "inherited"))
    if pose == "inherited":
        return Rig(skeleton, tps.pose_world(bind_local, motion @ scale, parents))
    rigid = tps.pose_world(bind_local, motion, parents)
    return Rig(skeleton, rigid if pose == "rigid" else rigid @ scale)


def mesh(vertices: int, joints: int, influences: int = 4) -> Mesh:
    rng = np.random.default_rng(vertices + influences)
    points = rng.uniform(-1, 1, (vertices, 3)).astype(np.float32)
    # Each influence is drawn from its own share of the joints, so that none comes twice in a row.
    bounds = np.linspace(0, joints, influences + 1).astype(np.uint16)
    chosen = rng.integers(bounds[:-1], bounds[1:], (vertices, influences), dtype=np.uint16)
    weights = rng.standard_exponential((vertices, influences), dtype=np.float32) + np.float32(0.01)
    weights /= weights.sum(axis=1, keepdims=True)
    return Mesh(points, chosen, weights)


@dataclass(frozen=True)
class Scene:
    """One mesh, and the pose for each method: dual quaternions alone are for rigid poses, the others get scale."""

    mesh: Mesh
    scaled: Rig
    rigid: Rig

    def rig_of(self, method: str) -> Rig:
        return self.rigid if method == "dual_quaternion" else self.scaled


def scene(vertices: int, joints: int = 100, influences: int = 4) -> Scene:
    return Scene(mesh(vertices, joints, influences), rig(joints, "scaled"), rig(joints, "rigid"))
