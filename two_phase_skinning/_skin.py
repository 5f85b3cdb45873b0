"""Skins: meshes bound to skeletons, and their deformation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from two_phase_skinning import _core
from two_phase_skinning._arrays import as_array
from two_phase_skinning._skeleton import Inherited, Skeleton
from two_phase_skinning._weights import compressed_rows

Method = Literal["two_phase", "linear", "dual_quaternion"]


class Skin:
    """A mesh at rest, bound to a skeleton by weights.

    points: (V, 3), the mesh at rest, in the space of the skeleton's bind matrices. normals: (V, 3), any length.
    weights, any number of influences a vertex, in one of four forms:

    - dense, (V, J);
    - padded, ``(indices, weights)``, each (V, K): joint numbers and their weights (pad with any joint and weight 0);
    - compressed rows, ``(indptr, indices, weights)``: (V + 1,), (N,), (N,);
    - a scipy.sparse matrix of shape (V, J).

    Weights are scaled to a sum of 1 for each vertex; joints that come twice are summed; a vertex without weights stays
    where it is. Everything is copied.

    Raises TypeError or ValueError naming the argument: wrong dtype or shape, a joint out of range, a negative weight, a
    number that is not finite. A skin does not change once made; threads may share it. It can be pickled.
    """

    def __init__(self, points: ArrayLike, weights: Any, skeleton: Skeleton, normals: ArrayLike | None = None) -> None:
        if not isinstance(skeleton, Skeleton):
            raise TypeError(f"skeleton: {type(skeleton).__name__}; expected a Skeleton")
        points = as_array(points, "points")
        if points.ndim != 2 or points.shape[1] != 3:
            raise ValueError(f"points: shape {points.shape}; expected (V, 3)")
        rows = compressed_rows(weights, len(points), len(skeleton))
        self._skeleton = skeleton
        self._core = _core.skin(points, normals, *rows, len(skeleton), False)
        self._vertex_count = len(points)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._skeleton, _core.skin_arrays(self._core))

    def __repr__(self) -> str:
        return f"<Skin of {len(self)} vertices on {len(self._skeleton)} joints>"

    def __len__(self) -> int:
        return self._vertex_count

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton that the mesh is bound to."""
        return self._skeleton

    @property
    def weighted(self) -> NDArray[np.bool_]:
        """bool (J,): does any vertex have weight on the joint?"""
        return _core.skin_weighted(self._core)

    @property
    def weights(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Compressed rows (indptr, indices, weights) as they are used: heaviest first, sums of 1, float32 values."""
        _points, _normals, start, joints, weights = _core.skin_arrays(self._core)
        return start, joints, weights

    def deform(
        self,
        world: ArrayLike,
        method: Method = "two_phase",
        inherited: Inherited = "after",
        points: ArrayLike | None = None,
        blend: ArrayLike | None = None,
        phase: int | None = None,
        nonrigid: ArrayLike | None = None,
        rigid: ArrayLike | None = None,
        out: NDArray[np.float32] | None = None,
        threads: int = 0,
        space: ArrayLike | None = None,
        offsets: bool = False,
    ) -> NDArray[np.float32]:
        """The deformed mesh: (V, 3) float32; (F, V, 3) for F frames.

        world: (J, 4, 4) posed joint matrices, or (F, J, 4, 4) for many frames at once.
        method: "two_phase"; "linear" (linear blend skinning); "dual_quaternion" (classic: stretch about the origin by
        linear blending, then dual quaternions, as OpenUSD has it).
        inherited: where scale that children inherit acts, "after" or "before" the bend; see Skeleton.separate.
        points: (V, 3), deform these in place of the bound ones (shape keys); also (F, V, 3) with F frames.
        blend: 0 (linear) .. 1 (the method), one number or one for each vertex, (V,). Not together with phase.
        phase: 1 or 2, stop after the non-rigid or after the rigid phase; not with "linear".
        nonrigid, rigid: bool (J,), the association flags; see Skeleton.separate.
        out: a float32, C-contiguous array of the result's shape, to be written in place of a new one.
        threads: how many at most; 0 chooses by the size of the work. The result does not depend on it.
        space: (4, 4), takes the points into the skeleton's space; the result comes back by its inverse.
        offsets: True: how far each point moves, in place of where it goes to.

        Sources: docs/method.md; dual quaternion blending by Kavan et al. 2008.
        Raises TypeError or ValueError naming the argument; out is not touched then.
        """
        return self._deform(
            "points", world, method, inherited, points, blend, phase, nonrigid, rigid, out, threads, space, offsets
        )

    def deform_with_normals(
        self,
        world: ArrayLike,
        method: Method = "two_phase",
        inherited: Inherited = "after",
        points: ArrayLike | None = None,
        blend: ArrayLike | None = None,
        nonrigid: ArrayLike | None = None,
        rigid: ArrayLike | None = None,
        out: NDArray[np.float32] | None = None,
        normals_out: NDArray[np.float32] | None = None,
        threads: int = 0,
        space: ArrayLike | None = None,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """What deform and deform_normals give, (points, normals), in much less time than the two of them.

        out, normals_out: to be written in place of new arrays. Arguments and errors as for them.
        """
        both: tuple[NDArray[np.float32], NDArray[np.float32]] = _core.deform(
            self._core,
            self._skeleton._core,
            "points_and_normals",
            world,
            method,
            inherited,
            points,
            blend,
            None,
            nonrigid,
            rigid,
            space,
            out,
            normals_out,
            threads,
            False,
        )
        return both

    def deform_normals(
        self,
        world: ArrayLike,
        method: Method = "two_phase",
        inherited: Inherited = "after",
        blend: ArrayLike | None = None,
        phase: int | None = None,
        nonrigid: ArrayLike | None = None,
        rigid: ArrayLike | None = None,
        out: NDArray[np.float32] | None = None,
        threads: int = 0,
        space: ArrayLike | None = None,
    ) -> NDArray[np.float32]:
        """The normals of the deformed mesh: (V, 3) float32 of unit length; (F, V, 3) for F frames.

        By the inverse transpose of each linear blend and the blended rotation of the rigid phase. A normal that a
        singular blend sends to zero keeps its direction at rest; one that is zero at rest stays zero.
        Arguments and errors as for deform; ValueError if the skin was made without normals.
        """
        return self._deform(
            "normals", world, method, inherited, None, blend, phase, nonrigid, rigid, out, threads, space
        )

    def matrices(
        self,
        world: ArrayLike,
        method: Method = "two_phase",
        inherited: Inherited = "after",
        blend: ArrayLike | None = None,
        phase: int | None = None,
        nonrigid: ArrayLike | None = None,
        rigid: ArrayLike | None = None,
        out: NDArray[np.float32] | None = None,
        threads: int = 0,
        space: ArrayLike | None = None,
    ) -> NDArray[np.float32]:
        """Each vertex's whole deformation, an affine matrix: (V, 3, 4) float32; (F, V, 3, 4) for F frames.

        The deformed point is ``m[:, :3] @ point + m[:, 3]``, for the bound point and for any other in its place.
        Arguments and errors as for deform.
        """
        return self._deform(
            "matrices", world, method, inherited, None, blend, phase, nonrigid, rigid, out, threads, space
        )

    def inverse_matrices(
        self,
        world: ArrayLike,
        method: Method = "two_phase",
        inherited: Inherited = "after",
        blend: ArrayLike | None = None,
        phase: int | None = None,
        nonrigid: ArrayLike | None = None,
        rigid: ArrayLike | None = None,
        out: NDArray[np.float32] | None = None,
        threads: int = 0,
        space: ArrayLike | None = None,
    ) -> NDArray[np.float32]:
        """The inverses of ``matrices``, which carry an edit of the deformed mesh back to rest.

        (V, 3, 4) float32, or (F, V, 3, 4). By the pseudo-inverse of the linear part where that is singular.
        Arguments and errors as for deform.
        """
        return self._deform(
            "inverse_matrices", world, method, inherited, None, blend, phase, nonrigid, rigid, out, threads, space
        )

    def _deform(
        self,
        result: str,
        world: ArrayLike,
        method: str,
        inherited: str,
        points: ArrayLike | None,
        blend: ArrayLike | None,
        phase: int | None,
        nonrigid: ArrayLike | None,
        rigid: ArrayLike | None,
        out: NDArray[np.float32] | None,
        threads: int,
        space: ArrayLike | None,
        offsets: bool = False,
    ) -> NDArray[np.float32]:
        array: NDArray[np.float32] = _core.deform(
            self._core,
            self._skeleton._core,
            result,
            world,
            method,
            inherited,
            points,
            blend,
            phase,
            nonrigid,
            rigid,
            space,
            out,
            None,
            threads,
            offsets,
        )
        return array


def _entries(values: Iterable[Any], name: str) -> tuple[Any, ...]:
    try:
        return tuple(values)
    except TypeError:
        raise TypeError(f"{name}: {type(values).__name__}; expected a sequence") from None


def deform_many(
    skins: Sequence[Skin],
    worlds: Sequence[ArrayLike],
    method: Method = "two_phase",
    inherited: Inherited = "after",
    out: Sequence[NDArray[np.float32] | None] | None = None,
    threads: int = 0,
) -> list[NDArray[np.float32]]:
    """Deforms many meshes at once, such as all characters of a frame: small ones are spread over threads.

    skins, worlds: a skin for each mesh (one may come twice) and its posed joint matrices, as for Skin.deform.
    out: an array, or None, for each mesh; none may share memory with another mesh's arrays.
    Returns what Skin.deform gives for each, to the last bit. The other arguments and errors are as there; where an
    entry is refused, none is written.
    """
    skins, worlds = _entries(skins, "skins"), _entries(worlds, "worlds")
    outs = (None,) * len(skins) if out is None else _entries(out, "out")
    for number, skin in enumerate(skins):
        if not isinstance(skin, Skin):
            raise TypeError(f"skins: entry {number} is {type(skin).__name__}; expected a Skin")
    for name, entries in (("worlds", worlds), ("out", outs)):
        if len(entries) != len(skins):
            raise ValueError(f"{name}: {len(entries)} entries; expected {len(skins)}, one for each skin")
    cores, skeletons = tuple(skin._core for skin in skins), tuple(skin._skeleton._core for skin in skins)
    return _core.deform_many(cores, skeletons, worlds, method, inherited, outs, threads)


def _restore(skeleton: Skeleton, arrays: tuple[Any, ...]) -> Skin:
    """A skin from what skin_arrays gave: the same to the last bit."""
    points, normals, start, joints, weights = arrays
    skin = Skin.__new__(Skin)
    skin._skeleton = skeleton
    skin._core = _core.skin(points, normals, start, joints, weights, len(skeleton), True)
    skin._vertex_count = len(points)
    return skin
