"""Everybody side by side on the same mesh, after a check that all of them compute the same."""

from dataclasses import dataclass

import floor
import ours
import peer_arrays
import peer_blender
import peer_numba
import peer_usd
from clock import Entry, Times, take_turns
from expected import check
from scene import Scene, scene
from task import Task


@dataclass(frozen=True)
class Contest:
    vertices: int
    threads: int
    times: Times

    def seconds(self, who: str, method: str) -> float | None:
        """None where `who` does not do it. The memory floor is the same for every method."""
        name = who if who == floor.NAME else f"{who} {method}"
        return self.times.seconds(name) if name in self.times else None

    def ratio(self, who: str, method: str) -> float:
        """How many times as long as ours."""
        return self.times.ratio(f"{who} {method}", f"{ours.NAME} {method}")

    def noise(self, who: str, method: str) -> float:
        return self.times.spread(f"{who} {method}", f"{ours.NAME} {method}")


def checked(tasks: list[Task], work: Scene) -> list[Entry]:
    for task in tasks:
        task.run(*task.prepare())
        check(task.who, task.computes or task.method, work.rig_of(task.method), work.mesh, task.result())
    return [task.entry() for task in tasks]


def compete(vertices: int, threads: int, rounds: int, blender: peer_blender.Worker | None = None) -> Contest:
    """With `blender`, everybody takes part; without, the two that a target names."""
    work = scene(vertices)
    tasks = [*ours.tasks(work, threads), *peer_numba.tasks(work, threads), *peer_usd.tasks(work, threads)]
    entries = [Entry(floor.NAME, floor.timed_copy(work, threads))]
    if blender:
        tasks += peer_arrays.tasks(work) if threads == 1 else []
        entries += blender.entries(vertices)
    return Contest(vertices, threads, take_turns([*checked(tasks, work), *entries], rounds))
