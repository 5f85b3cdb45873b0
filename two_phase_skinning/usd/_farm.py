"""Frames spread over the processes of a Dask cluster, on one machine or many that see the same files.

Each chunk of frames becomes a file of its own, written beside and then renamed: when its worker dies, another does it
again, and nothing of the first try is left in the result.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pxr import Sdf

from two_phase_skinning.usd._clips import stitch
from two_phase_skinning.usd._errors import SceneError, refusals
from two_phase_skinning.usd._options import Distance, Options
from two_phase_skinning.usd._scene import Scene
from two_phase_skinning.usd._writer import Writer

MOST_FRAMES = 50
CHUNKS_EACH_THREAD = 4
SECONDS_TO_CONNECT = 30
_kept = threading.local()  # each thread of a worker has a scene of its own


@dataclass(frozen=True)
class Chunk:
    """What a worker is told: the scene, the prims, the times, the first time after them, and the file to write."""

    source: str
    paths: tuple[str, ...]
    times: tuple[float, ...]
    following: float | None
    options: Options
    target: str


def bake_chunk(chunk: Chunk) -> dict[str, Distance]:
    """What a worker does: writes the chunk's file. Returns how far the method that is compared with is."""
    scene = _scene(chunk.source)
    skins = [scene[path] for path in chunk.paths]
    target = Path(chunk.target)
    handle, name = tempfile.mkstemp(suffix=".usdc", prefix=".", dir=target.parent)
    os.close(handle)
    try:
        with refusals(f"{target}: cannot be written"):
            layer = Sdf.Layer.CreateNew(name)
        layer.startTimeCode = chunk.times[0]
        layer.endTimeCode = chunk.times[-1] if chunk.following is None else chunk.following
        writer = Writer(layer, target, chunk.options)
        for time in chunk.times:
            for skin in skins:
                writer.write(skin, time)
        distances = dict(writer.distances)
        if chunk.following is not None:
            writer.options = replace(chunk.options, compare=None)
            for skin in skins:
                writer.write(skin, chunk.following)
        writer.save()
        os.replace(name, target)
    finally:
        with suppress(OSError):
            os.unlink(name)
    return distances


def _scene(source: str) -> Scene:
    key = source, os.stat(source).st_mtime_ns if os.path.exists(source) else None
    if getattr(_kept, "key", None) != key:
        _kept.scene, _kept.key = Scene(source), key
    scene: Scene = _kept.scene
    return scene


def bake_on_workers(
    scheduler: str,
    source: str,
    paths: Sequence[str],
    times: Sequence[float],
    options: Options,
    folder: Path,
    progress: Callable[[int, int], None],
) -> tuple[list[Path], dict[str, Distance]]:
    """All of the prims at all of the times: the layers that bring in the workers' files, and the distances.

    Raises SceneError where no worker is there, or what a worker raised.
    """
    client = _connect(scheduler)
    try:
        threads = sum(client.nthreads().values())
        size = min(max(-(-len(times) // (CHUNKS_EACH_THREAD * threads)), 1), MOST_FRAMES)
        options = replace(options, threads=options.threads or 1)
        starts = range(0, len(times), size)
        chunks = [
            Chunk(
                os.path.realpath(source),
                tuple(paths),
                tuple(times[start : start + size]),
                times[start + size] if start + size < len(times) else None,
                options,
                str(folder.resolve() / f"chunk_{number:05}.usdc"),
            )
            for number, start in enumerate(starts)
        ]
        done = _gather(client, chunks, len(times), progress)
    finally:
        client.close()
    roots = sorted({"/" + path.split("/")[1] for path in paths})
    layers = stitch(folder, [Path(chunk.target) for chunk in chunks], roots, times[0], times[-1])
    distances: dict[str, Distance] = {}
    for part in done:
        for path, distance in part.items():
            distances.setdefault(path, Distance()).merge(distance)
    return layers, distances


def _connect(scheduler: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            'scheduler: Dask distributed is not installed; expected it: pip install "two-phase-skinning[farm]"'
        ) from error
    try:
        client = Client(scheduler, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SceneError(f"scheduler: {scheduler}: cannot be reached ({error}); expected tcp://host:8786") from None
    try:
        client.wait_for_workers(1, timeout=SECONDS_TO_CONNECT)
    except TimeoutError:
        client.close()
        raise SceneError(f"scheduler: {scheduler}: has no workers; expected one at least") from None
    return client


def _gather(
    client: Any, chunks: Sequence[Chunk], frames: int, progress: Callable[[int, int], None]
) -> list[dict[str, Distance]]:
    from distributed import KilledWorker, as_completed

    futures = client.map(bake_chunk, chunks, pure=False)
    numbers = {future.key: number for number, future in enumerate(futures)}
    done, count = [dict[str, Distance]() for _chunk in chunks], 0
    try:
        for future in as_completed(futures, loop=client.loop):
            number = numbers[future.key]
            done[number] = future.result()
            count += len(chunks[number].times)
            progress(count, frames)
    except KilledWorker as error:
        raise SceneError(f"scheduler: workers die again and again at the same frames ({error})") from None
    finally:
        client.cancel(futures)
    return done
