"""The worked example of the definition, to the digits printed there."""

from __future__ import annotations

import numpy as np
import pytest
import reference as ref
from rigs import QUARTER_TURN, worked_example
from subjects import Subject, both, skin_of

import two_phase_skinning as tps

# compensating, inherited: M, P, Q, E of joint 1 and the two points
ROWS = {
    (False, "before"): (
        ref.affine(np.diag([1.0, 2, 1]), np.array([0.0, 2, 0])),
        ref.affine(np.diag([2.0, 1, 1]), np.array([0.0, 1, 0])),
        ref.affine(QUARTER_TURN, np.array([2.0, 2, 0])),
        np.eye(4),
        [[0.2121, 2.2121, 0], [-1, 2.4, 0]],
    ),
    (False, "after"): (
        ref.affine(np.eye(3), np.array([0.0, 1, 0])),
        np.eye(4),
        ref.affine(QUARTER_TURN, np.array([1.0, 1, 0])),
        ref.affine(np.diag([1.0, 2, 1])),
        [[0.1414, 2.2828, 0], [-1, 2.4, 0]],
    ),
}
ROWS[True, "before"] = ROWS[True, "after"] = (
    ref.affine(np.eye(3), np.array([0.0, 2, 0])),
    ref.affine(np.eye(3), np.array([0.0, 1, 0])),
    ref.affine(QUARTER_TURN, np.array([2.0, 2, 0])),
    np.eye(4),
    [[0.1414, 2.1414, 0], [-1, 2.2, 0]],
)
DIGITS = 0.5e-4  # half of the last digit that is printed

every_row = pytest.mark.parametrize(("compensating", "inherited"), ROWS)


@both
@every_row
def test_matrices_of_joint_1(subject: Subject, compensating: bool, inherited: tps.AnyInherited) -> None:
    s = subject.separate(worked_example(compensating), inherited)
    for name, expected in zip(
        ("second", "nonrigid", "rigid", "inherited"), ROWS[compensating, inherited][:4], strict=True
    ):
        np.testing.assert_allclose(getattr(s, name)[1], expected, rtol=0, atol=1e-14, err_msg=name)


@every_row
def test_points_of_the_reference(compensating: bool, inherited: tps.AnyInherited) -> None:
    example = worked_example(compensating)
    s = ref.separate(example.parents, example.bind, example.inherits, example.world, inherited)
    points = ref.deform(ref.vertex_matrices(s, example.weights), example.points)
    np.testing.assert_allclose(points, ROWS[compensating, inherited][-1], rtol=0, atol=DIGITS)


@every_row
def test_points_of_the_product(compensating: bool, inherited: tps.AnyInherited) -> None:
    example = worked_example(compensating)
    points = skin_of(example).deform(example.world, inherited=inherited)
    np.testing.assert_allclose(points, ROWS[compensating, inherited][-1], rtol=0, atol=DIGITS + 1e-6)
