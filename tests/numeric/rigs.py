"""Random rigs, poses and weights for the tests: everything follows from a seed and a few words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import hypothesis.strategies as st
import numpy as np
import reference as ref
from numpy.random import Generator
from numpy.typing import NDArray

Array = NDArray[np.float64]
Joints = NDArray[np.int64]
Flags = NDArray[np.bool_]

TOPOLOGIES = ("chain", "tree", "forest", "shuffled")
BINDS = ("rigid", "scaled")
EDGES = ("inheriting", "compensating", "mixed")
REGULAR_POSES = ("rigid", "uniform", "stretch", "shear")
ALL_POSES = (*REGULAR_POSES, "free", "mirrored", "zero")


def rotation(rng: Generator, most: float = np.pi) -> Array:
    """A rotation about a random axis by at most `most`."""
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    angle = rng.uniform(-most, most)
    k = ref.cross_matrix(axis)
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def rigid_motion(rng: Generator, reach: float = 2.0) -> Array:
    return ref.affine(rotation(rng), rng.uniform(-reach, reach, 3))


def own_scale(rng: Generator, pose: str) -> Array:
    """The 3x3 that stands right of a joint's rotation."""
    if pose == "rigid":
        return np.eye(3)
    if pose == "uniform":
        return np.eye(3) * rng.uniform(0.6, 1.6)
    stretch = np.diag(rng.uniform(0.6, 1.6, 3))
    if pose == "stretch":
        return stretch
    turn = rotation(rng)
    if pose == "shear":
        return turn @ stretch @ turn.T
    if pose == "mirrored":
        return stretch @ np.diag(rng.choice([-1.0, 1.0], 3))
    if pose == "zero":
        return stretch @ np.diag(rng.choice([0.0, 1.0, 1.0], 3))
    raise ValueError(pose)


def parents_of(rng: Generator, count: int, topology: str) -> Joints:
    if topology == "chain":
        return np.arange(-1, count - 1)
    parents = np.array([-1] + [int(rng.integers(0, j)) for j in range(1, count)])
    if topology == "tree":
        return parents
    if topology == "forest":
        return np.where(rng.random(count) < 0.3, -1, parents)
    order = rng.permutation(count)  # the joint that was j is now order[j]
    parents = np.where(rng.random(count) < 0.15, -1, parents)
    shuffled = np.empty(count, np.int64)
    shuffled[order] = np.where(parents < 0, -1, order[parents])
    return shuffled


@dataclass
class Rig:
    """A skeleton, a pose of it, and a mesh that hangs on it."""

    parents: Joints
    bind: Array
    inherits: Flags
    world: Array
    points: Array
    normals: Array
    weights: Array  # dense, rows of several lengths, not normalised; some rows empty
    pose: str
    seed: int

    @cached_property
    def size(self) -> float:
        """Largest distance from the origin of anything of the rig, at rest or posed: tolerances are relative to it."""
        return float(max(1, *(np.abs(a).max() for a in (ref.org(self.bind), ref.org(self.world), self.points))))

    @cached_property
    def normalised(self) -> Array:
        return ref.normalised(self.weights)

    @cached_property
    def weighted(self) -> Flags:
        return (self.weights > 0).any(axis=0)

    def separate(self, inherited: str = "after", **flags: Any) -> ref.Separation:
        """The reference's separation of the pose."""
        return ref.separate(self.parents, self.bind, self.inherits, self.world, inherited, **flags)

    def __repr__(self) -> str:
        edges = f"parents={self.parents.tolist()}, inherits={self.inherits.tolist()}"
        return f"Rig(seed={self.seed}, pose={self.pose}, {edges})"


def natural_pose(rng: Generator, parents: Joints, inherits: Flags, local: Array, pose: str) -> Array:
    """A pose as a rig makes it: each joint's own rotation, offset and scale in its base frame."""
    world, frame = np.zeros_like(local), np.zeros_like(local)
    if pose == "free":  # any matrix at any joint, as constraints leave them: scale, shear, far apart
        bind = ref.bind_world(local, parents)
        return np.array([ref.affine(rotation(rng) @ own_scale(rng, "shear"), rng.uniform(-1, 1, 3)) @ b for b in bind])
    special = pose in ("mirrored", "zero")  # only some joints, so that there are ordinary ones above and below
    for j in ref.parents_first(parents):
        base = ref.base_frame(j, parents, inherits, local, world, frame)
        offset = rng.uniform(-0.3, 0.3, 3) if rng.random() < 0.3 else np.zeros(3)
        kind = pose if not special or rng.random() < 0.4 else "stretch"
        frame[j] = base @ ref.affine(rotation(rng, 2.5), offset)
        world[j] = frame[j] @ ref.affine(own_scale(rng, kind))
    return world


def make_rig(
    seed: int,
    count: int = 6,
    topology: str = "shuffled",
    bind: str = "scaled",
    edges: str = "mixed",
    pose: str = "stretch",
    vertices: int = 40,
    influences: int = 4,
) -> Rig:
    rng = np.random.default_rng(seed)
    parents = parents_of(rng, count, topology)
    chance = {"inheriting": 1.0, "compensating": 0.0, "mixed": 0.5}[edges]
    inherits = rng.random(count) < chance
    local = np.zeros((count, 4, 4))
    for j in range(count):
        linear = rotation(rng)
        if bind == "scaled":
            linear = linear @ own_scale(rng, "shear")
        offset = rng.normal(size=3)
        local[j] = ref.affine(linear, offset / np.linalg.norm(offset) * rng.uniform(0.5, 1.2))
    world_bind = ref.bind_world(local, parents)
    world = natural_pose(rng, parents, inherits, local, pose)
    owner = rng.integers(0, count, vertices)
    points = ref.org(world_bind)[owner] + rng.normal(size=(vertices, 3)) * 0.5
    normals = rng.normal(size=(vertices, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    weights = np.zeros((vertices, count))
    for v in range(vertices):
        chosen = rng.choice(count, min(count, int(rng.integers(1, influences + 1))), replace=False)
        weights[v, chosen] = rng.uniform(0.05, 1, len(chosen))
    weights[vertices // 2] = 0  # a vertex that no joint holds
    # What the mesh is made of is float32, so that the reference sees the very numbers that the core sees.
    points, normals, weights = (a.astype(np.float32).astype(np.float64) for a in (points, normals, weights))
    return Rig(parents, world_bind, inherits, world, points, normals, weights, pose, seed)


def moved(rig: Rig, motion: Array) -> Rig:
    """The rig with bind, pose and mesh carried along by an affine motion."""
    return replace(
        rig,
        bind=motion @ rig.bind,
        world=motion @ rig.world,
        points=ref.deform(motion[None], rig.points),
        normals=rig.normals @ ref.lin(motion).T,
    )


def renumbered(rig: Rig, order: Joints) -> Rig:
    """The rig with joint `order[k]` now called k."""
    new_name = np.argsort(order)
    parents = rig.parents[order]
    return replace(
        rig,
        parents=np.where(parents < 0, -1, new_name[parents]),
        bind=rig.bind[order],
        inherits=rig.inherits[order],
        world=rig.world[order],
        weights=rig.weights[:, order],
    )


def without(rig: Rig, gone: Flags) -> Rig:
    """The rig without joints that have no weights and no descendants that stay."""
    kept = np.flatnonzero(~gone)
    new_name = np.cumsum(~gone) - 1
    parents = rig.parents[kept]
    return replace(
        rig,
        parents=np.where(parents < 0, -1, new_name[parents]),
        bind=rig.bind[kept],
        inherits=rig.inherits[kept],
        world=rig.world[kept],
        weights=rig.weights[:, kept],
    )


def one_joint_each(rig: Rig, seed: int = 0) -> Rig:
    """The rig with every vertex wholly on one joint, and every joint with a vertex at least."""
    rng = np.random.default_rng(seed)
    joints, vertices = rig.weights.shape[1], len(rig.points)
    owner = np.concatenate([np.arange(joints), rng.integers(0, joints, max(0, vertices - joints))])[:vertices]
    return replace(rig, weights=np.eye(joints)[owner])


@dataclass
class WorkedExample:
    """Three joints up the y axis, one unit apart; joint 0 scaled by (1, 2, 1), joint 1 turned 90 degrees about z."""

    compensating: bool
    parents: Joints
    bind: Array
    inherits: Flags
    world: Array
    points: Array
    weights: Array


QUARTER_TURN = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])


def worked_example(compensating: bool) -> WorkedExample:
    parents = np.array([-1, 0, 1])
    inherits = np.full(3, not compensating)
    up = ref.affine(np.eye(3), np.array([0.0, 1, 0]))
    local = np.array([np.eye(4), up, up])
    turns, scales = (np.eye(3), QUARTER_TURN, np.eye(3)), (np.diag([1.0, 2, 1]), np.eye(3), np.eye(3))
    world, frame = np.zeros((3, 4, 4)), np.zeros((3, 4, 4))
    for j in range(3):
        frame[j] = ref.base_frame(j, parents, inherits, local, world, frame) @ ref.affine(turns[j])
        world[j] = frame[j] @ ref.affine(scales[j])
    points = np.array([[0.2, 1, 0], [0.2, 2, 0]])
    weights = np.array([[0.5, 0.5, 0], [0, 0.5, 0.5]])
    return WorkedExample(compensating, parents, ref.bind_world(local, parents), inherits, world, points, weights)


def rigs(
    poses: tuple[str, ...] = REGULAR_POSES,
    binds: tuple[str, ...] = BINDS,
    edges: tuple[str, ...] = EDGES,
    topologies: tuple[str, ...] = TOPOLOGIES,
    most_joints: int = 9,
    vertices: int = 40,
) -> st.SearchStrategy[Rig]:
    """Hypothesis strategy: the words are drawn (and so shrink), the numbers follow from the seed."""
    return st.builds(
        make_rig,
        seed=st.integers(0, 2**32 - 1),
        count=st.integers(1, most_joints),
        topology=st.sampled_from(topologies),
        bind=st.sampled_from(binds),
        edges=st.sampled_from(edges),
        pose=st.sampled_from(poses),
        vertices=st.just(vertices),
    )
