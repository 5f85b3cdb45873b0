"""Surfaces that run through themselves are found."""

import pytest

pytest.importorskip("skfem", reason="scikit-fem is not installed; `make test-study` installs it")
from judge.crossing import crosses
from judge.poses import tube_poses
from judge.tubes import Judge


def test_a_tube_that_is_pushed_through_itself_crosses_and_one_at_rest_does_not():
    limb = tube_poses()[0].pose(Judge()).limb
    assert not crosses(limb.points, limb.triangles)
    folded = limb.points.copy()
    middle = limb.points[:, 2].mean()
    folded[:, 2] = middle + abs(limb.points[:, 2] - middle)  # the lower half onto the upper
    folded[:, 0] += 0.3 * limb.radius * (limb.points[:, 2] < middle)
    assert crosses(folded, limb.triangles)
