"""How time grows: with vertices, with influences and with joints."""

import os
from typing import NamedTuple

import floor
import ours
import peer_numba
from clock import Entry, take_turns
from scene import scene
from task import Task

BYTES_A_VERTEX = 300  # while 4 influences are made, bound and deformed: mostly 64-bit indices and weights


class Growth(NamedTuple):
    """Nanoseconds a vertex: by_name[name][i] at steps[i]."""

    steps: list[int]
    by_name: dict[str, list[float]]

    def factor(self, name: str, low: int, high: int) -> float:
        """How many times the cost of a vertex at `low` is its cost at `high`."""
        values = dict(zip(self.steps, self.by_name[name], strict=True))
        return values[high] / values[low]


def nanoseconds(tasks: list[Task], extra: list[Entry], vertices: int, rounds: int) -> dict[str, float]:
    times = take_turns([*(task.entry() for task in tasks), *extra], rounds)
    return {name: times.seconds(name) / vertices * 1e9 for name in times.samples}


def grow(steps: list[int], points: list[dict[str, float]]) -> Growth:
    return Growth(steps, {name: [point[name] for point in points] for name in points[0]})


def fits(vertices: int) -> bool:
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return vertices <= 5_000_000
    return vertices * BYTES_A_VERTEX < 0.8 * free


def by_vertices(steps: list[int], rounds: int) -> Growth:
    """Ours, Numba and the memory floor, on one thread each."""
    steps, points = [step for step in steps if fits(step)], []
    for vertices in steps:
        work = scene(vertices)
        tasks = [*ours.tasks(work, 1), *peer_numba.tasks(work, 1)]
        copy = Entry(floor.NAME, floor.timed_copy(work, 1))
        few = rounds if vertices <= 2_000_000 else max(3, rounds // 3)
        points.append(nanoseconds(tasks, [copy], vertices, few))
    return grow(steps, points)


def by_influences(steps: list[int], vertices: int, rounds: int) -> Growth:
    points = []
    for influences in steps:
        work = scene(vertices, influences=influences)
        numba = [task for task in peer_numba.tasks(work, 1) if task.method == "two_phase"]
        points.append(nanoseconds([*ours.tasks(work, 1), *numba], [], vertices, rounds))
    return grow(steps, points)


def by_joints(steps: list[int], vertices: int, rounds: int) -> Growth:
    """Ours includes the separation of the joints in every call; Numba's matrices are ready-made."""
    points = []
    for joints in steps:
        work = scene(vertices, joints)
        numba = [task for task in peer_numba.tasks(work, 1) if task.method == "two_phase"]
        points.append(nanoseconds([*ours.tasks(work, 1), *numba], [], vertices, rounds))
    return grow(steps, points)
