# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature as the skeleton of two_phase_skinning: its bones' rest matrices, parents and poses, in armature space."""

import numpy as np

from .native import tps

# A bone that does not inherit scale has a parent that compensates towards it.
_COMPENSATED = {"NONE", "NONE_LEGACY"}


class Rig:
    """The bones of an armature object at rest, in the order of its pose bones."""

    def __init__(self, armature):
        bones = [pose_bone.bone for pose_bone in armature.pose.bones]
        index = {bone.name: k for k, bone in enumerate(bones)}
        self.names = list(index)
        self.index = index
        self.parents = np.array([index[bone.parent.name] if bone.parent else -1 for bone in bones], np.int32)
        self.rest = np.array([bone.matrix_local for bone in bones], float).reshape(-1, 4, 4)
        self.deforms = np.array([bone.use_deform for bone in bones], bool)
        self.inherits = np.array([bone.inherit_scale not in _COMPENSATED for bone in bones], bool)

    def with_ancestors(self, joints):
        """The joints given and all their ancestors, as sorted indices: what a mesh weighted to them depends on."""
        wanted = np.zeros(len(self.parents), bool)
        for joint in joints:
            while joint >= 0 and not wanted[joint]:
                wanted[joint] = True
                joint = self.parents[joint]
        return np.flatnonzero(wanted)

    def skeleton(self, joints):
        """The skeleton of these joints (with_ancestors gave them)."""
        place = np.full(len(self.parents) + 1, -1)
        place[joints] = np.arange(len(joints))  # the last entry serves the parent -1
        return tps.Skeleton(
            place[self.parents[joints]],
            self.rest[joints],
            inherits=self.inherits[joints],
            names=[self.names[k] for k in joints],
        )


def signature(armature):
    """Equal for two moments if and only if `Rig` would be."""
    bones = armature.data.bones
    matrices = np.empty(16 * len(bones), np.float32)
    bones.foreach_get("matrix_local", matrices)
    deforms = np.empty(len(bones), bool)
    bones.foreach_get("use_deform", deforms)
    modes = np.empty(len(bones), np.int32)
    bones.foreach_get("inherit_scale", modes)
    names = [(bone.name, bone.parent and bone.parent.name) for bone in bones]
    return matrices.tobytes(), deforms.tobytes(), modes.tobytes(), names, len(armature.pose.bones)


def pose(armature):
    """The pose matrices of all bones of an evaluated armature object, (J, 4, 4) float32, in armature space."""
    bones = armature.pose.bones
    flat = np.empty(16 * len(bones), np.float32)
    bones.foreach_get("matrix", flat)
    return flat.reshape(-1, 4, 4).transpose(0, 2, 1)  # Blender writes column after column
