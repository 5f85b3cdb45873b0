"""Every kernel that this machine can run computes what the reference does, and nearly what the others do."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest
import reference as ref
import tolerance
from numpy.typing import NDArray
from rigs import make_rig
from subjects import each_method, skin_of, skin_separation

import two_phase_skinning as tps
from two_phase_skinning import _core

KERNELS = range(len(_core.kernels()))
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=_core.kernels())


def with_kernel(skin: tps.Skin, kernel: int) -> tps.Skin:
    """The same skin, deformed by another kernel."""
    other = copy(skin)
    core = skin._core
    other._core = _core.Skin(skin.skeleton._core, core.points(), core.normals(), *core.weights(), "kept", kernel)
    return other


def results(skin: tps.Skin, world: NDArray[np.float64], method: tps.AnyMethod) -> dict[str, NDArray[np.float32]]:
    return {
        "points": skin.deform(world, method=method),
        "normals": skin.deform_normals(world, method=method),
        "matrices": skin.matrices(world, method=method),
        "inverse_matrices": skin.inverse_matrices(world, method=method),
    }


@each_kernel
@each_method
@pytest.mark.parametrize("pose", ["rigid", "stretch", "shear"])
def test_points_are_the_references(kernel: int, method: tps.AnyMethod, pose: str) -> None:
    for seed in range(4):
        rig = make_rig(seed, pose=pose)
        s = skin_separation(rig)
        expected = ref.deform(ref.vertex_matrices(s, rig.normalised, method), rig.points)
        actual = with_kernel(skin_of(rig), kernel).deform(rig.world, method=method)
        tolerance.assert_within(actual, expected, tolerance.bounds(rig, s, method).position, method)


@each_kernel
@each_method
def test_results_agree_with_the_best_kernels(kernel: int, method: tps.AnyMethod) -> None:
    """Between two kernels lies the rounding of fused multiply-adds: a few units in the last place of a blend."""
    rig = make_rig(5, pose="shear")
    skin = skin_of(rig, normals=rig.normals)
    best = results(skin, rig.world, method)
    for name, actual in results(with_kernel(skin, kernel), rig.world, method).items():
        scale = np.abs(best[name]).max()
        np.testing.assert_allclose(actual, best[name], rtol=0, atol=64 * np.finfo(np.float32).eps * scale, err_msg=name)


def test_a_kernel_that_is_not_there() -> None:
    skin = skin_of(make_rig(0))
    with pytest.raises(ValueError, match=r"^kernel: 99; expected one that this machine has"):
        with_kernel(skin, 99)


def test_build_info_says_what_runs() -> None:
    info = tps.build_info()
    assert info["version"] == tps.__version__
    assert info["kernel"] == info["kernels"][0] == _core.kernels()[0]
    assert info["compiler"]
