"""Weights that float32 cannot tell apart are equal: the lowest joint leads, and a copy of the skin keeps the order."""

from __future__ import annotations

import pickle

import numpy as np

import two_phase_skinning as tps


def test_nearly_equal_weights() -> None:
    bind = np.tile(np.eye(4), (2, 1, 1))
    skeleton = tps.Skeleton([-1, 0], bind)
    skin = tps.Skin([[0.3, 0.7, -0.2]], [[0.5, 0.5 * (1 + 1e-9)]], skeleton)
    assert skin.weights[1].tolist() == [0, 1]
    world = bind.copy()
    world[1, :3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    copy = pickle.loads(pickle.dumps(skin))
    assert copy.weights[1].tolist() == [0, 1]
    np.testing.assert_array_equal(copy.deform(world), skin.deform(world))
