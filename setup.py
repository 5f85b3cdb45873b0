"""Builds the extension module: one abi3 binary for every Python from 3.11 and every NumPy from 1.23."""

import os
import re
import sysconfig
from pathlib import Path

import numpy
from setuptools import Extension, setup

ROOT = Path(__file__).parent


def build_description() -> dict[str, list[str]]:
    """The words of each name in csrc/build.mk."""
    lines = (ROOT / "csrc/build.mk").read_text(encoding="utf-8").splitlines()
    return {name: words.split() for name, words in re.findall(r"^(\w+) = (.*)$", "\n".join(lines), re.M)}


def version() -> str:
    """It is compiled in: a module always says what it was built from."""
    header = (ROOT / "csrc/core/tps.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"#define TPS_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))


BUILD = build_description()
VERSION = version()
# A free-threaded Python has no stable ABI (PEP 703): it gets a module of its own.
STABLE_ABI = not sysconfig.get_config_var("Py_GIL_DISABLED")
# Python's own flags ask for debugging information, six times as much as code. CFLAGS=-g brings it back.
DEBUGGING = [] if "-g" in os.environ.get("CFLAGS", "").split() else ["-g0"]
FLAGS = ("CORE_FLAGS", "OPTIMISE", "MODULE_FLAGS", "THREADS", "WARNINGS")

core = Extension(
    "two_phase_skinning._core",
    sources=[
        *(f"csrc/core/{name}" for name in BUILD["CORE_SOURCES"] + BUILD["KERNEL_SOURCES"]),
        *(f"csrc/module/{name}" for name in BUILD["MODULE_SOURCES"]),
    ],
    depends=sorted(str(path.relative_to(ROOT)) for path in (ROOT / "csrc").glob("*/*.[hi]*")),
    include_dirs=["csrc/core", "csrc/module"],
    define_macros=[
        tuple(define.split("=")) for define in (BUILD["STABLE_ABI"] if STABLE_ABI else []) + BUILD["MODULE_DEFINES"]
    ],
    extra_compile_args=[
        *(word for name in FLAGS for word in BUILD[name]), *DEBUGGING, "-isystem", numpy.get_include(),
    ],
    extra_link_args=BUILD["THREADS"],
    py_limited_api=STABLE_ABI,
)  # fmt: skip

setup(
    version=VERSION,
    ext_modules=[core],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE_ABI else {},
)
