"""The elastic surfaces of many poses under many judges, solved once and kept in build/study/surfaces/."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from judge.body_poses import BodyWanted
from judge.equilibrium import equilibrium
from judge.poses import Wanted
from judge.tubes import Judge

Array = NDArray[np.float64]

HERE = Path(__file__).resolve().parent
KEPT = HERE.parents[1] / "build/study/surfaces"
MADE_BY = ("equilibrium.py", "limb.py", "solid.py", "tube_mesh.py", "tubes.py")


def key(wanted: Wanted | BodyWanted, judge: Judge) -> str:
    """Changes with whatever the surface depends on."""
    content = hashlib.sha256()
    for name in MADE_BY:
        content.update((HERE / name).read_bytes())
    content.update(f"{wanted.identity} {judge}".encode())
    return content.hexdigest()[:24]


def solve(wanted: Wanted | BodyWanted, judge: Judge) -> Array | None:
    """The skin's vertices in equilibrium, or None where none was found."""
    body = wanted.body(judge)
    nodes = equilibrium(body, wanted.pose(judge))
    return None if nodes is None else body.skin @ nodes


def surface(wanted: Wanted | BodyWanted, judge: Judge) -> Array | None:
    file = KEPT / f"{key(wanted, judge)}.npy"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        found = solve(wanted, judge)
        np.save(file, np.zeros((0, 3)) if found is None else found)
    points = np.load(file)
    return points if len(points) else None


def surfaces(poses: Sequence[Wanted | BodyWanted], judge: Judge, name: str) -> list[Array | None]:
    """Those of all poses, with the progress on the standard error."""
    found, start = [], time.monotonic()
    for number, wanted in enumerate(poses, start=1):
        found.append(surface(wanted, judge))
        seconds = time.monotonic() - start
        print(f"\r{name}: {number} of {len(poses)} poses, {seconds:.0f} s ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found
