"""The normals of a prim, one for each point or for each corner of a face."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pxr import Gf, UsdGeom, UsdSkel, Vt

from two_phase_skinning import skinning_matrices
from two_phase_skinning.usd._arrays import Matrix, Points, time_code, usd_vectors, vectors
from two_phase_skinning.usd._errors import SceneError
from two_phase_skinning.usd._influences import Influences

ONE_EACH_POINT = (UsdGeom.Tokens.vertex, UsdGeom.Tokens.varying)


class Normals:
    """The authored normals of a point-based prim: its ``primvars:normals``, or else its ``normals``."""

    def __init__(self, prim: Any) -> None:
        self.prim = prim
        self.primvar = UsdGeom.PrimvarsAPI(prim).GetPrimvar("normals")
        self.is_primvar = bool(self.primvar and self.primvar.HasAuthoredValue())
        based = UsdGeom.PointBased(prim)
        self.attribute = self.primvar.GetAttr() if self.is_primvar else based.GetNormalsAttr()
        self.interpolation = self.primvar.GetInterpolation() if self.is_primvar else based.GetNormalsInterpolation()

    @property
    def exist(self) -> bool:
        """Are there any, authored?"""
        return bool(self.attribute and self.attribute.HasAuthoredValue())

    @property
    def by_corner(self) -> bool:
        """One for each corner of a face (faceVarying, on a mesh)?"""
        return bool(self.interpolation == UsdGeom.Tokens.faceVarying and self.prim.IsA(UsdGeom.Mesh))

    @property
    def can_follow(self) -> bool:
        """Can they be skinned: one for each point or corner? UsdSkel leaves the others as they are."""
        return self.exist and (self.by_corner or self.interpolation in ONE_EACH_POINT)

    @property
    def vary(self) -> bool:
        """Do they, or the corners that they belong to, change over time?"""
        corners = UsdGeom.Mesh(self.prim).GetFaceVertexIndicesAttr() if self.by_corner else self.attribute
        return bool(self.attribute.ValueMightBeTimeVarying() or corners.ValueMightBeTimeVarying())

    def vertices(self, time: float | None, point_count: int) -> NDArray[np.int64]:
        """The point of each normal."""
        if not self.by_corner:
            return np.arange(point_count)
        corners = UsdGeom.Mesh(self.prim).GetFaceVertexIndicesAttr().Get(time_code(time))
        numbers = np.array(() if corners is None else corners, dtype=np.int64)
        if ((numbers < 0) | (numbers >= point_count)).any():
            raise SceneError.at(self.prim, f"faceVertexIndices: outside of the {point_count} points")
        return numbers

    def rest(self, time: float | None, expected: int) -> Points:
        """(N, 3), as they are authored, of any length."""
        code = time_code(time)
        values = vectors(self.primvar.ComputeFlattened(code) if self.is_primvar else self.attribute.Get(code))
        if len(values) != expected:
            raise SceneError.at(self.prim, f"{len(values)} normals; expected {expected}")
        return values


def usdskel_normals(
    normals: Points, geom_bind: Matrix, world: Matrix, bind: Matrix, rows: Influences, method: str
) -> Points:
    """Normals in skel space, not normalised, by OpenUSD's own function: it blends the joints' inverse transposes.

    normals: (N, 3) in the prim's space, with an entry each in rows; method: a token of UsdSkel.
    """
    # The inverse transpose, transposed once more for its row vectors, is the plain inverse.
    inverses = [Gf.Matrix3d(m.tolist()).GetInverse() for m in skinning_matrices(world, bind)[:, :3, :3]]
    values = usd_vectors(normals)
    UsdSkel.SkinNormals(
        method,
        Gf.Matrix3d(geom_bind[:3, :3].tolist()).GetInverse(),
        Vt.Matrix3dArray(inverses),
        Vt.IntArray.FromNumpy(rows.joints.astype(np.int32).ravel()),
        Vt.FloatArray.FromNumpy(rows.weights.ravel()),
        rows.joints.shape[1],
        values,
        False,
    )
    return vectors(values)
