"""Deformed points of every method against the reference, within what float32 allows (tolerance.py derives it)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import reference as ref
import tolerance
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from rigs import ALL_POSES, REGULAR_POSES, Rig, make_rig, moved, rigs, rotation
from subjects import each_inherited, each_method, skeleton_of, skin_of, skin_separation

import two_phase_skinning as tps

Array = NDArray[np.float64]


def well_defined(rig: Rig, s: ref.Separation, method: tps.AnyMethod) -> NDArray[np.bool_]:
    """Vertices without a joint at 180 degrees to their heaviest, where either sign is right.

    A float32 quaternion's dot product is off by some 1e-6: what is nearer to zero may get either sign.
    """
    if method == "linear":
        return np.ones(len(rig.points), bool)
    motion = ref.dual_quaternion_parts(s)[1] if method == "dual_quaternion" else s.rigid
    return ref.blend_rigid(rig.normalised, motion).nearest_dot > 1e-5


def compare(
    rig: Rig,
    method: tps.AnyMethod,
    inherited: tps.AnyInherited,
    points: Array | None = None,
    phase: int | None = None,
    **flags: Any,
) -> None:
    s = skin_separation(rig, inherited, **flags)
    expected = ref.deform(
        ref.vertex_matrices(s, rig.normalised, method, phase), rig.points if points is None else points
    )
    bound = tolerance.bounds(rig, s, method, phase, points).position
    actual = skin_of(rig).deform(
        rig.world,
        method=method,
        inherited=inherited,
        phase=phase,
        points=None if points is None else points.astype(np.float32),
        **flags,
    )
    assert actual.dtype == np.float32 and actual.shape == rig.points.shape and actual.flags.c_contiguous
    good = well_defined(rig, s, method)
    assert good.any()
    tolerance.assert_within(actual[good], expected[good], bound[good], method)


@each_method
@each_inherited
@given(rig=rigs(poses=ALL_POSES))
def test_positions(method: tps.AnyMethod, inherited: tps.AnyInherited, rig: Rig) -> None:
    compare(rig, method, inherited)


@each_method
@each_inherited
@given(rig=rigs(poses=REGULAR_POSES))
def test_positions_are_within_1e5_of_the_size(method: tps.AnyMethod, inherited: tps.AnyInherited, rig: Rig) -> None:
    """The promise to the user, beside the derived bound, which may be larger for extreme poses."""
    s = skin_separation(rig, inherited)
    expected = ref.deform(ref.vertex_matrices(s, rig.normalised, method), rig.points)
    good = well_defined(rig, s, method)
    error = np.abs(skin_of(rig).deform(rig.world, method=method, inherited=inherited) - expected)[good]
    assert error.max() <= 1e-5 * max(rig.size, np.abs(expected).max())


@pytest.mark.parametrize("method", ["two_phase", "dual_quaternion"])
@pytest.mark.parametrize("phase", [1, 2])
@each_inherited
@given(rig=rigs(poses=ALL_POSES))
def test_phases(method: tps.AnyMethod, phase: int, inherited: tps.AnyInherited, rig: Rig) -> None:
    compare(rig, method, inherited, phase=phase)


@each_method
@each_inherited
@given(rig=rigs(poses=ALL_POSES))
def test_association_flags(method: tps.AnyMethod, inherited: tps.AnyInherited, rig: Rig) -> None:
    rng = np.random.default_rng(rig.seed)
    joints = len(rig.parents)
    compare(rig, method, inherited, nonrigid=rng.random(joints) < 0.6, rigid=rng.random(joints) < 0.6)


@each_method
@given(rig=rigs())
def test_other_points_than_the_bound_ones(method: tps.AnyMethod, rig: Rig) -> None:
    """Shape keys: the weights and the bind stay, the points are others."""
    points = rig.points + np.random.default_rng(rig.seed).normal(size=rig.points.shape)
    compare(rig, method, "after", points=points.astype(np.float32).astype(np.float64))


@each_method
@given(rig=rigs(), one=st.booleans())
def test_blend(method: tps.AnyMethod, rig: Rig, one: bool) -> None:
    rng = np.random.default_rng(rig.seed)
    blend = float(rng.random()) if one else rng.random(len(rig.points)).astype(np.float32).astype(np.float64)
    s = skin_separation(rig)
    expected = ref.deform(ref.vertex_matrices(s, rig.normalised, method, blend=blend), rig.points)
    # Two results and their weighted sum: three more roundings of numbers that large.
    bound = tolerance.bounds(rig, s, method).position + tolerance.bounds(rig, s, "linear").position
    bound += 4 * tolerance.U32 * rig.size
    good = well_defined(rig, s, method)
    actual = skin_of(rig).deform(rig.world, method=method, blend=blend)
    tolerance.assert_within(actual[good], expected[good], bound[good], f"{method}, blend")


@each_method
@given(rig=rigs())
def test_blend_0_is_linear_and_blend_1_is_the_method(method: tps.AnyMethod, rig: Rig) -> None:
    skin = skin_of(rig)
    choices: tuple[tuple[int, tps.AnyMethod], ...] = ((0, "linear"), (1, method))
    for blend, other in choices:
        bound = 2 * tolerance.bounds(rig, skin_separation(rig), other).position
        expected = skin.deform(rig.world, method=other)
        for form in (blend, np.full(len(rig.points), blend)):
            tolerance.assert_within(
                skin.deform(rig.world, method=method, blend=form), expected, bound, f"blend {blend}"
            )


def random_space(rng: np.random.Generator) -> Array:
    """Turned, scaled, moved, and mirrored half of the time."""
    scale = np.diag(rng.uniform(0.5, 2, 3) * [1, 1, rng.choice([-1, 1])])
    return ref.affine(rotation(rng) @ scale, rng.uniform(-2, 2, 3))


@each_method
@each_inherited
@given(rig=rigs())
def test_space(method: tps.AnyMethod, inherited: tps.AnyInherited, rig: Rig) -> None:
    """The mesh lives in its object's space; skinning happens in the skeleton's."""
    rng = np.random.default_rng(rig.seed)
    space = random_space(rng)
    inside = rig.points
    outside = ref.deform(np.linalg.inv(space)[None], inside).astype(np.float32).astype(np.float64)
    s = skin_separation(rig, inherited)
    expected = ref.deform(ref.vertex_matrices(s, rig.normalised, method, space=space), outside)
    placed = replace(rig, points=outside)
    # The bound of the same deformation in the skeleton's space, taken back by the inverse of the space.
    back = np.linalg.norm(np.linalg.inv(space)[:3, :3])
    bound = back * np.linalg.norm(space[:3, :3]) * 4 * tolerance.bounds(rig, s, method).position
    bound = bound + 8 * tolerance.U32 * np.abs(expected).max()
    good = well_defined(rig, s, method)
    actual = skin_of(placed).deform(rig.world, method=method, inherited=inherited, space=space)
    tolerance.assert_within(actual[good], expected[good], bound[good], f"{method} in a space")


@each_method
@given(rig=rigs(poses=ALL_POSES))
def test_a_vertex_without_weights_stays_to_the_bit(method: tps.AnyMethod, rig: Rig) -> None:
    loose = rig.weights.sum(axis=1) == 0
    assert loose.any()
    skin = skin_of(rig)
    options: list[dict[str, Any]] = [{}, {"blend": 0.3}]
    options += [] if method == "linear" else [{"phase": 1}, {"phase": 2}]
    for option in options:
        actual = skin.deform(rig.world, method=method, **option)
        np.testing.assert_array_equal(actual[loose], rig.points[loose].astype(np.float32))


@each_method
@given(rig=rigs(poses=("rigid",)))
def test_the_bind_pose_is_the_rest_shape(method: tps.AnyMethod, rig: Rig) -> None:
    rest = replace(rig, world=rig.bind)
    bound = tolerance.bounds(rest, skin_separation(rest), method).position
    tolerance.assert_within(skin_of(rest).deform(rig.bind, method=method), rig.points, bound, method)


FAR = np.array([1e5, -2e5, 5e4])


@pytest.mark.parametrize(
    ("method", "pose"), [("two_phase", "stretch"), ("linear", "stretch"), ("dual_quaternion", "rigid")]
)
@each_inherited
def test_far_from_the_origin_as_good_as_at_it(method: tps.AnyMethod, pose: str, inherited: tps.AnyInherited) -> None:
    """All that is lost is the last rounding of the result, which is as far away."""
    for seed in range(8):
        # Dual quaternion's stretch is about the origin: only where nothing stretches can it be the same far away.
        rig = make_rig(seed, pose=pose, bind="rigid" if pose == "rigid" else "scaled")
        grid = 2.0**-6  # so that both the near and the far points are exact in float32
        rig = replace(rig, points=np.round(rig.points / grid) * grid)
        far = moved(rig, ref.affine(np.eye(3), FAR))
        s = skin_separation(rig, inherited)
        near_result = ref.deform(ref.vertex_matrices(s, rig.normalised, method), rig.points)
        actual = skin_of(far).deform(far.world, method=method, inherited=inherited)
        half_ulp = np.spacing(np.abs(FAR).max().astype(np.float32)) / 2
        # The joint stage in float64 loses 2e5 * 2**-52 a step; the kernel what it would at the origin.
        bound = half_ulp + tolerance.bounds(rig, s, method).position + 1e-8
        tolerance.assert_within(actual, near_result + FAR, bound, method)


@each_method
@given(rig=rigs())
def test_no_result_depends_on_where_the_centre_of_the_mesh_is(method: tps.AnyMethod, rig: Rig) -> None:
    """A loose vertex far away moves the centre, and what is rounded, but nothing else."""
    loose = np.array([[900.0, -300, 100]])
    wide = replace(
        rig,
        points=np.concatenate([rig.points, loose]),
        weights=np.concatenate([rig.weights, np.zeros((1, len(rig.parents)))]),
        normals=np.concatenate([rig.normals, loose / 1000]),
    )
    s = skin_separation(rig)
    good = well_defined(wide, s, method)
    bound = tolerance.bounds(rig, s, method).position + tolerance.bounds(wide, s, method).position[:-1]
    one, two = (skin_of(r).deform(r.world, method=method).astype(np.float64) for r in (rig, wide))
    tolerance.assert_within(two[:-1][good[:-1]], one[good[:-1]], bound[good[:-1]], method)


@each_method
def test_out_is_filled_and_returned(method: tps.AnyMethod) -> None:
    rig = make_rig(3)
    skin = skin_of(rig)
    out = np.full(rig.points.shape, np.nan, np.float32)
    returned = skin.deform(rig.world, method=method, out=out)
    assert returned is out
    np.testing.assert_array_equal(out, skin.deform(rig.world, method=method))


@each_method
def test_inputs_stay_as_they_were(method: tps.AnyMethod) -> None:
    rig = make_rig(4)
    points, weights, world = rig.points.astype(np.float32), rig.weights.copy(), rig.world.copy()
    skin = tps.Skin(points, weights, skeleton_of(rig))
    skin.deform(world, method=method, points=points)
    np.testing.assert_array_equal(points, rig.points.astype(np.float32))
    np.testing.assert_array_equal(weights, rig.weights)
    np.testing.assert_array_equal(world, rig.world)


def test_a_skin_keeps_its_own_copy_of_what_it_was_given() -> None:
    rig = make_rig(4)
    points, weights = rig.points.copy(), rig.weights.copy()
    skin = tps.Skin(points, weights, skeleton_of(rig))
    expected = skin.deform(rig.world)
    points[:] = 99
    weights[:] = weights[:, ::-1].copy()
    np.testing.assert_array_equal(skin.deform(rig.world), expected)


@pytest.mark.parametrize("vertices", [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 1023])
@each_method
def test_every_number_of_vertices(method: tps.AnyMethod, vertices: int) -> None:
    """Wide kernels have a remainder to get right."""
    compare(make_rig(vertices, vertices=vertices + 1), method, "after")


@pytest.mark.parametrize("influences", [1, 2, 3, 4, 5, 6, 8, 9, 16, 40])
@each_method
def test_every_number_of_influences(method: tps.AnyMethod, influences: int) -> None:
    compare(make_rig(influences, count=40, topology="tree", influences=influences), method, "after")


@each_method
def test_no_vertices_at_all(method: tps.AnyMethod) -> None:
    rig = make_rig(1)
    empty = replace(rig, points=np.zeros((0, 3)), weights=np.zeros((0, len(rig.parents))))
    assert skin_of(empty).deform(rig.world, method=method).shape == (0, 3)


@pytest.mark.parametrize(
    "form", ["float64", "float32", "longdouble", "big-endian", "fortran", "strided", "reversed", "unaligned", "list"]
)
def test_any_form_of_points_and_pose(form: str) -> None:
    rig = make_rig(6)
    rig = replace(rig, world=rig.world.astype(np.float32).astype(np.float64))
    expected = skin_of(rig).deform(rig.world)

    def shaped(array: Array) -> Any:
        forms: dict[str, Callable[[], Any]] = {
            "float64": lambda: array,
            "float32": lambda: array.astype(np.float32),
            "longdouble": lambda: array.astype(np.longdouble),
            "big-endian": lambda: array.astype(">f8"),
            "unaligned": lambda: unaligned(array),
            "fortran": lambda: np.asfortranarray(array),
            "strided": lambda: np.repeat(array, 2, axis=-1)[..., ::2],
            "reversed": lambda: array[::-1].copy()[::-1],
            "list": lambda: array.tolist(),
        }
        return forms[form]()

    skin = skin_of(replace(rig, points=shaped(rig.points)))
    np.testing.assert_array_equal(skin.deform(shaped(rig.world)), expected)
    np.testing.assert_array_equal(skin.deform(rig.world, points=shaped(rig.points)), expected)


def unaligned(array: Array) -> Array:
    """The same numbers, one byte off any boundary."""
    room = np.zeros(array.nbytes + 1, np.uint8)
    result = room[1:].view(np.float64).reshape(array.shape)
    result[...] = array
    return result


@each_method
@pytest.mark.parametrize("frames", [None, 3])
def test_offsets_and_normals_with_points(method: tps.AnyMethod, frames: int | None) -> None:
    rig = make_rig(21, count=7, vertices=90)
    skin = skin_of(rig, normals=rig.normals)
    world = rig.world if frames is None else np.stack([rig.world] * frames)
    points, normals = skin.deform(world, method=method), skin.deform_normals(world, method=method)
    offsets = skin.deform(world, method=method, offsets=True)
    size = np.abs(rig.points).max() + np.abs(points).max()
    np.testing.assert_allclose(offsets + rig.points.astype(np.float32), points, rtol=0, atol=2e-6 * size)
    out, normals_out = np.empty_like(points), np.empty_like(normals)
    both = skin.deform_with_normals(world, method=method, out=out, normals_out=normals_out)
    assert both[0] is out and both[1] is normals_out
    np.testing.assert_allclose(out, points, rtol=0, atol=1e-6 * size)
    np.testing.assert_allclose(normals_out, normals, rtol=0, atol=1e-6)
    new = skin.deform_with_normals(world, method=method)
    np.testing.assert_array_equal(new[0], out)
    np.testing.assert_array_equal(new[1], normals_out)


def test_a_vertex_without_weights_has_no_offset() -> None:
    rig = make_rig(22, count=5, vertices=20)
    other = skin_of(replace(rig, weights=np.zeros_like(rig.weights)))
    assert not other.deform(rig.world, offsets=True).any()
