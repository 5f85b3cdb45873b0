"""Build the wheels and, given Blender's folder, which has the builder, the extension: build/wheels, build/extension.

A wheel is made anew only if something that it is made from has changed.
"""

import argparse
import hashlib
import subprocess
import sys
import time
from itertools import chain
from pathlib import Path

import binaries
import crosscompile
import extension
import pack
from sources import ROOT, Package
from targets import TARGETS, Target

WHEELS = ROOT / "build" / "wheels"


def stamp(package: Package) -> str:
    """A digest of everything that the wheels are made from."""
    digest = hashlib.sha256(sys.version.encode())
    single = [ROOT / name for name in ("setup.py", "LICENSE", "requirements/package.txt")]
    folders = [sorted(folder.rglob("*.[pchim]*")) for folder in (ROOT / "csrc", Path(__file__).parent)]
    for path in (*single, *package.python_files().values(), *chain.from_iterable(folders)):
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    digest.update(package.metadata.encode())
    return digest.hexdigest()


def build_wheel(package: Package, target: Target, made_from: str) -> Path:
    path = WHEELS / pack.name(package, target)
    note = crosscompile.BUILD / f"{target.platform}.stamp"
    if path.exists() and note.exists() and note.read_text() == made_from:
        print(f"{target.platform:12} {path.name}: as before", flush=True)
        return path
    patience = " (the first time takes a minute or two)" if target.platform.startswith("windows") else ""
    print(f"{target.platform:12} compiling{patience}...", flush=True)
    start = time.monotonic()
    module = crosscompile.module(package, target)
    found = binaries.inspect(module, target)
    for old in WHEELS.glob(f"*-{target.wheel_tag}.whl"):
        old.unlink()
    path = pack.pack(package, target, module, WHEELS)
    note.write_text(made_from)
    print(f"{'':12} {path.name}: {time.monotonic() - start:.0f} s; {found}", flush=True)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blender", type=Path, help="the folder of the bpy module")
    parser.add_argument("--platform", choices=TARGETS, action="append", help="can be given again; all by default")
    options = parser.parse_args()
    package = Package()
    made_from = stamp(package)
    platforms = options.platform or list(TARGETS)
    wheels = {platform: build_wheel(package, TARGETS[platform], made_from) for platform in platforms}
    subprocess.run([sys.executable, "-m", "abi3audit", "--strict", *wheels.values()], check=True)
    print("abi3audit: nothing outside the stable ABI of Python 3.11")
    if options.blender is None:
        return
    for path in extension.build(wheels, extension.builder(options.blender)):
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size // 1024} KB")
    print("In Blender: Edit > Preferences > Get Extensions > (arrow, top right) Install from Disk...")


if __name__ == "__main__":
    main()
