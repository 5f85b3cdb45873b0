"""A tube of flesh around a straight chain of bones: the limb that skins see, and the solid that the judge solves."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from skfem import Basis, ElementHex1

from judge.equilibrium import Body
from judge.limb import Limb
from judge.profiles import PROFILES, chain_weights
from judge.solid import Solid
from judge.tube_mesh import Fineness, TubeMesh, tube_mesh

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True)
class Judge:
    """What nobody knows of a limb, and the mesh.

    How near to a joint the bones reach, how thick they are, both over the limb's radius; how hard flesh is to compress.
    """

    margin: float = 0.75
    core: float = 0.3
    nu: float = 0.45
    fineness: Fineness = field(default_factory=Fineness)


def chain(lengths: Array, rolls: Array) -> Array:
    """Bind matrices of bones up the z axis."""
    bind = np.broadcast_to(np.eye(4), (len(lengths), 4, 4)).copy()
    for j, roll in enumerate(rolls):
        bind[j, :3, 0] = np.cos(roll), np.sin(roll), 0
        bind[j, :3, 1] = 0, 0, 1
        bind[j, :3, 2] = np.sin(roll), -np.cos(roll), 0
        bind[j, 2, 3] = lengths[:j].sum()
    return bind


def tube_triangles(rings: Index) -> Index:
    """The sides of a tube, and a fan over each end."""
    following = np.roll(rings, -1, axis=1)
    sides = [
        np.stack([rings[:-1], following[:-1], following[1:]], axis=-1).reshape(-1, 3),
        np.stack([rings[:-1], following[1:], rings[1:]], axis=-1).reshape(-1, 3),
    ]
    around = np.arange(1, rings.shape[1] - 1)
    low = np.stack([rings[0, :1].repeat(len(around)), rings[0, around + 1], rings[0, around]], axis=-1)
    high = np.stack([rings[-1, :1].repeat(len(around)), rings[-1, around], rings[-1, around + 1]], axis=-1)
    return np.concatenate([*sides, low, high])


def mesh_of(lengths: Array, radius: float, judge: Judge) -> TubeMesh:
    return tube_mesh(lengths, radius, judge.core, judge.fineness)


def tube_limb(lengths: Array, rolls: Array, radius: float, judge: Judge) -> Limb:
    made = mesh_of(lengths, radius, judge)
    around = made.surface.shape[1]
    rings = np.arange(made.surface.size).reshape(-1, around)
    weights = {p: np.repeat(chain_weights(made.along, lengths, p), around, axis=0) for p in PROFILES}
    points = made.mesh.p.T[made.surface.ravel()]
    parents = np.arange(-1, len(lengths) - 1)
    return Limb(parents, chain(lengths, rolls), points, tube_triangles(rings), weights, radius, rings, made.along)


def tube_body(lengths: Array, radius: float, judge: Judge) -> Body:
    """The core is held by its bone where it is further than the margin from every joint that turns."""
    made = mesh_of(lengths, radius, judge)
    solid = Solid(Basis(made.mesh, ElementHex1(), intorder=3), judge.nu)
    heads = np.cumsum(lengths)[:-1]
    height = solid.rest[:, 2]
    clear = np.abs(height[:, None] - heads).min(axis=1) > judge.margin * radius + 1e-9
    held = np.where(made.core & clear, np.searchsorted(heads, height), -1)
    skin = made.surface.ravel()
    pick = csr_array((np.ones(len(skin)), (np.arange(len(skin)), skin)), shape=(len(skin), len(height)))
    return Body(solid, held, pick, radius)
