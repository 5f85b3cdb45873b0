"""What arguments may be made of: lists, other libraries' arrays, NumPy's scalars; and what is refused in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rigs import make_rig
from subjects import skeleton_of, skin_of

import two_phase_skinning as tps

RIG = make_rig(3, count=4, vertices=10)
SKELETON = skeleton_of(RIG)
SKIN = skin_of(RIG, normals=RIG.normals)
FRAMES = np.array([RIG.world] * 2)
EYES = np.tile(np.eye(4), (2, 1, 1))


class Foreign:
    """Another library's array, that NumPy can read."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array if dtype is None else self.array.astype(dtype)


class OnlyDLPack:
    """Another library's array, that offers its memory and nothing else."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


class Raises:
    """An object whose methods raise."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise self.error

    def __index__(self) -> int:
        raise self.error


WAYS = {"list": lambda a: a.tolist(), "__array__": Foreign, "DLPack": OnlyDLPack}


@pytest.mark.parametrize("way", WAYS)
def test_every_array_in_every_way(way: str) -> None:
    given: Any = WAYS[way]
    rng = np.random.default_rng(0)
    points = rng.normal(size=(2, *RIG.points.shape))
    blend = rng.random((2, len(SKIN)))
    space = np.tile(np.diag([2.0, 2, 2, 1]), (2, 1, 1))
    plain = SKIN.deform(FRAMES, points=points, blend=blend, space=space)
    other = SKIN.deform(given(FRAMES), points=given(points), blend=given(blend), space=given(space))
    np.testing.assert_array_equal(other, plain)
    skin = tps.Skin(given(RIG.points), given(RIG.weights), SKELETON, normals=given(RIG.normals))
    np.testing.assert_array_equal(skin.deform_normals(RIG.world), SKIN.deform_normals(RIG.world))
    skeleton = tps.Skeleton(given(RIG.parents), given(RIG.bind), inherits=RIG.inherits)
    assert skeleton == SKELETON


def test_dlpack_out() -> None:
    room = np.zeros(RIG.points.shape, np.float32)
    out: Any = OnlyDLPack(room)
    if not np.from_dlpack(out).flags.writeable:
        pytest.skip("NumPy before 2.1 reads from DLPack only")
    assert SKIN.deform(RIG.world, out=out) is out
    np.testing.assert_array_equal(room, SKIN.deform(RIG.world))


@pytest.mark.parametrize("error", [RuntimeError("grad"), AttributeError("no"), OSError("gone")])
@pytest.mark.parametrize("argument", ["points", "weights", "parents", "world"])
def test_whatever_an_array_raises_names_the_argument(argument: str, error: Exception) -> None:
    bad: Any = Raises(error)
    calls: dict[str, Any] = {
        "points": lambda: tps.Skin(bad, RIG.weights, SKELETON),
        "weights": lambda: tps.Skin(RIG.points, bad, SKELETON),
        "parents": lambda: tps.bind_local(RIG.bind, bad),
        "world": lambda: SKIN.deform(bad),
    }
    with pytest.raises(TypeError, match=rf"^{argument}: cannot be read as an array"):
        calls[argument]()


def test_an_interrupt_is_not_swallowed() -> None:
    bad: Any = Raises(KeyboardInterrupt())
    for call in (
        lambda: tps.increment_local(EYES, bad, EYES[0]),
        lambda: SKIN.deform(RIG.world, threads=bad),
        lambda: SKIN.deform(RIG.world, phase=bad),
        lambda: SKIN.deform(bad),
        lambda: tps.Skin(bad, RIG.weights, SKELETON),
    ):
        with pytest.raises(KeyboardInterrupt):
            call()


@pytest.mark.parametrize("number", [np.int64, np.uint8, np.int32])
def test_numpys_integers_and_bools(number: Any) -> None:
    np.testing.assert_array_equal(SKIN.deform(RIG.world, threads=number(2)), SKIN.deform(RIG.world))
    np.testing.assert_array_equal(SKIN.deform(RIG.world, phase=number(1)), SKIN.deform(RIG.world, phase=1))
    offsets: Any = np.True_
    np.testing.assert_array_equal(SKIN.deform(RIG.world, offsets=offsets), SKIN.deform(RIG.world, offsets=True))
    changed = tps.increment_local(EYES, number(1), np.diag([2.0, 2, 2, 1]))
    assert changed[1, 0, 0] == 2


def test_masked_arrays_are_refused_where_something_is_masked() -> None:
    masked = np.ma.masked_array(RIG.world, mask=False)
    np.testing.assert_array_equal(SKIN.deform(masked), SKIN.deform(RIG.world))
    masked[1, 0, 0] = np.ma.masked
    for call in (
        lambda: SKIN.deform(masked),
        lambda: SKIN.deform([RIG.world, masked]),
        lambda: SKELETON.pose(masked),
    ):
        with pytest.raises(ValueError, match=r"^(world|user): has masked elements; expected"):
            call()
    points = np.ma.masked_less(RIG.points, 0)
    with pytest.raises(ValueError, match=r"^points: has masked elements; expected"):
        tps.Skin(points, RIG.weights, SKELETON)


def test_without_joints_nothing_is_expected_of_a_range() -> None:
    none = np.zeros((0, 4, 4))
    empty = tps.Skeleton(np.zeros(0, int), none)
    for call in (
        lambda: tps.increment_local(none, 0, np.eye(4)),
        lambda: empty.index(0),
        lambda: tps.Skin(np.zeros((1, 3)), ([[0]], [[1.0]]), empty),
    ):
        with pytest.raises(ValueError, match="expected none, since there are no joints"):
            call()


def test_a_last_row_that_float32_rounded_is_taken_everywhere() -> None:
    """Half of all float32 inverses have one; its numbers are not read."""
    off = RIG.bind.copy()
    off[:, 3] += [2.4e-7, -1e-7, 0, 3e-7]
    world = RIG.world.astype(np.float32).copy()
    world[:, 3] = off[:, 3]
    skeleton = tps.Skeleton(RIG.parents, off, inherits=RIG.inherits)
    assert skeleton == SKELETON
    np.testing.assert_array_equal(skeleton.bind[:, 3], [[0, 0, 0, 1]] * 4)
    clean = world.copy()
    clean[:, 3] = 0, 0, 0, 1
    np.testing.assert_array_equal(SKIN.deform(world), SKIN.deform(clean))
    space = np.eye(4)
    space[3, 0] = 1e-7
    np.testing.assert_array_equal(SKIN.deform(RIG.world, space=space), SKIN.deform(RIG.world, space=np.eye(4)))
    user = tps.user_local(world, tps.bind_local(off, RIG.parents), RIG.parents)
    np.testing.assert_array_equal(user[:, 3], [[0, 0, 0, 1]] * 4)


def test_choices_are_enumerations_and_their_names() -> None:
    for method in tps.Method:
        for inherited in tps.Inherited:
            by_name = SKIN.deform(RIG.world, method=method.value, inherited=inherited.value)
            np.testing.assert_array_equal(SKIN.deform(RIG.world, method=method, inherited=inherited), by_name)
    with pytest.raises(ValueError) as caught:
        SKIN.deform(RIG.world, method="lbs")  # type: ignore[arg-type]
    assert [f'"{method}"' in str(caught.value) for method in tps.Method] == [True] * 3
    with pytest.raises(ValueError) as caught:
        SKIN.deform(RIG.world, inherited="never")  # type: ignore[arg-type]
    assert [f'"{inherited}"' in str(caught.value) for inherited in tps.Inherited] == [True] * 2


def test_an_option_of_another_function() -> None:
    with pytest.raises(TypeError, match=r"^offsets: no option of this function"):
        SKIN.matrices(RIG.world, offsets=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^slip: no option of this function"):
        tps.deform_many([SKIN], [RIG.world], slip=1)
