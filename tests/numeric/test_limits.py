"""What is too large is refused in words."""

from __future__ import annotations

import numpy as np
import pytest

import two_phase_skinning as tps


def test_more_joints_with_weights_than_a_skin_can_number() -> None:
    count = 65537
    skeleton = tps.Skeleton(np.arange(-1, count - 1), np.tile(np.eye(4), (count, 1, 1)))
    points = np.zeros((count, 3))
    rows = (np.arange(count + 1), np.arange(count), np.ones(count))
    with pytest.raises(ValueError, match=r"^weights: more than 65536 joints with weights; expected at most 65536"):
        tps.Skin(points, rows, skeleton)
    one_less = (np.arange(count + 1), np.minimum(np.arange(count), count - 2), np.ones(count))
    skin = tps.Skin(points, one_less, skeleton)
    assert skin.weighted.sum() == 65536
    np.testing.assert_array_equal(skin.deform(skeleton.bind), points)
