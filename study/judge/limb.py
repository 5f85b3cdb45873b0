"""A limb to judge: its joints, its skin at rest with weights, and the poses that are asked of it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from limbs import rotation
from numpy.typing import NDArray

import two_phase_skinning as tps

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass
class Limb:
    """Joints with y along the bone, as Blender's, and a skin around them."""

    parents: Index  # (J,)
    bind: Array  # (J,4,4)
    points: Array  # (V,3)
    triangles: Index  # (T,3), outward
    weights: dict[str, Array]  # by the name of their profile, (V,J)
    radius: float  # what lengths are counted in
    rings: Index | None = None  # (S,around): of a tube, its vertices ring by ring
    along: Array | None = None  # (S,): where along the chain the rings are


@dataclass
class JointPose:
    """What one joint does: scale across, along, across the bone, a bend about an axis across it, a twist; degrees."""

    scale: tuple[float, float, float] = (1, 1, 1)
    bend: float = 0
    direction: float = 0  # of the bend's axis, in the bone's x z plane
    twist: float = 0

    def matrix(self, part: float) -> Array:
        """The user's transform when `part` of the way is gone."""
        direction = np.radians(self.direction)
        axis = np.array([np.cos(direction), 0, np.sin(direction)])
        turn = rotation(axis, np.radians(part * self.bend))
        turn = turn @ rotation(np.array([0.0, 1, 0]), np.radians(part * self.twist))
        result = np.eye(4)
        result[:3, :3] = turn * np.array(self.scale) ** part
        return result


@dataclass
class Pose:
    """One pose of one limb."""

    name: str
    kind: str  # bend, twist or both
    edges: str  # none, compensated or inherited: what becomes of scale
    limb: Limb
    joints: list[JointPose]
    held: bool = False  # kept away from tuning
    skeleton: tps.Skeleton = field(init=False)

    def __post_init__(self) -> None:
        inherits = np.full(len(self.joints), self.edges == "inherited")
        self.skeleton = tps.Skeleton(self.limb.parents, self.limb.bind, inherits=inherits)

    def world(self, part: float = 1.0) -> Array:
        """Posed matrices (J,4,4)."""
        return np.array(self.skeleton.pose(np.array([joint.matrix(part) for joint in self.joints])))

    def skinning(self, part: float = 1.0) -> Array:
        return self.world(part) @ np.linalg.inv(self.limb.bind)

    def steps(self) -> int:
        """Steps of load, small enough for Newton's method: 12 degrees of bend, 20 of twist, a sixth of scale."""
        most = max(
            max(abs(j.bend) / 12, abs(j.twist) / 20, float(np.abs(np.log(j.scale)).max()) / 0.17) for j in self.joints
        )
        return max(1, int(np.ceil(most)))
