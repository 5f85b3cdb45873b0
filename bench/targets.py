"""What was to be reached, and whether it was."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import ours
from measured import Measured
from task import METHODS

# Times as fast as the peer, in every contest.
FASTER = {
    ("two_phase", "numba"): 2.5,
    ("two_phase", "OpenUSD"): 8.0,
    ("linear", "numba"): 2.2,
    ("linear", "OpenUSD"): 5.5,
    ("dual_quaternion", "numba"): 2.8,
    ("dual_quaternion", "OpenUSD"): 10.0,
}
LABELS = {"linear": "linear", "dual_quaternion": "dual quaternion", "two_phase": "two-phase"}
NOISE = 1.15  # what these measurements cannot tell from 1


class Row(NamedTuple):
    what: str
    figure: str
    target: str
    met: bool


def at_least(what: str, values: Sequence[float], target: float) -> Row:
    return Row(what, " / ".join(f"{v:.2f}" for v in values), f"≥ {target:g}", min(values) >= target)


def at_most(what: str, values: Sequence[float], target: float, unit: str = "", digits: int = 2) -> Row:
    figure = " / ".join(f"{v:.{digits}f}" for v in values) + unit
    return Row(what, figure, f"≤ {target:g}{unit}", max(values) <= target)


def against_peers(m: Measured) -> Iterator[Row]:
    for (method, who), target in FASTER.items():
        values = [contest.ratio(who, method) for contest in m.contests]
        yield at_least(f"{LABELS[method]}: times as fast as {who}", values, target)


def own_costs(m: Measured) -> Iterator[Row]:
    inherited, results = m.own["inherited"], m.own["results"]
    yield at_most("two-phase: with inherited scale / without", [inherited.ratio("inherited", "scaled")], 1.4)
    for name, target in (("normals", 1.8), ("matrices", 1.5)):
        values = [results.ratio(f"{method} {name}", f"{method} points") for method in METHODS]
        label = "positions and normals" if name == "normals" else "a matrix for each vertex"
        yield at_most(f"{label} / positions alone", values, target)


def calls(m: Measured) -> Iterator[Row]:
    times = m.own["calls"]
    yield at_most("a call, 20,000 vertices, 100 joints", [times.seconds("20000") * 1e3], 0.25, " ms", 3)
    yield at_most("a call, 1,000 vertices, 100 joints", [times.seconds("1000") * 1e6], 25, " µs", 1)
    yield at_most("joint stage, 1,000 joints", [m.own["joints"].seconds("separate") * 1e3], 1, " ms", 3)
    if m.calls and m.kept:
        count = max(call["allocations"] for name, call in m.calls.items() if name.endswith("one thread"))
        yield at_most("allocations of a call with out=", [round(count, 1)], 0, digits=0)
        small = m.calls["1000 chosen"]["threads"]
        yield at_most("threads started for 1,000 vertices", [small], 0, digits=0)
        yield at_most("memory kept beside the caller's arrays, 4 influences", [m.kept["used"]], 40, " B a vertex", 1)


def growing(m: Measured) -> Iterator[Row]:
    assert m.vertices and m.influences
    last = max(m.vertices.steps)
    low = 1_000_000 if last > 1_000_000 else 100_000
    names = [f"{ours.NAME} {method}" for method in METHODS]
    values = [m.vertices.factor(name, low, last) for name in names]
    yield at_most(f"time a vertex, {last:,} vertices / {low:,}", values, NOISE)
    values = [m.influences.factor(name, 4, 64) / 16 for name in names]
    yield at_most("time an influence, 64 influences / 4", values, NOISE)
    mixed = m.own["mixed"]
    yield at_most("time of vertices with 1 influence / with 8", [mixed.ratio("1", "8")], 0.5)
    average = (mixed.samples["1"] + mixed.samples["8"]) / 2
    mixed.samples["average"] = average
    yield at_most("half with 1, half with 8 / the average of both", [mixed.ratio("mixed", "average")], NOISE)


def threads(m: Measured) -> Iterator[Row]:
    for vertices, times in m.threads.items():
        values = [times.ratio(f"{method} 1", f"{method} 2") for method in METHODS]
        yield at_least(f"2 threads: times as fast as 1, {vertices:,} vertices", values, 1.8)
    frames, meshes = m.own["frames"].ratio("1", "2"), m.own["meshes"].ratio("1", "2")
    yield at_least("2 threads: times as fast as 1, 64 frames of 20,000 vertices", [frames], 1.8)
    yield at_least("2 threads: times as fast as 1, 64 meshes of 4,000 vertices in one call", [meshes], 1.8)


def legend(m: Measured) -> str:
    """What stands between the slashes of a figure."""
    where = " / ".join(f"{c.vertices:,} vertices on {c.threads}" for c in m.contests)
    methods = " / ".join(LABELS[method] for method in METHODS)
    return f"Several figures against another program: {where} threads. Three figures: {methods}."


def rows(m: Measured) -> list[Row]:
    return [*against_peers(m), *own_costs(m), *calls(m), *growing(m), *threads(m)]
