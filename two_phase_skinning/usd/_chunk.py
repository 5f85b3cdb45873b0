"""What one worker of many does: some frames of a bake, into a file of their own.

The file is written beside and then renamed: when its worker dies, another does it again, and nothing of the first try
is left in the result.
"""

from __future__ import annotations

import os
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from pxr import Sdf

from two_phase_skinning import build_info
from two_phase_skinning.usd._errors import SceneError, refusals
from two_phase_skinning.usd._options import Distance, Options
from two_phase_skinning.usd._scene import Scene, open_stage
from two_phase_skinning.usd._skin import SceneSkin
from two_phase_skinning.usd._writer import Writer

Build = tuple[str, str]
_kept = threading.local()  # each thread of a worker has a scene of its own
_opening = threading.Lock()  # OpenUSD keeps a file once for all threads


@dataclass(frozen=True)
class Chunk:
    """What a worker is told.

    bake: of which bake it is, no other has this number. source, paths: the scene and the prims. times: its frames.
    following: the first frame after them. target: the file to write. build: what the other workers run.
    """

    bake: str
    source: str
    paths: tuple[str, ...]
    times: tuple[float, ...]
    following: float | None
    options: Options
    target: str
    build: Build


def build() -> Build:
    """What the last bits of the results depend on: the version, and the kernel that this machine runs."""
    info = build_info()
    return info["version"], info["kernel"]


def bake_chunk(chunk: Chunk) -> dict[str, Distance]:
    """Writes the chunk's file. Returns by prim how far the method that is compared with is.

    Raises SceneError naming the prim, or the file, or what this worker runs where that is not what the others run.
    """
    if build() != chunk.build:
        ours, theirs = (f"version {version} on {kernel}" for version, kernel in (build(), chunk.build))
        raise SceneError(f"scheduler: a worker has {ours}; expected {theirs}, as the others: the last bits differ")
    try:
        return _bake(chunk)
    except SceneError as error:
        error.__context__ = None  # OpenUSD's own errors cannot be sent
        raise


def _bake(chunk: Chunk) -> dict[str, Distance]:
    scene = _scene(chunk)
    skins = [scene[path] for path in chunk.paths]
    target = Path(chunk.target)
    handle, name = tempfile.mkstemp(suffix=".usdc", prefix=".", dir=target.parent)
    os.close(handle)
    try:
        distances = _write(Path(name), skins, chunk)
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
            target.parent.rmdir()  # where it was removed, to save a layer has made it again, empty but for that
        raise
    return distances


def _write(path: Path, skins: list[SceneSkin], chunk: Chunk) -> dict[str, Distance]:
    with refusals(f"{chunk.target}: cannot be written"):
        layer = Sdf.Layer.CreateNew(str(path))
    layer.startTimeCode = chunk.times[0]
    layer.endTimeCode = chunk.times[-1] if chunk.following is None else chunk.following
    writer = Writer(layer, chunk.target, chunk.options)
    for time in chunk.times:
        if not path.exists():
            raise SceneError(f"{path.parent}: has been removed; expected it for as long as the bake runs")
        for skin in skins:
            writer.write(skin, time)
    if chunk.following is not None:
        writer.options = replace(chunk.options, compare=None)
        for skin in skins:
            writer.write(skin, chunk.following)
    writer.save()
    return writer.distances


def _scene(chunk: Chunk) -> Scene:
    """Opened once a bake. Files that have changed since the last bake are read again."""
    if getattr(_kept, "bake", None) != chunk.bake:
        with _opening:
            stage = open_stage(chunk.source)
            stage.Reload()
            _kept.scene, _kept.bake = Scene(stage), chunk.bake
    kept: Scene = _kept.scene
    return kept
