"""Fuzzes the Python module: bytes become arguments of every public function, mostly fitting, with arrays of every kind.

Run by tools/fuzz.sh with atheris; `binding.py --replay FILE` runs the saved corpus without it. What must hold, besides
no crash: nothing but TypeError, ValueError, OverflowError or MemoryError is raised, by the name of an argument; a
refused call leaves `out` as it was.
"""

import contextlib
import sys
from pathlib import Path

import numpy as np

with contextlib.suppress(ImportError):
    import atheris

import two_phase_skinning as tps

SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    np.nan,
    np.inf,
    -np.inf,
    5e-324,
    1e-30,
    1e30,
    -1e30,
    1e-300,
    1e300,
    1e39,
    3.4e38,
    1e-40,
]
METHODS = ["two_phase", "linear", "dual_quaternion", "two_phase ", "é", "", "\ud800", None, 3]
REFUSALS = (TypeError, ValueError, OverflowError, MemoryError)


class Bytes:
    """Values from bytes; zeros when they are used up."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1] if self._at <= len(self._data) else 0

    def below(self, end):
        return self.byte() % end

    def rarely(self, odds):
        return self.byte() % odds == odds - 1

    def choice(self, items):
        return items[self.byte() % len(items)]

    def numbers(self, *shape):
        """Few different ones, so that few bytes make many numbers."""
        seed = self.byte() | self.byte() << 8
        result = np.random.default_rng(seed).uniform(-1.5, 1.5, shape)
        for _ in range(self.below(4)):
            if result.size:
                result.reshape(-1)[(self.byte() * 31) % result.size] = self.choice(SPECIAL)
        return result


def matrices(b, count, frames=None):
    lead = (count,) if frames is None else (frames, count)
    result = np.tile(np.eye(4), (*lead, 1, 1))
    if b.rarely(8):
        result[..., :3, :] = b.numbers(*lead, 3, 4)
    else:
        turn, _ = np.linalg.qr(np.nan_to_num(b.numbers(3, 3)) + np.eye(3) * 3)
        scale = np.array([b.choice([1.0, 1.0, 1.5, 0.3, 0.0, -1.0, 1e-30, 1e30, 1e-9]) for _ in range(3)])
        result[..., :3, :3] = turn * scale
        result[..., :3, 3] = np.nan_to_num(b.numbers(*lead, 3))
    if b.rarely(40):
        result[..., b.below(4), b.below(4)] = b.choice(SPECIAL)
    return result


def strange(b, array):
    """The same values in another memory layout or type, or something else altogether."""
    array = np.asarray(array)
    kind = b.below(64)
    if kind == 0:
        return array.astype(array.dtype.newbyteorder(">"))
    if kind == 1:
        return np.asfortranarray(array)
    if kind == 2 and array.ndim:
        return array[::-1]
    if kind == 3 and array.ndim:
        return np.repeat(array, 2, axis=0)[::2]
    if kind == 4:
        array.flags.writeable = False
        return array
    if kind == 5:
        raw = np.zeros(array.nbytes + 1, np.uint8)
        unaligned = raw[1:].view(array.dtype).reshape(array.shape)
        unaligned[...] = array
        return unaligned
    if kind == 6:
        return array.tolist()
    if kind == 7:
        with np.errstate(all="ignore"):
            return array.astype(b.choice(["f2", "f4", "f8", "g", "i1", "u8", "i8", "?", "c16", "O", "U5", "S3"]))
    if kind == 8:
        return np.broadcast_to(
            np.float64(b.choice(SPECIAL)), b.choice([(1 << 40, 4, 4), (0, 4, 4), array.shape, (1 << 31,)])
        )
    if kind == 9:
        return b.choice([None, "x", b"x", {}, object(), 1j, [], [[]], [[1], [2, 3]], lambda: 0, 10**400, np.ma.masked])
    if kind == 10 and array.ndim:
        return array[: max(0, len(array) - 1)]
    if kind == 11:
        return array[None]
    if kind == 12:
        return memoryview(np.ascontiguousarray(array))
    if kind == 13:
        return np.lib.stride_tricks.as_strided(array, array.shape, [0] * array.ndim) if array.ndim else array
    return array


def weights_of(b, vertices, joints):
    dense = np.abs(b.numbers(vertices, joints)) * (b.numbers(vertices, joints) > 0)
    kind = b.below(4)
    if kind == 0:
        return strange(b, dense)
    if kind == 1:
        width = b.below(5)
        indices = np.array([[b.below(max(joints, 1)) for _ in range(width)] for _ in range(vertices)], int)
        if b.rarely(16) and indices.size:
            indices.reshape(-1)[0] = b.choice([-1, joints, 2**31, 2**40])
        return strange(b, indices.reshape(vertices, width)), strange(b, np.abs(b.numbers(vertices, width)))
    rows, columns = np.nonzero(dense)
    start = np.searchsorted(rows, np.arange(vertices + 1))
    if b.rarely(16):
        start[b.below(vertices + 1)] += b.byte() - 128
    if kind == 2:
        return strange(b, start), strange(b, columns), strange(b, dense[rows, columns])
    return tuple(strange(b, dense) for _ in range(b.below(5)))


def parents_of(b, count):
    parents = np.array([-1 if j == 0 or b.rarely(5) else b.below(j) for j in range(count)], int)
    if b.rarely(16) and count:
        parents[b.below(count)] = b.choice([-2, count, count - 1, 2**31, -(2**40)])
    return strange(b, parents)


def out_of(b, shape, other):
    kind = b.below(12)
    if kind < 5:
        return None
    out = np.full(shape, 7, b.choice(["f4"] * 6 + ["f8", ">f4"]))
    if kind == 5:
        return strange(b, out)
    if kind == 6:
        return out[::-1]
    if kind == 7 and isinstance(other, np.ndarray) and other.flags.c_contiguous and other.nbytes >= 4:
        flat = other.reshape(-1).view(np.uint8)[: other.nbytes // 4 * 4].view(np.float32)  # over an input
        return flat[: int(np.prod(shape))].reshape(shape) if flat.size >= np.prod(shape) else flat
    return out


def attempt(function, *arguments, **options):
    """The result, or None where it was refused as it should be."""
    try:
        return function(*arguments, **options)
    except REFUSALS as error:
        message = str(error)
        assert isinstance(error, MemoryError) or (":" in message and "expected" in message), message
        return None


def joint_functions(b, count):
    bind, user, world = (strange(b, matrices(b, count)) for _ in range(3))
    parents = parents_of(b, count)
    local = attempt(tps.bind_local, bind, parents)
    local = bind if local is None else local
    attempt(tps.bind_world, local, parents)
    attempt(tps.pose_world, local, user, parents)
    attempt(tps.user_local, world, local, parents)
    attempt(tps.skinning_matrices, world, bind)
    attempt(tps.world_from_skinning, world, bind)
    joint = b.choice([0, 1, count, -1, 2**70, 1.0, None, True])
    increment = strange(b, matrices(b, 1)[0])
    attempt(tps.increment_local, user, joint, increment)
    attempt(tps.increment_world, user, joint, increment, local, parents)


def mask(b, count):
    return None if b.below(2) else strange(b, np.array([b.below(2) for _ in range(count)], bool))


def deform(b, skin, count, vertices):
    frames = b.choice([None, None, 1, 2, 0, 70])
    world = strange(b, matrices(b, count, frames))
    lead = () if frames is None else (frames,)
    for name, width in (("deform", (3,)), ("deform_normals", (3,)), ("matrices", (3, 4)), ("inverse_matrices", (3, 4))):
        options = {
            "method": b.choice(METHODS[:3] * 5 + METHODS),
            "inherited": b.choice(["after", "before"] * 8 + ["never", 0]),
            "blend": b.choice([None, None, 0.5, 2, np.nan, strange(b, np.abs(b.numbers(vertices)) / 2)]),
            "phase": b.choice([None] * 5 + [1, 2, 3, 2**70, True]),
            "nonrigid": mask(b, count),
            "rigid": mask(b, count),
            "threads": b.choice([0, 1, 2, 3] * 4 + [-1, 2**70, 1.5]),
            "space": None if b.below(3) else strange(b, matrices(b, 1)[0]),
        }
        if name == "deform" and b.below(2):
            shape = (vertices, 3) if b.below(2) else (*lead, vertices, 3)
            options["points"] = strange(b, b.numbers(*shape).astype(np.float32))
        out = out_of(b, (*lead, vertices, *width), options.get("points", world))
        before = out.tobytes() if isinstance(out, np.ndarray) and out.nbytes < 1 << 20 else None
        if name == "deform":
            options["offsets"] = b.choice([False, False, True, 1])
        result = attempt(getattr(skin, name), world, out=out, **options)
        if result is None and before is not None:
            assert out.tobytes() == before, f"{name} was refused and has written"
    outs = [out_of(b, (*lead, vertices, 3), world) for _ in range(2)]
    if b.below(4) == 0:
        outs[1] = outs[0]
    attempt(skin.deform_with_normals, world, out=outs[0], normals_out=outs[1], threads=b.below(3))
    worlds = [world, strange(b, matrices(b, count)), matrices(b, count, b.choice([None, 0, 3]))]
    attempt(tps.deform_many, [skin] * 3, worlds, out=[outs[0], None, outs[b.below(2)]], threads=b.below(4))


def test_one_input(data):
    b = Bytes(bytes(data))
    count, vertices = b.below(9), b.choice([0, 1, 5, 9, 17, 40, 2100])
    with np.errstate(all="ignore"):
        if b.below(3) == 0:
            joint_functions(b, count)
        names = b.choice([None, None, [f"joint {j}" for j in range(count)], ["\ud800"], 5])
        bind, parents = strange(b, matrices(b, count)), parents_of(b, count)
        skeleton = attempt(tps.Skeleton, parents, bind, mask(b, count), mask(b, count) if b.rarely(9) else None, names)
        if skeleton is None:
            return
        world = strange(b, matrices(b, count, b.choice([None, 2])))
        attempt(skeleton.pose, world)
        attempt(skeleton.support_joints, mask(b, count))
        attempt(skeleton.separate, world, b.choice(["after", "before"]), mask(b, count), mask(b, count), mask(b, count))
        points = strange(b, b.numbers(vertices, 3))
        normals = None if b.below(2) else strange(b, b.numbers(vertices, 3))
        skin = attempt(tps.Skin, points, weights_of(b, vertices, count), skeleton, normals)
        if skin is not None:
            deform(b, skin, count, len(skin))


def replay(path):
    lines = Path(path).read_text(encoding="ascii").split()
    for line in lines:
        test_one_input(bytes.fromhex(line))
    print(f"{len(lines)} cases of the corpus replayed")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--replay"]:
        replay(sys.argv[2])
    else:
        atheris.instrument_func(test_one_input)
        atheris.Setup(sys.argv, test_one_input)
        atheris.Fuzz()
