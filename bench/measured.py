"""Everything that one run measures, in one place for the targets, the page and the plots."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import growth
import own
import peer_blender
import resources
from clock import Times
from contest import Contest, compete
from growth import Growth


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    rounds: int
    contests: tuple[int, ...]
    vertices: tuple[int, ...]
    influences: tuple[int, ...]
    joints: tuple[int, ...]


FULL = Scale(
    45,
    (200_000, 1_000_000),
    (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 20_000_000),
    (1, 2, 4, 8, 16, 32, 64),
    (10, 30, 100, 300, 1_000, 3_000, 10_000),
)
QUICK = Scale(9, (200_000,), (1_000, 100_000, 1_000_000), (1, 4, 64), (10, 100, 10_000))

SMALL = ((1_000, 1), (20_000, 1), (20_000, 2))  # vertices and threads


@dataclass
class Measured:
    scale: Scale
    contests: list[Contest] = field(default_factory=list)
    small: list[Contest] = field(default_factory=list)
    own: dict[str, Times] = field(default_factory=dict)
    threads: dict[int, Times] = field(default_factory=dict)
    vertices: Growth | None = None
    influences: Growth | None = None
    joints: Growth | None = None
    kept: dict[str, float] | None = None
    calls: dict[str, Any] | None = None


def contests(m: Measured) -> None:
    for threads in (1, 2):
        blender = peer_blender.Worker(threads) if peer_blender.AVAILABLE else None
        m.contests += [compete(vertices, threads, m.scale.rounds, blender) for vertices in m.scale.contests]
        if blender:
            blender.end()
    m.small = [compete(vertices, threads, m.scale.rounds) for vertices, threads in SMALL]


def comparisons(m: Measured) -> None:
    rounds, vertices = m.scale.rounds, 200_000
    m.own = {
        "results": own.results(vertices, rounds),
        "inherited": own.inherited_scale(vertices, rounds),
        "mixed": own.mixed_influences(vertices, rounds),
        "frames": own.frames(64, 20_000, rounds),
        "meshes": own.many_meshes(64, 4_000, rounds),
        "joints": own.joint_stage(1_000, rounds),
        "calls": own.calls(rounds),
    }
    m.threads = {count: own.threads(count, rounds) for count in m.scale.contests}


def measure(scale: Scale, say: Callable[[str], None]) -> Measured:
    m = Measured(scale)
    if resources.AVAILABLE:
        say("memory and allocations")
        m.kept, m.calls = resources.measure("kept"), resources.measure("calls")
    say("everybody side by side: " + " and ".join(f"{v:,}" for v in scale.contests) + " vertices")
    contests(m)
    say("normals, matrices, inherited scale, frames, joints")
    comparisons(m)
    say("by influences and by joints")
    m.influences = growth.by_influences(list(scale.influences), 100_000, scale.rounds)
    m.joints = growth.by_joints(list(scale.joints), 100_000, scale.rounds)
    say("by vertices")
    m.vertices = growth.by_vertices(list(scale.vertices), scale.rounds)
    return m
