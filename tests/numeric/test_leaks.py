"""Reference counts and allocations stay as they are, however often a function is called: where it succeeds, and on the
way to every refusal. TPS_CALLS says how often each is called; `make sanitize` calls each 10,000 times.
"""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import pytest
from test_invalid_input import CASES, GOOD, RESULTS, SKELETON, SKIN, call

import two_phase_skinning as tps

CALLS = int(os.environ.get("TPS_CALLS", 100))


class Mallinfo(ctypes.Structure):
    """glibc's struct mallinfo2."""

    _names = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    _fields_ = [(name, ctypes.c_size_t) for name in _names]


_mallinfo = getattr(ctypes.CDLL(None), "mallinfo2", None)
if _mallinfo:
    _mallinfo.restype = Mallinfo


def malloc_bytes() -> int:
    """What is allocated by malloc: the core's memory, and the contents of arrays. 0 where the C library cannot say."""
    info = _mallinfo() if _mallinfo else Mallinfo()
    return int(info.uordblks + info.hblkhd)


def parts(value: Any) -> Iterator[Any]:
    """A value, and what it consists of: all whose references are counted."""
    yield value
    if isinstance(value, (tuple, list)):
        for part in value:
            yield from parts(part)


WATCHED = [np.dtype(kind) for kind in ["f4", "f8", "i8", "?"]] + [
    np.ndarray,
    type(SKELETON._core),
    ValueError,
    TypeError,
]


@contextmanager
def garbage_counted() -> Iterator[None]:
    """Without collections, gc.get_count() says how many containers there are more than before."""
    gc.collect()
    gc.disable()
    for length in range(1, 20):  # Python keeps up to 2,000 freed tuples of each length: let it have them
        [tuple(range(length)) for _ in range(2000)]
    try:
        yield
    finally:
        gc.enable()


class Counts:
    """What is counted, in memory that does not itself count."""

    def __init__(self, watched: list[Any]) -> None:
        self._watched = watched
        self.references = np.zeros(len(watched), np.int64)
        self.totals = np.zeros(3, np.int64)

    def take(self) -> None:
        sys._clear_type_cache()  # it keeps up to 4,096 names that were looked up, such as those in each pickle
        for index, each in enumerate(self._watched):
            self.references[index] = sys.getrefcount(each)
        self.totals[:] = gc.get_count()[0], sys.getallocatedblocks(), malloc_bytes()


def assert_flat(action: Callable[[], Any], values: list[Any]) -> None:
    watched = [*(part for value in values for part in parts(value)), *WATCHED]
    before, after = Counts(watched), Counts(watched)
    for _ in range(150):  # what is made once: caches, and the free lists of Python, up to 80 long
        action()
    before.take()
    for _ in range(CALLS):
        action()
    after.take()
    moved = np.flatnonzero(np.abs(after.references - before.references) > 9)
    assert not len(moved), f"references to {[type(watched[index]) for index in moved]}"
    containers, blocks, memory = after.totals - before.totals
    # One lost object or one lost allocation a call would be more than this.
    assert containers < CALLS / 2, f"{containers} containers more"
    assert blocks < CALLS / 2, f"{blocks} blocks of Python more"
    assert memory < 8 * CALLS, f"{memory} bytes of malloc more"


@pytest.mark.parametrize("function", GOOD)
def test_flat_on_success(function: str) -> None:
    with garbage_counted():
        assert_flat(lambda: call(function), [*GOOD[function][1].values(), SKIN, SKELETON])


def test_flat_for_all_that_can_be_read() -> None:
    owners = (SKIN, SKELETON)
    names = [(each, name) for each in owners for name, kind in vars(type(each)).items() if isinstance(kind, property)]
    attributes = [
        lambda: [getattr(each, name) for each, name in names],
        lambda: [(len(each), repr(each)) for each in owners],
        lambda: pickle.loads(pickle.dumps(SKIN)),
        tps.build_info,
    ]
    with garbage_counted():
        for read in attributes:
            assert_flat(read, [SKIN, SKELETON])


@pytest.mark.parametrize("function", RESULTS)
def test_flat_with_every_option(function: str) -> None:
    shape = RESULTS[function][1]
    world = np.array([GOOD[function][1]["world"]] * 2)
    out = np.empty((2, *shape), np.float32)
    blend = np.linspace(0, 1, shape[0])
    with garbage_counted():
        for method in ("two_phase", "linear", "dual_quaternion"):
            action = lambda method=method: call(  # noqa: E731
                function, world=world, method=method, inherited="before", blend=blend, out=out, threads=2
            )
            assert_flat(action, [world, out, blend])


@pytest.mark.parametrize("function", GOOD)
def test_flat_on_every_refusal(function: str) -> None:
    with garbage_counted():
        for _, argument, value, expected in [case for case in CASES if case[0] == function]:

            def action(argument: str = argument, value: Any = value, expected: Any = expected) -> None:
                with suppress(expected):
                    call(function, **{argument: value})
                    raise AssertionError("it was not refused")

            try:
                assert_flat(action, [value, *GOOD[function][1].values()])
            except AssertionError as error:
                raise AssertionError(f"{argument} = {value!r}: {error}") from error
