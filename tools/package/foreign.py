"""Run the core's own tests as a Windows program under Wine and as a Linux program for arm64 under QEMU.

They are compiled with the options of the wheels. That for arm64 carries its C library, since none is here for it.
"""

import os
import shutil
import subprocess
import sys

from crosscompile import BUILD, zig
from sources import ROOT, Package
from targets import TARGETS

HINT = "Debian, Ubuntu:  apt install wine wine64 qemu-user-static"
TIME_LIMIT = 600  # seconds a program
WINDOWS = TARGETS["windows-x64"].triple
ARM64 = "aarch64-linux-musl"


def find(*names: str) -> str:
    for name in names:
        if path := shutil.which(name):
            return path
    raise SystemExit(f"{names[0]} is not on this machine\n  {HINT}")


def build(package: Package, triple: str, name: str):
    program = BUILD / "foreign" / name
    program.parent.mkdir(parents=True, exist_ok=True)
    sources = [*package.core_sources, *sorted((ROOT / "tests/core").glob("*.c"))]
    options = [*package.core_options, "-Wno-enum-float-conversion", "-Icsrc/core"]
    zig("cc", "-target", triple, "-g0", "-s", *options, *sources, "-o", program)
    return program


def run(name: str, command: list[object]) -> None:
    print(f"== the core's tests: {name}", flush=True)
    wine = {"WINEPREFIX": str(BUILD / "wine"), "WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml="}
    done = subprocess.run(command, env={**os.environ, **wine}, timeout=TIME_LIMIT)
    if done.returncode != 0:
        raise SystemExit(f"{name}: exit code {done.returncode}")


def main() -> None:
    wine, qemu = find("wine64", "wine"), find("qemu-aarch64-static", "qemu-aarch64")
    package = Package()
    print("Compiling (the first time takes some minutes)...", flush=True)
    run("Linux, arm64", [qemu, build(package, ARM64, "tests-arm64")])
    run("Windows, x64", [wine, build(package, WINDOWS, "tests.exe")])


if __name__ == "__main__":
    sys.exit(main())
