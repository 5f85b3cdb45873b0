"""A file that is written beside, and takes its place when it is whole."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pxr import Sdf, UsdUtils

from two_phase_skinning.usd._errors import SceneError, refusals
from two_phase_skinning.usd._writer import save

SUFFIXES = (".usd", ".usdc", ".usda")


def check_target(target: Path, stage: Any) -> None:
    """Raises SceneError where the file cannot be the output of that stage."""
    if target.suffix not in SUFFIXES:
        raise SceneError(f"{target}: suffix {target.suffix!r}; expected one of {', '.join(SUFFIXES)}")
    if not target.parent.is_dir():
        raise SceneError(f"{target}: no such folder; expected one that is there")
    used = {os.path.realpath(layer.realPath) for layer in stage.GetUsedLayers() if layer.realPath}
    if os.path.realpath(target) in used:
        raise SceneError(f"{target}: the scene is made of this file; expected another for the output")


@contextmanager
def layer_over(stage: Any, target: Path) -> Iterator[Any]:
    """A new layer over the stage's root layer; at the end it replaces target. After any error target is as it was."""
    handle, name = tempfile.mkstemp(suffix=".usdc", prefix=f".{target.stem}.", dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        with refusals(f"{target}: cannot be written"):
            layer = Sdf.Layer.CreateNew(name)
        root = stage.GetRootLayer()
        UsdUtils.CopyLayerMetadata(root, layer, True)
        layer.subLayerPaths.append(relative(root.realPath, target.parent))
        yield layer
        save(layer, target)
        _replace(layer, temporary, target)
    finally:
        with suppress(OSError):
            temporary.unlink()


def relative(path: str, folder: Path) -> str:
    """The path of a file as a layer in the folder names it; on another drive of Windows, the whole path."""
    try:
        return "./" + Path(os.path.relpath(os.path.realpath(path), os.path.realpath(folder))).as_posix()
    except ValueError:
        return Path(path).as_posix()


def _replace(layer: Any, temporary: Path, target: Path) -> None:
    ready = temporary
    if target.suffix == ".usda":
        ready = temporary.with_suffix(".usda")
    try:
        if ready is not temporary:
            with refusals(f"{target}: cannot be written"):
                layer.Export(str(ready))
        with open(ready, "rb+") as file:
            os.fsync(file.fileno())
        ready.chmod(0o666 & ~_umask())
        os.replace(ready, target)
    finally:
        with suppress(OSError):
            ready.unlink()
    stale = Sdf.Layer.Find(str(target))
    if stale:
        stale.Reload(True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
