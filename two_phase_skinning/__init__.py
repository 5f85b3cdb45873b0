"""Two-phase skinning: scale and shear by linear blending first, the rigid motion by dual quaternions second.

    skeleton = Skeleton(parents, bind)           # joints: hierarchy and bind pose
    skin = Skin(points, weights, skeleton)       # a mesh at rest and its weights
    posed = skin.deform(world)                   # (V, 3) float32, for posed joint matrices (J, 4, 4)

Matrices are affine, 4x4, for column vectors, as ``numpy.array(mathutils.Matrix)`` gives them; (J, 4, 4) for J joints.
Joint mathematics is float64, vertices are float32. Wrong input raises TypeError (wrong kind) or ValueError (wrong
shape, range or value), and the message names the argument.
"""

try:
    from two_phase_skinning import _core as _core
except ImportError as error:
    raise ImportError(
        "two_phase_skinning._core: not built here; expected the installed package. Run `pip install .` and start "
        "Python outside the source folder, or with -P"
    ) from error

from two_phase_skinning._build import BuildInfo, build_info
from two_phase_skinning._core import (
    bind_local,
    bind_world,
    increment_local,
    increment_world,
    pose_world,
    skinning_matrices,
    user_local,
    world_from_skinning,
)
from two_phase_skinning._core import version as __version__
from two_phase_skinning._options import (
    AnyInherited,
    AnyMethod,
    AnyNormalRule,
    DeformOptions,
    Inherited,
    Method,
    NormalRule,
)
from two_phase_skinning._skeleton import Separation, Skeleton
from two_phase_skinning._skin import Skin, deform_many

__all__ = [
    "AnyInherited",
    "AnyMethod",
    "AnyNormalRule",
    "BuildInfo",
    "DeformOptions",
    "Inherited",
    "Method",
    "NormalRule",
    "Separation",
    "Skeleton",
    "Skin",
    "__version__",
    "bind_local",
    "bind_world",
    "build_info",
    "deform_many",
    "increment_local",
    "increment_world",
    "pose_world",
    "skinning_matrices",
    "user_local",
    "world_from_skinning",
]
