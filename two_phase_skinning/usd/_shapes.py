"""Blend shapes of a prim, with their in-betweens."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pxr import UsdSkel

from two_phase_skinning.usd._arrays import Points, vectors
from two_phase_skinning.usd._errors import SceneError


class Shape(NamedTuple):
    """Offsets of one shape or in-between: which points (None: all, in order), how far, and their normals' offsets."""

    indices: NDArray[np.int64] | None
    offsets: Points
    normal_offsets: Points


class Shapes:
    """The blend shapes that a prim is bound to.

    OpenUSD's own UsdSkelBlendShapeQuery says how much of each shape and in-between a weight means; here they are
    added up. Source: https://openusd.org/release/api/_usd_skel__schemas.html, "Blend Shapes".
    """

    def __init__(self, prim: Any, mapper: Any) -> None:
        self._prim = prim
        self._mapper = mapper
        self._query = UsdSkel.BlendShapeQuery(UsdSkel.BindingAPI(prim))
        self._shapes = [self._shape(number) for number in range(self._query.GetNumSubShapes())]

    def _shape(self, number: int) -> Shape:
        shape = self._query.GetBlendShape(self._query.GetBlendShapeIndex(number))
        if not shape:
            raise SceneError.at(self._prim, "skel:blendShapeTargets: not all are BlendShape prims")
        between = self._query.GetInbetween(number)
        source = between if between else shape
        offsets = source.GetOffsets() if between else source.GetOffsetsAttr().Get()
        normals = source.GetNormalOffsets() if between else source.GetNormalOffsetsAttr().Get()
        indices = shape.GetPointIndicesAttr().Get()
        return Shape(
            np.array(indices, dtype=np.int64) if indices else None,
            vectors(() if offsets is None else offsets),
            vectors(() if normals is None else normals),
        )

    @property
    def have_normals(self) -> bool:
        """Does any shape offset normals?"""
        return any(len(shape.normal_offsets) for shape in self._shapes)

    @property
    def have_points(self) -> bool:
        """Does any shape offset points?"""
        return any(len(shape.offsets) for shape in self._shapes)

    def _active(self, weights: Any) -> list[tuple[float, Shape]]:
        remapped = self._mapper.Remap(weights)
        amounts, _targets, numbers = self._query.ComputeSubShapeWeights(remapped)
        return [(float(w), self._shapes[n]) for w, n in zip(amounts, numbers, strict=True) if w != 0]

    def add_to_points(self, points: Points, weights: Any) -> Points:
        """(V, 3) points with the shapes added; weights as SceneSkeleton.shape_weights gives them."""
        return self._add(points, [(w, shape.indices, shape.offsets) for w, shape in self._active(weights)])

    def add_to_normals(self, normals: Points, weights: Any) -> Points:
        """(V, 3) normals, one for each point, with the shapes' offsets added; not normalised."""
        return self._add(normals, [(w, shape.indices, shape.normal_offsets) for w, shape in self._active(weights)])

    def _add(self, values: Points, parts: list[tuple[float, NDArray[np.int64] | None, Points]]) -> Points:
        values = values.copy()
        for weight, indices, offsets in parts:
            if not len(offsets):
                continue
            expected = len(values) if indices is None else len(indices)
            if len(offsets) != expected:
                raise SceneError.at(self._prim, f"blend shape: {len(offsets)} offsets; expected {expected}")
            if indices is None:
                values += np.float32(weight) * offsets
            elif ((indices < 0) | (indices >= len(values))).any():
                raise SceneError.at(self._prim, f"blend shape: pointIndices outside of the {len(values)} points")
            else:
                np.add.at(values, indices, np.float32(weight) * offsets)
        return values
