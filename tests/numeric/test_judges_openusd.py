"""An independent judge: OpenUSD's UsdSkel skinning, run live, linear and dual quaternion.

Its traps: Python lists for arrays are taken silently wrong, so everything is a Vt array; row vectors, so matrices are
transposed; a singular joint counts as the identity in its dual quaternion mode and a mirrored one is mirrored along all
axes, so poses are regular here; its normals are blends of the joints' inverse transposes, so they are compared where
that is the same thing. It works in float32 itself: what it may be off by is our own bound once more.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import reference as ref
import tolerance
from hypothesis import given
from numpy.typing import NDArray
from pxr import Gf, UsdSkel, Vt
from rigs import REGULAR_POSES, Rig, rigs
from subjects import each_inherited, skin_of, skin_separation
from test_deform import well_defined
from test_weights import padded

import two_phase_skinning as tps

Array = NDArray[np.float64]
TOKENS = {"linear": "classicLinear", "dual_quaternion": "dualQuaternion"}
usd_methods = pytest.mark.parametrize("method", TOKENS)


def influences(dense: Array) -> tuple[Vt.IntArray, Vt.FloatArray, int]:
    indices, weights = padded(dense)
    return (
        Vt.IntArray.FromNumpy(indices.astype(np.int32).ravel()),
        Vt.FloatArray.FromNumpy(weights.astype(np.float32).ravel()),
        indices.shape[1],
    )


def usd_points(rig: Rig, method: tps.AnyMethod, weights: Array | None = None) -> Array:
    matrices = ref.skinning_matrices(rig.world, rig.bind).transpose(0, 2, 1)
    points = Vt.Vec3fArray.FromNumpy(rig.points.astype(np.float32))
    xforms = Vt.Matrix4dArray.FromNumpy(np.ascontiguousarray(matrices))
    rows = influences(rig.normalised if weights is None else weights)
    assert UsdSkel.SkinPoints(TOKENS[method], Gf.Matrix4d(1), xforms, *rows, points, True)
    return np.array(points, np.float64)


def usd_normals(rig: Rig, method: tps.AnyMethod) -> Array:
    # It is given the inverse transposes, which a transposition for its row vectors makes plain inverses.
    matrices = np.linalg.inv(ref.lin(ref.skinning_matrices(rig.world, rig.bind)))
    normals = Vt.Vec3fArray.FromNumpy(rig.normals.astype(np.float32))
    xforms = Vt.Matrix3dArray.FromNumpy(np.ascontiguousarray(matrices))
    assert UsdSkel.SkinNormals(TOKENS[method], Gf.Matrix3d(1), xforms, *influences(rig.normalised), normals, True)
    result = np.array(normals, np.float64)
    length = np.linalg.norm(result, axis=1, keepdims=True)
    return result / np.where(length > 0, length, 1)


@usd_methods
@each_inherited
@given(rig=rigs(poses=(*REGULAR_POSES, "free")))
def test_points(method: tps.AnyMethod, inherited: tps.AnyInherited, rig: Rig) -> None:
    s = skin_separation(rig, inherited)
    held = well_defined(rig, s, method) & (rig.weights.sum(axis=1) > 0)  # OpenUSD takes the others to the origin
    bound = 2 * tolerance.bounds(rig, s, method).position
    actual = skin_of(rig).deform(rig.world, method=method, inherited=inherited)
    tolerance.assert_within(actual[held], usd_points(rig, method)[held], bound[held], method)


@given(rig=rigs(poses=("rigid",), binds=("rigid",)))
def test_two_phase_without_scale_is_its_dual_quaternion_skinning(rig: Rig) -> None:
    s = skin_separation(rig)
    held = well_defined(rig, s, "two_phase") & (rig.weights.sum(axis=1) > 0)
    bound = tolerance.bounds(rig, s, "two_phase").position + tolerance.bounds(rig, s, "dual_quaternion").position
    actual = skin_of(rig).deform(rig.world)
    tolerance.assert_within(actual[held], usd_points(rig, "dual_quaternion")[held], bound[held], "two_phase")


@usd_methods
@given(rig=rigs())
def test_normals_of_vertices_on_one_joint(method: tps.AnyMethod, rig: Rig) -> None:
    rig = replace(rig, weights=np.eye(len(rig.parents))[rig.weights.argmax(axis=1)])
    bound, _ = tolerance.normal_bounds(rig, skin_separation(rig), method)
    actual = skin_of(rig, normals=rig.normals).deform_normals(rig.world, method=method)
    tolerance.assert_within(actual, usd_normals(rig, method), 2 * bound, method)


@given(rig=rigs(poses=("rigid",), binds=("rigid",)))
def test_dual_quaternion_normals_without_scale(rig: Rig) -> None:
    s = skin_separation(rig)
    held = well_defined(rig, s, "dual_quaternion") & (rig.weights.sum(axis=1) > 0)
    bound, _ = tolerance.normal_bounds(rig, s, "dual_quaternion")
    actual = skin_of(rig, normals=rig.normals).deform_normals(rig.world, method="dual_quaternion")
    tolerance.assert_within(actual[held], usd_normals(rig, "dual_quaternion")[held], 2 * bound[held], "normals")
