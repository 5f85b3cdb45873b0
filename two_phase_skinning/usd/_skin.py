"""A prim of a scene that a skeleton moves."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pxr import Usd, UsdGeom, UsdSkel

from two_phase_skinning import Skin, skinning_matrices
from two_phase_skinning._options import AnyInherited, AnyMethod
from two_phase_skinning.usd._arrays import Points, inverse, matrix, moved, moved_normals, time_code, usd_matrix, vectors
from two_phase_skinning.usd._errors import SceneError, errors_at
from two_phase_skinning.usd._influences import Influences, check_binding, influences, joint_order
from two_phase_skinning.usd._normals import Normals, usdskel_normals
from two_phase_skinning.usd._shapes import Shapes
from two_phase_skinning.usd._skeleton import SceneSkeleton

TOKENS: dict[AnyMethod, str] = {
    "linear": UsdSkel.Tokens.classicLinear,
    "dual_quaternion": UsdSkel.Tokens.dualQuaternion,
}
NormalRule = Literal["deformed", "usdskel"]


class SceneSkin:
    """A prim that is bound to a skeleton: its points, influences and blend shapes, and what they become.

    prim: the prim. skeleton: the SceneSkeleton it is bound to. rigid: its influences are the same for all of it, so
    that it moves as a whole by a new transform; else its points move. skinned: do joints move it? A prim may also
    have blend shapes alone. Times are in the stage's time codes; None is UsdSkel's default time.
    Weights are scaled to a sum of 1, and points without weights stay where they are bound (UsdSkel takes both as they
    are written). Errors are SceneErrors that name the prim.
    """

    def __init__(self, query: Any, skeleton: SceneSkeleton, xforms: Any, kept: dict[Any, Skin], stage: Any) -> None:
        self._stage = stage  # prims do not keep their stage
        self.prim = query.GetPrim()
        self.query = query
        self.skeleton = skeleton
        self._xforms = xforms
        self._kept = kept
        check_binding(self.prim, query)
        self.point_based = bool(self.prim.IsA(UsdGeom.PointBased))
        self.rigid = bool(query.HasJointInfluences() and query.IsRigidlyDeformed())
        reads_points = self.point_based and bool(UsdGeom.PointBased(self.prim).GetPointsAttr().HasAuthoredValue())
        self.skinned = query.HasJointInfluences() and skeleton.poses and (self.rigid or reads_points)
        has_shapes = reads_points and query.HasBlendShapes() and skeleton.has_shape_weights
        self.shapes = Shapes(self.prim, query.GetBlendShapeMapper()) if has_shapes else None
        self.normals = Normals(self.prim) if self.point_based else None
        self._kept_normals: dict[bool, Skin] = {}
        self.order = joint_order(query, skeleton.skeleton)

    def __repr__(self) -> str:
        return f"<SceneSkin <{self.path}> on <{self.skeleton.path}>>"

    @property
    def path(self) -> str:
        """The prim's path."""
        return str(self.prim.GetPath())

    @property
    def moves_points(self) -> bool:
        """Do its points change, by skinning or by blend shapes?"""
        return bool((self.skinned and not self.rigid) or (self.shapes and self.shapes.have_points))

    @property
    def moves_transform(self) -> bool:
        """Does it move as a whole?"""
        return bool(self.skinned and self.rigid)

    @property
    def moves_normals(self) -> bool:
        """Do normals that it has change with it?"""
        if self.normals is None or not self.normals.can_follow:
            return False
        return bool((self.skinned and not self.rigid) or self._shaped_normals)

    @property
    def _shaped_normals(self) -> bool:
        return bool(self.shapes and self.shapes.have_normals and self.normals and not self.normals.by_corner)

    @property
    def method(self) -> AnyMethod:
        """What the scene asks for by skel:skinningMethod: "linear" or "dual_quaternion"."""
        asked = self.query.GetSkinningMethod()
        return "dual_quaternion" if asked == UsdSkel.Tokens.dualQuaternion else "linear"

    def geom_bind(self, time: float | None = None) -> NDArray[np.float64]:
        """(4, 4), from the prim's space to skel space, at bind time: skel:geomBindTransform."""
        return matrix(self.query.GetGeomBindTransform(time_code(time)))

    def to_prim(self, time: float | None = None) -> NDArray[np.float64]:
        """(4, 4), from skel space to the prim's space."""
        return matrix(self._to_world(self.skeleton.prim, time) * inverse(self._to_world(self.prim, time)))

    def _to_world(self, prim: Any, time: float | None) -> Any:
        self._xforms.SetTime(time_code(time))
        return self._xforms.GetLocalToWorldTransform(prim)

    def influences(self, time: float | None = None) -> Influences:
        """(joints, weights), each (V, K): numbers of the skeleton's joints, and weights; V is 1 for a rigid prim."""
        return influences(self.prim, self.query, self.order, time)

    def points(self, time: float | None = None) -> Points:
        """(V, 3) float32, at rest with the blend shapes applied, in the prim's space."""
        rest = self._unshaped(time_code(time))
        return self.shapes.add_to_points(rest, self.skeleton.shape_weights(time)) if self.shapes else rest

    def _unshaped(self, code: Any) -> Points:
        values = UsdGeom.PointBased(self.prim).GetPointsAttr().Get(code)
        if values is None:
            raise SceneError.at(self.prim, f"no points at time {code}; expected them, or a time at which they are")
        return vectors(values)

    def bound(self, time: float | None = None) -> Skin:
        """The points at rest in skel space, bound to the skeleton: a two_phase_skinning.Skin.

        Where the influences do not vary it is made once, of the points at the earliest time without blend shapes, and
        shared among the instances of a prototype.
        """
        if self._influences_vary():
            return self._bind(self._rest_in_skel_space(time), self.influences(time))
        key = *self._what_binds(), time is None
        if key not in self._kept:
            first = Usd.TimeCode.Default() if time is None else Usd.TimeCode.EarliestTime()
            self._kept[key] = self._bind(self._unshaped_in_skel_space(first), self.influences(time))
        return self._kept[key]

    def _influences_vary(self) -> bool:
        primvars = self.query.GetJointIndicesPrimvar(), self.query.GetJointWeightsPrimvar()
        return any(primvar.ValueMightBeTimeVarying() for primvar in primvars)

    def _what_binds(self) -> tuple[Any, ...]:
        source = self.prim.GetPrimInPrototype() if self.prim.IsInstanceProxy() else self.prim
        query = self.query
        attributes = (
            query.GetJointIndicesPrimvar().GetAttr(),
            query.GetJointWeightsPrimvar().GetAttr(),
            query.GetGeomBindTransformAttr(),
        )
        return source.GetPath(), id(self.skeleton.skeleton), *(a.GetPath() if a else None for a in attributes)

    def _unshaped_in_skel_space(self, code: Any) -> Points:
        """Without blend shapes. What is bound must not depend on the time at which it is asked for first."""
        rest = np.zeros((1, 3), np.float32) if self.rigid else self._unshaped(code)
        return moved(rest, matrix(self.query.GetGeomBindTransform(code)))

    def _rest_in_skel_space(self, time: float | None) -> Points:
        rest = np.zeros((1, 3), np.float32) if self.rigid else self.points(time)
        return moved(rest, self.geom_bind(time))

    def _bind(self, points: Points, rows: Influences, normals: Points | None = None) -> Skin:
        if len(rows.joints) != len(points):
            words = f"jointIndices and jointWeights: for {len(rows.joints)} points; expected {len(points)}"
            raise SceneError.at(self.prim, words)
        with errors_at(self.prim):
            return Skin(points, rows, self.skeleton.skeleton, normals)

    def _points_vary(self) -> bool:
        attributes = UsdGeom.PointBased(self.prim).GetPointsAttr(), self.query.GetGeomBindTransformAttr()
        return self.shapes is not None or any(a and a.ValueMightBeTimeVarying() for a in attributes)

    def deform(
        self,
        time: float | None = None,
        method: AnyMethod | None = None,
        inherited: AnyInherited = "after",
        threads: int = 0,
    ) -> Points:
        """The points at a time: (V, 3) float32, in the prim's space.

        method: None, what the scene says; else, as inherited and threads, as for two_phase_skinning.Skin.deform.
        Blend shapes first, then skinning, as UsdSkel has it. Raises SceneError for a prim whose points do not move.
        """
        if not self.moves_points:
            raise SceneError.at(self.prim, "its points do not move; see moves_points and moves_transform")
        if self.rigid or not self.skinned:
            return self.points(time)
        points = self._rest_in_skel_space(time) if self._points_vary() else None
        world = self.skeleton.pose(time)
        skin = self.bound(time)
        if points is not None and len(points) != len(skin):
            raise SceneError.at(self.prim, f"{len(points)} points at time {time}; expected {len(skin)}, as are bound")
        with errors_at(self.prim):
            deformed = skin.deform(world, method or self.method, inherited, points=points, threads=threads)
        return moved(deformed, self.to_prim(time))

    def transform(
        self, time: float | None = None, method: AnyMethod | None = None, inherited: AnyInherited = "after"
    ) -> NDArray[np.float64]:
        """The new local transform of a rigid prim: (4, 4) float64, from its own space to its parent's.

        All of the prim has the same influences, so that each method moves it by one affine matrix: the whole
        deformation of any of its points. Arguments as for deform. Raises SceneError for a prim that is not rigid.
        """
        if not self.moves_transform:
            raise SceneError.at(self.prim, "it does not move as a whole; see moves_points and moves_transform")
        with errors_at(self.prim):
            whole = usd_matrix(self._whole(time, method or self.method, inherited))
        geom_bind, to_world = self.query.GetGeomBindTransform(time_code(time)), self._to_world(self.skeleton.prim, time)
        moved_to = geom_bind * whole * to_world
        if not UsdGeom.Xformable(self.prim).GetResetXformStack():
            moved_to *= inverse(self._xforms.GetParentToWorldTransform(self.prim))
        return matrix(moved_to)

    def _whole(self, time: float | None, method: AnyMethod, inherited: AnyInherited) -> NDArray[np.float64]:
        """(4, 4), in skel space. On one joint all methods are linear; linear ones are blended in float64."""
        world = self.skeleton.pose(time)
        joints, weights = (part[0] for part in self.influences(time))
        if not weights.any():
            return np.eye(4)
        if method == "linear" or np.count_nonzero(weights) == 1:
            matrices = skinning_matrices(world, self.skeleton.skeleton.bind)[joints]
            shares = weights / weights.sum(dtype=np.float64)
            return np.asarray((shares[:, None, None] * matrices).sum(axis=0))
        whole = np.eye(4)
        whole[:3] = self.bound(time).matrices(world, method, inherited)[0]
        return whole

    def deform_normals(
        self,
        time: float | None = None,
        method: AnyMethod | None = None,
        inherited: AnyInherited = "after",
        threads: int = 0,
        rule: NormalRule = "deformed",
    ) -> Points:
        """The normals at a time: (N, 3) float32 of unit length, in the prim's space, for each point or each corner.

        rule: "deformed", by the inverse transpose of the deformation, as Skin.deform_normals; "usdskel", as OpenUSD
        has it, a blend of the joints' inverse transposes, for "linear" and "dual_quaternion".
        The other arguments as for deform. Raises SceneError for a prim without normals that move.
        """
        if not self.moves_normals or self.normals is None:
            raise SceneError.at(self.prim, "it has no normals that move; see moves_normals")
        if self.rigid or not self.skinned:
            return moved_normals(self._rest_normals(self.normals, time)[0], np.eye(4))
        method, world = method or self.method, self.skeleton.pose(time)
        if rule == "usdskel":
            normals, _points, vertices = self._rest_normals(self.normals, time)
            rows, bind = self.influences(time).of(vertices), self.skeleton.skeleton.bind
            turned = usdskel_normals(normals, self.geom_bind(time), world, bind, rows, self._token(method))
            return moved_normals(turned, self.to_prim(time))
        skin = self._bound_normals(self.normals, time)
        with errors_at(self.prim):
            turned = skin.deform_normals(world, method, inherited, threads=threads)
        to_prim = self.to_prim(time)
        return turned if np.array_equal(to_prim, np.eye(4)) else moved_normals(turned, to_prim)

    def _rest_normals(self, normals: Normals, time: float | None) -> tuple[Points, Points, NDArray[np.int64]]:
        """The normals in the prim's space with blend shapes, all of the prim's points, and each normal's of them."""
        points = self.points(time)
        vertices = normals.vertices(time, len(points))
        rest = normals.rest(time, len(vertices))
        if self._shaped_normals and self.shapes:
            rest = self.shapes.add_to_normals(rest, self.skeleton.shape_weights(time))
        return rest, points, vertices

    def _token(self, method: AnyMethod) -> str:
        if method not in TOKENS:
            words = f'rule: "usdskel" with method "{method}"; expected "linear" or "dual_quaternion", which UsdSkel has'
            raise SceneError.at(self.prim, words)
        return TOKENS[method]

    def _bound_normals(self, normals: Normals, time: float | None) -> Skin:
        """The normals, each bound as its point is; kept where nothing of it varies."""
        varies = self._influences_vary() or self._points_vary() or normals.vary
        if not varies and (time is None) in self._kept_normals:
            return self._kept_normals[time is None]
        rest, points, vertices = self._rest_normals(normals, time)
        bind, rows = self.geom_bind(time), self.influences(time).of(vertices)
        skin = self._bind(moved(points, bind)[vertices], rows, moved_normals(rest, bind))
        if not varies:
            self._kept_normals[time is None] = skin
        return skin
