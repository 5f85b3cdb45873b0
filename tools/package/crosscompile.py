"""Compiles the extension module for any target on this one machine, with the compiler that the ziglang package brings.

zig keeps what it compiled in build/package/cache, under what it was made from, so a second build takes seconds.
Nothing of this machine gets into the module: not its headers, not its folders.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy
from abi3info import DATAS, FUNCTIONS
from sources import ROOT, Package
from targets import Target

HERE = Path(__file__).resolve().parent
BUILD = ROOT / "build" / "package"
LOWEST_PYTHON = (3, 11)


def zig(*arguments: object, folder: Path = ROOT) -> None:
    command = [sys.executable, "-m", "ziglang", *map(str, arguments)]
    environment = {**os.environ, "ZIG_LOCAL_CACHE_DIR": str(BUILD / "cache")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0 or done.stderr.strip():
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}\nzig: exit code {done.returncode}")


def headers() -> list[str]:
    """Options that name copies of Python's and NumPy's headers in which nothing is said of this machine."""
    python, with_numpy = BUILD / "headers" / "python", BUILD / "headers" / "numpy"
    shutil.rmtree(BUILD / "headers", ignore_errors=True)
    shutil.copytree(sysconfig.get_path("include"), python)
    shutil.copy(HERE / "pyconfig.h", python)
    shutil.copytree(numpy.get_include(), with_numpy)
    configuration = with_numpy / "numpy" / "_numpyconfig.h"
    configuration.rename(configuration.with_name("_numpyconfig_host.h"))
    shutil.copy(HERE / "_numpyconfig.h", configuration)
    return ["-isystem", str(python), "-isystem", str(with_numpy)]


def python_library(folder: Path) -> Path:
    """An import library of python3.dll with the names that Python 3.11 has in its stable ABI, and no other."""
    wanted = [name for name in (*FUNCTIONS, *DATAS) if _added(name) <= LOWEST_PYTHON]
    lines = [f"  {name.name}{' DATA' if name in DATAS else ''}" for name in sorted(wanted, key=lambda name: name.name)]
    definition = folder / "python3.def"
    definition.write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *lines, ""]), encoding="utf-8")
    library = folder / "python3.lib"
    zig("dlltool", "-m", "i386:x86-64", "-D", "python3.dll", "-d", definition, "-l", library)
    return library


def _added(name: object) -> tuple[int, int]:
    added = (FUNCTIONS.get(name) or DATAS[name]).added
    return added.major, added.minor


def module(package: Package, target: Target) -> Path:
    """The module for the target, under the name that it is installed by: macOS signs it by that name."""
    folder = BUILD / target.platform
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    options = ["-target", target.triple, "-g0", *package.options, *headers()]
    zig("cc", *options, "-c", HERE / "check_headers.c", "-o", folder / "check_headers.o")
    libraries = [python_library(folder)] if target.platform.startswith("windows") else []
    built = folder / target.module
    zig("cc", *options, *package.extension.sources, *libraries, "-shared", "-s", *target.link, "-o", built)
    return built
