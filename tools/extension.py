"""Build the extension for this platform: build/extension/two_phase_skin-VERSION.zip.

The wheel that tools/setup.sh built from source goes into a copy of addon/, whose manifest then names it; Blender's own
builder, which comes with the bpy module, makes the archive. That builder does not notice a wheel that the manifest does
not list, so the list is written here and the archive is looked into afterwards.
"""

import importlib.util
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "extension"
SOURCE = OUT / "two_phase_skin"


def blender_platform() -> str:
    system = {"Linux": "linux", "Darwin": "macos", "Windows": "windows"}[platform.system()]
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}[platform.machine().lower()]
    return f"{system}-{machine}"


def copy_addon() -> Path:
    """A copy of addon/ with the wheel for this machine in it; returns the wheel."""
    shutil.rmtree(OUT, ignore_errors=True)
    shutil.copytree(ROOT / "addon", SOURCE, ignore=shutil.ignore_patterns("__pycache__"))
    (wheel,) = (ROOT / "build" / "wheel-{}.{}".format(*sys.version_info)).glob("*.whl")
    if "-cp311-abi3-" not in wheel.name:
        raise SystemExit(f"{wheel.name}: expected an abi3 wheel for Python 3.11 and newer")
    (SOURCE / "wheels").mkdir()
    return Path(shutil.copy(wheel, SOURCE / "wheels"))


def set_value(manifest: str, key: str, value: str) -> str:
    """The manifest with a top-level `key = value`, replaced or added before the first table."""
    manifest, found = re.subn(rf"(?ms)^{key} = (\[.*?\]|.*?)$", f"{key} = {value}", manifest)
    if found:
        return manifest
    head, bracket, tables = re.match(r"(?ms)(.*?)(^\[[a-z]|\Z)(.*)", manifest).groups()
    return f"{head.rstrip()}\n{key} = {value}\n\n{bracket}{tables}".rstrip() + "\n"


def write_manifest(wheel: Path) -> None:
    path = SOURCE / "blender_manifest.toml"
    manifest = set_value(path.read_text(encoding="utf-8"), "wheels", f'["./wheels/{wheel.name}"]')
    path.write_text(set_value(manifest, "platforms", f'["{blender_platform()}"]'), encoding="utf-8")


def builder() -> Path:
    """blender_ext.py of the installed bpy, found without importing it."""
    spec = importlib.util.find_spec("bpy")
    (script,) = Path(spec.origin).parent.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py")
    return script


def check(archive: Path, wheel: Path) -> None:
    names = zipfile.ZipFile(archive).namelist()
    expected = {f"wheels/{wheel.name}", "blender_manifest.toml", "__init__.py"}
    if missing := expected - set(names):
        raise SystemExit(f"{archive}: without {', '.join(sorted(missing))}")


def main() -> None:
    wheel = copy_addon()
    write_manifest(wheel)
    build = [sys.executable, builder(), "build", "--source-dir", SOURCE, "--output-dir", OUT]
    if subprocess.run(build).returncode != 0:
        raise SystemExit("Blender's builder refused the extension; its reason is above")
    (archive,) = OUT.glob("*.zip")
    check(archive, wheel)
    print(f"\nbuild/extension/{archive.name}")
    print("In Blender: Edit > Preferences > Get Extensions > (arrow, top right) Install from Disk...")


if __name__ == "__main__":
    main()
