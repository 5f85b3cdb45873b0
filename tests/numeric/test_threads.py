"""The number of threads never changes a bit, and one skin serves many Python threads at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rigs import make_rig
from subjects import METHODS, each_method, skin_of

import two_phase_skinning as tps

# More vertices than one block of any sensible split, and not a multiple of anything.
RIG = make_rig(31, count=12, vertices=20011, influences=5)
SKIN = skin_of(RIG, normals=RIG.normals)


@pytest.mark.parametrize("threads", [0, 2, 3, 64])
@each_method
def test_same_bits_with_any_number_of_threads(method: tps.AnyMethod, threads: int) -> None:
    for call in (SKIN.deform, SKIN.deform_normals):
        one = call(RIG.world, method=method, threads=1)
        np.testing.assert_array_equal(call(RIG.world, method=method, threads=threads), one)


@each_method
def test_same_bits_every_time(method: tps.AnyMethod) -> None:
    first = SKIN.deform(RIG.world, method=method)
    for _ in range(5):
        np.testing.assert_array_equal(SKIN.deform(RIG.world, method=method), first)


def separated(world: NDArray[Any]) -> NDArray[Any]:
    return np.array(SKIN.skeleton.separate(world))


def test_eight_python_threads_share_a_skin() -> None:
    rng = np.random.default_rng(0)
    poses = [RIG.world @ np.diag([*rng.uniform(0.8, 1.2, 3), 1]) for _ in range(8)]
    jobs: list[Callable[[], NDArray[Any]]] = []
    for world in poses:
        jobs += [partial(SKIN.deform, world, method) for method in METHODS]
        jobs.append(partial(SKIN.deform_normals, world))
        jobs.append(partial(SKIN.deform, world, inherited="before", threads=2))
        jobs.append(partial(separated, world))
        jobs.append(partial(SKIN.skeleton.pose, world))
    expected = [job() for job in jobs]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            for actual, wanted in zip(pool.map(lambda job: job(), jobs), expected, strict=True):
                np.testing.assert_array_equal(actual, wanted)


def test_each_thread_its_own_out() -> None:
    outs = [np.empty(RIG.points.shape, np.float32) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda out: SKIN.deform(RIG.world, out=out), outs))
    for out in outs:
        np.testing.assert_array_equal(out, SKIN.deform(RIG.world))
