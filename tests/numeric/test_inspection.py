"""No network, no file but those that a bake is told to write, no code run from data: seen in the sources themselves.

tests/blender/test_promises.py watches the same at work.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*ROOT.glob("addon/**/*.py"), *ROOT.glob("two_phase_skinning/*.py")])
WRITES_FILES = "cache_files.py"  # the only one that may

# Anything else is not imported: nothing for networks, processes, code, or pickled data.
MODULES = {
    "__future__", "array", "bmesh", "bpy", "bl_math", "blf", "bpy_extras", "collections",
    "contextlib", "ctypes", "enum", "functools", "gpu", "gpu_extras", "inspect", "itertools",
    "math", "mathutils", "numbers", "numpy", "operator", "os", "re", "stat", "struct", "textwrap",
    "threading", "time", "traceback", "types", "typing", "two_phase_skinning", "uuid",
}  # fmt: skip
CALLS = {"exec", "eval", "compile", "__import__", "open", "input", "breakpoint"}
# Of os, what reads or changes no file.
OS_EVERYWHERE = {"path", "stat", "cpu_count", "sched_getaffinity", "environ"}
OS_TO_WRITE = {"remove", "replace", "rename", "link", "fsync", "path"}
# What Blender would open, fetch or run for us; how scripts in a .blend are allowed; names that drivers see.
BLENDER = re.compile(
    r"url_open|run_script|execfile|libraries\.load|save_as|save_mainfile|open_mainfile|use_scripts_auto_execute|"
    r"write_text|write_bytes|unlink|driver_namespace|online_access|as_module|\.as_string\(|python_file_run|wm\.append|wm\.link|package_install"
)
HEADERS = {
    "math.h", "stddef.h", "stdint.h", "stdlib.h", "string.h", "float.h", "limits.h", "stdatomic.h",
    "cpuid.h", "pthread.h", "sched.h", "unistd.h", "windows.h", "process.h", "stdio.h", "Python.h",
    "numpy/arrayobject.h", "intrin.h", "immintrin.h", "errno.h", "time.h", "linux/futex.h", "sys/syscall.h",
}  # fmt: skip
# In C: what opens files, starts programs or reads the environment. stdio.h is there for snprintf.
C_CALLS = re.compile(
    r"\b(fopen|open|creat|system|popen|exec[lv]\w*|fork|socket|connect|getenv|remove|unlink|rename|printf)\s*\("
)


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.split(".")[0]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_python(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    # the door to the native module reads the extension's own manifest
    assert set(imported(tree)) <= (MODULES | {"pathlib", "tomllib"} if path.name == "native.py" else MODULES)
    writes = path.name == WRITES_FILES
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in CALLS - ({"open"} if writes else set()), f"line {node.lineno}"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
            assert node.attr in (OS_TO_WRITE if writes else OS_EVERYWHERE), f"line {node.lineno}: os.{node.attr}"
    assert not BLENDER.search(text), BLENDER.search(text)


@pytest.mark.parametrize("path", sorted(ROOT.glob("csrc/*/*.*")), ids=lambda path: path.name)
def test_c(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert set(re.findall(r"#include <(.+)>", text)) <= HEADERS
    assert not C_CALLS.search(text), C_CALLS.search(text)


def test_the_manifest_asks_for_what_is_used_and_no_more() -> None:
    manifest = tomllib.loads((ROOT / "addon/blender_manifest.toml").read_text(encoding="utf-8"))
    assert set(manifest["permissions"]) == {"files"}
    assert len(manifest["permissions"]["files"]) <= 64 and manifest["permissions"]["files"][-1].isalnum()
