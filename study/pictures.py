"""The pictures of docs/method.md.

    python study/pictures.py [--into docs/figures]

Needs matplotlib on top of what quality.py needs. Tubes are drawn in a checkered pattern, so that twists are seen.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from in_blender import BlenderLimb
from limbs import EDGES, KINDS, RING, Limb, rotation
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from measures import FIGURES, IDEAL, girths, roughness
from methods import METHODS, openusd_dual_quaternion, two_phase
from numpy.typing import NDArray
from quality import POSES, SEED, collect

import two_phase_skinning as tps

Array = NDArray[np.float64]
CHECKERS = np.array([to_rgb("#f2bd94"), to_rgb("#c47a4a")])
BONE, SUPPORT = "#1c3f66", "#c22f2f"
VIEW = rotation(np.array([1.0, 0, 0]), np.radians(18)) @ rotation(np.array([0.0, 1, 0]), np.radians(-25))
LIGHT = np.array([-0.30, 0.40, 0.866])


def straight_limb(lengths: tuple[float, ...], radius: float) -> Limb:
    """Bones up the y axis, unturned."""
    bind = np.broadcast_to(np.eye(4), (len(lengths), 4, 4)).copy()
    bind[:, 1, 3] = np.cumsum(lengths) - lengths
    return Limb("straight", bind, np.array(lengths), radius)


def transform(scale: tuple[float, float, float] = (1, 1, 1), twist: float = 0, bend: float = 0) -> Array:
    """Angles in degrees; the scale is across, along and across the bone."""
    matrix = np.eye(4)
    turn = rotation(np.array([0.0, 0, 1]), np.radians(bend)) @ rotation(np.array([0.0, 1, 0]), np.radians(twist))
    matrix[:3, :3] = turn * np.array(scale)
    return matrix


def draw_tube(axes: Axes, points: Array) -> None:
    seen = (points @ VIEW.T).reshape(-1, RING, 3)
    following = np.roll(seen, -1, axis=1)
    faces = np.stack([seen[:-1], following[:-1], following[1:], seen[1:]], axis=2).reshape(-1, 4, 3)
    normals = np.cross(faces[:, 2] - faces[:, 0], faces[:, 3] - faces[:, 1])
    normals *= np.sign(normals[:, 2:]) / (np.linalg.norm(normals, axis=1, keepdims=True) + 1e-12)
    ring, side = np.divmod(np.arange(len(faces)), RING)
    colours = CHECKERS[(ring // 4 + side // 4) % 2] * (0.4 + 0.6 * (normals @ LIGHT).clip(0, 1))[:, None]
    order = faces[:, :, 2].mean(axis=1).argsort()
    axes.add_collection(
        PolyCollection(faces[order][:, :, :2], facecolors=colours[order], edgecolors=colours[order], linewidths=0.3)
    )


def draw_bones(axes: Axes, joints: Array, support: int | None = None) -> None:
    seen = (joints @ VIEW.T)[:, :2]
    axes.plot(*seen.T, "-", color=BONE, lw=1.5)
    for number, place in enumerate(seen):
        axes.plot(*place, "o", color=SUPPORT if number == support else BONE, ms=8 if number == support else 5)


def pictures_in_a_row(count: int, height: float, rows: int = 1) -> tuple[Figure, NDArray[np.object_]]:
    figure, grid = plt.subplots(rows, count, figsize=(11, height), squeeze=False)
    figure.subplots_adjust(0.02, 0.01, 0.99, 0.98 - 0.45 / height, wspace=0.02, hspace=0.28)
    return figure, grid


def same_scale(row: NDArray[np.object_]) -> None:
    """Every picture of the row as wide and high as the largest needs, standing on one floor."""
    for axes in row:
        axes.autoscale_view()
    boxes = np.array([axes.dataLim.get_points() for axes in row])
    half = 0.52 * (boxes[:, 1, 0] - boxes[:, 0, 0]).max()
    bottom, top = boxes[:, 0, 1].min() - 0.05, boxes[:, 1, 1].max() + 0.05
    for axes, box in zip(row, boxes, strict=True):
        middle = box[:, 0].mean()
        axes.set(xlim=(middle - half, middle + half), ylim=(bottom, top), aspect="equal", anchor="S")
        axes.axis("off")


def save(figure: Figure, path: Path) -> None:
    """As a PNG of few colours, which is a third of the size."""
    figure.savefig(path, dpi=110, facecolor="white")
    plt.close(figure)
    from PIL import Image

    Image.open(path).convert("RGB").quantize(96, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size // 1024} KB")


CASES = (
    (
        "scale stops at its joint",
        False,
        (((1.6, 0.8, 0.8), 0, 0), ((0.65, 1.5, 1.1), 100, 65), ((1.5, 0.9, 0.7), -80, 50)),
    ),
    ("scale is inherited", True, (((1.6, 1, 0.7), 0, 0), ((1, 1, 1), 110, 30), ((1, 1, 1), 60, -50))),
)


def methods_picture(path: Path) -> None:
    """Five methods on two poses."""
    figure, grid = pictures_in_a_row(len(METHODS), 5.6, rows=len(CASES))
    for row, (title, inherits, parts) in zip(grid, CASES, strict=True):
        limb = straight_limb((1.0, 1.0, 1.0), 0.24)
        user = np.array([transform(*part) for part in parts])
        world, linear, preserved = BlenderLimb(limb).pose(user, inherits)
        shapes = (linear, preserved, openusd_dual_quaternion(limb, world), *two_phase(limb, world, inherits))
        for axes, method, shape in zip(row, METHODS, shapes, strict=True):
            draw_tube(axes, shape)
            narrowest = girths(limb, shape).min()
            axes.set_title(f"{method}\nnarrowest {narrowest:.2f}, roughness {roughness(limb, shape):.2f}", fontsize=9)
        same_scale(row)
        row[0].text(0, 0.5, title, rotation=90, va="center", ha="right", fontsize=10, transform=row[0].transAxes)
    save(figure, path)


def phases_picture(path: Path) -> None:
    """Rest, after phase 1, after phase 2, after the inherited scale."""
    limb = straight_limb((1.0, 1.0, 1.0), 0.24)
    inherits = np.array([False, False, True])  # the root keeps its stretch, the second joint passes its flatness on
    skeleton = tps.Skeleton(limb.parents, limb.bind, inherits=inherits)
    root, second = transform((0.8, 1.4, 0.8)), transform((1.5, 1, 0.7), 0, 55)
    third = transform((0.8, 1.3, 0.8), 90, 45)
    start = limb.bind[0] @ root
    frame = np.eye(4)
    frame[:3, 3] = start[:3, 3] + start[:3, :3] @ (limb.bind[1, :3, 3] - limb.bind[0, :3, 3])
    middle = frame @ second
    world = np.array([start, middle, middle @ np.linalg.inv(limb.bind[1]) @ limb.bind[2] @ third])
    skin = tps.Skin(limb.points, limb.weights, skeleton)
    s = skeleton.separate(world)
    steps = (
        ("rest\nfirst matrices B", limb.points, s.first),
        ("after phase 1, P blended linearly\nsecond matrices M", skin.deform(world, phase=1), s.second),
        ("after phase 2, Q blended\nas dual quaternions", skin.deform(world, phase=2), s.rigid @ s.second),
        ("after the inherited scale,\nE blended linearly: posed W'", skin.deform(world), s.world),
    )
    figure, (row,) = pictures_in_a_row(len(steps), 4.4)
    for axes, (title, points, joints) in zip(row, steps, strict=True):
        draw_tube(axes, np.asarray(points, dtype=np.float64))
        draw_bones(axes, joints[:, :3, 3])
        axes.set_title(title, fontsize=10)
    same_scale(row)
    save(figure, path)


def support_picture(path: Path) -> None:
    """The seed's figures 6A and 6B: the second joint has no weight of its own; it stretches and bends."""
    bind = straight_limb((1.0, 1.0, 1.0, 1.0), 0.28)
    bind.weights = bind.weights.copy()
    bind.weights[:, 0] += bind.weights[:, 1]
    bind.weights[:, 1] = 0
    skeleton = tps.Skeleton(bind.parents, bind.bind)
    skin = tps.Skin(bind.points, bind.weights, skeleton)
    user = np.array([transform(), transform((0.7, 1.8, 0.7), 0, 40), transform((1, 1, 1), 0, 40), transform()])
    world = tps.pose_world(tps.bind_local(bind.bind, bind.parents), user, bind.parents)
    off = np.arange(4) != 1
    steps = (
        ("rest; red: the support joint", {}, bind.bind),
        ("6A: associated", {}, world),
        ("6B: not associated\nin the non-rigid phase", {"nonrigid": off}, world),
        ("not associated\nin the rigid phase", {"rigid": off}, world),
    )
    figure, (row,) = pictures_in_a_row(len(steps), 4.6)
    for axes, (title, flags, pose) in zip(row, steps, strict=True):
        draw_tube(axes, skin.deform(pose, **flags).astype(np.float64))
        shown = skeleton.separate(pose, weighted=skin.weighted, **flags).world
        draw_bones(axes, shown[:, :3, 3], support=1)
        axes.set_title(title, fontsize=10)
    same_scale(row)
    save(figure, path)


SHOWN = (("OpenUSD DQ", "x", "#707070"), ("two-phase after", "o", "#c2571a"), ("two-phase before", "^", "#3a78b0"))
FARTHEST = 1.35


def quality_picture(path: Path) -> None:
    """The medians of the table, against Preserve Volume's: how far from the ideal, class by class."""
    found = collect(POSES, SEED)
    wanted = ("narrowest ring", "widest ring", "roughness")
    figure, row = plt.subplots(1, len(wanted), figsize=(11, 4.4), layout="constrained", sharey=True)
    classes = [(what, edges, kind) for what in ("chains", "Rigify limbs") for edges in EDGES for kind in KINDS]
    for axes, name in zip(row, wanted, strict=True):
        index = FIGURES.index(name)
        off = np.array([np.median(np.abs(found[key][:, :, index] - IDEAL[name]), axis=0) for key in classes])
        off /= off[:, [METHODS.index("Preserve Volume")]]
        axes.axvline(1, color="black", lw=1)
        for method, marker, colour in SHOWN:
            at = off[:, METHODS.index(method)].clip(0, FARTHEST)
            axes.plot(at, range(len(classes)), marker, color=colour, ms=7, mfc="none", mew=1.6, label=method)
        axes.set(xlim=(0.6, FARTHEST + 0.02), title=name)
        axes.grid(alpha=0.3)
    row[0].set_yticks(range(len(classes)), [", ".join(key) for key in classes], fontsize=9)
    row[0].invert_yaxis()
    figure.supxlabel(
        f"distance from the ideal; 1 is Preserve Volume, less is better; {FARTHEST} or more at the edge", size=10
    )
    figure.legend(*row[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(SHOWN), fontsize=9)
    save(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, default=Path(__file__).parents[1] / "docs" / "figures")
    into = parser.parse_args().into
    into.mkdir(parents=True, exist_ok=True)
    matplotlib.use("Agg")
    for picture in (methods_picture, phases_picture, support_picture, quality_picture):
        picture(into / f"{picture.__name__.removesuffix('_picture')}.png")


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # Blender as a module may hang while the interpreter shuts down
