# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature as the skeleton of two_phase_skinning: its bones' rest matrices, parents and poses, in armature space."""

from operator import attrgetter

import numpy as np
from mathutils import Vector

from .. import compat
from ..native import tps
from . import bone_settings

# What a B-bone's shape at rest depends on.
_curve_floats = attrgetter(
    "bbone_rollin", "bbone_rollout", "bbone_curveinx", "bbone_curveinz", "bbone_curveoutx", "bbone_curveoutz",
    "bbone_easein", "bbone_easeout",
)  # fmt: skip
_LAST_ROW = (0, 0, 0, 1)  # in Blender it carries rounding errors (IK), which nothing there reads


class Rig:
    """The bones of an armature object at rest, in the order of its pose bones."""

    def __init__(self, armature):
        bones = [pose_bone.bone for pose_bone in armature.pose.bones]
        index = {bone.name: k for k, bone in enumerate(bones)}
        self.names = list(index)
        self.index = index
        self.parents = np.array([index[bone.parent.name] if bone.parent else -1 for bone in bones], np.int32)
        self.rest = arrays(bone.matrix_local for bone in bones)
        self.to_bone = arrays(bone.matrix_local.inverted() for bone in bones)
        self.deforms = np.array([bone.use_deform for bone in bones], bool)
        self.inherits = np.array([bone_settings.inherits_scale(bone) for bone in bones], bool)
        self.associated = {
            phase: np.array([bone_settings.is_associated(bone, phase) for bone in bones], bool)
            for phase in bone_settings.PHASES
        }
        self.segments = np.array([bone.bbone_segments for bone in bones], np.int64)
        self.curved = np.array([bone.bbone_mapping_mode == "CURVED" for bone in bones], bool)
        self.lengths = np.array([bone.length for bone in bones])
        self.multiplies = np.array([bone.use_envelope_multiply for bone in bones], bool)
        self.heads = np.array([bone.head_local for bone in bones]).reshape(-1, 3)
        self.tails = np.array([bone.tail_local for bone in bones]).reshape(-1, 3)
        self.head_radii = np.array([bone.head_radius for bone in bones])
        self.tail_radii = np.array([bone.tail_radius for bone in bones])
        self.distances = np.array([bone.envelope_distance for bone in bones])
        self.envelope_weights = np.array([bone.envelope_weight for bone in bones])

    def curves_of(self, armature):
        """What the curves of B-bones at rest depend on besides; drivers change it from frame to frame (Rigify's do).
        armature: evaluated."""
        pose_bones = armature.pose.bones
        bones = [pose_bones[index].bone for index in np.flatnonzero(self.segments > 1).tolist()]
        return [(_curve_floats(bone), bone.bbone_scalein[:], bone.bbone_scaleout[:]) for bone in bones]

    def joints(self, bones, armature):
        """The joints that a mesh weighted to these bones depends on; armature: evaluated, for the B-bones' curves."""
        return Joints(self, bones, armature)

    def with_ancestors(self, bones):
        """These bones and all above them, in ascending order."""
        wanted = np.zeros(len(self.parents), bool)
        for bone in bones:
            while bone >= 0 and not wanted[bone]:
                wanted[bone] = True
                bone = self.parents[bone]
        return np.flatnonzero(wanted)


class Joints:
    """The bones that a mesh is weighted to with all their ancestors, and below each B-bone a joint for each end of its
    segments: between two of these its vertices are blended, as in Blender."""

    def __init__(self, rig, bones, armature):
        self.used = frozenset(bones.tolist())
        self.bones = rig.with_ancestors(bones)
        self.segmented = [bone for bone in bones.tolist() if rig.segments[bone] > 1]
        self.counts = [int(rig.segments[bone]) + 1 for bone in self.segmented]
        # The joint that a bone's weights go to: its own, or the first of its segments'.
        self.first = np.full(len(rig.names), -1)
        self.first[self.bones] = np.arange(len(self.bones))
        self._own = self.first.copy()
        self.first[self.segmented] = len(self.bones) + np.cumsum([0, *self.counts])[:-1]
        segments = np.repeat(np.array(self.segmented, np.int64), self.counts)
        self.names = [rig.names[bone] for bone in (*self.bones, *segments)]  # of the bone that each joint belongs to
        self.skeleton = self._skeleton(rig, armature)
        self.associated = self._associated(rig)

    def _skeleton(self, rig, armature):
        parents = np.append(self._own, -1)[rig.parents[self.bones]]  # the last entry serves the parent -1
        inherits = rig.inherits[self.bones]
        # A segment is scaled as its bone is: after the bend if a child inherits that scale, before it otherwise.
        passes_on = np.zeros(len(self.bones), bool)
        passes_on[parents[(parents >= 0) & inherits]] = True
        owners = np.repeat(self._own[self.segmented], self.counts).astype(np.int64)
        rest = rig.rest[self.bones]
        return tps.Skeleton(
            np.concatenate([parents, owners]),
            np.concatenate([rest, rest[owners] @ self._segments(rig, armature, rest=True)]),
            inherits=np.concatenate([inherits, passes_on[owners]]),
        )

    def _associated(self, rig):
        """Which joints are associated with the mesh in each phase, of the phases where not all are."""
        owners = np.repeat(np.array(self.segmented, np.int64), self.counts)
        found = {phase: np.concatenate([on[self.bones], on[owners]]) for phase, on in rig.associated.items()}
        return {phase: on for phase, on in found.items() if not on.all()}

    def _segments(self, rig, armature, rest=False):
        """The matrices of the ends of all segments, each in its bone's space, (S, 4, 4)."""
        bones = [armature.pose.bones[rig.names[bone]] for bone in self.segmented]
        return arrays(
            bone.bbone_segment_matrix(k, rest=rest)
            for bone, count in zip(bones, self.counts, strict=True)
            for k in range(count)
        )

    def world(self, pose, rig, armature):
        """The joints' matrices in a pose, (J, 4, 4) float64; pose: of all bones; armature: evaluated."""
        own = pose[self.bones].astype(float)
        if not self.segmented:
            return own
        owners = np.repeat(np.array(self.segmented), self.counts)
        return np.concatenate([own, pose[owners].astype(float) @ self._segments(rig, armature)])


def arrays(matrices):
    """Blender's 4x4 matrices as one array, (N, 4, 4) float64."""
    result = compat.matrices_array(list(matrices))
    result[:, 3] = _LAST_ROW
    return result


def local(parent, child):
    """The matrix that is local to the parent of one in the world, or None where the parent has no inverse."""
    try:
        return tps.bind_local(arrays([parent, child]), (-1, 0))[1]
    except ValueError:
        return None


def all_of(bones, name, count, kind=np.float32):
    """One property of all bones."""
    values = np.empty(count, kind)
    bones.foreach_get(name, values)
    return values


def pose(armature):
    """The pose matrices of all bones of an evaluated armature object, (J, 4, 4) float32, in armature space."""
    bones = armature.pose.bones
    flat = all_of(bones, "matrix", 16 * len(bones))
    result = flat.reshape(-1, 4, 4).transpose(0, 2, 1)  # Blender writes column after column
    result[:, 3] = _LAST_ROW
    return result


def curved_index(rig, armature):
    """Blender's own answer to where a point is on a B-bone, for bones whose mapping follows the curve."""

    def ask(bone, point):
        return armature.pose.bones[rig.names[bone]].bbone_segment_index(Vector(point))

    return ask
