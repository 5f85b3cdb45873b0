"""Makes the extension's archives with Blender's own builder: one for each platform and one for all."""

import shutil
import subprocess
import sys
from pathlib import Path

import archive
import check
import manifest
from sources import ROOT

OUT = ROOT / "build" / "extension"


def builder(blender: Path) -> Path:
    """The program that makes extensions, in the folder of the bpy module."""
    (script,) = blender.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py")
    return script


def build(wheels: dict[str, Path], builder: Path) -> list[Path]:
    """The archives for a wheel by platform, each validated by Blender's builder and by `check`."""
    shutil.rmtree(OUT, ignore_errors=True)
    source = OUT / "two_phase_skin"
    shutil.copytree(ROOT / "addon", source, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "LICENSE", source)
    (source / "wheels").mkdir()
    for wheel in wheels.values():
        shutil.copy(wheel, source / "wheels")
    names = [wheel.name for wheel in wheels.values()]
    written = source / "blender_manifest.toml"
    written.write_text(manifest.completed(written.read_text("utf-8"), list(wheels), names), "utf-8")
    for options in ([], ["--split-platforms"]):
        _run(builder, "build", "--source-dir", source, "--output-dir", OUT, *options)
    shutil.rmtree(source)
    archives = sorted(OUT.glob("*.zip"))
    if len(archives) != 1 + len(wheels):
        raise SystemExit(f"Blender's builder made {[path.name for path in archives]}: one more than platforms expected")
    for path in archives:
        archive.normalise(path)
        _run(builder, "validate", path)
    if check.main([str(path) for path in archives]):
        raise SystemExit("The extension is not fit to be given away")
    return archives


def _run(builder: Path, *arguments: object) -> None:
    done = subprocess.run([sys.executable, builder, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{done.stdout}{done.stderr}\nBlender's own tool refused: {' '.join(map(str, arguments))}")
