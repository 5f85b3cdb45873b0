"""What a deformation can be asked for: one vocabulary for every function that deforms, here and in the C core."""

from enum import StrEnum
from typing import Literal, TypeAlias, TypedDict

from numpy.typing import ArrayLike

from two_phase_skinning._arrays import Float32Array


class Method(StrEnum):
    """How a mesh is deformed. Wherever one is wanted, its name will do: ``method="linear"``."""

    TWO_PHASE = "two_phase"
    """Scale and shear by linear blending, then rotation and translation by dual quaternions."""
    LINEAR = "linear"
    """Linear blend skinning."""
    DUAL_QUATERNION = "dual_quaternion"
    """The classic one: stretch about the origin by linear blending, then dual quaternions, as OpenUSD has it."""


class Inherited(StrEnum):
    """Where scale that children inherit acts. Wherever one is wanted, its name will do."""

    AFTER = "after"
    """After the bend: it is a space in which the descendants bend."""
    BEFORE = "before"
    """Before the bend: it shapes the descendants."""


class NormalRule(StrEnum):
    """What a deformed normal is. Wherever one is wanted, its name will do."""

    SURFACE = "surface"
    """That of the deformed surface: by the inverse transpose of each linear blend."""
    JOINTS = "joints"
    """A blend of the joints' inverse transposes, as UsdSkel has it."""


AnyMethod: TypeAlias = Method | Literal["two_phase", "linear", "dual_quaternion"]
AnyInherited: TypeAlias = Inherited | Literal["after", "before"]
AnyNormalRule: TypeAlias = NormalRule | Literal["surface", "joints"]


class PoseOptions(TypedDict, total=False):
    """Options of every function that deforms; all may be left out. F: frames, J: joints, V: vertices.

    Where F comes first it may be left out, too: then the option is the same for all frames.
    """

    phase: int | None
    """1 or 2: stop after the non-rigid or after the rigid phase. Not with the method "linear"."""
    blend: ArrayLike | None
    """0 (linear) .. 1 (the method): a number, or (F, V). Not together with phase."""
    nonrigid: ArrayLike | None
    """bool (F, J), the association flags of phase 1: where off, the mesh is shown as if that joint did not scale."""
    rigid: ArrayLike | None
    """bool (F, J), those of phase 2: where off, as if that joint did not move."""
    space: ArrayLike | None
    """(F, 4, 4), takes the points into the skeleton's space; the result comes back by its inverse."""
    threads: int
    """How many at most; 0 chooses, by the work and the processors that the process may use. Never changes a result."""
    out: Float32Array | None
    """Written, and returned, in place of a new array: float32, C-contiguous, of the result's shape. With NumPy 2.1 and
    newer also what offers its memory by DLPack."""


class DeformOptions(PoseOptions, total=False):
    """Options of Skin.deform."""

    points: ArrayLike | None
    """(F, V, 3): deform these in place of the points at rest, such as shape keys."""
    offsets: bool
    """True: how far each point moves, in place of where it goes to."""


class NormalOptions(PoseOptions, total=False):
    """Options of Skin.deform_normals."""

    rule: AnyNormalRule
    """"surface", or "joints", with the methods "linear" and "dual_quaternion" and no options but out and threads."""


class BothOptions(PoseOptions, total=False):
    """Options of Skin.deform_with_normals."""

    points: ArrayLike | None
    """As for Skin.deform."""
    normals_out: Float32Array | None
    """As out, for the normals."""
