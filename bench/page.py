"""docs/performance.md: the text around the figures, and the tables."""

from collections.abc import Iterable, Sequence

import floor
import ours
from contest import Contest
from growth import Growth
from measured import Measured
from targets import LABELS, Row, legend
from task import METHODS

WHO = (ours.NAME, "numba", "OpenUSD", "SciPy CSR", "NumPy", "Blender", floor.NAME)

INTRODUCTION = """# Performance

Written by `make bench`: every figure below is of one run on the machine described here.

The work: positions, float32, 4 influences a vertex (random joints, random weights, not sorted), 100 joints, unless a
table says otherwise. Ours is the installed package called from Python, `skin.deform(world, method=…, out=…)`; the posed
joints go in and the separation of their matrices is a part of the time. The others get ready-made matrices.

- **numba**: kernels written by hand for this (`bench/peer_numba.py`), parallel, with fast mathematics.
- **OpenUSD**: `UsdSkel.SkinPoints` on the library's own arrays. Its dual quaternion skinning of scaled joints stands
  against two-phase skinning: two blends as well, with the stretch about the origin.
- **SciPy CSR**: the weights as a sparse matrix times the joints' matrices. **NumPy**: in chunks that fit the cache.
- **Blender**: an update of the scene after a bone turned, with an Armature modifier on a mesh without faces: linear,
  and with Preserve Volume in a pose without scale. The rest of such an update takes {pose} ms.
- **memory floor**: reads the 36 bytes of a vertex, writes its 12, and computes nothing.

Before anything is timed, every program's result is compared with plain float64 arithmetic, to 1e-4. Then all take turns
for {rounds} rounds, since machines change their speed from one moment to the next; NumPy and Blender join every third
round. Times are medians over the rounds, and ratios are medians of the rounds' own ratios. Differences under 15 % mean
nothing.
"""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def milliseconds(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    value = seconds * 1e3
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def side_by_side(contests: Sequence[Contest], method: str) -> str:
    """One method: milliseconds, and in brackets how many times as long as ours."""
    head = [LABELS[method], *(f"{c.vertices:,}, {c.threads} thread{'s' * (c.threads > 1)}" for c in contests)]
    rows = []
    for who in WHO:
        cells = []
        for contest in contests:
            seconds, own = contest.seconds(who, method), contest.seconds(ours.NAME, method) or 1.0
            times = contest.ratio(who, method) if who not in (ours.NAME, floor.NAME) and seconds else None
            factor = f" ({times or seconds / own:.2g}x)" if seconds and who != ours.NAME else ""
            cells.append(milliseconds(seconds) + factor)
        if any(cell != "-" for cell in cells):
            rows.append([f"**{who}**" if who == ours.NAME else who, *cells])
    return table(head, rows)


def noise(m: Measured) -> str:
    values = [c.noise(who, method) for c in m.contests for method in METHODS for who in ("numba", "OpenUSD")]
    return (
        f"How noisy it was: between the rounds' quartiles, the ratios to numba and OpenUSD differ by a factor of "
        f"{sorted(values)[len(values) // 2]:.2f} (median; the worst: {max(values):.2f})."
    )


def growth_table(growth: Growth, step: str) -> str:
    names = list(growth.by_name)
    head = [step, *(name.replace(ours.NAME + " ", "").replace("_", " ") for name in names)]
    rows = [
        [f"{value:,}", *(f"{growth.by_name[name][i]:.2f}" for name in names)] for i, value in enumerate(growth.steps)
    ]
    return table(head, rows)


def targets_table(rows: Sequence[Row]) -> str:
    head = ["", "measured", "target", ""]
    return table(head, [[r.what, r.figure, r.target, "met" if r.met else "**not met**"] for r in rows])


def own_table(m: Measured) -> str:
    results, inherited, mixed, frames = (m.own[name] for name in ("results", "inherited", "mixed", "frames"))
    rows = []
    for method in METHODS:
        for what in ("points", "normals", "matrices"):
            label = {"points": "positions", "normals": "positions and normals", "matrices": "matrices"}[what]
            rows.append([f"{LABELS[method]}, {label}", milliseconds(results.seconds(f"{method} {what}"))])
    rows += [
        ["two-phase, inherited scale", milliseconds(inherited.seconds("inherited"))],
        ["two-phase, 1 influence a vertex", milliseconds(mixed.seconds("1"))],
        ["two-phase, 8 influences a vertex", milliseconds(mixed.seconds("8"))],
        ["two-phase, half with 1 and half with 8", milliseconds(mixed.seconds("mixed"))],
        ["two-phase, 20,000 vertices, 64 frames, 1 thread: a frame", milliseconds(frames.seconds("1") / 64)],
        ["two-phase, 20,000 vertices, 64 frames, 2 threads: a frame", milliseconds(frames.seconds("2") / 64)],
        ["joint stage, 1,000 joints", milliseconds(m.own["joints"].seconds("separate"))],
        ["joint stage, 1,000 joints, inherited scale", milliseconds(m.own["joints"].seconds("inherited"))],
        ["a call, 1,000 vertices, 16 joints", milliseconds(m.own["calls"].seconds("1000/16"))],
        ["a call, 1,000 vertices, 100 joints", milliseconds(m.own["calls"].seconds("1000"))],
        ["a call, 20,000 vertices, 100 joints", milliseconds(m.own["calls"].seconds("20000"))],
    ]
    return table(["ours", "ms"], rows)


def threads_table(m: Measured) -> str:
    names = [*METHODS, floor.NAME]
    rows = []
    for vertices, times in m.threads.items():
        rows.append([f"{vertices:,}", *(f"{times.ratio(f'{name} 1', f'{name} 2'):.2f}" for name in names)])
    return table(["vertices", *(LABELS.get(name, name) for name in names)], rows)


def calls_table(m: Measured) -> str:
    head = ["vertices", "allocations", "bytes", "threads started"]
    rows = []
    for name, call in (m.calls or {}).items():
        vertices, _, mode = name.partition(" ")
        label = f"{int(vertices):,}, threads={1 if mode == 'one thread' else 0}"
        rows.append([label, *(f"{call[key]:,.0f}" for key in ("allocations", "bytes", "threads"))])
    return table(head, rows)


def heading(title: str, *text: str) -> list[str]:
    return [f"## {title}\n", *(f"{line}\n" for line in text)]


def plot(name: str, text: str) -> str:
    return f"![{text}](figures/performance_{name}.png)\n"


def growth_part(m: Measured) -> list[str]:
    return [
        *heading("By number of vertices", "Nanoseconds a vertex, one thread."),
        plot("vertices", "Nanoseconds a vertex by number of vertices"),
        growth_table(m.vertices, "vertices"),
        *heading("By influences and by joints", "Nanoseconds a vertex, one thread, 100,000 vertices."),
        plot("growth", "Nanoseconds a vertex by influences and by joints"),
        growth_table(m.influences, "influences"),
        growth_table(m.joints, "joints"),
    ]


def page(m: Measured, rows: Sequence[Row], machine: dict[str, str], others: float | None) -> str:
    pose = next((milliseconds(c.times.seconds("Blender pose")) for c in m.contests if "Blender pose" in c.times), "-")
    busy = "" if others is None else f" Other work took {100 * others:.0f} % of the cores' time meanwhile."
    parts = [INTRODUCTION.format(rounds=m.scale.rounds, pose=pose)]
    parts += [*heading("Machine"), table(["", ""], machine.items()), noise(m) + busy + "\n"]
    parts += heading("Targets", f"{sum(row.met for row in rows)} of {len(rows)} met.", legend(m))
    parts += [targets_table(rows)]
    parts += heading("Side by side", "Milliseconds, and how many times as long as ours.")
    parts += [plot("peers", "The time of every program, by method")]
    parts += [side_by_side(m.contests, method) for method in METHODS]
    parts += ["### Small meshes\n", *(side_by_side(m.small, method) for method in METHODS)]
    parts += growth_part(m)
    parts += [*heading("What each thing costs", "One thread; 200,000 vertices where nothing is said."), own_table(m)]
    parts += ["From 1 to 2 threads, times as fast:\n", threads_table(m)]
    if m.calls and m.kept:
        parts += heading("Memory", f"A skin with 4 influences keeps {m.kept['used']:.1f} bytes a vertex.")
        parts += ["One call with `out=`, 100 joints:\n", calls_table(m)]
    return "\n".join(parts)
