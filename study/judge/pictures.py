"""Limbs beside the elastic one, the distance to it in colour."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize
from numpy.typing import NDArray

from judge.compare import METHODS
from judge.limb import Pose

Array = NDArray[np.float64]

SHOWN = ("linear", "Preserve Volume", "two-phase before", "Flesh, before")
FLESH_COLOUR = np.array([0.95, 0.74, 0.58])
FAR = Normalize(0, 0.5)  # distances in radii
COLOURS = matplotlib.colormaps["magma_r"]


def view(pose: Pose) -> Array:
    """(3,3): rows across, up, towards the eye; the largest bend lies in the picture, the first bone stands upright."""
    directions = pose.skinning()[:, :3, :3] @ pose.limb.bind[:, :3, 1][..., None]
    directions = directions[..., 0] / np.linalg.norm(directions[..., 0], axis=1, keepdims=True)
    up = directions[0]
    normals = np.cross(directions[:-1], directions[1:])
    size = np.linalg.norm(normals, axis=1)
    eye = normals[size.argmax()] if size.max() > 0.05 else pose.limb.bind[0, :3, 0]
    eye = eye - up * (up @ eye)
    eye /= np.linalg.norm(eye)
    return np.stack([np.cross(up, eye), up, eye])


def draw_skin(axes: Axes, points: Array, triangles: NDArray[np.int64], camera: Array, colours: Array) -> None:
    """colours: (V,3)."""
    seen = (points @ camera.T)[triangles]
    normals = np.cross(seen[:, 1] - seen[:, 0], seen[:, 2] - seen[:, 0])
    light = normals @ np.array([-0.35, 0.4, 0.85]) / (np.linalg.norm(normals, axis=1) + 1e-12)
    front = normals[:, 2] > 0
    order = np.argsort(seen[front][:, :, 2].mean(axis=1))
    shaded = colours[triangles].mean(axis=1) * (0.45 + 0.55 * light.clip(0, 1))[:, None]
    faces, shades = seen[front][order][:, :, :2], shaded[front][order]
    axes.add_collection(PolyCollection(faces, facecolors=shades, edgecolors=shades, linewidths=0.4))
    axes.autoscale()
    axes.set_aspect("equal")
    axes.axis("off")


def row_of_limbs(axes: list[Axes], pose: Pose, elastic: Array) -> None:
    """With the first of the limb's weights."""
    camera, limb = view(pose), pose.limb
    weights = next(iter(limb.weights.values()))
    draw_skin(axes[0], elastic, limb.triangles, camera, np.tile(FLESH_COLOUR, (len(elastic), 1)))
    axes[0].set_title(f"elastic\n{pose.name}", fontsize=8)
    for axis, method in zip(axes[1:], SHOWN, strict=True):
        points = METHODS[method](pose, weights)
        distance = np.linalg.norm(points - elastic, axis=1) / limb.radius
        draw_skin(axis, points, limb.triangles, camera, COLOURS(FAR(distance))[:, :3])
        axis.set_title(f"{method}\n{distance.mean():.2f} R, most {distance.max():.2f} R", fontsize=8)


def draw(rows: list[tuple[Pose, Array]], file: Path, dpi: int = 110) -> Path:
    figure, axes = plt.subplots(len(rows), len(SHOWN) + 1, figsize=(11, 2.6 * len(rows)), squeeze=False)
    for line, (pose, elastic) in zip(axes, rows, strict=True):
        row_of_limbs(list(line), pose, elastic)
    bar = figure.colorbar(matplotlib.cm.ScalarMappable(FAR, COLOURS), ax=axes, shrink=0.5, fraction=0.02)
    bar.set_label("distance to the elastic limb, in radii", fontsize=8)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=dpi, bbox_inches="tight")
    plt.close(figure)
    return file


def pages(rows: list[tuple[Pose, Array]], folder: Path, name: str, most: int = 6) -> Iterator[Path]:
    """Every pose, a few on each picture."""
    for start in range(0, len(rows), most):
        yield draw(rows[start : start + most], folder / f"{name}_{start // most + 1}.png")
