# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist sets for a single bone, in Properties > Bone > Two-Phase Skin."""

import bpy
from bpy.props import EnumProperty

SCALE = "two_phase_skin_scale"  # the property's name on every bone
_ITEMS = (
    ("AUTO", "From Inherit Scale", "As the bone's Inherit Scale says: None and None (Legacy) do not, all others do"),
    ("YES", "Yes", "The parent's scale goes on into this bone: the skin around the joint is scaled as a whole"),
    ("NO", "No", "The parent's scale ends at this bone: the skin of the parent is scaled before it bends"),
)
# A bone that does not inherit scale has a parent that compensates towards it.
_COMPENSATED = {"NONE", "NONE_LEGACY"}


def inherits_scale(bone):
    """Whether a bone is skinned as one that inherits its parent's scale."""
    setting = getattr(bone, SCALE)
    return bone.inherit_scale not in _COMPENSATED if setting == "AUTO" else setting == "YES"


def _changed(bone, _context):
    bone.id_data.update_tag()


class BONE_PT_two_phase_skin(bpy.types.Panel):
    bl_label = "Two-Phase Skin"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "bone"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012 (Blender reads a plain set)

    @classmethod
    def poll(cls, context):
        return context.bone is not None  # there is none in Edit Mode

    def draw(self, context):
        self.layout.use_property_split = True
        self.layout.prop(context.bone, SCALE)


def register():
    setting = EnumProperty(
        name="Inherit Scale",
        description="How Two-Phase Skin treats the scale of this bone's parent; the pose stays as it is",
        items=_ITEMS,
        default="AUTO",
        options=set(),
        override={"LIBRARY_OVERRIDABLE"},
        update=_changed,
    )
    setattr(bpy.types.Bone, SCALE, setting)
    bpy.utils.register_class(BONE_PT_two_phase_skin)


def unregister():
    bpy.utils.unregister_class(BONE_PT_two_phase_skin)
    delattr(bpy.types.Bone, SCALE)
