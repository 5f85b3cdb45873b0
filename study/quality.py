"""How good it looks, measured: five methods on random squash-and-stretch poses of chains and of the Rigify limbs.

    python study/quality.py                  the table, for the default seed and number of poses
    python study/quality.py --poses 20 --seed 7 --markdown

Needs bpy, usd-core and two_phase_skinning. Takes half a minute.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from in_blender import BlenderLimb, rigify_limbs
from limbs import EDGES, KINDS, Limb, random_chain, random_pose
from measures import FIGURES, IDEAL, measure
from methods import METHODS, openusd_dual_quaternion, two_phase
from numpy.random import Generator
from numpy.typing import NDArray

Array = NDArray[np.float64]
SEED = 2013
POSES = 60  # of each class on the chains; half as many on each Rigify limb
POSES_PER_CHAIN = 5


@dataclass
class Posed:
    """One pose of one limb, deformed by every method of METHODS."""

    limb: Limb
    kind: str
    edges: str
    world: Array
    shapes: list[Array]

    def figures(self) -> Array:
        """(methods, figures)"""
        return np.array([measure(self.limb, self.world, shape) for shape in self.shapes])


def pose_limb(limb: Limb, poses: int, rng: Generator) -> Iterator[Posed]:
    """Poses of each class of one limb."""
    blender = BlenderLimb(limb)
    limb.bind = blender.bind  # as Blender keeps it, in single precision
    for edges in EDGES:
        for kind in KINDS:
            for _ in range(poses):
                user = random_pose(rng, len(limb.bind), kind, edges)
                world, linear, preserved = blender.pose(user, edges == "inherited")
                ours = two_phase(limb, world, edges == "inherited")
                yield Posed(limb, kind, edges, world, [linear, preserved, openusd_dual_quaternion(limb, world), *ours])


def pose_chains(poses: int, rng: Generator) -> Iterator[Posed]:
    for start in range(0, poses, POSES_PER_CHAIN):
        yield from pose_limb(random_chain(rng), min(POSES_PER_CHAIN, poses - start), rng)


def pose_rigify(poses: int, rng: Generator) -> Iterator[Posed]:
    for limb in rigify_limbs():
        yield from pose_limb(limb, max(1, poses // 2), rng)


def collect(poses: int, seed: int) -> dict[tuple[str, str, str], Array]:
    """(what, edges, kind) -> (poses, methods, figures)"""
    found: dict[tuple[str, str, str], list[Array]] = {}
    for what, source in (("chains", pose_chains), ("Rigify limbs", pose_rigify)):
        for posed in source(poses, np.random.default_rng(seed)):
            found.setdefault((what, posed.edges, posed.kind), []).append(posed.figures())
    return {key: np.array(figures) for key, figures in found.items()}


def worst(values: Array, figure: str) -> Array:
    """Over the poses, (poses, methods): for each method the value farthest from the ideal."""
    farthest = np.abs(values - IDEAL[figure]).argmax(axis=0)
    return values[farthest, np.arange(values.shape[1])]


def rows(found: dict[tuple[str, str, str], Array]) -> Iterator[tuple[list[str], Array, Array]]:
    """Class and figure, the median of each method, the worst of each method."""
    for (what, edges, kind), figures in found.items():
        for index, figure in enumerate(FIGURES):
            values = figures[:, :, index]
            yield [what, edges, kind, figure], np.median(values, axis=0), worst(values, figure)


def show(found: dict[tuple[str, str, str], Array], markdown: bool) -> None:
    titles = ["limb", "scale", "pose", "figure", *METHODS]
    table = [titles]
    for names, medians, extremes in rows(found):
        best = np.abs(np.round(medians, 3) - IDEAL[names[3]])
        cells = [f"{m:.3f} ({w:.3f})" for m, w in zip(medians, extremes, strict=True)]
        mark = "**{}**" if markdown else "{}*"
        cells = [mark.format(c) if b <= best.min() + 1e-9 else c for c, b in zip(cells, best, strict=True)]
        table.append([*names, *cells])
    widths = [0 if markdown else max(len(row[column]) for row in table) for column in range(len(titles))]
    for number, row in enumerate(table):
        line = " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print(f"| {line} |" if markdown else line)
        if markdown and number == 0:
            print("|" + "---|" * len(titles))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--poses", type=int, default=POSES, help=f"of each class on the chains; default {POSES}")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--markdown", action="store_true", help="a table for a Markdown page")
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.poses} poses of each class; median (worst); * or bold: the best median")
    show(collect(options.poses, options.seed), options.markdown)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # Blender as a module may hang while the interpreter shuts down
