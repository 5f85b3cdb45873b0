"""Whole shots: every skinned prim at every frame, written into a layer over the scene."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from two_phase_skinning._options import AnyInherited
from two_phase_skinning.usd._clips import clip_folder, remove_clips
from two_phase_skinning.usd._errors import SceneError, refusals
from two_phase_skinning.usd._farm import bake_on_workers
from two_phase_skinning.usd._off import turn_off
from two_phase_skinning.usd._options import BakeMethod, BakeNormals, Options, Report
from two_phase_skinning.usd._output import check_target, layer_over, relative
from two_phase_skinning.usd._scene import Scene
from two_phase_skinning.usd._skin import SceneSkin
from two_phase_skinning.usd._times import authored, sample_times
from two_phase_skinning.usd._writer import Writer

Progress = Callable[[int, int], None]


def bake(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    method: BakeMethod = "two_phase",
    inherited: AnyInherited = "after",
    frames: Iterable[float] | None = None,
    prims: Sequence[str] = (),
    normals: BakeNormals = "deformed",
    threads: int = 0,
    compare: BakeMethod | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> Report:
    """Bakes a USD file's skinning into another file: a layer over it with points, normals, extents and transforms.

    source, target: paths; target is .usd, .usdc or .usda, and is replaced only when all is written.
    method: "two_phase", "linear", "dual_quaternion"; "scene", for each prim what its skel:skinningMethod says.
    inherited: see two_phase_skinning.Skin.deform. frames: time codes; None: Scene.times.
    prims: paths; only what is skinned at or beneath them. threads: as for Skin.deform.
    normals: "deformed", "usdskel" (see SceneSkin.deform_normals), or "none": taken away, so that viewers compute them.
    compare: a method; the report then says how far its points are from those that are written.
    scheduler: the address of a Dask scheduler whose workers see the same files; they share the frames.
    progress: called with (frames done, frames in all).

    Raises SceneError naming the prim, file or argument; target is then as it was.
    """
    options = Options(method, inherited, normals, threads, compare)
    options.check()
    with refusals(f"{source}: OpenUSD gives up"):
        return _bake(source, target, options, frames, prims, scheduler, progress or (lambda count, total: None))


def _bake(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    options: Options,
    frames: Iterable[float] | None,
    prims: Sequence[str],
    scheduler: str | None,
    progress: Progress,
) -> Report:
    scene, output = Scene(source), Path(target)
    check_target(output, scene.stage)
    skins = selected(scene, prims)
    moving = [skin for skin in skins if authored(skin)]
    times = _times(scene, moving, frames)
    report = Report([skin.path for skin in skins], times, {}, _warnings(skins))
    others = [skin for skin in scene.skins if skin not in skins]
    with ExitStack() as stack:
        clips = stack.enter_context(clip_folder(output)) if scheduler and times else None
        layer = stack.enter_context(layer_over(scene.stage, output))
        if times and not scene.stage.HasAuthoredTimeCodeRange():
            layer.startTimeCode, layer.endTimeCode = times[0], times[-1]
        turn_off(layer, skins, others, options)
        writer = Writer(layer, output, options)
        write_frames(writer, [skin for skin in skins if skin not in moving], [None], lambda count, total: None)
        if scheduler and clips:
            layers, distances = bake_on_workers(scheduler, str(source), moving, times, options, clips, progress)
            layer.subLayerPaths = [*(relative(str(part), output.parent) for part in layers), *layer.subLayerPaths]
            report.merge(distances)
        else:
            write_frames(writer, moving, times, progress)
        report.merge(writer.distances)
    if not clips:
        remove_clips(output)
    return report


def write_frames(writer: Writer, skins: Sequence[SceneSkin], times: Sequence[float | None], progress: Progress) -> None:
    """All of the skins at each of the times."""
    for number, time in enumerate(times):
        for skin in skins:
            writer.write(skin, time)
        progress(number + 1, len(times))


def selected(scene: Scene, prims: Sequence[str]) -> list[SceneSkin]:
    """The skins at or beneath the prims; all of them where none is named. Raises SceneError where there are none."""
    skins = list(scene.skins)
    for path in prims:
        prim = scene.stage.GetPrimAtPath(path) if path.startswith("/") else None
        if not prim:
            raise SceneError(f"prim <{path}>: not on the stage; expected the path of a prim, as /World/Man")
        if not any(skin.prim.GetPath().HasPrefix(prim.GetPath()) for skin in skins):
            raise SceneError(f"prim <{path}>: nothing is skinned at or beneath it; expected a skinned prim")
    if not skins:
        name = scene.stage.GetRootLayer().GetDisplayName()
        raise SceneError(f"{name}: nothing is skinned; expected prims with UsdSkel bindings beneath a SkelRoot")
    return [skin for skin in skins if not prims or any(skin.prim.GetPath().HasPrefix(path) for path in prims)]


def _times(scene: Scene, moving: Sequence[SceneSkin], frames: Iterable[float] | None) -> list[float]:
    if frames is None:
        return [float(time) for time in sample_times(scene.stage, moving)]
    times = np.unique(np.array(list(frames), dtype=np.float64))
    if not len(times) or not np.isfinite(times).all():
        raise SceneError("frames: none, or not finite; expected time codes")
    return [float(time) for time in times] if moving else []


def _warnings(skins: Iterable[SceneSkin]) -> list[str]:
    """What the user should know of the prims, though it is no error."""
    words = []
    for skin in skins:
        if skin.skinned:
            bare = int((skin.influences().weights.sum(axis=1) == 0).sum())
            if bare:
                words.append(f"prim <{skin.path}>: {bare} points have no weights, and stay where they are bound")
        if skin.normals and skin.normals.exist and not skin.normals.can_follow:
            kind = skin.normals.interpolation
            words.append(f"prim <{skin.path}>: its normals are left as they are: interpolation {kind}")
    return words
