"""Frames in many files, as one: OpenUSD's value clips.

Each file of a chunk has its own frames and the first of the next, so that between two chunks too a viewer finds both
frames that it interpolates. Source: https://openusd.org/release/api/_usd__page__value_clips.html.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pxr import Gf, Sdf, UsdUtils, Vt

from two_phase_skinning.usd._errors import SceneError, refusals
from two_phase_skinning.usd._writer import save

OURS = re.compile(r"((chunk|stitched)_\d+(\.\w+)?|\..+)\.usdc")
CLIP_SET = "two_phase_skin"  # the scene may have others on the same prims


@contextmanager
def clip_folder(target: Path) -> Iterator[Path]:
    """A new folder beside the output for its clips. After an error it is removed; else those of an output before."""
    number = 0
    while (folder := target.with_name(f"{target.name}.clips" + (f".{number}" if number else ""))).exists():
        number += 1
    folder.mkdir()
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    remove_clips(target, folder)


def remove_clips(target: Path, kept: Path | None = None) -> None:
    """Removes the folders of clips that an output before had; what has other files in it is not ours."""
    name = re.compile(re.escape(target.name) + r"\.clips(\.\d+)?")
    for folder in target.parent.iterdir():
        named_so = name.fullmatch(folder.name) and folder != kept and folder.is_dir()
        if named_so and all(OURS.fullmatch(path.name) for path in folder.iterdir()):
            shutil.rmtree(folder, ignore_errors=True)


def stitch(folder: Path, clips: Sequence[Path], roots: Iterable[Any], first: float, last: float) -> list[Path]:
    """Layers, one for each root prim, in which the clips give their values to all beneath it. By UsdUtils.StitchClips.

    clips: in the order of their frames, in the folder. roots: prims of the scene. Raises SceneError naming the folder.
    """
    layers = []
    for number, root in enumerate(roots):
        path = folder / f"stitched_{number}.usdc"
        names = [str(clip) for clip in clips]
        with refusals(f"{folder}: cannot be stitched"):
            layer = Sdf.Layer.CreateNew(str(path))
            if not UsdUtils.StitchClips(layer, names, root.GetPath(), first, last, False, CLIP_SET):
                raise SceneError(f"{folder}: cannot be stitched; expected room there, and leave to write")
            _finish(layer.GetPrimAtPath(root.GetPath()), root, first, last)
        save(layer, folder)
        layers.append(path)
    return layers


def _finish(spec: Any, of_scene: Any, first: float, last: float) -> None:
    """The clips' times are the stage's, and they are before those that the scene has there.

    StitchClips gives the times clip by clip, which adds samples where they meet.
    """
    clips = dict(spec.GetInfo("clips"))
    clips[CLIP_SET] = {**clips[CLIP_SET], "times": Vt.Vec2dArray([Gf.Vec2d(time, time) for time in (first, last)])}
    spec.SetInfo("clips", clips)
    # not by Usd.ClipsAPI.GetClipSets, which ends the process where the scene's root layer says nothing of the prim
    order = of_scene.GetMetadata("clipSets")
    others = order.GetAppliedItems() if order else sorted(of_scene.GetMetadata("clips") or ())
    spec.SetInfo("clipSets", Sdf.StringListOp.Create(prependedItems=[CLIP_SET, *others]))
