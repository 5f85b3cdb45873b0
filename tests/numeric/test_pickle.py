"""Skeletons and skins travel: pickled, copied, sent to another process, they give the same bits."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rigs import make_rig
from subjects import FIELDS, METHODS, skeleton_of, skin_of

import two_phase_skinning as tps

RIG = make_rig(41, count=7)


def by_pickle(protocol: int) -> Any:
    return lambda thing: pickle.loads(pickle.dumps(thing, protocol))


WAYS = {
    **{f"protocol {p}": by_pickle(p) for p in range(2, pickle.HIGHEST_PROTOCOL + 1)},
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("way", WAYS)
def test_skeleton(way: str) -> None:
    names = [f"bone {j}" for j in range(7)]
    skeleton = tps.Skeleton(RIG.parents, RIG.bind, inherits=RIG.inherits, names=names)
    again = WAYS[way](skeleton)
    assert list(again.names) == names
    np.testing.assert_array_equal(again.parents, RIG.parents)
    for inherited in ("before", "after"):
        one, two = (s.separate(RIG.world, inherited=inherited) for s in (skeleton, again))
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.parametrize("way", WAYS)
def test_skin(way: str) -> None:
    skin = skin_of(RIG, normals=RIG.normals)
    again = WAYS[way](skin)
    for method in METHODS:
        np.testing.assert_array_equal(again.deform(RIG.world, method=method), skin.deform(RIG.world, method=method))
    np.testing.assert_array_equal(again.deform_normals(RIG.world), skin.deform_normals(RIG.world))


def test_a_skin_goes_on_without_the_one_it_was_copied_from() -> None:
    skin = skin_of(RIG)
    expected = skin.deform(RIG.world)
    again = copy.copy(skin)
    del skin
    np.testing.assert_array_equal(again.deform(RIG.world), expected)


def work(skin: tps.Skin, world: NDArray[np.float64]) -> NDArray[np.float32]:
    return skin.deform(world)


def test_another_process() -> None:
    skin = skin_of(RIG)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.apply_async(work, (skin, RIG.world)).get(timeout=60)
    np.testing.assert_array_equal(there, skin.deform(RIG.world))


def test_a_separation() -> None:
    s = skeleton_of(RIG).separate(RIG.world)
    again = pickle.loads(pickle.dumps(s))
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(again, name), getattr(s, name))
