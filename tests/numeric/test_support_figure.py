"""Figures 6A and 6B of the patent: an object with its support joints associated with the mesh, and without.

A chain up the y axis, one unit apart: shoulder, support, elbow, hand. No vertex has weight on the support joint; it
only carries transforms from the shoulder to the elbow. It stretches to twice its length (and thins), and bends.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from subjects import each_inherited

import two_phase_skinning as tps

Array = NDArray[np.float64]
SHOULDER, SUPPORT, ELBOW, HAND = range(4)
PARENTS = [-1, SHOULDER, SUPPORT, ELBOW]
STRETCH = np.diag([0.7, 2.0, 0.7, 1.0])
EACH = np.arange(4)


def at(*place: float) -> Array:
    matrix = np.eye(4)
    matrix[:3, 3] = place
    return matrix


BIND = np.array([at(0, float(height), 0) for height in range(4)])


def tube() -> tuple[Array, Array]:
    """Points (V,3) and weights (V,4): smooth from the shoulder to the elbow, and to the hand."""
    height, angle = np.meshgrid(np.linspace(0, 4, 81), np.arange(12) * np.pi / 6, indexing="ij")
    points = np.stack([0.3 * np.cos(angle), height, 0.3 * np.sin(angle)], axis=-1).reshape(-1, 3)
    x = ((points[:, 1] - 1.2) / 1.6).clip(0, 1)
    elbow, hand = x * x * (3 - 2 * x), (points[:, 1] > 3).astype(float)
    return points, np.stack([1 - elbow, np.zeros_like(x), elbow * (1 - hand), elbow * hand], axis=1)


def skin(compensating: bool) -> tps.Skin:
    return tps.Skin(*tube(), tps.Skeleton(PARENTS, BIND, compensating=np.full(4, compensating)))


def pose(compensating: bool, support: Array) -> Array:
    """The support joint has the transform `support` of its own; a compensated elbow keeps its displaced place only."""
    world = BIND.copy()
    world[SUPPORT] = BIND[SUPPORT] @ support
    for joint in (ELBOW, HAND):
        world[joint] = world[SUPPORT] @ np.linalg.inv(BIND[SUPPORT]) @ BIND[joint]
    if compensating:  # elbow and hand keep their shape: a rigid motion of both
        length = np.linalg.norm(support[:3, 1])
        turn = support.copy()
        turn[:3, :3] /= np.linalg.norm(support[:3, :3], axis=0)
        for joint, along in ((ELBOW, length), (HAND, length + 1)):
            world[joint] = BIND[SUPPORT] @ turn @ at(0, along, 0)
    return world


def turned(matrix: Array, degrees: float = 60) -> Array:
    turn, angle = np.eye(4), np.radians(degrees)
    turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return turn @ matrix


both_edges = pytest.mark.parametrize("compensating", [False, True], ids=["inheriting", "compensating"])


@both_edges
def test_the_joint_is_found(compensating: bool) -> None:
    subject = skin(compensating)
    np.testing.assert_array_equal(subject.skeleton.support_joints(subject.weighted), EACH == SUPPORT)


@both_edges
@each_inherited
def test_associated_the_mesh_follows_its_scale(compensating: bool, inherited: tps.AnyInherited) -> None:
    """Figure 6A: the part of the mesh beyond the joint is where the stretch carries it, automatically."""
    world = pose(compensating, STRETCH)
    subject = skin(compensating)
    posed = subject.deform(world, inherited=inherited)
    np.testing.assert_array_equal(
        posed, subject.deform(world, inherited=inherited, nonrigid=np.ones(4, bool), rigid=np.ones(4, bool))
    )
    tip = tube()[0][:, 1] == 4
    height, radius = (5, 0.3) if compensating else (7, 0.7 * 0.3)  # 1 + 2 + 2, and 1 + 2 x 3
    np.testing.assert_allclose(posed[tip, 1], height, rtol=0, atol=1e-5)
    np.testing.assert_allclose(np.hypot(*posed[tip][:, [0, 2]].T), radius, rtol=0, atol=1e-5)


@both_edges
@each_inherited
def test_not_associated_the_mesh_is_as_if_it_did_not_scale(compensating: bool, inherited: tps.AnyInherited) -> None:
    """Figure 6B: without the joint in the non-rigid phase its scale is gone, and its bend stays."""
    subject = skin(compensating)
    world = pose(compensating, turned(STRETCH))
    muted = subject.deform(world, inherited=inherited, nonrigid=EACH != SUPPORT)
    unscaled = subject.deform(pose(compensating, turned(np.eye(4))), inherited=inherited)
    np.testing.assert_allclose(muted, unscaled, rtol=0, atol=1e-5)
    assert np.abs(muted - subject.deform(world, inherited=inherited)).max() > 0.5


@both_edges
@each_inherited
def test_not_associated_in_the_rigid_phase_it_does_not_bend(compensating: bool, inherited: tps.AnyInherited) -> None:
    subject = skin(compensating)
    muted = subject.deform(pose(compensating, turned(STRETCH)), inherited=inherited, rigid=EACH != SUPPORT)
    straight = subject.deform(pose(compensating, STRETCH), inherited=inherited)
    np.testing.assert_allclose(muted, straight, rtol=0, atol=1e-5)


@both_edges
@each_inherited
def test_what_hangs_above_it_does_not_care(compensating: bool, inherited: tps.AnyInherited) -> None:
    """The shoulder's own part of the mesh is where it was, associated or not."""
    subject = skin(compensating)
    world = pose(compensating, turned(STRETCH))
    alone = tube()[1][:, SHOULDER] == 1
    for flags in ({}, {"nonrigid": EACH != SUPPORT}, {"rigid": EACH != SUPPORT}):
        posed = subject.deform(world, inherited=inherited, **flags)
        np.testing.assert_allclose(posed[alone], tube()[0][alone], rtol=0, atol=1e-6)


@both_edges
@each_inherited
def test_dropping_it_from_the_chain_loses_what_it_carried(compensating: bool, inherited: tps.AnyInherited) -> None:
    """A chain of the weighted joints alone has the same pose, but takes what the support joint did for the elbow's."""
    world = pose(compensating, turned(STRETCH))
    points, weights = tube()
    kept = np.array([SHOULDER, ELBOW, HAND])
    shorter = tps.Skeleton([-1, 0, 1], BIND[kept], compensating=np.full(3, compensating))
    dropped = tps.Skin(points, weights[:, kept], shorter).deform(world[kept], inherited=inherited)
    whole = skin(compensating).deform(world, inherited=inherited)
    bent = (weights[:, SHOULDER] > 0.1) & (weights[:, SHOULDER] < 0.9)
    assert np.abs(whole - dropped)[bent].max() > 0.05
    np.testing.assert_allclose(whole[weights.max(axis=1) == 1], dropped[weights.max(axis=1) == 1], rtol=0, atol=1e-5)
