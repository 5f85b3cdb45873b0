"""Skins: meshes bound to skeletons, and their deformation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from two_phase_skinning import _core
from two_phase_skinning._arrays import BoolArray, Float32Array, Float64Array, IntArray, affine, as_array
from two_phase_skinning._normals import blend_of_joints, check_rule
from two_phase_skinning._options import AnyInherited, AnyMethod, BothOptions, DeformOptions, NormalOptions, PoseOptions
from two_phase_skinning._skeleton import Skeleton
from two_phase_skinning._weights import compressed_rows


class Skin:
    """A mesh at rest, bound to a skeleton by weights.

    points: (V, 3), the mesh at rest, in the space of the skeleton's bind matrices. normals: (V, 3), any length.
    weights, any number of influences a vertex, in one of five forms:

    - dense, (V, J);
    - padded, ``(indices, weights)``, each (V, K): joint numbers and their weights (pad with -1, or with any joint and
      weight 0);
    - compressed rows, ``(indptr, indices, weights)``: (V + 1,), (N,), (N,);
    - a list of V rows, each a list of ``(joint, weight)`` pairs or a dict; joints by number or name;
    - a scipy.sparse matrix of shape (V, J).

    Weights are scaled to a sum of 1 for each vertex; joints that come twice are summed; a vertex without weights stays
    where it is. normalise: False: sums stay what they are, as UsdSkel takes them; what is blended linearly is then
    scaled by them, about the origin of the points' space, and what is blended rigidly is not.
    geom_bind: (4, 4), takes points and normals into the space of the bind matrices, as UsdSkel's geomBindTransform
    does; results are in that space. Everything is copied.

    Raises TypeError or ValueError naming the argument: wrong dtype or shape, a joint out of range, a negative weight, a
    number that is not finite. A skin does not change once made; threads may share it. It can be pickled.
    """

    def __init__(
        self,
        points: ArrayLike,
        weights: Any,
        skeleton: Skeleton,
        normals: ArrayLike | None = None,
        geom_bind: ArrayLike | None = None,
        normalise: bool = True,
    ) -> None:
        if not isinstance(skeleton, Skeleton):
            raise TypeError(f"skeleton: {type(skeleton).__name__}; expected a Skeleton")
        points = as_array(points, "points")
        if points.ndim != 2 or points.shape[1] != 3:
            raise ValueError(f"points: shape {points.shape}; expected (V, 3)")
        rows = compressed_rows(weights, len(points), len(skeleton), skeleton._number)
        self._skeleton = skeleton
        self._geom_bind = None if geom_bind is None else affine(geom_bind, "geom_bind")
        if not isinstance(normalise, bool | np.bool_):
            raise TypeError(f"normalise: {normalise!r}; expected True or False")
        self._normalised = bool(normalise)
        row_sum: Literal["one", "given"] = "one" if normalise else "given"
        bound = _core.Skin(skeleton._core, points, normals, *rows, row_sum)
        if self._geom_bind is not None:  # what is bound was checked; now it goes where it belongs
            bound = _core.Skin(skeleton._core, self._moved(points), self._turned(normals), *rows, row_sum)
        self._core = bound
        self._vertex_count = len(points)

    def _moved(self, points: Any) -> Any:
        """Points in the space of the bind matrices."""
        if self._geom_bind is None or points is None:
            return points
        array = as_array(points, "points")
        if array.ndim < 2 or array.shape[-1] != 3 or array.dtype.kind not in "fiu":
            return array  # the core says what is wrong with them
        return array @ self._geom_bind[:3, :3].T + self._geom_bind[:3, 3]

    def _turned(self, normals: Any) -> Any:
        """Normals there, by the cofactors, which are the inverse transpose but for a factor."""
        if self._geom_bind is None or normals is None:
            return normals
        columns = self._geom_bind[:3, :3].T
        cofactors = np.array([np.cross(columns[(k + 1) % 3], columns[(k + 2) % 3]) for k in range(3)])
        sign = -1 if np.linalg.det(self._geom_bind[:3, :3]) < 0 else 1
        return sign * as_array(normals, "normals") @ cofactors

    def __reduce__(self) -> tuple[Any, ...]:
        core = self._core
        arrays = (core.points(), core.normals(), *core.weights())
        return _restore, (self._skeleton, arrays, self._geom_bind, self._normalised)

    def __repr__(self) -> str:
        return f"<Skin of {len(self)} vertices on {len(self._skeleton)} joints>"

    def __len__(self) -> int:
        return self._vertex_count

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton that the mesh is bound to."""
        return self._skeleton

    @property
    def points(self) -> Float32Array:
        """(V, 3) float32: the points at rest, as they are deformed; a copy."""
        return self._core.points()

    @property
    def normals(self) -> Float32Array | None:
        """(V, 3) float32: the normals at rest, of unit length (or zero); a copy. None if none were given."""
        return self._core.normals()

    @property
    def weighted(self) -> BoolArray:
        """bool (J,): does any vertex have weight on the joint?"""
        return self._core.weighted()

    @property
    def weights(self) -> tuple[IntArray, IntArray, Float64Array]:
        """Compressed rows (indptr, indices, weights) as they are used: heaviest first, float32 values, sums of 1.

        With normalise=False the sums are those that were given.
        """
        return self._core.weights()

    @property
    def unweighted(self) -> IntArray:
        """The numbers of the vertices without weights, which stay where they are; int64, ascending."""
        start, _joints, _weights = self._core.weights()
        return np.flatnonzero(np.diff(start) == 0)

    def deform(
        self,
        world: ArrayLike,
        method: AnyMethod = "two_phase",
        inherited: AnyInherited = "after",
        **options: Unpack[DeformOptions],
    ) -> Float32Array:
        """The deformed mesh: (V, 3) float32; (F, V, 3) for F frames.

        world: (J, 4, 4) posed joint matrices, or (F, J, 4, 4) for many frames at once.
        method: "two_phase"; "linear" (linear blend skinning); "dual_quaternion" (classic: stretch about the origin by
        linear blending, then dual quaternions, as OpenUSD has it).
        inherited: where scale that children inherit acts, "after" or "before" the bend; see Skeleton.separate.

        Options, by name. With many frames each array may also be a stack of F of them, one for each frame:

        points: (V, 3), deform these in place of the bound ones (shape keys).
        blend: 0 (linear) .. 1 (the method), one number or one for each vertex, (V,). Not together with phase.
        phase: 1 or 2, stop after the non-rigid or after the rigid phase; not with "linear".
        nonrigid, rigid: bool (J,), the association flags; see Skeleton.separate.
        space: (4, 4), takes the points into the skeleton's space; the result comes back by its inverse.
        offsets: True: how far each point moves, in place of where it goes to.
        out: a float32, C-contiguous array of the result's shape, to be written in place of a new one.
        threads: how many at most; 0 chooses by the size of the work and the processors that the process may use. The
        result does not depend on it.

        Results are float32, accurate to some 1e-7 of the mesh's size: a fit that differentiates them numerically needs
        steps of about 1e-3 (``diff_step`` of scipy.optimize), since the default of 1.5e-8 is lost in rounding.
        Sources: linear blending as in Magnenat-Thalmann et al. 1988; dual quaternion blending by Kavan et al. 2008;
        the two phases as Skeleton.separate says.
        Raises TypeError or ValueError naming the argument; out is not touched then.
        """
        return self._deform("points", world, method, inherited, options)

    def deform_with_normals(
        self,
        world: ArrayLike,
        method: AnyMethod = "two_phase",
        inherited: AnyInherited = "after",
        **options: Unpack[BothOptions],
    ) -> tuple[Float32Array, Float32Array]:
        """What deform and deform_normals give, (points, normals), in much less time than the two of them.

        out, normals_out: to be written in place of new arrays. Other options and errors as for deform.
        """
        both: tuple[Float32Array, Float32Array] = self._core.deform(
            "points_and_normals", world, self._job(method, inherited, options)
        )
        return both

    def deform_normals(
        self,
        world: ArrayLike,
        method: AnyMethod = "two_phase",
        inherited: AnyInherited = "after",
        **options: Unpack[NormalOptions],
    ) -> Float32Array:
        """The normals of the deformed mesh: (V, 3) float32 of unit length; (F, V, 3) for F frames.

        rule: "surface": by the inverse transpose of each linear blend and the blended rotation of the rigid phase, so
        that a normal is that of the deformed surface. "joints": by the blend of the joints' inverse transposes, as
        UsdSkel has it, up to some 5 degrees apart; with "linear" and "dual_quaternion" alone, and of the other options
        with out and threads.
        A normal that a singular blend sends to zero keeps its direction at rest; one that is zero at rest stays zero.
        Options, but for points and offsets, and errors as for deform; ValueError if the skin has no normals.
        """
        rule = check_rule(options.pop("rule", "surface"), method, options)
        if rule == "surface" or self._core.normals() is None:  # the core says that there are none
            return self._deform("normals", world, method, inherited, options)
        return blend_of_joints(
            self._normals_as_points, world, self._skeleton.bind, self._job(method, inherited, options)
        )

    @cached_property
    def _normals_as_points(self) -> _core.Skin:
        """A skin whose points are the normals, for the rule of joints; made when it is first wanted."""
        row_sum: Literal["kept", "given"] = "kept" if self._normalised else "given"
        return _core.Skin(self._skeleton._core, self._core.normals(), None, *self._core.weights(), row_sum)

    def matrices(
        self,
        world: ArrayLike,
        method: AnyMethod = "two_phase",
        inherited: AnyInherited = "after",
        **options: Unpack[PoseOptions],
    ) -> Float32Array:
        """Each vertex's whole deformation, an affine matrix: (V, 3, 4) float32; (F, V, 3, 4) for F frames.

        The deformed point is ``m[:, :3] @ point + m[:, 3]``, for the bound point and for any other in its place.
        Options, but for points and offsets, and errors as for deform.
        """
        return self._deform("matrices", world, method, inherited, options)

    def inverse_matrices(
        self,
        world: ArrayLike,
        method: AnyMethod = "two_phase",
        inherited: AnyInherited = "after",
        **options: Unpack[PoseOptions],
    ) -> Float32Array:
        """The inverses of ``matrices``, which carry an edit of the deformed mesh back to rest.

        (V, 3, 4) float32, or (F, V, 3, 4). By the pseudo-inverse of the linear part where that is singular.
        Options, but for points and offsets, and errors as for deform.
        """
        return self._deform("inverse_matrices", world, method, inherited, options)

    def _deform(
        self, result: str, world: ArrayLike, method: AnyMethod, inherited: AnyInherited, options: Mapping[str, Any]
    ) -> Float32Array:
        array: Float32Array = self._core.deform(result, world, self._job(method, inherited, options))
        return array

    def _job(self, method: AnyMethod, inherited: AnyInherited, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options as the core reads them."""
        job = {**options, "method": method, "inherited": inherited}
        if self._geom_bind is not None and "points" in job:
            job["points"] = self._moved(job["points"])
        return job


# Options of deform_many of which each mesh has its own.
BY_MESH = ("points", "blend", "nonrigid", "rigid", "space", "out")


def _entries(values: Iterable[Any], name: str) -> tuple[Any, ...]:
    try:
        return tuple(values)
    except TypeError:
        raise TypeError(f"{name}: {type(values).__name__}; expected a sequence") from None


def deform_many(
    skins: Sequence[Skin],
    worlds: Sequence[ArrayLike],
    method: AnyMethod = "two_phase",
    inherited: AnyInherited = "after",
    out: Sequence[Float32Array | None] | None = None,
    threads: int = 0,
    **options: Any,
) -> list[Float32Array]:
    """Deforms many meshes at once, such as all characters of a frame: small ones are spread over threads.

    skins, worlds: a skin for each mesh (one may come twice) and its posed joint matrices, as for Skin.deform.
    out: an array, or None, for each mesh; none may share memory with another mesh's arrays.
    points, blend, nonrigid, rigid, space: as for Skin.deform, but a sequence of them, one (or None) for each mesh.
    phase, offsets: as for Skin.deform, the same for all.
    Returns what Skin.deform gives for each, to the last bit. Errors are as there; where an entry is refused, none is
    written.
    """
    skins, worlds = _entries(skins, "skins"), _entries(worlds, "worlds")
    by_mesh = {name: options.pop(name) for name in BY_MESH if options.get(name) is not None}
    if out is not None:
        by_mesh["out"] = out
    by_mesh = {name: _entries(values, name) for name, values in by_mesh.items()}
    for number, skin in enumerate(skins):
        if not isinstance(skin, Skin):
            raise TypeError(f"skins: entry {number} is {type(skin).__name__}; expected a Skin")
    for name, entries in (("worlds", worlds), *by_mesh.items()):
        if len(entries) != len(skins):
            raise ValueError(f"{name}: {len(entries)} entries; expected {len(skins)}, one for each skin")
    jobs = []
    for number, (skin, world) in enumerate(zip(skins, worlds, strict=True)):
        own = {name: entries[number] for name, entries in by_mesh.items()}
        job = skin._job(method, inherited, {**options, "threads": threads, **own})
        jobs.append((skin._core, world, job))
    return _core.deform_many(tuple(jobs))


def _restore(
    skeleton: Skeleton, arrays: tuple[Any, ...], geom_bind: Float64Array | None = None, normalised: bool = True
) -> Skin:
    """A skin from its own arrays: the same to the last bit."""
    points, normals, start, joints, weights = arrays
    skin = Skin.__new__(Skin)
    skin._skeleton = skeleton
    skin._geom_bind = geom_bind
    skin._normalised = normalised
    row_sum: Literal["kept", "given"] = "kept" if normalised else "given"
    skin._core = _core.Skin(skeleton._core, points, normals, start, joints, weights, row_sum)
    skin._vertex_count = len(points)
    return skin
