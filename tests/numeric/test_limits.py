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


def test_a_shape_is_refused_before_it_is_copied() -> None:
    """A view can claim terabytes and have none: its conversion must not be begun."""
    resource = pytest.importorskip("resource")
    skeleton = tps.Skeleton([-1, 0], np.tile(np.eye(4), (2, 1, 1)))
    skin = tps.Skin(np.zeros((3, 3)), np.ones((3, 2)), skeleton)
    huge = np.broadcast_to(np.float32(0), (1 << 31, 4, 4))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for call in (
        lambda: skin.deform(huge),
        lambda: skeleton.pose(huge),
        lambda: skin.deform(skeleton.bind, points=huge[:, :3, :3]),
        lambda: skin.deform(skeleton.bind, blend=huge[:, 0, 0]),
        lambda: tps.Skin(huge, np.ones((3, 2)), skeleton),
        lambda: tps.Skeleton(huge[:, 0, 0], skeleton.bind),
        lambda: tps.Skeleton(np.broadcast_to(-1, 1 << 31), skeleton.bind),
        lambda: skeleton.support_joints(np.broadcast_to(False, 1 << 33)),
    ):
        with pytest.raises((ValueError, TypeError), match=r"shape|dtype|at most"):
            call()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 10_000, f"{grown} kB were used to refuse"
