"""Every argument of every public function, wrong in every way: the right exception, it is named, nothing is touched.

A case is a callable, the name of the argument, and a bad value for it; all other arguments are good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import reference as ref
import scipy.sparse
from numpy.typing import NDArray
from rigs import make_rig
from test_weights import csr, padded

import two_phase_skinning as tps

RIG = make_rig(51, count=5, topology="tree", vertices=12)
J, V = len(RIG.parents), len(RIG.points)
LOCAL = ref.bind_local(RIG.bind, RIG.parents)
USER = ref.user_local(RIG.world, LOCAL, RIG.parents)
SKELETON = tps.Skeleton(RIG.parents, RIG.bind)
SKIN = tps.Skin(RIG.points, RIG.weights, SKELETON, normals=RIG.normals)
MASK = np.ones(J, bool)

Case = tuple[str, str, Any, type[Exception] | tuple[type[Exception], ...]]

GOOD: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "bind_local": (tps.bind_local, {"bind": RIG.bind, "parents": RIG.parents}),
    "bind_world": (tps.bind_world, {"local": LOCAL, "parents": RIG.parents}),
    "pose_world": (tps.pose_world, {"local": LOCAL, "user": USER, "parents": RIG.parents}),
    "user_local": (tps.user_local, {"world": RIG.world, "local": LOCAL, "parents": RIG.parents}),
    "skinning_matrices": (tps.skinning_matrices, {"world": RIG.world, "bind": RIG.bind}),
    "world_from_skinning": (tps.world_from_skinning, {"matrices": RIG.world, "bind": RIG.bind}),
    "increment_local": (tps.increment_local, {"user": USER, "joint": 1, "increment": np.eye(4)}),
    "increment_world": (
        tps.increment_world,
        {"user": USER, "joint": 1, "increment": np.eye(4), "local": LOCAL, "parents": RIG.parents},
    ),
    "Skeleton": (tps.Skeleton, {"parents": RIG.parents, "bind": RIG.bind, "names": list("abcde")}),
    "Skeleton.index": (SKELETON.index, {"joint": 1}),
    "Skeleton.increment_local": (SKELETON.increment_local, {"user": USER, "joint": 1, "increment": np.eye(4)}),
    "Skeleton.increment_world": (SKELETON.increment_world, {"user": USER, "joint": 1, "increment": np.eye(4)}),
    "Skeleton.pose": (SKELETON.pose, {"user": USER}),
    "Skeleton.support_joints": (SKELETON.support_joints, {"weighted": MASK}),
    "Skeleton.separate": (
        SKELETON.separate,
        {"world": RIG.world, "inherited": "after", "weighted": MASK, "nonrigid": MASK, "rigid": MASK},
    ),
    "Skin": (
        tps.Skin,
        {"points": RIG.points, "weights": RIG.weights, "skeleton": SKELETON, "normals": RIG.normals},
    ),
}
COMMON = {
    "world": RIG.world,
    "method": "two_phase",
    "inherited": "after",
    "blend": None,
    "phase": None,
    "nonrigid": MASK,
    "rigid": MASK,
    "threads": 1,
    "space": np.eye(4),
}
RESULTS: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "Skin.deform": (SKIN.deform, (V, 3)),
    "Skin.deform_with_normals": (SKIN.deform_with_normals, (V, 3)),
    "Skin.deform_normals": (SKIN.deform_normals, (V, 3)),
    "Skin.matrices": (SKIN.matrices, (V, 3, 4)),
    "Skin.inverse_matrices": (SKIN.inverse_matrices, (V, 3, 4)),
}
for name, (result_of, _) in RESULTS.items():
    GOOD[name] = (result_of, dict(COMMON))
for name in ("Skin.deform", "Skin.deform_with_normals"):
    GOOD[name][1]["points"] = RIG.points
GOOD["deform_many"] = (
    tps.deform_many,
    {
        "skins": [SKIN, SKIN],
        "worlds": [RIG.world, RIG.world],
        "method": "two_phase",
        "inherited": "after",
        "threads": 1,
    },
)
FRAMES_TOO = ("bind_local", "bind_world", "pose_world", "user_local", "skinning_matrices", "world_from_skinning")
IN_PHASES = [name for name in RESULTS if "phase" in GOOD[name][1]]


def changed(array: NDArray[Any], index: Any, value: Any) -> NDArray[Any]:
    result = np.array(array)
    result[index] = value
    return result


def bad_dtypes(good: NDArray[Any]) -> Iterator[Any]:
    """What is no real number; all of them must be a TypeError."""
    yield good.astype(complex)
    yield good.astype(bool)
    yield good.astype(object)
    yield good.astype(str)
    yield good.astype(bytes)
    yield np.zeros(good.shape, "datetime64[s]")
    yield np.zeros(good.shape, [("x", float)])
    yield None
    yield "matrices"
    yield {"a": 1}
    yield lambda: None


def bad_numbers(good: NDArray[Any]) -> Iterator[Any]:
    last = tuple(n - 1 for n in good.shape)
    first = (0,) * good.ndim
    for value in (np.nan, np.inf, -np.inf):
        yield changed(good, first, value)
    # The last element of the last matrix is in a row that is given; the one above it is not.
    yield changed(good, (*last[:-2], last[-2] - 1, last[-1]) if good.ndim > 2 else last, np.nan)


def bad_shapes(good: NDArray[Any]) -> Iterator[Any]:
    yield good[..., None]
    yield good[..., :-1]
    yield good[:-1]
    yield np.concatenate([good, good[:1]])
    yield good.ravel()
    yield good[0]
    yield np.zeros(())
    yield good[None, None]
    yield good[:0]


def bad_stacks(good: NDArray[Any], frames: bool = False) -> Iterator[tuple[Any, Any]]:
    """Bad values for a (J,4,4) argument."""
    for value in bad_dtypes(good):
        yield value, TypeError
    for value in (*bad_numbers(good), *bad_shapes(good)):
        yield value, ValueError
    yield good[:, :3], ValueError
    yield [[[1, 2], [3]]], (ValueError, TypeError)
    for index, value in (((0, 3, 3), 2), ((J - 1, 3, 0), 1e-3), ((1, 3, 3), 0)):
        yield changed(good, index, value), ValueError
    if not frames:
        yield good[None], ValueError
    else:
        yield changed(np.array([good, good]), (1, J - 1, 0, 0), np.nan), ValueError
        yield changed(np.array([good, good]), (1, J - 1, 3, 3), 2), ValueError
        yield np.array([good, good])[:, :-1], ValueError


def bad_matrices() -> Iterator[tuple[Any, Any]]:
    """Bad values for a (4,4) argument."""
    eye = np.eye(4)
    for value in bad_dtypes(eye):
        if value is not None:
            yield value, TypeError
    for value in (np.eye(3), eye[:3], eye[None], np.zeros((5, 4)), eye.ravel(), np.zeros(()), np.zeros((0, 4))):
        yield value, ValueError
    for index, value in (((0, 0), np.nan), ((2, 3), np.inf), ((3, 3), np.nan), ((3, 3), 2), ((3, 1), 0.5)):
        yield changed(eye, index, value), ValueError


def bad_parents() -> Iterator[tuple[Any, Any]]:
    good = RIG.parents
    for value in (good.astype(complex), good.astype(bool), good.astype(object), good.astype(str), None, "abc"):
        yield value, TypeError
    yield good.astype(float) + 0.5, (TypeError, ValueError)
    yield changed(good.astype(float), 0, np.nan), (TypeError, ValueError)
    for value in (good[:-1], np.append(good, -1), good[None], good[:, None], np.zeros((), int), good[:0]):
        yield value, ValueError
    yield [[0], [1, 2]], (ValueError, TypeError)
    for wrong in (J, J + 1, -2, -(2**31), 2**31, 2**32, 2**62, -(2**62)):
        yield changed(good.astype(np.int64), J - 1, wrong), ValueError
    yield changed(np.zeros(J, np.uint64), 0, 2**64 - 1), ValueError
    yield np.arange(J), ValueError  # each its own parent
    yield np.roll(np.arange(J), 1), ValueError  # one cycle through all
    yield np.array([-1, 0, 3, 2, 2]), ValueError  # a cycle beside a good tree
    yield np.array([-1, 2, 3, 1, 3]), ValueError  # and one with a tail


def bad_masks() -> Iterator[tuple[Any, Any]]:
    for value in (MASK.astype(int), MASK.astype(float), MASK.astype(object), MASK.astype(str), "yes", [1] * J):
        yield value, TypeError
    for value in (MASK[:-1], np.append(MASK, True), MASK[None], MASK[:, None], MASK[:0], np.array(True)):
        yield value, ValueError


def bad_points(good: NDArray[Any], optional: bool) -> Iterator[tuple[Any, Any]]:
    for value in bad_dtypes(good):
        if not (value is None and optional):
            yield value, TypeError if value is not None and isinstance(value, np.ndarray) else (TypeError, ValueError)
    yield good[:, :2], ValueError
    yield good.T, ValueError
    yield good.ravel(), ValueError
    yield good[..., None], ValueError
    yield np.zeros(()), ValueError
    yield np.concatenate([good, good], axis=1), ValueError
    yield [[1, 2, 3], [4, 5]], (ValueError, TypeError)
    for index in ((0, 0), (V - 1, 2)):
        for value in (np.nan, np.inf, -np.inf):
            yield changed(good, index, value), ValueError
    yield changed(good, (3, 1), 1e39), ValueError  # finite, but not in float32


def bad_weights() -> Iterator[tuple[Any, Any]]:
    dense = RIG.weights
    for value in (*(dense.astype(kind) for kind in (complex, bool, object, str)), None, "abc", 7 + 1j):
        yield value, (TypeError, ValueError)
    for value in (dense[:, :-1], dense[:-1], dense.T, dense[None], dense.ravel(), np.zeros(()), dense[:0]):
        yield value, ValueError
    yield [[1, 2], [3]], (ValueError, TypeError)
    for index in ((0, 0), (V - 1, J - 1)):
        for wrong in (-1e-30, -1, np.nan, np.inf, -np.inf):
            yield changed(dense, index, wrong), ValueError
    yield (), ValueError
    yield (dense,), ValueError
    yield (dense, dense, dense, dense), ValueError

    indices, weights = padded(dense)
    for wrong_index in (J, -1, 2**31, 2**32, 2**62, -(2**62)):
        yield (changed(indices, (0, 0), wrong_index), weights), ValueError
        # A weight of 0 does not excuse it.
        if wrong_index != -1:  # which is padding
            yield (changed(indices, (V // 2, 0), wrong_index), changed(weights, (V // 2, 0), 0)), ValueError
    yield (changed(indices.astype(np.uint64), (0, 0), 2**64 - 1), weights), ValueError
    for kind in (float, complex, bool, object, str):
        yield (indices.astype(kind), weights), TypeError
    for kind in (complex, bool, object, str):
        yield (indices, weights.astype(kind)), TypeError
    yield (indices[:-1], weights), ValueError
    yield (indices, weights[:-1]), ValueError
    yield (indices[:, :-1], weights), ValueError
    yield (indices.ravel(), weights.ravel()), ValueError
    yield (indices[None], weights[None]), ValueError
    yield (indices[:-1], weights[:-1]), ValueError
    for wrong in (-0.5, np.nan, np.inf, -np.inf):
        yield (indices, changed(weights, (1, 0), wrong)), ValueError

    indptr, indices, weights = csr(dense)
    count = len(indices)
    assert 2 < count < 100
    ends = ((0, 1), (0, -1), (-1, count + 1), (-1, count - 1), (-1, 2**40))
    for place, wrong_start in (*ends, (2, count), (3, -5), (1, 2**62)):
        yield (changed(indptr.astype(np.int64), place, wrong_start), indices, weights), ValueError
    yield (indptr[:-1], indices, weights), ValueError
    yield (np.append(indptr, count), indices, weights), ValueError
    yield (indptr[None], indices, weights), ValueError
    yield (indptr[:0], indices, weights), ValueError
    yield (np.zeros((), int), indices, weights), ValueError
    yield (indptr, indices[:-1], weights), ValueError
    yield (indptr, indices, weights[:-1]), ValueError
    yield (indptr, indices[:-1], weights[:-1]), ValueError
    yield (indptr, indices[:, None], weights[:, None]), ValueError
    yield (indptr.astype(float), indices, weights), TypeError
    yield (indptr.astype(bool), indices, weights), TypeError
    yield (indptr, indices.astype(float), weights), TypeError
    yield (indptr, indices.astype(bool), weights), TypeError
    yield (indptr, indices, weights.astype(complex)), TypeError
    yield (indptr, indices, weights.astype(object)), TypeError
    yield (indptr, indices, weights.astype(bool)), TypeError
    yield (None, indices, weights), TypeError
    yield (indptr, None, weights), TypeError
    yield (indptr, indices, None), TypeError
    for wrong_index in (J, -1, 2**31, 2**40):
        yield (indptr, changed(indices.astype(np.int64), 0, wrong_index), weights), ValueError
        yield (indptr, changed(indices.astype(np.int64), -1, wrong_index), changed(weights, -1, 0)), ValueError
    for wrong in (-0.5, np.nan, np.inf, -np.inf):
        yield (indptr, indices, changed(weights, -1, wrong)), ValueError

    for wrong_shape in ((V, J + 1), (V + 1, J), (V - 1, J), (J, V)):
        yield scipy.sparse.csr_array(wrong_shape), ValueError
    yield scipy.sparse.csr_array(dense.astype(complex)), TypeError
    yield scipy.sparse.csr_array(dense.astype(bool)), TypeError
    yield scipy.sparse.csr_array(changed(dense, (0, 0), np.nan)), ValueError
    yield scipy.sparse.csr_array(changed(dense, (0, 0), -1.0)), ValueError
    broken = scipy.sparse.csr_array(dense)
    broken.indices[0] = J + 1000
    yield broken, ValueError
    torn = scipy.sparse.csr_array(dense)
    torn.indptr[3] = 10**6
    yield torn, ValueError


def bad_joints(named: bool) -> Iterator[tuple[Any, Any]]:
    value: Any
    for value in (-1, -J, J, J + 1, 2**31, 2**32, 2**63, 2**70, -(2**70)):
        yield value, (ValueError, OverflowError) if abs(value) >= 2**63 else ValueError
    for value in (1.0, None, [1], 1j, np.float64(1), b"1", True, np.True_):
        yield value, TypeError
    yield "1", ValueError if named else TypeError


def bad_outs(shape: tuple[int, ...]) -> Iterator[tuple[Any, Any]]:
    """What cannot be written, or is not what was asked for."""
    either = (ValueError, TypeError)
    for dtype in (np.float64, np.float16, np.int32, np.uint32, bool, complex, object, ">f4"):
        yield np.zeros(shape, dtype), either
    yield np.zeros(shape).tolist(), either
    yield memoryview(np.zeros(shape, np.float32)), either
    yield "out", either
    yield np.zeros((shape[0] + 1, *shape[1:]), np.float32), ValueError
    yield np.zeros((shape[0] - 1, *shape[1:]), np.float32), ValueError
    yield np.zeros((*shape, 1), np.float32), ValueError
    yield np.zeros((1, *shape), np.float32), ValueError
    yield np.zeros(int(np.prod(shape)), np.float32), ValueError
    yield np.zeros(shape[::-1], np.float32), ValueError
    yield np.zeros((), np.float32), ValueError
    yield np.zeros(shape, np.float32, order="F"), ValueError
    yield np.zeros((2 * shape[0], *shape[1:]), np.float32)[::2], ValueError
    yield np.zeros(shape, np.float32)[::-1], ValueError
    yield np.broadcast_to(np.zeros(shape[1:], np.float32), shape), ValueError
    read_only = np.zeros(shape, np.float32)
    read_only.flags.writeable = False
    yield read_only, ValueError
    unaligned = np.zeros(4 * int(np.prod(shape)) + 1, np.uint8)[1:].view(np.float32).reshape(shape)
    yield unaligned, ValueError


def bad_names(allowed: tuple[str, ...]) -> Iterator[tuple[Any, Any]]:
    value: Any
    for value in ("", "lbs", allowed[0].upper(), allowed[0] + " ", allowed[0] + "\0", "é", "x" * 10000, "\ud800"):
        yield value, ValueError
    for value in (None, 1, b"after", ["after"], True):
        yield value, TypeError


def takes_frames(function: str) -> bool:
    return ("." in function and "increment" not in function) or function in FRAMES_TOO


def every_case() -> Iterator[Case]:
    stacks = {"bind": RIG.bind, "local": LOCAL, "user": USER, "world": RIG.world, "matrices": RIG.world}
    for function, (_, arguments) in GOOD.items():
        # What fixes the number of joints is free to have another one; the argument that follows is then the wrong one.
        for argument, good in arguments.items():
            bad: Iterator[tuple[Any, Any]]
            if function == "increment_local" and argument == "user":
                # Nothing else says how many joints there are.
                good_sizes = [(number, 4, 4) for number in (0, J - 1, J + 1)]
                bad = (case for case in bad_stacks(good) if getattr(case[0], "shape", None) not in good_sizes)
            elif argument in stacks:
                bad = bad_stacks(good, frames=takes_frames(function))
            elif argument == "increment" or argument == "space":
                bad = bad_matrices()
            elif argument == "parents":
                bad = bad_parents()
            elif argument in ("weighted", "nonrigid", "rigid"):
                bad = bad_masks()
            elif argument == "joint":
                bad = bad_joints(named="." in function)
            elif argument == "points" or argument == "normals":
                bad = bad_points(good, optional=argument == "normals" or function != "Skin")
            elif argument == "weights":
                bad = bad_weights()
            elif argument == "inherited":
                bad = bad_names(("after", "before"))
            elif argument == "method":
                bad = bad_names(("two_phase", "linear", "dual_quaternion"))
            else:
                continue
            for value, expected in bad:
                yield function, argument, value, expected
    for value in (None, 5, SKIN, [SKIN, None], [SKELETON, SKIN], [tps.Skin, tps.Skin]):
        yield "deform_many", "skins", value, TypeError
    for name in ("worlds", "out"):
        for value in (5, SKIN):
            yield "deform_many", name, value, TypeError
    for value in ([], [RIG.world], [RIG.world] * 3):
        yield "deform_many", "worlds", value, ValueError
    for value in ([], [None], [None] * 3, [np.zeros((V, 3), np.float32)] * 2):
        yield "deform_many", "out", value, ValueError
    for value, expected in bad_stacks(RIG.world, frames=True):
        yield "deform_many", "worlds", [RIG.world, value], expected
    for value, expected in bad_outs((V, 3)):
        yield "deform_many", "out", [None, value], expected
    for function in (*RESULTS, "deform_many"):
        for value in (-1, -(2**31), -(2**40), -(2**70)):
            yield function, "threads", value, (ValueError, OverflowError) if abs(value) > 2**63 else ValueError
        for value in (1.5, "2", None, [1], 1j):
            yield function, "threads", value, TypeError
    for function in RESULTS:
        for value in (-1e-9, 1 + 1e-6, np.nan, np.inf, -np.inf, 2):
            yield function, "blend", value, ValueError
            yield function, "blend", np.append(np.zeros(V - 1), value), ValueError
        for value in ("0.5", 1j, [None] * V, np.zeros(V, complex), np.zeros(V, bool), np.zeros(V, object), True, b"1"):
            yield function, "blend", value, TypeError
        for shape in ((V + 1,), (V - 1,), (V, 1), (1, V), (0,), (1,), (J,)):
            yield function, "blend", np.zeros(shape), ValueError
        for value in (np.diag([1.0, 1, 0, 1]), np.diag([0.0, 0, 0, 1]), np.diag([1.0, 1, 1e-12, 1])):
            yield function, "space", value, ValueError
        for value, expected in bad_outs(RESULTS[function][1]):
            yield function, "out", value, expected
    for function in IN_PHASES:
        for value in (0, 3, -1, 2**31, 2**32 + 1, 2**70):
            yield function, "phase", value, (ValueError, OverflowError) if value > 2**63 else ValueError
        for value in (1.5, "1", [1], 1j, b"1"):
            yield function, "phase", value, TypeError
    for value, expected in bad_outs((V, 3)):
        yield "Skin.deform_with_normals", "normals_out", value, expected
    for function in ("bind_local", "skinning_matrices", "Skeleton"):
        for linear in (np.zeros((3, 3)), np.diag([1.0, 1, 0]), np.ones((3, 3)), np.diag([1.0, 1, 1e-12])):
            yield function, "bind", changed(RIG.bind, 2, ref.affine(linear)), ValueError
    for value in (5, object(), "abcde", b"abcde", [1, 2, 3, 4, 5], ["a", None, "c", "d", "e"]):
        yield "Skeleton", "names", value, TypeError
    for names in ([], ["a"], list("abcdef")):
        yield "Skeleton", "names", names, ValueError
    for argument in ("compensating", "inherits"):
        for value, expected in bad_masks():
            yield "Skeleton", argument, value, expected
    for value in (None, RIG, "skeleton", 5, SKIN, tps.Skeleton):
        yield "Skin", "skeleton", value, TypeError


def label(case: Case) -> str:
    function, argument, value, _ = case
    what = f"{value.dtype}{value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
    return f"{function}-{argument}-{what}"


CASES = list(every_case())


def call(function: str, **changes: Any) -> Any:
    target, arguments = GOOD[function]
    return target(**{**arguments, **changes})


def test_every_public_function_is_here() -> None:
    """Those without arguments are not: build_info, what is a result, and names for choices and types."""
    others = {
        "build_info",
        "BuildInfo",
        "Separation",
        "Method",
        "Inherited",
        "NormalRule",
        "AnyMethod",
        "AnyNormalRule",
        "AnyInherited",
        "DeformOptions",
    }
    public = {name for name in tps.__all__ if callable(getattr(tps, name))} - others
    for cls in (tps.Skeleton, tps.Skin):
        public |= {f"{cls.__name__}.{name}" for name in vars(cls) if name[0] != "_" and callable(getattr(cls, name))}
    assert public == set(GOOD)


@pytest.mark.parametrize("function", GOOD)
def test_the_good_arguments_are_good(function: str) -> None:
    """Or every refusal below could be for another reason."""
    assert call(function) is not None


# These fix the number of joints or vertices: a shape that is fine in itself makes the next argument the wrong one.
PARTNERS = {"parents", "bind", "local", "user", "world", "matrices", "points", "weights", "normals"}

# A warning on the way to the refusal would be another exception where warnings are errors. NumPy 1.23 itself gives one
# for ragged lists, in place of the error of its successors.
pytestmark = [
    pytest.mark.filterwarnings("error"),
    pytest.mark.filterwarnings("ignore:Creating an ndarray from ragged"),
]


@pytest.mark.parametrize("case", CASES, ids=label)
def test_it_is_refused_by_name(case: Case) -> None:
    function, argument, value, expected = case
    with pytest.raises(expected) as caught:
        call(function, **{argument: value})
    message = str(caught.value)
    named = message.split(":")[0]
    if (argument, named) == ("user", "joint") and value.shape == (0, 4, 4):
        return  # a skeleton without joints is one; it only has none to increment
    if named != argument:
        # Only for sizes that do not fit together may the message name the other of the two.
        assert named in PARTNERS & set(GOOD[function][1]) and "shape" in message, f"{argument} is not named: {message}"
    assert "expected" in message, message


@pytest.mark.parametrize("case", [c for c in CASES if c[0] in RESULTS and c[1] != "out"], ids=label)
def test_out_is_untouched(case: Case) -> None:
    function, argument, value, expected = case
    out = np.full(RESULTS[function][1], 7, np.float32)
    with pytest.raises(expected):
        call(function, out=out, **{argument: value})
    assert (out == 7).all()


@pytest.mark.parametrize("function", RESULTS)
def test_a_bad_out_is_untouched(function: str) -> None:
    for value, expected in bad_outs(RESULTS[function][1]):
        if isinstance(value, np.ndarray) and value.size:
            before = value.tobytes()
            with pytest.raises(expected):
                call(function, out=value)
            assert value.tobytes() == before


@pytest.mark.parametrize("function", IN_PHASES)
def test_phase_with_linear_and_phase_with_blend(function: str) -> None:
    out = np.full(RESULTS[function][1], 7, np.float32)
    for phase in (1, 2):
        with pytest.raises(ValueError, match=r"^phase: .*linear"):
            call(function, method="linear", phase=phase, out=out)
        with pytest.raises(ValueError, match=r"^(blend|phase): .*(blend|phase)"):
            call(function, blend=0.5, phase=phase, out=out)
    assert (out == 7).all()


@pytest.mark.parametrize(
    ("argument", "allowed"),
    [("method", ("two_phase", "linear", "dual_quaternion")), ("inherited", ("after", "before"))],
)
def test_wrong_names_list_the_right_ones(argument: str, allowed: tuple[str, ...]) -> None:
    for function in RESULTS:
        with pytest.raises(ValueError) as caught:
            call(function, **{argument: "nonsense"})
        assert all(name in str(caught.value) for name in (*allowed, "nonsense"))


def test_out_over_an_input() -> None:
    points = RIG.points.astype(np.float32)
    before = points.copy()
    with pytest.raises(ValueError, match=r"^out: "):
        SKIN.deform(RIG.world, points=points, out=points)
    np.testing.assert_array_equal(points, before)
    # Shifted by one row: some of what is read would be written before.
    block = np.concatenate([points, points[:1]])
    with pytest.raises(ValueError, match=r"^out: "):
        SKIN.deform(RIG.world, points=block[:-1], out=block[1:])
    np.testing.assert_array_equal(block[:-1], before)
    # And over the pose: the same bytes as another type.
    room = np.zeros(max(RIG.world.nbytes, 12 * V) // 8 + 8)
    room[: RIG.world.size] = RIG.world.ravel()
    world = room[: RIG.world.size].reshape(J, 4, 4)
    out = room.view(np.float32)[: 3 * V].reshape(V, 3)
    with pytest.raises(ValueError, match=r"^out: "):
        SKIN.deform(world, out=out)
    np.testing.assert_array_equal(world, RIG.world)
    blend = np.zeros(3 * V, np.float32)
    with pytest.raises(ValueError, match=r"^out: "):
        SKIN.deform(RIG.world, blend=blend[:V], out=blend.reshape(V, 3))


def test_an_out_for_the_wrong_number_of_frames() -> None:
    frames = np.array([RIG.world] * 3)
    for shape in ((V, 3), (2, V, 3), (4, V, 3), (3, V, 4), (3 * V, 3)):
        out = np.full(shape, 7, np.float32)
        with pytest.raises(ValueError, match=r"^out: "):
            SKIN.deform(frames, out=out)
        assert (out == 7).all()
    one = np.full((3, V, 3), 7, np.float32)
    with pytest.raises(ValueError, match=r"^out: "):
        SKIN.deform(RIG.world, out=one)


def test_a_bad_last_frame_leaves_out_untouched() -> None:
    """All frames are checked before the first is written."""
    frames = np.array([RIG.world] * 3)
    frames[2, J - 1, 0, 0] = np.nan
    out = np.full((3, V, 3), 7, np.float32)
    with pytest.raises(ValueError, match=r"^world: "):
        SKIN.deform(frames, out=out)
    assert (out == 7).all()


def test_normals_that_were_not_given() -> None:
    skin = tps.Skin(RIG.points, RIG.weights, SKELETON)
    with pytest.raises(ValueError, match=r"^normals: "):
        skin.deform_normals(RIG.world)


def test_both_masks() -> None:
    with pytest.raises(ValueError, match=r"^(inherits|compensating): .*(compensating|inherits)"):
        tps.Skeleton(RIG.parents, RIG.bind, compensating=MASK, inherits=MASK)


def test_the_message_says_what_it_was_and_what_it_should_be() -> None:
    parents = np.array([-1, 0, 1, 17, 0])
    with pytest.raises(ValueError, match=r"^parents: joint 3 has parent 17; expected -1 or 0\.\.4"):
        tps.Skeleton(parents, RIG.bind)


@pytest.mark.parametrize("function", GOOD)
def test_missing_and_unknown_arguments(function: str) -> None:
    target, arguments = GOOD[function]
    with pytest.raises(TypeError):
        target()
    with pytest.raises(TypeError):
        target(**arguments, nonsense=1)
    with pytest.raises(TypeError):
        target(*[1] * 20)


@pytest.mark.parametrize("value", [None, 1, "yes", np.array([True])])
def test_offsets_that_are_no_bool(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^offsets: .*; expected True or False$"):
        SKIN.deform(RIG.world, offsets=value)


def test_two_outputs_of_which_one_is_bad() -> None:
    block = np.full((2 * V - 1, 3), 7, np.float32)
    with pytest.raises(ValueError, match=r"^normals_out: shares memory with another argument"):
        SKIN.deform_with_normals(RIG.world, out=block[:V], normals_out=block[V - 1 :])
    bad: Any
    for bad in (np.full((V + 1, 3), 7, np.float32), np.full((V, 3), 7, np.float64)):
        with pytest.raises((TypeError, ValueError), match=r"^normals_out: "):
            SKIN.deform_with_normals(RIG.world, out=block[:V], normals_out=bad)
    assert (block == 7).all()


def test_normals_with_points_of_a_skin_without_normals() -> None:
    with pytest.raises(ValueError, match=r"^normals: None; expected \(V, 3\) normals"):
        tps.Skin(RIG.points, RIG.weights, SKELETON).deform_with_normals(RIG.world)


def test_the_frame_at_fault_is_named() -> None:
    frames = np.stack([RIG.world] * 5)
    frames[3, 1, 0, 0] = np.nan
    with pytest.raises(ValueError, match=r"^world: frame 3: joint 1 is not finite; expected finite numbers$"):
        SKIN.deform(frames)
