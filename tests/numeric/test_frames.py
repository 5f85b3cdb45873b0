"""Many frames in one call: (F,J,4,4) gives what F calls give, to the bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import reference as ref
from numpy.typing import NDArray
from rigs import make_rig, natural_pose
from subjects import FIELDS, each_inherited, each_method, skeleton_of, skin_of

import two_phase_skinning as tps

RIG = make_rig(21, count=7, pose="stretch")
FRAMES = 5


def worlds() -> NDArray[np.float64]:
    rng = np.random.default_rng(0)
    local = ref.bind_local(RIG.bind, RIG.parents)
    poses = ["stretch", "rigid", "zero", "mirrored", "shear"]
    return np.array([natural_pose(rng, RIG.parents, RIG.inherits, local, pose) for pose in poses])


@each_inherited
def test_separation(inherited: tps.AnyInherited) -> None:
    world = worlds()
    skeleton = skeleton_of(RIG)
    many = skeleton.separate(world, inherited=inherited)
    for name in FIELDS:
        stack = getattr(many, name)
        assert stack.shape == (FRAMES, len(RIG.parents), 4, 4) and stack.dtype == np.float64, name
        for frame in range(FRAMES):
            one = getattr(skeleton.separate(world[frame], inherited=inherited), name)
            np.testing.assert_array_equal(stack[frame], one, err_msg=name)


@each_method
@each_inherited
@pytest.mark.parametrize("threads", [0, 1, 2, 3])
def test_deform(method: tps.AnyMethod, inherited: tps.AnyInherited, threads: int) -> None:
    world = worlds()
    skin = skin_of(RIG)
    many = skin.deform(world, method=method, inherited=inherited, threads=threads)
    assert many.shape == (FRAMES, len(RIG.points), 3) and many.dtype == np.float32
    for frame in range(FRAMES):
        one = skin.deform(world[frame], method=method, inherited=inherited, threads=1)
        np.testing.assert_array_equal(many[frame], one)


@pytest.mark.parametrize(
    "options",
    [
        {"phase": 1},
        {"phase": 2},
        {"blend": 0.25},
        {"blend": np.linspace(0, 1, len(RIG.points))},
        {"nonrigid": np.arange(7) != 2},
        {"rigid": np.arange(7) != 3},
        {"points": RIG.points + 1},
        {"space": ref.affine(np.diag([1.0, 2, -1]), np.array([1.0, 2, 3]))},
    ],
    ids=lambda options: next(iter(options)),
)
def test_deform_with_options(options: dict[str, Any]) -> None:
    world = worlds()
    skin = skin_of(RIG)
    many = skin.deform(world, **options)
    for frame in range(FRAMES):
        np.testing.assert_array_equal(many[frame], skin.deform(world[frame], **options))


@each_method
def test_normals_and_matrices(method: tps.AnyMethod) -> None:
    world = worlds()
    skin = skin_of(RIG, normals=RIG.normals)
    normals, matrices = skin.deform_normals(world, method=method), skin.matrices(world, method=method)
    assert normals.shape == (FRAMES, len(RIG.points), 3)
    assert matrices.shape == (FRAMES, len(RIG.points), 3, 4)
    for frame in range(FRAMES):
        np.testing.assert_array_equal(normals[frame], skin.deform_normals(world[frame], method=method))
        np.testing.assert_array_equal(matrices[frame], skin.matrices(world[frame], method=method))


def test_out_for_frames() -> None:
    world = worlds()
    skin = skin_of(RIG)
    out = np.full((FRAMES, len(RIG.points), 3), np.nan, np.float32)
    assert skin.deform(world, out=out) is out
    np.testing.assert_array_equal(out, skin.deform(world))


def test_one_frame_and_no_frame() -> None:
    skin = skin_of(RIG)
    one = skin.deform(RIG.world[None])
    assert one.shape == (1, len(RIG.points), 3)
    np.testing.assert_array_equal(one[0], skin.deform(RIG.world))
    assert skin.deform(np.zeros((0, len(RIG.parents), 4, 4))).shape == (0, len(RIG.points), 3)


def test_strided_frames() -> None:
    world = worlds()
    twice = np.repeat(world, 2, axis=0)[::2]
    backwards = world[::-1].copy()[::-1]
    expected = skin_of(RIG).deform(world)
    for form in (twice, backwards, np.asfortranarray(world)):
        np.testing.assert_array_equal(skin_of(replace(RIG)).deform(form), expected)


def test_points_of_their_own_for_each_frame() -> None:
    """Shape keys that move: (F,V,3) beside (F,J,4,4)."""
    world = worlds()
    points = RIG.points + np.random.default_rng(0).normal(size=(FRAMES, *RIG.points.shape))
    skin = skin_of(RIG)
    many = skin.deform(world, points=points)
    for frame in range(FRAMES):
        np.testing.assert_array_equal(many[frame], skin.deform(world[frame], points=points[frame]))


def test_joint_functions() -> None:
    """Any argument may be a stack; what is not one is the same for all frames."""
    world, parents = worlds(), RIG.parents
    local = tps.bind_local(RIG.bind, parents)
    user = tps.user_local(world, local, parents)
    np.testing.assert_array_equal(user, [tps.user_local(w, local, parents) for w in world])
    np.testing.assert_array_equal(
        tps.pose_world(local, user, parents), [tps.pose_world(local, u, parents) for u in user]
    )
    skinning = tps.skinning_matrices(world, RIG.bind)
    np.testing.assert_array_equal(skinning, [tps.skinning_matrices(w, RIG.bind) for w in world])
    back = tps.world_from_skinning(skinning, RIG.bind)
    np.testing.assert_array_equal(back, [tps.world_from_skinning(t, RIG.bind) for t in skinning])
    binds = np.array([RIG.bind] * FRAMES) @ np.diag([1.0, 2, 1, 1])
    locals_ = tps.bind_local(binds, parents)
    np.testing.assert_array_equal(locals_, [tps.bind_local(b, parents) for b in binds])
    np.testing.assert_array_equal(tps.bind_world(locals_, parents), [tps.bind_world(x, parents) for x in locals_])
    np.testing.assert_array_equal(
        tps.pose_world(locals_, user, parents),
        [tps.pose_world(x, u, parents) for x, u in zip(locals_, user, strict=True)],
    )
    np.testing.assert_array_equal(
        tps.pose_world(locals_, user[0], parents), [tps.pose_world(x, user[0], parents) for x in locals_]
    )
    with pytest.raises(ValueError, match=r"^user: shape with 4 frames; expected 5"):
        tps.pose_world(locals_, user[:4], parents)
    assert tps.pose_world(local, user[:0], parents).shape == (0, len(parents), 4, 4)


def test_every_option_by_frame() -> None:
    world, rng = worlds(), np.random.default_rng(4)
    skin = skin_of(RIG, normals=RIG.normals)
    joints, vertices = len(RIG.parents), len(RIG.points)
    options: dict[str, Any] = {
        "points": rng.normal(size=(FRAMES, vertices, 3)),
        "blend": rng.random((FRAMES, vertices)),
        "nonrigid": rng.random((FRAMES, joints)) < 0.7,
        "rigid": rng.random((FRAMES, joints)) < 0.7,
        "space": np.array([np.diag([f + 1.0, 2, 1, 1]) for f in range(FRAMES)]),
    }
    for names in (["points"], ["blend"], ["nonrigid", "rigid"], ["space"], list(options)):
        some = {name: options[name] for name in names}
        together = skin.deform(world, **some)
        for f in range(FRAMES):
            alone = skin.deform(world[f], **{name: value[f] for name, value in some.items()})
            np.testing.assert_array_equal(together[f], alone)
    options["space"][3, 2, 2] = 0
    with pytest.raises(ValueError, match=r"^space: cannot be inverted"):
        skin.deform(world, **options)
    with pytest.raises(ValueError, match=r"^blend: shape \(4, 40\); expected \(5, 40\)"):
        skin.deform(world, blend=options["blend"][:4])
