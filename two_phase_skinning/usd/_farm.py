"""Frames spread over the processes of a Dask cluster, on one machine or many that see the same files."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from two_phase_skinning.usd._chunk import Build, Chunk, bake_chunk, build
from two_phase_skinning.usd._clips import stitch
from two_phase_skinning.usd._errors import SceneError
from two_phase_skinning.usd._options import Distance, Options
from two_phase_skinning.usd._skin import SceneSkin

MOST_FRAMES = 50
CHUNKS_EACH_THREAD = 4
SECONDS_TO_STOP = 10
SECONDS_TO_CONNECT = 30


def bake_on_workers(
    scheduler: str,
    source: str,
    skins: Sequence[SceneSkin],
    times: Sequence[float],
    options: Options,
    folder: Path,
    progress: Callable[[int, int], None],
) -> tuple[list[Path], dict[str, Distance]]:
    """All of the skins at all of the times: the layers that bring in the workers' files, and the distances.

    Raises SceneError where no worker is there, or what a worker raised.
    """
    client = _connect(scheduler)
    try:
        what = Chunk(
            bake=uuid.uuid4().hex,
            source=os.path.realpath(source),
            paths=tuple(skin.path for skin in skins),
            times=(),
            following=None,
            options=replace(options, threads=options.threads or 1),
            target="",
            build=_common_build(client),
        )
        chunks = _divided(what, times, folder.resolve(), sum(client.nthreads().values()))
        done = _gather(client, chunks, len(times), progress)
    finally:
        client.close()
    for left in folder.glob(".*"):  # by workers that died
        left.unlink()
    roots = {_root(skin.prim) for skin in skins}
    layers = stitch(folder, [Path(chunk.target) for chunk in chunks], sorted(roots, key=str), times[0], times[-1])
    distances: dict[str, Distance] = {}
    for part in done:
        for path, distance in part.items():
            distances.setdefault(path, Distance()).merge(distance)
    return layers, distances


def _root(prim: Any) -> Any:
    while not prim.GetParent().IsPseudoRoot():
        prim = prim.GetParent()
    return prim


def _divided(what: Chunk, times: Sequence[float], folder: Path, threads: int) -> list[Chunk]:
    """The times in chunks: enough that no thread waits long for the last, large enough to be worth a file."""
    size = min(max(-(-len(times) // (CHUNKS_EACH_THREAD * threads)), 1), MOST_FRAMES)
    return [
        replace(
            what,
            times=tuple(times[start : start + size]),
            following=times[start + size] if start + size < len(times) else None,
            target=str(folder / f"chunk_{number:05}.usdc"),
        )
        for number, start in enumerate(range(0, len(times), size))
    ]


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


def _common_build(client: Any) -> Build:
    """What all workers run. Raises SceneError where they have not the package, or not the same."""
    try:
        builds: dict[str, Build] = client.run(build)
    except ImportError as error:
        raise SceneError(f"scheduler: a worker has no two-phase-skinning[farm] ({error}); expected it on all") from None
    if len(set(builds.values())) > 1:
        words = ", ".join(f"{address} has version {b[0]} on {b[1]}" for address, b in sorted(builds.items()))
        raise SceneError(f"scheduler: {words}; expected the same on all, since the last bits of results depend on it")
    return next(iter(builds.values()))


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
    except BaseException:
        client.cancel(futures)
        _wait_for_running(client)
        raise
    return done


def _wait_for_running(client: Any) -> None:
    """Until the workers are through with what they had begun, which nobody can stop: they write where we clean up."""
    end = time.monotonic() + SECONDS_TO_STOP
    while time.monotonic() < end and any(client.run(_running, on_error="ignore").values()):
        time.sleep(0.05)


def _running(dask_worker: Any) -> int:
    return len(dask_worker.state.executing)
