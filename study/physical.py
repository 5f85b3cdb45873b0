"""The physical judge: solves elastic limbs, and writes how near each skinning method comes to them.

    python study/physical.py

Writes docs/results/physical_judge.md and pictures into build/study/. The elastic surfaces take an hour, once: they are
kept in build/study/surfaces/.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from judge import pictures
from judge.body_poses import BodyWanted, body_poses
from judge.compare import compare
from judge.judges import FINE, MAIN, OTHERS, for_fine, for_others
from judge.limb import Pose
from judge.page import page
from judge.poses import Wanted, tube_poses
from judge.profiles import PROFILES
from judge.surfaces import surfaces
from numpy.typing import NDArray

Array = NDArray[np.float64]
ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/results/physical_judge.md"
FIGURE = ROOT / "docs/figures/flesh.png"
FIGURED = ("none bend", "none both", "knee, none bend", "knee, none both")


def rows_of(poses: Sequence[Wanted | BodyWanted], elastic: list[Array | None]) -> list[tuple[Pose, Array]]:
    """Those that have an elastic limb, to be drawn."""
    pairs = zip(poses, elastic, strict=True)
    return [(wanted.pose(MAIN), surface) for wanted, surface in pairs if surface is not None]


def main() -> None:
    poses = tube_poses()
    elastic = surfaces(poses, MAIN, "tubes")
    found = []
    for held, profiles in ((True, PROFILES), (False, PROFILES[:1])):
        chosen = [(wanted, surface) for wanted, surface in zip(poses, elastic, strict=True) if wanted.held == held]
        found += compare([p for p, _ in chosen], [s for _, s in chosen], MAIN, profiles, "held" if held else "not held")
    others = {}
    for name, judge in OTHERS.items():
        chosen = for_others(poses)
        others[name] = compare(chosen, surfaces(chosen, judge, name), judge, PROFILES[:1], name)
    chosen = for_fine(poses)
    fine = compare(chosen, surfaces(chosen, FINE, "finer mesh"), FINE, PROFILES[:1], "finer mesh")

    body, body_elastic = body_poses(), surfaces(body_poses(), MAIN, "body")
    of_body = compare(body, body_elastic, MAIN, ("automatic",), "body")
    parts = {part: [f for f in of_body if f.wanted.part == part] for part in sorted({pose.part for pose in body})}

    numbers = {
        "tubes": len(poses),
        "lost": len(poses) - len(found),
        "body": len(body),
        "lost_of_body": len(body) - len(of_body),
        "nu": MAIN.nu,
        "core": MAIN.core,
        "margin": MAIN.margin,
    }
    drawn = for_others(poses), surfaces(for_others(poses), MAIN, "pictures")
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(numbers, found, others, fine, parts))
    print(PAGE.relative_to(ROOT))
    tubes, limbs = rows_of(*drawn), rows_of(body, body_elastic)
    shown = [row for row in [*tubes, *limbs] if row[0].name.startswith(FIGURED)]
    print(pictures.draw(shown, FIGURE, dpi=64).relative_to(ROOT))
    for name, rows in (("tubes", tubes), ("body", limbs)):
        for file in pictures.pages(rows, ROOT / "build/study", name):
            print(file.relative_to(ROOT))


if __name__ == "__main__":
    main()
