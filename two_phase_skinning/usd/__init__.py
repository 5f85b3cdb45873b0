"""USD scenes: skeletons, skins and animation as arrays in this package's conventions, and whole shots baked.

    from two_phase_skinning import usd

    scene = usd.Scene("shot.usd")                     # a file, a Usd.Stage, or a Usd.Prim
    points = scene.skins[0].deform(12)                # (V, 3) at time code 12, by the method that the scene names
    usd.bake("shot.usd", "baked.usd")                 # all of it, by two_phase, into a layer over the scene

Needs OpenUSD's Python modules: ``pip install "two-phase-skinning[usd]"``. Everything is as UsdSkel has it
(https://openusd.org/release/api/usd_skel_page_front.html); docs/conventions.md says how its matrices become ours.
"""

try:
    import pxr.UsdSkel  # noqa: F401
except ImportError as error:
    raise ImportError(
        "two_phase_skinning.usd: OpenUSD's Python modules (pxr) are not installed; expected them: "
        'pip install "two-phase-skinning[usd]"'
    ) from error

from two_phase_skinning.usd._bake import bake
from two_phase_skinning.usd._errors import SceneError
from two_phase_skinning.usd._options import Distance, Report
from two_phase_skinning.usd._scene import Scene
from two_phase_skinning.usd._skeleton import SceneSkeleton
from two_phase_skinning.usd._skin import SceneSkin

__all__ = ["Distance", "Report", "Scene", "SceneError", "SceneSkeleton", "SceneSkin", "bake"]
