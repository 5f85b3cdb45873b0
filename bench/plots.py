"""The plots of docs/performance.md."""

from pathlib import Path

import floor
import matplotlib
import ours
from contest import Contest
from growth import Growth
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator
from measured import Measured
from page import WHO
from targets import LABELS
from task import METHODS

matplotlib.use("Agg")

COLOURS = {"linear": "#4c9f70", "dual_quaternion": "#3b6fb6", "two_phase": "#c8553d"}
GREY = "#777777"
STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "figure.dpi": 110,
}


def save(figure: plt.Figure, folder: Path, name: str) -> None:
    figure.tight_layout()
    figure.savefig(folder / f"performance_{name}.png")
    plt.close(figure)


def bars(axes: Axes, contest: Contest, method: str) -> None:
    names = [who for who in WHO if contest.seconds(who, method)]
    values = [(contest.seconds(who, method) or 0) * 1e3 for who in names]
    colours = [COLOURS[method] if who == ours.NAME else "#cccccc" if who == floor.NAME else GREY for who in names]
    places = range(len(names))
    axes.barh(places, values, color=colours, height=0.7)
    axes.set_yticks(places, ["this package" if who == ours.NAME else who for who in names])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlim(0, 1.2 * max(values))
    for place, value in zip(places, values, strict=True):
        axes.text(value, place, f" {value:.3g}", va="center")
    axes.set_title(LABELS[method], loc="left", fontweight="bold")
    axes.set_xlabel("ms")


def peers(m: Measured, folder: Path) -> None:
    contest = max((c for c in m.contests if c.threads == 1), key=lambda c: c.vertices)
    figure, panels = plt.subplots(1, 3, figsize=(10, 2.7))
    for axes, method in zip(panels, METHODS, strict=True):
        bars(axes, contest, method)
    figure.suptitle(f"{contest.vertices:,} vertices, 4 influences, one thread", fontsize=9, x=0.01, ha="left")
    save(figure, folder, "peers")


def curves(axes: Axes, growth: Growth, label: str) -> None:
    for name, values in growth.by_name.items():
        who, _, method = name.rpartition(" ")
        if name == floor.NAME:
            axes.plot(growth.steps, values, color=GREY, ls=":", label=name)
        else:
            own = who == ours.NAME
            text = LABELS[method] + ("" if own else f", {who}")
            style = {"ls": "-" if own else "--", "marker": "o" if own else None, "lw": 1.6 if own else 1.1}
            axes.plot(growth.steps, values, color=COLOURS[method], ms=3, label=text, **style)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(label)
    axes.set_ylabel("ns a vertex")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()


def vertices(m: Measured, folder: Path) -> None:
    figure, axes = plt.subplots(figsize=(7.5, 3.2))
    curves(axes, m.vertices, "vertices")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    save(figure, folder, "vertices")


def growth(m: Measured, folder: Path) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.2))
    curves(left, m.influences, "influences a vertex")
    left.set_xticks(m.influences.steps, [f"{step}" for step in m.influences.steps])
    left.minorticks_off()  # setting the scale's ticks brought them back
    curves(right, m.joints, "joints")
    right.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    save(figure, folder, "growth")


def draw(m: Measured, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with plt.rc_context(STYLE):
        peers(m, folder)
        vertices(m, folder)
        growth(m, folder)
