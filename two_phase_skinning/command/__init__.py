"""The command two-phase-skin: whole shots without a line of Python.

    two-phase-skin bake shot.usd baked.usd

Exit status: 0; 1 where something in the scene or a file is wrong; 2 for wrong arguments; 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from two_phase_skinning import __version__
from two_phase_skinning.command._frames import frames
from two_phase_skinning.command._progress import Progress

if TYPE_CHECKING:
    from two_phase_skinning.usd import Report

METHODS = ("two_phase", "linear", "dual_quaternion", "scene")


def parser() -> argparse.ArgumentParser:
    """The arguments, with their help."""
    top = argparse.ArgumentParser(prog="two-phase-skin", description="Two-phase skinning of whole USD shots.")
    top.add_argument("--version", action="version", version=f"two-phase-skin {__version__}")
    commands = top.add_subparsers(dest="command", required=True)
    bake = commands.add_parser(
        "bake",
        help="bake skinning into points",
        description="Writes a layer over a USD scene with points, normals and extents of all that skeletons and blend "
        "shapes move, and the skinning turned off.",
    )
    bake.add_argument("source", help="the scene")
    bake.add_argument("target", help="what to write: .usd, .usdc or .usda")
    bake.add_argument("--method", choices=METHODS, default="two_phase", help="scene: each prim's skel:skinningMethod")
    bake.add_argument("--inherited", choices=("after", "before"), default="after", help="where inherited scale acts")
    bake.add_argument("--frames", type=frames, help="12, 1:48, 1:48:0.5 or 1:10,20:30; else all that are animated")
    bake.add_argument("--prim", action="append", default=[], help="only this prim and what is beneath it; repeatable")
    bake.add_argument(
        "--normals",
        choices=("deformed", "usdskel", "none"),
        default="deformed",
        help="deformed: as the points are; usdskel: as OpenUSD has it; none: taken away",
    )
    bake.add_argument("--threads", type=int, default=0, help="at most so many for each mesh; 0 chooses")
    bake.add_argument("--compare", choices=METHODS, help="print how far this method's points are from what is written")
    bake.add_argument("--scheduler", help="the address of a Dask scheduler, as tcp://host:8786, to share the frames")
    bake.add_argument("--progress", action="store_true", help="show the progress also where there is no terminal")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status."""
    options = parser().parse_args(arguments)
    try:
        from two_phase_skinning.usd import SceneError
    except ImportError as error:
        return _fail(error)
    try:
        return _bake(options)
    except (SceneError, OSError, ImportError) as error:
        return _fail(error)
    except KeyboardInterrupt:
        print(f"two-phase-skin: stopped; {options.target} is as it was", file=sys.stderr)
        return 130


def run() -> None:
    """Runs the command, and ends the process with its exit status."""
    sys.exit(main())


def _fail(error: Exception) -> int:
    print(f"two-phase-skin: {error}", file=sys.stderr)
    return 1


def _bake(options: argparse.Namespace) -> int:
    from two_phase_skinning.usd import bake

    progress = Progress(options.progress)
    start = time.monotonic()
    try:
        report = bake(
            options.source,
            options.target,
            method=options.method,
            inherited=options.inherited,
            frames=options.frames,
            prims=options.prim,
            normals=options.normals,
            threads=options.threads,
            compare=options.compare,
            scheduler=options.scheduler,
            progress=progress,
        )
    finally:
        progress.end()
    _say(report, options, time.monotonic() - start)
    return 0


def _say(report: Report, options: argparse.Namespace, seconds: float) -> None:
    for warning in report.warnings:
        print(f"two-phase-skin: {warning}", file=sys.stderr)
    for path, distance in report.distances.items():
        when = "" if distance.time is None else f" at time {distance.time:g}"
        print(
            f"{path}: {options.compare} is up to {distance.largest:.6g} away (point {distance.point}{when}), "
            f"{distance.mean:.6g} on average"
        )
    count = len(report.times)
    span = f"{count} frames, {report.times[0]:g} to {report.times[-1]:g}" if count else "nothing moves: one pose"
    print(f"{options.target}: {len(report.skins)} prims, {span}, in {seconds:.1f} s")
