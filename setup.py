"""Builds the extension module: one abi3 binary for every Python from 3.11 and every NumPy from 1.23."""

import os
import re
from pathlib import Path

import numpy
from setuptools import Extension, setup

ROOT = Path(__file__).parent
VERSION = re.search(r'__version__ = "(.+)"', (ROOT / "two_phase_skinning/_version.py").read_text()).group(1)

if os.name == "nt":
    compile_args, link_args = ["/O2", "/std:c11"], []
else:
    # -ffp-contract=off: the same bits with and without fused multiply-add.
    compile_args = ["-std=c11", "-O3", "-ffp-contract=off", "-fvisibility=hidden", "-pthread"]
    compile_args += ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion"]
    link_args = ["-pthread"]

core = Extension(
    "two_phase_skinning._core",
    sources=sorted(str(path.relative_to(ROOT)) for path in (ROOT / "csrc").glob("*/*.c")),
    depends=sorted(str(path.relative_to(ROOT)) for path in (ROOT / "csrc").glob("*/*.h")),
    include_dirs=["csrc/core", "csrc/module"],
    define_macros=[
        ("Py_LIMITED_API", "0x030B0000"),
        ("NPY_TARGET_VERSION", "NPY_1_23_API_VERSION"),
        ("NPY_NO_DEPRECATED_API", "NPY_1_23_API_VERSION"),
    ],
    extra_compile_args=[*compile_args, "-isystem", numpy.get_include()]
    if os.name != "nt"
    else [*compile_args, "/I", numpy.get_include()],
    extra_link_args=link_args,
    py_limited_api=True,
)

setup(version=VERSION, ext_modules=[core], options={"bdist_wheel": {"py_limited_api": "cp311"}})
