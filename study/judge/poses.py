"""Random poses of tubes: straight limbs of two bones and chains of three, a third of the poses held back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from limbs import random_scales
from numpy.random import Generator
from numpy.typing import NDArray

from judge.equilibrium import Body
from judge.limb import JointPose, Pose
from judge.tubes import Judge, tube_body, tube_limb

Array = NDArray[np.float64]

EDGES = ("none", "compensated", "inherited")
KINDS = ("bend", "twist", "both")
SEED = 41


@dataclass
class Wanted:
    """A pose of a tube before there is a mesh, so that every judge gets the same."""

    number: int  # among those of its class
    kind: str
    edges: str
    lengths: Array
    rolls: Array
    radius: float
    joints: list[JointPose]
    held: bool

    @property
    def identity(self) -> str:
        """All that the surface depends on."""
        numbers = np.concatenate([self.lengths, self.rolls, [self.radius]])
        return f"{self.edges} {numbers.tolist()} {self.joints}"

    def pose(self, judge: Judge) -> Pose:
        limb = tube_limb(self.lengths, self.rolls, self.radius, judge)
        return Pose(f"{self.edges} {self.kind} {self.number}", self.kind, self.edges, limb, self.joints, self.held)

    def body(self, judge: Judge) -> Body:
        return tube_body(self.lengths, self.radius, judge)


def random_joints(rng: Generator, bones: int, kind: str, edges: str) -> list[JointPose]:
    """Bends of 20 to 80 degrees, twists of 40 to 150; on chains of three 15 to 65 and 20 to 100."""
    scales = random_scales(rng, bones, edges) if edges != "none" else np.ones((bones, 3))
    bends, twists = ((20, 80), (40, 150)) if bones == 2 else ((15, 65), (20, 100))
    joints = []
    for j, scale in enumerate(scales):
        bend = rng.uniform(*bends) if j and kind != "twist" else 0.0
        twist = rng.uniform(*twists) * rng.choice([-1, 1]) if j and kind != "bend" else 0.0
        joints.append(JointPose(tuple(scale), float(bend), float(rng.uniform(0, 360)), float(twist)))
    return joints


def tube_poses(each: int = 12) -> list[Wanted]:
    """`each` poses of every class, the last third of them chains of three bones; every third pose is held."""
    rng = np.random.default_rng(SEED)
    poses = []
    for edges in EDGES:
        for kind in KINDS:
            for number in range(each):
                bones = 3 if number >= 2 * each / 3 else 2
                lengths = rng.uniform(0.8, 1.25, bones)
                rolls = rng.uniform(-np.pi, np.pi, bones)
                radius = float(rng.uniform(0.18, 0.28))
                joints = random_joints(rng, bones, kind, edges)
                poses.append(Wanted(number, kind, edges, lengths, rolls, radius, joints, number % 3 == 2))
    return poses
