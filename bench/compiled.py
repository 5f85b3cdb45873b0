"""Small C files of this folder, compiled into build/bench/ by the compiler that built the package."""

import os
import shlex
import subprocess
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "bench"


def library(name: str, *flags: str) -> Path:
    BUILD.mkdir(parents=True, exist_ok=True)
    target = BUILD / f"{name}.so"
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[0]
    command = [compiler, "-O3", "-shared", "-fPIC", "-pthread", *flags, "-o", str(target), str(HERE / f"{name}.c")]
    subprocess.run(command, check=True)
    return target
