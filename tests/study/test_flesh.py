"""The laws that the candidates keep, on chains of three bones in random poses."""

import numpy as np
import pytest

pytest.importorskip("skfem", reason="scikit-fem is not installed; `make test-study` installs it")
from dataclasses import replace

from judge.flesh import FLESH, Amounts, bind, curved, deform, sections, straightening
from judge.poses import EDGES, tube_poses
from judge.skins import linear, two_phase
from judge.tubes import Judge
from limbs import rotation

READINGS = ("before", "after")
WANTED = [wanted for wanted in tube_poses() if wanted.kind == "both" and wanted.number in (0, 9)]


@pytest.fixture(params=WANTED, ids=lambda wanted: f"{wanted.edges} {wanted.number}")
def pose(request):
    return request.param.pose(Judge())


@pytest.mark.parametrize("reading", READINGS)
def test_without_amounts_it_is_two_phase_skinning(pose, reading):
    weights = pose.limb.weights["smootherstep"]
    np.testing.assert_allclose(deform(pose, weights, Amounts(), reading), two_phase(pose, weights, reading), atol=2e-6)


@pytest.mark.parametrize("reading", READINGS)
def test_a_vertex_on_one_joint_is_where_the_rig_puts_it(pose, reading):
    weights = pose.limb.weights["smootherstep"]
    alone = weights.max(axis=1) == 1
    assert alone.any()
    found = deform(pose, weights, FLESH, reading)
    np.testing.assert_allclose(found[alone], linear(pose, weights)[alone], atol=1e-9)


def test_a_pose_turned_as_a_whole_turns_the_result(pose):
    weights = pose.limb.weights["smootherstep"]
    before = deform(pose, weights, FLESH)
    turn, shift = rotation(np.array([0.3, -1, 0.5]), 1.1), np.array([3.0, -2, 1])
    posed = pose.world()
    whole = np.eye(4)
    whole[:3, :3], whole[:3, 3] = turn, shift
    pose.world = lambda part=1.0: whole @ posed
    np.testing.assert_allclose(deform(pose, weights, FLESH), before @ turn.T + shift, atol=1e-8)


def test_a_pose_that_changes_a_little_changes_the_result_a_little(pose):
    weights = pose.limb.weights["smootherstep"]
    before = deform(pose, weights, FLESH)
    pose.joints[1] = replace(pose.joints[1], bend=pose.joints[1].bend + 1e-4, twist=pose.joints[1].twist + 1e-4)
    change = np.abs(deform(pose, weights, FLESH) - before).max()
    assert 0 < change < 1e-4


def test_a_twisted_ring_stays_a_rigid_ring_if_nothing_slides():
    wanted = next(w for w in tube_poses() if w.kind == "twist" and w.edges == EDGES[0])
    pose = wanted.pose(Judge())
    rings = deform(pose, pose.limb.weights["sigmoid"], Amounts(spread=1, stiffness=1))[pose.limb.rings]
    rest = pose.limb.points[pose.limb.rings]
    np.testing.assert_allclose(
        np.linalg.norm(np.roll(rings, 5, axis=1) - rings, axis=2),
        np.linalg.norm(np.roll(rest, 5, axis=1) - rest, axis=2),
    )


def test_straight_ramps_are_left_alone_and_curved_ones_made_straighter():
    limb = tube_poses()[0].pose(Judge()).limb
    bound = bind(limb, limb.weights["ramp"])
    np.testing.assert_array_equal(bound.spread, bound.share)
    share, place = limb.weights["sigmoid"][:, 1], limb.points[:, 2]
    wider = curved(share, straightening(share, place))

    def reach(values):
        return np.ptp(place[(values > 0.1) & (values < 0.9)])

    assert reach(wider) > 1.3 * reach(share)
    assert wider[share == 0].max(initial=0) == 0 and wider[share == 1].min(initial=1) == 1


def test_sections_are_measured_across_the_bone():
    stretch = np.diag([2.0, 5.0, 3.0])[None]
    np.testing.assert_allclose(sections(stretch, np.array([[0.0, 1, 0]])), 6)
