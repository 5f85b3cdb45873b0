"""Every message of the Python module, word for word: what was given, and what is expected.

The messages are looked for in the sources, so that a new one without a case here fails the last test. A message of
Python code is known by the line that raised it, one of C code by its text.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path
from traceback import extract_tb
from typing import Any

import numpy as np
import pytest

import two_phase_skinning as tps
from two_phase_skinning import _core

PACKAGE = Path(tps.__file__).parent
C_SOURCES = Path(__file__).parents[2] / "csrc" / "module"

EYES = np.tile(np.eye(4), (2, 1, 1))
PARENTS = np.array([-1, 0])
POINTS = np.zeros((3, 3))
WEIGHTS = np.ones((3, 2))
SKELETON = tps.Skeleton(PARENTS, EYES)
SKIN = tps.Skin(POINTS, WEIGHTS, SKELETON)
OTHER = tps.Skeleton([-1], EYES[:1])
ROWS = ([0, 1, 1, 1], [0], [1.0])


class Torn:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ValueError("torn")


def changed(array: Any, index: Any, value: Any) -> Any:
    result = np.array(array)
    result[index] = value
    return result


def skin(**changes: Any) -> tps.Skin:
    return tps.Skin(**{"points": POINTS, "weights": WEIGHTS, "skeleton": SKELETON, **changes})


def skeleton(**changes: Any) -> tps.Skeleton:
    return tps.Skeleton(**{"parents": PARENTS, "bind": EYES, **changes})


def deform(**changes: Any) -> Any:
    return SKIN.deform(**{"world": EYES, **changes})


def too_many_joints() -> tps.Skin:
    count = 65537
    many = tps.Skeleton(np.full(count, -1), np.tile(np.eye(4), (count, 1, 1)))
    return tps.Skin(np.zeros((count, 3)), (np.arange(count)[:, None], np.ones((count, 1))), many)


def without_native_part() -> None:
    """Imports the sources as they are in a folder where nothing was built."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(PACKAGE, Path(folder) / PACKAGE.name, ignore=shutil.ignore_patterns("_core*", "__pycache__"))
        code = f"import sys; sys.path.insert(0, {folder!r}); import two_phase_skinning"
        run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    line = re.search(r"__init__\.py\", line (\d+), in <module>", run.stderr.split("direct cause")[-1])
    assert line, run.stderr
    SAID_ELSEWHERE.add(("__init__.py", int(line[1])))
    raise ImportError(run.stderr.splitlines()[-1].removeprefix("ImportError: "))


SAID_ELSEWHERE: set[tuple[str, int]] = set()  # where in another process a message was raised

# What is called, the exception, and its message.
TABLE: list[tuple[Callable[[], Any], type[Exception], str]] = [
    # ---- arrays of any kind
    (lambda: tps.bind_local(EYES[0], PARENTS), ValueError, "bind: shape (4, 4); expected (J, 4, 4)"),
    (lambda: tps.bind_local(EYES, [-1]), ValueError, "parents: shape (1,); expected (2,)"),
    (lambda: deform(world=EYES[None, 0]), ValueError, "world: shape (1, 4, 4); expected (2, 4, 4)"),
    (lambda: deform(world=EYES[None, :1]), ValueError, "world: shape (1, 1, 4, 4); expected (F, 2, 4, 4)"),
    (
        lambda: tps.bind_local(Torn(), PARENTS),
        ValueError,
        "bind: cannot be read as an array (torn); expected an array of numbers",
    ),
    (
        lambda: skeleton(parents=Torn()),
        ValueError,
        "parents: cannot be read as an array (torn); expected an array of numbers",
    ),
    (lambda: tps.bind_local(EYES.astype(str), PARENTS), TypeError, "bind: dtype <U32; expected real numbers"),
    (lambda: skin(points=POINTS.astype(complex)), TypeError, "points: dtype complex128; expected real numbers"),
    (lambda: tps.bind_local(EYES, [0.5, 0]), TypeError, "parents: dtype float64; expected integers"),
    (lambda: deform(rigid=[1.0, 0.0]), TypeError, "rigid: dtype float64; expected bool"),
    (
        lambda: skin(points=changed(POINTS, (2, 1), 1e39)),
        ValueError,
        "points: row 2 is beyond the range of float32; expected smaller numbers",
    ),
    (
        lambda: skin(points=changed(POINTS, (2, 1), np.nan)),
        ValueError,
        "points: row 2 is not finite; expected finite numbers",
    ),
    # ---- parents and matrices
    (
        lambda: tps.bind_local(EYES, np.array([0, 2**63], np.uint64)),
        ValueError,
        "parents: row 1 is beyond 2**63 - 1; expected a smaller integer",
    ),
    (
        lambda: skeleton(parents=np.broadcast_to(np.int8(-1), 2**31)),
        ValueError,
        "parents: 2147483648 joints; expected at most 1073741823",
    ),
    (lambda: tps.bind_local(EYES, [-1, 7]), ValueError, "parents: joint 1 has parent 7; expected -1 or 0..1"),
    (lambda: tps.bind_local(EYES, [1, 0]), ValueError, "parents: joint 0 is its own ancestor; expected no cycles"),
    (
        lambda: tps.bind_local(changed(EYES, (1, 0, 0), np.inf), PARENTS),
        ValueError,
        "bind: joint 1 is not finite; expected finite numbers",
    ),
    (
        lambda: deform(world=np.stack([EYES, changed(EYES, (0, 0, 0), np.nan)])),
        ValueError,
        "world: frame 1: joint 0 is not finite; expected finite numbers",
    ),
    (
        lambda: tps.bind_local(changed(EYES, (1, 3, 0), 2), PARENTS),
        ValueError,
        "bind: joint 1 has another last row; expected 0 0 0 1 (matrices are for column vectors)",
    ),
    (
        lambda: skeleton(bind=changed(EYES, (1, 0, 0), 0)),
        ValueError,
        "bind: joint 1 cannot be inverted; expected a regular matrix",
    ),
    (
        lambda: deform(space=np.diag([1.0, 1, 0, 1])),
        ValueError,
        "space: cannot be inverted; expected a regular matrix",
    ),
    (lambda: tps.increment_local(EYES, 2, np.eye(4)), ValueError, "joint: 2; expected 0..1"),
    (lambda: tps.increment_local(EYES, 1.0, np.eye(4)), TypeError, "joint: <class 'float'>; expected an int"),
    # ---- skeletons
    (
        lambda: skeleton(inherits=[True, True], compensating=[True, True]),
        ValueError,
        "inherits: given together with compensating; expected one of them",
    ),
    (lambda: skeleton(compensating=[1.0, 0.0]), TypeError, "compensating: dtype float64; expected bool"),
    (lambda: skeleton(compensating=[True]), ValueError, "compensating: shape (1,); expected (2,)"),
    (lambda: skeleton(names="ab"), TypeError, "names: str; expected a sequence of str"),
    (lambda: skeleton(names=["a", 1]), TypeError, "names: not all are str; expected a name for each joint"),
    (lambda: skeleton(names=["a"]), ValueError, "names: 1 names; expected 2"),
    # ---- skins
    (lambda: skin(skeleton=EYES), TypeError, "skeleton: ndarray; expected a Skeleton"),
    (lambda: skin(points=[1, 2, 3]), ValueError, "points: shape (3,); expected (V, 3)"),
    (lambda: skin(normals=POINTS[:2]), ValueError, "normals: shape (2, 3); expected (3, 3)"),
    (
        lambda: skin(weights=(WEIGHTS,)),
        ValueError,
        "weights: a tuple of 1; expected (indices, weights), (indptr, indices, weights), a dense (V, J) array or a "
        "scipy.sparse matrix",
    ),
    (lambda: skin(weights=WEIGHTS > 0), TypeError, "weights: dtype bool; expected real numbers"),
    (lambda: skin(weights=WEIGHTS[:2]), ValueError, "weights: shape (2, 2); expected (3, 2)"),
    (
        lambda: skin(weights=([0, 1, 0], [1, 1, 1])),
        ValueError,
        "weights: indices of shape (3,); expected (3, K)",
    ),
    (
        lambda: skin(weights=([[0], [1], [0]], WEIGHTS)),
        ValueError,
        "weights: shape (3, 2); expected (3, 1), that of the indices",
    ),
    (
        lambda: skin(weights=([0, 1, 0, 1], *ROWS[1:])),
        ValueError,
        "weights: indptr is wrong at 2; expected numbers that start at 0, never fall, and end at the number of weights",
    ),
    (
        lambda: skin(weights=(ROWS[0], [5], ROWS[2])),
        ValueError,
        "weights: vertex 0 has joint 5; expected 0..1",
    ),
    (
        lambda: skin(weights=changed(WEIGHTS, (1, 1), np.nan)),
        ValueError,
        "weights: vertex 1 has one that is not finite; expected finite numbers",
    ),
    (
        lambda: skin(weights=changed(WEIGHTS, (1, 1), -1)),
        ValueError,
        "weights: vertex 1 has a negative one; expected 0 or more",
    ),
    (too_many_joints, ValueError, "weights: more than 65536 joints with weights; expected at most 65536"),
    # ---- deforming
    (
        lambda: deform(method="lbs"),
        ValueError,
        "method: 'lbs'; expected \"two_phase\", \"linear\" or \"dual_quaternion\"",
    ),
    (lambda: deform(inherited=None), TypeError, 'inherited: None; expected "after" or "before"'),
    (lambda: deform(blend=[0, 0, 1.5]), ValueError, "blend: entry 2 is 1.5; expected 0..1"),
    (lambda: deform(blend=1, phase=1), ValueError, "blend: given together with phase; expected one of them"),
    (lambda: deform(phase="1"), TypeError, "phase: <class 'str'>; expected 1, 2 or None"),
    (lambda: deform(phase=3), ValueError, "phase: 3; expected 1, 2 or None"),
    (
        lambda: deform(method="linear", phase=1),
        ValueError,
        'phase: 1 with method "linear", which has no phases; expected None',
    ),
    (lambda: deform(threads=1.5), TypeError, "threads: <class 'float'>; expected an int"),
    (lambda: deform(threads=-1), ValueError, "threads: -1; expected 0 (choose) or more"),
    (lambda: deform(offsets=1), TypeError, "offsets: 1; expected True or False"),
    (
        lambda: SKIN.deform_normals(EYES),
        ValueError,
        "normals: None; expected (V, 3) normals when the Skin was made",
    ),
    # ---- what is written to
    (lambda: deform(out=[]), TypeError, "out: <class 'list'>; expected a NumPy array or None"),
    (lambda: deform(out=POINTS), TypeError, "out: dtype float64; expected float32"),
    (
        lambda: deform(out=np.zeros((6, 3), "f4")[::2]),
        ValueError,
        "out: not C-contiguous; expected a C-contiguous array",
    ),
    (
        lambda: deform(out=np.frombuffer(bytes(36), "f4").reshape(3, 3)),
        ValueError,
        "out: read-only; expected a writeable array",
    ),
    (
        lambda: deform(points=(block := np.zeros((3, 3), "f4")), out=block),
        ValueError,
        "out: shares memory with another argument; expected memory of its own",
    ),
    # ---- many meshes
    (lambda: tps.deform_many(5, [EYES]), TypeError, "skins: int; expected a sequence"),
    (lambda: tps.deform_many([SKIN, 5], [EYES] * 2), TypeError, "skins: entry 1 is int; expected a Skin"),
    (lambda: tps.deform_many([SKIN], [EYES] * 2), ValueError, "worlds: 2 entries; expected 1, one for each skin"),
    (
        lambda: tps.deform_many([SKIN] * 2, [EYES] * 2, out=[np.zeros((3, 3), "f4")] * 2),
        ValueError,
        "out: an entry shares memory with another mesh's array; expected memory of its own",
    ),
    # ---- what the package asks of its own native part
    (without_native_part, ImportError, "two_phase_skinning._core: not built here; expected the installed package. Run "
     "`pip install .` and start Python outside the source folder, or with -P"),
    (
        lambda: _core.skin(POINTS, None, *ROWS, -1, False),
        ValueError,
        "joint_count: -1; expected 0 or more",
    ),
    (
        lambda: _core.skin(POINTS, None, *ROWS, 2, False, 99),
        ValueError,
        "kernel: 99; expected one that this machine has",
    ),
    (
        lambda: _core.deform(SKIN._core, OTHER._core, "points", EYES, *[None] * 11, False),
        ValueError,
        "skeleton: 1 joints; expected 2",
    ),
    (
        lambda: _core.deform_many((SKIN._core,), (), (), "linear", "after", (), 1),
        ValueError,
        "deform_many: tuples of different lengths; expected one entry for each mesh",
    ),
]  # fmt: skip


# ---- the messages in the sources


def in_python() -> dict[tuple[str, int], str]:
    """Each message of the package's Python code, by the lines that can raise it; "*" stands for what differs."""
    found = {}
    for path in sorted(PACKAGE.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise):
                assert isinstance(node.exc, ast.Call) and len(node.exc.args) == 1, f"{path.name}:{node.lineno}"
                text = _pattern(node.exc.args[0])
                assert text, f"{path.name}:{node.lineno}: a message that is not written where it is raised"
                found[path.name, node.lineno] = text
    return found


def _pattern(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in node.values)
    return str(node.value) if isinstance(node, ast.Constant) else ""


C_STRING = r'"(?:[^"\\]|\\.)*"'
# All by which the C code raises: in words of its own, or in those of Python.
C_RAISES = {"Format", "SetString"}
C_OTHERS = {"NoMemory", "BadInternalCall", "ExceptionMatches", "Fetch", "NormalizeException"}


def in_c() -> set[str]:
    """Each message of the C code: what is passed to PyErr_Format, and other texts that say what is expected."""
    found = set()
    for path in sorted(C_SOURCES.glob("*.c")):
        source = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert set(re.findall(r"\bPyErr_(\w+)", source)) <= C_RAISES | C_OTHERS, path.name
        for text in re.finditer(rf"{C_STRING}(?:\s*{C_STRING})*", source):
            words = "".join(ast.literal_eval(part) for part in re.findall(C_STRING, text[0]))
            raised = re.search(r"PyErr_(Format|SetString)\([^;]*$", source[: text.start()])
            if raised or "; expected " in words:
                found.add(re.sub(r"%(lld|zd|ld|[sSRd])", "*", words))
    assert found
    return found


def _literal(pattern: str) -> int:
    return len(pattern.replace("*", ""))


def _matches(pattern: str, message: str) -> bool:
    return bool(re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), message))


def c_message(message: str) -> str | None:
    """The one of C's messages that this is: the one that says the most of it. What an `out` is told comes in two parts,
    of which the first is its name."""
    whole = [pattern for pattern in in_c() if _matches(pattern, message)]
    part = [pattern for pattern in in_c() if _matches(pattern, message.partition(": ")[2])]
    return max([*whole, *part], key=_literal, default=None)


def raised_by(call: Callable[[], Any]) -> tuple[Exception, set[Any]]:
    """The exception, and which messages of the sources it is."""
    try:
        call()
    except Exception as error:
        last = extract_tb(error.__traceback__)[-1]
        place = (Path(last.filename).name, last.lineno or 0)
        if place in in_python():
            return error, {place}
        return error, {c_message(str(error)), *SAID_ELSEWHERE}
    raise AssertionError("it was not refused")


@pytest.mark.parametrize("case", TABLE, ids=[message for _, _, message in TABLE])
def test_it_says(case: tuple[Callable[[], Any], type[Exception], str]) -> None:
    call, kind, message = case
    error, sources = raised_by(call)
    assert (type(error), str(error)) == (kind, message)
    assert sources != {None}, "said by nothing in the sources"


def test_every_message_of_the_sources_is_in_the_table() -> None:
    said: set[Any] = {"*: *"}  # a name, and what it is told
    for call, _, _ in TABLE:
        said |= raised_by(call)[1]
    silent = [(*place, text) for place, text in in_python().items() if place not in said]
    silent += [("csrc/module", 0, text) for text in in_c() if text not in said]
    assert not silent, "\n".join(map(str, silent))


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
