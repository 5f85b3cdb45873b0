"""Skinning turned off in a layer, so that what was baked is not skinned once more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pxr import Sdf, UsdGeom, UsdSkel

from two_phase_skinning.usd._options import Options
from two_phase_skinning.usd._skin import SceneSkin

BOUND_BY = {
    "primvars:skel:geomBindTransform": Sdf.ValueTypeNames.Matrix4d,
    "primvars:skel:jointIndices": Sdf.ValueTypeNames.IntArray,
    "primvars:skel:jointWeights": Sdf.ValueTypeNames.FloatArray,
}


def turn_off(layer: Any, baked: Iterable[SceneSkin], others: Iterable[SceneSkin], options: Options) -> None:
    """Unbinds the baked prims, and makes plain transforms of the SkelRoots in which nothing else is skinned.

    Instances with baked prims become copies, since no layer can say anything of what is inside an instance. Boxes that
    models keep for all that is in them (extentsHint) are taken away, so that they are computed from the new points.
    """
    kept = {prim.GetPath() for skin in others for prim in _above(skin.prim)}
    for skin in baked:
        _unbind(layer, skin, options)
        for prim in _above(skin.prim):
            if prim.IsInstance():
                _spec(layer, prim).instanceable = False
            if prim.IsA(UsdSkel.Root) and prim.GetPath() not in kept:
                _spec(layer, prim).typeName = "Xform"
            hint = UsdGeom.ModelAPI(prim).GetExtentsHintAttr()
            if hint and hint.HasAuthoredValue():
                _block(layer, prim, "extentsHint", Sdf.ValueTypeNames.Float3Array)


def _above(prim: Any) -> Iterable[Any]:
    while prim and not prim.IsPseudoRoot():
        yield prim
        prim = prim.GetParent()


def _spec(layer: Any, prim: Any) -> Any:
    return Sdf.CreatePrimInLayer(layer, prim.GetPath())


def _block(layer: Any, prim: Any, name: str, kind: Any) -> None:
    path = prim.GetPath().AppendProperty(name)
    attribute = layer.GetAttributeAtPath(path) or Sdf.AttributeSpec(_spec(layer, prim), name, kind)
    attribute.default = Sdf.ValueBlock()


def _unbind(layer: Any, skin: SceneSkin, options: Options) -> None:
    prim, spec = skin.prim, _spec(layer, skin.prim)
    if not prim.HasAPI(UsdSkel.BindingAPI):  # it is bound from above; to say that it is not, it needs the schema
        spec.SetInfo("apiSchemas", Sdf.TokenListOp.Create(prependedItems=["SkelBindingAPI"]))
    _clear(spec, "skel:skeleton")
    for name, kind in BOUND_BY.items():  # Blender takes them for a binding, whatever skel:skeleton says
        if prim.HasAttribute(name) and prim.GetAttribute(name).HasAuthoredValue():
            _block(layer, prim, name, kind)
    if skin.query.HasBlendShapes():
        _clear(spec, "skel:blendShapeTargets")
        _block(layer, prim, "skel:blendShapes", Sdf.ValueTypeNames.TokenArray)
    if not skin.normals or not skin.moves_normals:
        return
    if options.normals == "none":
        _block(layer, prim, skin.normals.attribute.GetName(), Sdf.ValueTypeNames.Normal3fArray)
    if skin.normals.is_primvar:
        _block(layer, prim, "primvars:normals:indices", Sdf.ValueTypeNames.IntArray)


def _clear(spec: Any, name: str) -> None:
    Sdf.RelationshipSpec(spec, name, False).targetPathList.ClearEditsAndMakeExplicit()
