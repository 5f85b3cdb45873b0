"""Build the wheels and the extension for all platforms: python tools/package/build.py [FOLDER OF bpy]

Wheels go to build/wheels, archives to build/extension; without Blender's folder, which has the builder, only wheels.
A wheel is made anew only if something that it is made from has changed.
"""

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
    folders = [sorted(folder.rglob("*.[pchi]*")) for folder in (ROOT / "csrc", Path(__file__).parent)]
    for path in (*single, *package.python_files(), *chain.from_iterable(folders)):
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
    package = Package()
    made_from = stamp(package)
    wheels = [build_wheel(package, target, made_from) for target in TARGETS.values()]
    subprocess.run([sys.executable, "-m", "abi3audit", "--strict", *wheels], check=True)
    print("abi3audit: all four use nothing outside the stable ABI of Python 3.11")
    if len(sys.argv) == 1:
        return
    for path in extension.build(wheels, extension.builder(Path(sys.argv[1]))):
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size // 1024} KB")
    print("In Blender: Edit > Preferences > Get Extensions > (arrow, top right) Install from Disk...")


if __name__ == "__main__":
    main()
