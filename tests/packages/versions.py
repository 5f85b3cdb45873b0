"""The extension that `make extension` made, and one of an older version: the same sources with another number."""

import functools
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import blenders

ROOT = Path(__file__).parents[2]
NEW = tomllib.loads((ROOT / "addon" / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
OLD = "0.0.1"
FOLDERS = ("addon", "csrc", "tools", "two_phase_skinning", "requirements")
FILES = ("setup.py", "pyproject.toml", "README.md", "LICENSE", "docs/python.md")


class Archives:
    """archives[version]: the path of its archive for Linux."""

    def __getitem__(self, version: str) -> Path:
        root = ROOT if version == NEW else _older()
        return root / "build" / "extension" / f"two_phase_skin-{version}-linux_x64.zip"


def bpy_folder() -> str:
    """Of the newest Blender, whose builder makes the archives."""
    where = "import importlib.util as u; print(u.find_spec('bpy').origin)"
    command = [blenders.python_of(blenders.NEWEST), "-c", where]
    return str(Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()).parent)


@functools.cache
def _older() -> Path:
    """A tree beside the sources in which the older version was built."""
    tree = ROOT / "build" / "older"
    unwanted = shutil.ignore_patterns("__pycache__", "*.so")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, tree / name, dirs_exist_ok=True, ignore=unwanted)
    for name in FILES:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    manifest = tree / "addon" / "blender_manifest.toml"
    text, count = re.subn(r'(?m)^version = ".*"$', f'version = "{OLD}"', manifest.read_text(encoding="utf-8"))
    assert count == 1
    manifest.write_text(text, encoding="utf-8")
    header = tree / "csrc" / "core" / "tps.h"
    text = header.read_text(encoding="utf-8")
    for part, number in zip(("MAJOR", "MINOR", "PATCH"), OLD.split("."), strict=True):
        text, count = re.subn(rf"(#define TPS_VERSION_{part}) \d+", rf"\1 {number}", text)
        assert count == 1
    header.write_text(text, encoding="utf-8")
    build = [sys.executable, tree / "tools/package/produce.py", "--blender", bpy_folder(), "--platform", "linux-x64"]
    done = subprocess.run(build, cwd=tree, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return tree
