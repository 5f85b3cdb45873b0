"""Builds the extension module: one abi3 binary for every Python from 3.11 and every NumPy from 1.23."""

import tomllib
from pathlib import Path

import numpy
from setuptools import Extension, setup

ROOT = Path(__file__).parent
# The version stands in the extension's manifest alone. It is compiled in: a module always says what it was built from.
VERSION = tomllib.loads((ROOT / "addon/blender_manifest.toml").read_text(encoding="utf-8"))["version"]

# GCC or Clang: the kernels are written with their vector extensions.
# -ffp-contract=off: joint mathematics gives the same bits everywhere; the kernels allow fused multiply-add themselves.
compile_args = ["-std=c11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fvisibility=hidden", "-pthread"]
compile_args += ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wno-psabi"]

core = Extension(
    "two_phase_skinning._core",
    sources=sorted(str(path.relative_to(ROOT)) for path in (ROOT / "csrc").glob("*/*.c")),
    depends=sorted(str(path.relative_to(ROOT)) for path in (ROOT / "csrc").glob("*/*.[hi]*")),
    include_dirs=["csrc/core", "csrc/module"],
    define_macros=[
        ("TPS_VERSION", f'"{VERSION}"'),
        ("Py_LIMITED_API", "0x030B0000"),
        ("NPY_TARGET_VERSION", "NPY_1_23_API_VERSION"),
        ("NPY_NO_DEPRECATED_API", "NPY_1_23_API_VERSION"),
    ],
    extra_compile_args=[*compile_args, "-isystem", numpy.get_include()],
    extra_link_args=["-pthread"],
    py_limited_api=True,
)

setup(version=VERSION, ext_modules=[core], options={"bdist_wheel": {"py_limited_api": "cp311"}})
