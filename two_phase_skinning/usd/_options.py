"""How a scene is baked, and what is said of it afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from two_phase_skinning._options import AnyInherited, AnyMethod
from two_phase_skinning.usd._arrays import Points
from two_phase_skinning.usd._errors import SceneError
from two_phase_skinning.usd._skin import SceneSkin

BakeMethod = Literal["two_phase", "linear", "dual_quaternion", "scene"]
BakeNormals = Literal["deformed", "usdskel", "none"]
CHOICES: dict[str, tuple[str, ...]] = {
    "method": ("two_phase", "linear", "dual_quaternion", "scene"),
    "inherited": ("after", "before"),
    "normals": ("deformed", "usdskel", "none"),
    "compare": ("two_phase", "linear", "dual_quaternion", "scene"),
}


@dataclass(frozen=True)
class Options:
    """The arguments of bake that say how each prim is skinned."""

    method: BakeMethod = "two_phase"
    inherited: AnyInherited = "after"
    normals: BakeNormals = "deformed"
    threads: int = 0
    compare: BakeMethod | None = None

    def check(self) -> None:
        """Raises SceneError naming the argument."""
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if value not in choices and not (name == "compare" and value is None):
                raise SceneError(f"{name}: {value!r}; expected one of {', '.join(choices)}")
        if self.threads < 0:
            raise SceneError(f"threads: {self.threads}; expected 0 (choose) or more")
        if self.normals == "usdskel" and self.method == "two_phase":
            raise SceneError('normals: "usdskel" with method "two_phase"; expected linear, dual_quaternion or scene')

    def method_of(self, skin: SceneSkin) -> AnyMethod:
        """What the prim is skinned by; "scene" is what the scene says of it."""
        return skin.method if self.method == "scene" else self.method

    def compared_of(self, skin: SceneSkin) -> AnyMethod | None:
        """What the prim is compared with."""
        return skin.method if self.compare == "scene" else self.compare


@dataclass
class Distance:
    """How far points are from where another method puts them, in the prim's unit."""

    largest: float = 0.0
    time: float | None = None
    point: int = 0
    total: float = 0.0
    count: int = 0

    @property
    def mean(self) -> float:
        """Over all points and times."""
        return self.total / self.count if self.count else 0.0

    def add(self, time: float | None, ours: Points, theirs: Points) -> None:
        """One frame's."""
        if len(ours):
            lengths = np.linalg.norm(ours.astype(np.float64) - theirs, axis=1)
            point = int(np.argmax(lengths))
            self.merge(Distance(float(lengths[point]), time, point, float(lengths.sum()), len(lengths)))

    def merge(self, other: Distance) -> None:
        """Those of more frames."""
        if other.largest > self.largest or not self.count:
            self.largest, self.time, self.point = other.largest, other.time, other.point
        self.total += other.total
        self.count += other.count


@dataclass
class Report:
    """What was baked: the paths of the prims, the times, and by path how far another method is from it."""

    skins: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    distances: dict[str, Distance] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def merge(self, distances: dict[str, Distance]) -> None:
        """Adds the distances of other frames."""
        for path, distance in distances.items():
            self.distances.setdefault(path, Distance()).merge(distance)
