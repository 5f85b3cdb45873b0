"""What skins become, written into a layer."""

from __future__ import annotations

from typing import Any

from pxr import Sdf, UsdGeom, Vt

from two_phase_skinning.usd._arrays import Points, time_code, usd_matrix, usd_vectors
from two_phase_skinning.usd._errors import SceneError, refusals
from two_phase_skinning.usd._options import Distance, Options
from two_phase_skinning.usd._skin import NormalRule, SceneSkin

TYPES = Sdf.ValueTypeNames
# Values are held in memory until the layer is saved; then only where they are in the file.
HELD_BYTES = 32 << 20


class Writer:
    """Writes points, normals, extents and transforms of skins into a layer on disk, in bounded memory.

    layer: on disk. name: of the output, for errors.
    """

    def __init__(self, layer: Any, name: object, options: Options) -> None:
        self.layer = layer
        self.name = name
        self.options = options
        self.distances: dict[str, Distance] = {}
        self._held = 0

    def write(self, skin: SceneSkin, time: float | None) -> None:
        """One prim at one time; None: as its value for all times."""
        method, inherited = self.options.method_of(skin), self.options.inherited
        if skin.moves_points:
            points = skin.deform(time, method, inherited, self.options.threads)
            values = usd_vectors(points)
            self._set(skin, "points", TYPES.Point3fArray, time, values)
            self._set(skin, "extent", TYPES.Float3Array, time, extent(skin, values, time))
            self._compare(skin, time, points)
        if skin.moves_transform:
            transform = skin.transform(time, method, inherited)
            self._set(skin, "xformOp:transform", TYPES.Matrix4d, time, usd_matrix(transform))
            order = self._attribute(skin, "xformOpOrder", TYPES.TokenArray, Sdf.VariabilityUniform)
            order.default = Vt.TokenArray(["xformOp:transform"])
        if skin.moves_normals and self.options.normals != "none":
            self._write_normals(skin, time)

    def _write_normals(self, skin: SceneSkin, time: float | None) -> None:
        options = self.options
        rule: NormalRule = "usdskel" if options.normals == "usdskel" else "deformed"
        method = options.method_of(skin)
        normals = skin.deform_normals(time, method, options.inherited, options.threads, rule)
        name = "primvars:normals" if skin.normals and skin.normals.is_primvar else "normals"
        self._set(skin, name, TYPES.Normal3fArray, time, usd_vectors(normals))

    def _compare(self, skin: SceneSkin, time: float | None, points: Points) -> None:
        method = self.options.compared_of(skin)
        if method:
            theirs = skin.deform(time, method, self.options.inherited, self.options.threads)
            self.distances.setdefault(skin.path, Distance()).add(time, points, theirs)

    def _set(self, skin: SceneSkin, name: str, kind: Any, time: float | None, value: Any) -> None:
        attribute = self._attribute(skin, name, kind, Sdf.VariabilityVarying)
        if time is None:
            attribute.default = value
            return
        self.layer.SetTimeSample(attribute.path, time, value)
        self._held += 12 * len(value)
        if self._held > HELD_BYTES:
            self.save()

    def _attribute(self, skin: SceneSkin, name: str, kind: Any, variability: Any) -> Any:
        path = skin.prim.GetPath().AppendProperty(name)
        attribute = self.layer.GetAttributeAtPath(path)
        if attribute:
            return attribute
        prim = Sdf.CreatePrimInLayer(self.layer, skin.prim.GetPath())
        return Sdf.AttributeSpec(prim, name, kind, variability)

    def save(self) -> None:
        """Brings what is held to the disk. Raises SceneError naming the output where that fails."""
        save(self.layer, self.name)
        self._held = 0


def save(layer: Any, name: object) -> None:
    """Saves a layer. Raises SceneError with the name of the output where that fails, as on a full disk."""
    with refusals(f"{name}: cannot be written"):
        if layer.Save():
            return
    raise SceneError(f"{name}: cannot be written; expected enough room, and leave to write there")


def extent(skin: SceneSkin, points: Vt.Vec3fArray, time: float | None) -> Vt.Vec3fArray:
    """The box around points, with the widths of curves and particles."""
    if not len(points):
        return Vt.Vec3fArray(2)
    for kind in (UsdGeom.Points, UsdGeom.Curves):
        if skin.prim.IsA(kind):
            widths = kind(skin.prim).GetWidthsAttr().Get(time_code(time)) or []
            if kind is UsdGeom.Points and len(widths) == 1:  # one for all, where OpenUSD asks for one each
                widths = Vt.FloatArray(len(points), widths)
            box = kind.ComputeExtent(points, widths) if widths else None
            if box:
                return box
    return UsdGeom.PointBased.ComputeExtent(points)
