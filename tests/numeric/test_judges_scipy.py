"""An independent judge for the joint stage: SciPy's polar decomposition."""

from __future__ import annotations

import numpy as np
import reference as ref
import scipy.linalg
import scipy.spatial.transform
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from rigs import Rig, make_rig, rigs
from subjects import each_inherited, skeleton_of, skin_of

import two_phase_skinning as tps

Array = NDArray[np.float64]


@each_inherited
@given(rig=rigs(edges=("inheriting",)))
def test_nonrigid_part_is_the_polar_stretch_of_the_users_transform(inherited: tps.AnyInherited, rig: Rig) -> None:
    """Where joints inherit, the own transform is U = (W_p L)^-1 W itself: its stretch, to 1e-10."""
    s = skeleton_of(rig).separate(rig.world, inherited=inherited)
    user = ref.user_local(rig.world, ref.bind_local(rig.bind, rig.parents), rig.parents)
    for j, u in enumerate(user):
        _, stretch = scipy.linalg.polar(u[:3, :3])
        np.testing.assert_allclose(s.nonrigid_part[j], ref.affine(stretch), rtol=0, atol=1e-10)


@each_inherited
@given(rig=rigs(topologies=("chain",), most_joints=1))
def test_a_root_turns_by_the_polar_rotation(inherited: tps.AnyInherited, rig: Rig) -> None:
    """One root, any bind: Q's rotation is the best from L N to L R N, which SciPy's Procrustes solution also finds."""
    s = skeleton_of(rig).separate(rig.world, inherited=inherited)
    x = np.linalg.inv(rig.bind[0, :3, :3]) @ rig.world[0, :3, :3]
    turn, stretch = scipy.linalg.polar(x)
    source, target = rig.bind[0, :3, :3] @ stretch, rig.bind[0, :3, :3] @ turn @ stretch
    # |q a - c| for columns is |aᵀ qᵀ - cᵀ| for the rows that SciPy takes.
    best, _ = scipy.linalg.orthogonal_procrustes(source.T, target.T)
    np.testing.assert_allclose(s.rigid[0, :3, :3], best.T, rtol=0, atol=1e-10)
    np.testing.assert_allclose(s.rigid[0] @ rig.bind[0, :, 3], rig.world[0, :, 3], rtol=0, atol=1e-10)


@given(seed=st.integers(0, 2**32 - 1))
def test_dual_quaternion_stretch_and_rotation(seed: int) -> None:
    """One joint: phase 1 is SciPy's stretch about the origin, phase 2 its rotation and the translation."""
    rig = make_rig(seed, count=1, pose="free")
    whole = ref.skinning_matrices(rig.world, rig.bind)[0]
    turn, stretch = scipy.linalg.polar(whole[:3, :3])
    skin = skin_of(rig)
    held = rig.weights.sum(axis=1) > 0
    one = skin.deform(rig.world, method="dual_quaternion", phase=1)[held]
    two = skin.deform(rig.world, method="dual_quaternion", phase=2)[held]
    atol = 1e-5 * max(rig.size, np.abs(whole).max())
    np.testing.assert_allclose(one, rig.points[held] @ stretch.T, rtol=0, atol=atol)
    np.testing.assert_allclose(two, rig.points[held] @ stretch.T @ turn.T + whole[:3, 3], rtol=0, atol=atol)


@given(seed=st.integers(0, 2**32 - 1), weight=st.floats(0.05, 0.95))
def test_two_rotations_blend_on_the_great_circle_between_them(seed: int, weight: float) -> None:
    """SciPy's rotations as judge of phase 2: the normalised sum of the two unit quaternions."""
    rig = make_rig(seed, count=2, topology="forest", bind="rigid", pose="rigid")
    weights = np.tile([weight, 1 - weight], (len(rig.points), 1))
    turns = scipy.spatial.transform.Rotation.from_matrix(ref.lin(ref.skinning_matrices(rig.world, rig.bind)))
    a, b = turns.as_quat()
    b = b if a @ b >= 0 else -b
    blended = scipy.spatial.transform.Rotation.from_quat(weight * a + (1 - weight) * b)  # normalises
    matrices = skin_of(rig, weights).matrices(rig.world)
    assume(abs(a @ b) > 1e-3)  # away from 180 degrees, where either sign is right
    expected = np.broadcast_to(blended.as_matrix(), (len(weights), 3, 3))
    # 26 roundings, as tolerance.py counts them, over the sum's length, which is 0.7 at least.
    np.testing.assert_allclose(matrices[:, :, :3], expected, rtol=0, atol=40 * 2.0**-24)
