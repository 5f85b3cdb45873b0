"""What of a USD scene is bound to skeletons."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pxr import Usd, UsdGeom, UsdSkel

from two_phase_skinning import Skeleton, Skin
from two_phase_skinning.usd._errors import SceneError, refusals
from two_phase_skinning.usd._skeleton import SceneSkeleton
from two_phase_skinning.usd._skin import SceneSkin
from two_phase_skinning.usd._times import sample_times

# Instances are looked into: each is a character of its own.
VISITED = Usd.TraverseInstanceProxies()


def open_stage(path: str | os.PathLike[str]) -> Any:
    """The stage of a file. Raises SceneError naming the file where it cannot be opened."""
    name = os.fspath(path)
    if not os.path.isfile(name):
        raise SceneError(f"{name}: no such file; expected a USD file")
    with refusals(f"{name}: cannot be opened as USD"):
        return Usd.Stage.Open(name)


class Scene:
    """The skinned prims of a USD file, stage or prim.

    source: the path of a file, a Usd.Stage, or a Usd.Prim: then what is bound at or beneath it.
    skins: a SceneSkin for each prim that a skeleton or blend shapes move, in the stage's order, instances included.
    skeletons: a SceneSkeleton for each skeleton that they are bound to.

    Found by UsdSkelCache, so that inherited bindings, joint orders and instanced or nested SkelRoots are as OpenUSD
    has them. Raises SceneError naming the file or the prim. Not to be used by several threads at once.
    """

    def __init__(self, source: str | os.PathLike[str] | Usd.Stage | Usd.Prim) -> None:
        if isinstance(source, Usd.Prim):
            if not source:
                raise SceneError("source: an invalid prim; expected one that is on a stage")
            self.stage, top = source.GetStage(), source
        else:
            self.stage = source if isinstance(source, Usd.Stage) else open_stage(source)
            top = self.stage.GetPseudoRoot()
        self._xforms = UsdGeom.XformCache()
        self._cache = UsdSkel.Cache()
        self._kept_skins: dict[Any, Skin] = {}
        self._kept_skeletons: dict[Any, Skeleton] = {}
        self._skeletons: dict[Any, SceneSkeleton] = {}
        found = {skin.prim.GetPath(): skin for root in _outermost_roots(top) for skin in self._bound_beneath(root)}
        order = {prim.GetPath(): number for number, prim in enumerate(Usd.PrimRange(top, VISITED))}
        inside = sorted((order[path], skin) for path, skin in found.items() if path in order)
        self.skins: tuple[SceneSkin, ...] = tuple(skin for _number, skin in inside)
        used = {skin.skeleton.path: skin.skeleton for skin in self.skins}
        self.skeletons: tuple[SceneSkeleton, ...] = tuple(used.values())

    def _bound_beneath(self, root: Any) -> Iterator[SceneSkin]:
        self._cache.Populate(root, VISITED)
        for binding in self._cache.ComputeSkelBindings(root, VISITED):
            prim = binding.GetSkeleton().GetPrim()
            for query in binding.GetSkinningTargets():
                if query.HasJointInfluences() or query.HasBlendShapes() or _is_half_bound(query):
                    skin = SceneSkin(query, self._skeleton(prim), self._xforms, self._kept_skins, self.stage)
                    if skin.moves_points or skin.moves_transform or skin.moves_normals:
                        yield skin

    def _skeleton(self, prim: Any) -> SceneSkeleton:
        path = prim.GetPath()
        if path not in self._skeletons:
            query = self._cache.GetSkelQuery(UsdSkel.Skeleton(prim))
            self._skeletons[path] = SceneSkeleton(prim, query, self._kept_skeletons, self.stage)
        return self._skeletons[path]

    def __getitem__(self, path: str) -> SceneSkin:
        """The skin of the prim at a path. Raises KeyError."""
        for skin in self.skins:
            if skin.path == str(path):
                return skin
        raise KeyError(f"{path}: no skinned prim; expected one of {', '.join(skin.path for skin in self.skins)}")

    @property
    def times(self) -> NDArray[np.float64]:
        """(F,) time codes at which to sample: those that are authored, and the stage's frames between them."""
        return sample_times(self.stage, self.skins)

    def __repr__(self) -> str:
        name = self.stage.GetRootLayer().GetDisplayName()
        return f"<Scene {name} of {len(self.skins)} skins on {len(self.skeletons)} skeletons>"


def _is_half_bound(query: Any) -> bool:
    return bool(query.GetJointIndicesPrimvar()) or bool(query.GetJointWeightsPrimvar())


def _outermost_roots(top: Any) -> Iterator[Any]:
    """The SkelRoots at or beneath a prim that are in no other, and the one around it; they bind what is inside."""
    around = None
    prim = top
    while prim and not prim.IsPseudoRoot():
        around = prim if prim.IsA(UsdSkel.Root) else around
        prim = prim.GetParent()
    if around:
        yield UsdSkel.Root(around)
        return
    visit = iter(Usd.PrimRange(top, VISITED))
    for prim in visit:
        if prim.IsA(UsdSkel.Root):
            yield UsdSkel.Root(prim)
            visit.PruneChildren()
