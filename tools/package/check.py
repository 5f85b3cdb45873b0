"""What Blender's builder does not notice, and what it cannot know: python tools/package/check.py EXTENSION.zip...

A platform without a wheel, one that does not exist, a wheel that the manifest does not list or that is not there,
files that do not belong there, no licence, versions that differ, a binary that is not what its wheel says.
"""

import io
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

import binaries
import pack
from sources import ROOT
from targets import TARGETS

SOURCES = {".py", ".toml"}


def problems(path: Path) -> list[str]:
    """Everything that is wrong with an extension's archive, a sentence each."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    if "blender_manifest.toml" not in files:
        return ["there is no blender_manifest.toml"]
    manifest = tomllib.loads(files["blender_manifest.toml"].decode())
    # what the builder adds where it makes an archive for one platform
    generated = manifest.get("build", {}).get("generated", {})
    platforms = generated.get("platforms", manifest.get("platforms", []))
    listed = [name.removeprefix("./") for name in generated.get("wheels", manifest.get("wheels", []))]
    return [
        *_file_problems(files, listed),
        *_platform_problems(platforms, listed),
        *(problem for name in listed if name in files for problem in _wheel_problems(name, files[name], manifest)),
    ]


def _file_problems(files: dict[str, bytes], listed: list[str]):
    wheels = {name for name in files if name.endswith(".whl")}
    yield from (f"{name} is not there, though the manifest lists it" for name in listed if name not in wheels)
    yield from (f"{name} is not listed in the manifest" for name in sorted(wheels - set(listed)))
    if files.get("LICENSE") != (ROOT / "LICENSE").read_bytes():
        yield "LICENSE is missing, or not the one of the sources"
    for name in files:
        if name not in wheels and name != "LICENSE" and Path(name).suffix not in SOURCES:
            yield f"{name} does not belong into the extension"


def _platform_problems(platforms: list[str], listed: list[str]):
    if not platforms:
        yield "the manifest names no platform"
    for platform in platforms:
        if platform not in TARGETS:
            yield f"{platform} is no platform of Blender: {', '.join(TARGETS)}"
            continue
        tag = TARGETS[platform].wheel_tag
        fitting = [name for name in listed if name.endswith(f"-{pack.PYTHON_TAG}-{tag}.whl")]
        if len(fitting) != 1:
            yield f"{platform} has {len(fitting)} wheels that end in -{pack.PYTHON_TAG}-{tag}.whl, not one"
    tags = {TARGETS[platform].wheel_tag for platform in platforms if platform in TARGETS}
    for name in listed:
        if name.removesuffix(".whl").rpartition("-")[2] not in tags:
            yield f"{name} is for none of the platforms"


def _wheel_problems(name: str, data: bytes, manifest: dict):
    version = Path(name).name.split("-")[1]
    if version != manifest["version"]:
        yield f"{name} has version {version}, the extension {manifest['version']}"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        contents = {entry: archive.read(entry) for entry in archive.namelist()}
    yield from (f"{name}: {problem}" for problem in pack.problems(contents, version))
    tag = name.removesuffix(".whl").rpartition("-")[2]
    for target in TARGETS.values():
        if target.wheel_tag == tag:
            yield from _binary_problems(name, contents, target)


def _binary_problems(name: str, contents: dict[str, bytes], target):
    modules = [entry for entry in contents if Path(entry).suffix in (".so", ".pyd", ".dll", ".dylib")]
    if [Path(entry).name for entry in modules] != [target.module]:
        yield f"{name} has {modules}, not {target.module} alone"
        return
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / target.module
        module.write_bytes(contents[modules[0]])
        try:
            binaries.inspect(module, target)
        except binaries.Unfit as error:
            yield f"{name}: {error}"


def main(paths: list[str]) -> int:
    found = [f"{path}: {problem}" for path in paths for problem in problems(Path(path))]
    print("\n".join(found) or f"{len(paths)} archives looked through: nothing wrong")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
