"""Poses of the demo's body, as an animator would make them: nobody tunes on them, so all are held."""

from __future__ import annotations

import functools
import hashlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from judge.body import PARTS, Character, part_of
from judge.equilibrium import Body
from judge.limb import JointPose, Limb, Pose
from judge.tubes import Judge

Array = NDArray[np.float64]

HERE = Path(__file__).resolve().parent
EXPORTED = HERE.parents[1] / "build/study/body.npz"
SECONDS = 600  # for Blender, which may hang

LONG, WIDE, FLAT = (0.83, 1.45, 0.83), (1.35, 0.9, 0.82), (1.35, 1.0, 0.7)
ONE = (1.0, 1.0, 1.0)
# edges, kind, bend and twist in degrees, the scale of the joint that bends, that of the one before it
ELBOW = (
    ("none", "bend", 45, 0, ONE, ONE),
    ("none", "bend", 75, 0, ONE, ONE),
    ("none", "twist", 0, 60, ONE, ONE),
    ("none", "twist", 0, -100, ONE, ONE),
    ("none", "both", 60, 70, ONE, ONE),
    ("compensated", "bend", 60, 0, LONG, FLAT),
    ("compensated", "twist", 0, 90, LONG, ONE),
    ("compensated", "both", 55, 80, LONG, ONE),
    ("inherited", "bend", 60, 0, ONE, FLAT),
    ("inherited", "twist", 0, 90, LONG, ONE),
    ("inherited", "both", 55, -80, ONE, LONG),
)
KNEE = (
    ("none", "bend", 45, 0, ONE, ONE),
    ("none", "both", 45, 50, ONE, ONE),
    ("none", "twist", 0, 70, ONE, ONE),
    ("compensated", "bend", 45, 0, LONG, WIDE),
    ("inherited", "both", 40, 50, ONE, LONG),
)


def exported() -> Path:
    """The body's file, made by Blender if it is not there."""
    if not EXPORTED.exists():
        EXPORTED.parent.mkdir(parents=True, exist_ok=True)
        print("the body, by Blender", file=sys.stderr)
        command = [sys.executable, "-P", str(HERE / "export_body.py"), str(EXPORTED)]
        subprocess.run(command, check=True, timeout=SECONDS, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return EXPORTED


@functools.cache
def character() -> Character:
    return Character.load(exported())


@functools.cache
def made(part: str, judge: Judge) -> tuple[Limb, Body]:
    return part_of(character(), part, judge)


@functools.cache
def sources() -> str:
    """What the limb and its solid are made of."""
    return hashlib.sha256(EXPORTED.read_bytes() + (HERE / "body.py").read_bytes()).hexdigest()


def flexing(limb: Limb, joint: int) -> float:
    """The direction of the bend's axis, in degrees, that bends the limb further the way it is bent at rest."""
    axis = np.cross(limb.bind[joint - 1, :3, 1], limb.bind[joint, :3, 1])
    x, z = axis @ limb.bind[joint, :3, 0], axis @ limb.bind[joint, :3, 2]
    return float(np.degrees(np.arctan2(z, x)))


@dataclass
class BodyWanted:
    """A pose of a part of the body; the same for every judge, as `judge.poses.Wanted`."""

    part: str
    number: int
    kind: str
    edges: str
    bend: float
    twist: float
    scale: tuple[float, float, float]
    before: tuple[float, float, float]
    held: bool = True

    @property
    def identity(self) -> str:
        return f"{self} {sources()}"

    def pose(self, judge: Judge) -> Pose:
        limb, part = made(self.part, judge)[0], PARTS[self.part]
        joints = [JointPose() for _ in part.chain]
        joints[part.bends] = JointPose(self.scale, self.bend, flexing(limb, part.bends))
        joints[part.bends - 1] = JointPose(self.before)
        joints[part.twists].twist = self.twist
        name = f"{self.part}, {self.edges} {self.kind} {self.number}"
        return Pose(name, self.kind, self.edges, limb, joints, self.held)

    def body(self, judge: Judge) -> Body:
        return made(self.part, judge)[1]


def body_poses() -> list[BodyWanted]:
    rows = [("elbow", row) for row in ELBOW] + [("knee", row) for row in KNEE]
    exported()
    return [
        BodyWanted(part, number, kind, edges, bend, twist, scale, before)
        for number, (part, (edges, kind, bend, twist, scale, before)) in enumerate(rows)
    ]
