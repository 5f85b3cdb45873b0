"""The messages of the Python module: "<argument>: <what it was>; expected <what it should be>", in Python and in C.

What is refused, and that the right argument is named, is test_invalid_input.py's; the wording is free to change.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import two_phase_skinning as tps

PACKAGE = Path(tps.__file__).parent
C_SOURCES = Path(__file__).parents[2] / "csrc" / "module"
# "*" may be a name, or a name and a place in it.
GRAMMAR = re.compile(r"([a-z_]+: .*|\*: .*|\* (has|is) .*); expected .+", re.DOTALL)
# What has no argument to name: a status that cannot come, and a package that was not built.
FREE = ("*: *", "two_phase_skinning._core: ")


def in_python() -> Iterator[tuple[str, str]]:
    """Where a message is raised, and what it says; "*" stands for what differs."""
    for path in sorted(PACKAGE.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                (argument,) = node.exc.args
                if isinstance(argument, ast.JoinedStr):
                    parts = [str(p.value) if isinstance(p, ast.Constant) else "*" for p in argument.values]
                    yield f"{path.name}:{node.lineno}", "".join(parts)
                else:
                    assert isinstance(argument, ast.Constant), (
                        f"{path.name}:{node.lineno}: not written where it is raised"
                    )
                    yield f"{path.name}:{node.lineno}", str(argument.value)


C_STRING = r'"(?:[^"\\]|\\.)*"'


def in_c() -> Iterator[tuple[str, str]]:
    for path in sorted(C_SOURCES.glob("*.c")):
        source = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for raised in re.finditer(rf"PyErr_(?:Format|SetString)\(\w+,\s*((?:{C_STRING}\s*)+)", source):
            words = "".join(ast.literal_eval(part) for part in re.findall(C_STRING, raised[1]))
            yield path.name, re.sub(r"%(lld|zd|ld|[sSRd])", "*", words)


def test_they_are_found() -> None:
    assert len(list(in_python())) > 20 and len(list(in_c())) > 25


@pytest.mark.parametrize(("place", "text"), [*in_python(), *in_c()])
def test_they_say_what_it_was_and_what_is_expected(place: str, text: str) -> None:
    assert text.startswith(FREE) or GRAMMAR.fullmatch(text), f"{place}: {text}"
    assert not text.endswith("."), text


def test_the_row_of_a_matrix_for_row_vectors_is_shown() -> None:
    bind = np.tile(np.eye(4), (2, 1, 1))
    bind[1, 3, 1] = 2.5
    with pytest.raises(ValueError, match=r"^bind: joint 1 has the last row 0 2\.5 0 1; expected 0 0 0 1 .*transpose"):
        tps.Skeleton([-1, 0], bind)


def test_without_the_native_part() -> None:
    """The sources as they are in a folder where nothing was built."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(PACKAGE, Path(folder) / PACKAGE.name, ignore=shutil.ignore_patterns("_core*", "__pycache__"))
        code = f"import sys; sys.path.insert(0, {folder!r}); import two_phase_skinning"
        run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: two_phase_skinning._core: not built here; expected the installed package" in run.stderr


LIMITED = """
import resource
import numpy as np
import two_phase_skinning as tps

count = 2**25
parents = np.broadcast_to(np.int64(-1), count)
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
for room in (4 * count, 12 * count):  # too little for a copy of the parents; enough for that, and for no more
    resource.setrlimit(resource.RLIMIT_AS, (used + room, -1))
    try:
        tps.Skeleton(parents, np.eye(4)[None])
    except MemoryError:
        print("refused")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems limit memory in other ways")
def test_memory_that_is_not_there_is_a_memory_error() -> None:
    run = subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(LIMITED)], capture_output=True, text=True, check=False
    )
    assert run.stdout.split() == ["refused", "refused"], run.stderr
