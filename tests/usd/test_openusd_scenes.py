"""OpenUSD's own test scenes of UsdSkel: what is baked there is what we compute, to 1e-6 of the scene's size.

They are not part of this package. With its sources (https://github.com/PixarAnimationStudios/OpenUSD) in a folder:

    OPENUSD=/path/to/OpenUSD python -m pytest tests/usd/test_openusd_scenes.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from test_judge_usdskel import assert_same, baked_by_usdskel

from two_phase_skinning import usd

SOURCES = os.environ.get("OPENUSD")
BAKING = "pxr/usd/usdSkel/testenv/testUsdSkelBakeSkinning"
DRAWING = "pxr/usdImaging/usdImagingGL/testenv/testUsdImagingGL"
SCENES = {
    f"{BAKING}/lbs.usda": 7,
    f"{BAKING}/dqs.usda": 7,
    f"{BAKING}/blendshapes.usda": 1,
    f"{BAKING}/blendshapesWithNormals.usda": 1,
    "pxr/usd/usdSkel/testenv/testUsdSkelRoot/root.usda": 1,
    "pxr/usd/usdSkel/doxygen/skinnedArm.usda": 1,
    f"{DRAWING}SkelSkinning/test_lbs.usda": 1,
    f"{DRAWING}SkelSkinning/test_dqs.usda": 1,
    f"{DRAWING}SkelBlendShapes/blendshapes.usda": 1,
    f"{DRAWING}UsdSkel/arm.usda": 1,
    f"{DRAWING}UsdSkel/twoBends.usda": 2,
}


@pytest.mark.skipif(not SOURCES, reason="$OPENUSD names no folder with OpenUSD's sources")
@pytest.mark.parametrize(("name", "skins"), SCENES.items(), ids=[Path(name).name for name in SCENES])
def test_scene(name: str, skins: int) -> None:
    path = Path(SOURCES or "") / name
    scene, judge = usd.Scene(path), baked_by_usdskel(path)
    assert len(scene.skins) == skins
    for skin in scene.skins:
        for time in scene.times.tolist() or [None]:
            assert assert_same(skin, judge.GetPrimAtPath(skin.path), time)


@pytest.mark.skipif(not SOURCES, reason="$OPENUSD names no folder with OpenUSD's sources")
def test_the_wrong_bindings_are_refused() -> None:
    path = Path(SOURCES or "") / "pxr/usd/usdSkel/testenv/testUsdSkelSkinningQuery/jointInfluences.usda"
    with pytest.raises(usd.SceneError, match=r"prim </JointInfluences/ErrorCases/\w+>: primvars:skel:joint"):
        usd.Scene(path)
