# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels for bones: Properties > Bone > Two-Phase Skin, and the same in the sidebar of the 3D view in Pose Mode."""

import bpy
from bpy.app.translations import pgettext_iface as iface_
from bpy.app.translations import pgettext_rpt as rpt_
from bpy.props import EnumProperty

from ..live import upkeep
from ..read import bone_settings

_ROLES = {
    "weighted": ("GROUP_VERTEX", "{object}: weighted", "Vertices hang on it"),
    "support": ("CON_ARMATURE", "{object}: support joint", "Vertices hang on bones below it"),
    "unused": ("RADIOBUT_OFF", "{object}: not used", "No vertices, not below it either"),
}
_MOST_SKINS = 5  # whose roles are listed


def _draw(layout, bone, armature):
    layout.use_property_split = True
    layout.use_property_decorate = False
    scale = layout.column(align=True)
    scale.prop(bone, bone_settings.PASSES)
    scale.prop(bone, bone_settings.SCALE)
    if bone.parent is not None and getattr(bone, bone_settings.SCALE) == "AUTO":
        inherits = bone_settings.inherits_scale(bone)
        _note(layout, "Takes on its parent's scale" if inherits else "Keeps out its parent's scale", "INFO")
    phases = layout.column(align=True)
    for identifier in bone_settings.PHASES.values():
        phases.prop(bone, identifier)
    _draw_roles(layout, bone, armature)


def _draw_roles(layout, bone, armature):
    """What Automatic has decided for the bone, and why: for each skin that follows its armature."""
    roles = upkeep.roles_of(armature, bone.name) if armature is not None else []
    if not roles:
        _note(layout, "No Two-Phase Skin follows this armature", "INFO")
    for name, role in roles[:_MOST_SKINS]:
        icon, text, reason = _ROLES[role]
        column = layout.column(align=True)
        column.label(text=iface_(text).format(object=name), icon=icon, translate=False)
        _note(column, reason, "BLANK1")
    if len(roles) > _MOST_SKINS:
        text = iface_("and {count} more").format(count=len(roles) - _MOST_SKINS)
        layout.label(text=text, icon="BLANK1", translate=False)


def _draw_selected(layout, context):
    """The same settings for all selected bones."""
    count = len(context.selected_pose_bones or ())
    column = layout.column(align=True)
    column.label(text=iface_("Selected Bones: {count}").format(count=count), translate=False)
    column.operator(POSE_OT_two_phase_skin_copy.bl_idname, text="Copy from Active", icon="COPYDOWN")
    for identifier, (name, _description, _items) in bone_settings.PROPERTIES.items():
        properties = column.operator_menu_enum(POSE_OT_two_phase_skin_set.bl_idname, "value", text=name)
        properties.setting = identifier


def _note(layout, text, icon):
    row = layout.row()
    row.active = False
    row.label(text=text, icon=icon)


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
        obj = context.object
        _draw(self.layout, context.bone, obj if obj is not None and obj.type == "ARMATURE" else None)
        if context.mode == "POSE":
            _draw_selected(self.layout, context)


class VIEW3D_PT_two_phase_skin_bone(bpy.types.Panel):
    bl_label = "Bone"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Two-Phase Skin"
    bl_context = "posemode"

    @classmethod
    def poll(cls, context):
        return context.mode == "POSE"

    def draw(self, context):
        pose_bone = context.active_pose_bone
        if pose_bone is None:
            _note(self.layout, "Select a bone", "INFO")
            return
        self.layout.label(text=pose_bone.name, icon="BONE_DATA", translate=False)
        _draw(self.layout, pose_bone.bone, pose_bone.id_data)
        _draw_selected(self.layout, context)


class _OnBones:
    """What the operators on the selected pose bones share."""

    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context):
        if context.mode != "POSE" or not context.selected_pose_bones:
            cls.poll_message_set("Select bones in Pose Mode")
            return False
        return True

    def change(self, context, values):
        """Give the selected bones these settings; what Blender does not allow (linked bones) is said."""
        changed = 0
        for pose_bone in context.selected_pose_bones:
            armature = pose_bone.id_data.data
            if armature.library is None and armature.override_library is None:
                for identifier, value in values.items():
                    setattr(pose_bone.bone, identifier, value)
                changed += 1
        if changed < len(context.selected_pose_bones):
            self.report({"WARNING"}, rpt_("Bones of linked armatures were left as they are"))
        if not changed:
            return {"CANCELLED"}
        self.report({"INFO"}, rpt_("Changed {count} bones").format(count=changed))
        return {"FINISHED"}


class POSE_OT_two_phase_skin_set(_OnBones, bpy.types.Operator):
    """Set how Two-Phase Skin treats the selected bones"""

    bl_idname = "pose.two_phase_skin_set"
    bl_label = "Set Two-Phase Skin of Selected Bones"

    setting: EnumProperty(
        name="Setting",
        description="Which of the settings of a bone",
        items=[(key, name, tip) for key, (name, tip, _items) in bone_settings.PROPERTIES.items()],
    )
    value: EnumProperty(
        name="Value",
        description="What to set it to",
        items=lambda self, _context: bone_settings.PROPERTIES[self.setting][2],
    )

    def execute(self, context):
        return self.change(context, {self.setting: self.value})


class POSE_OT_two_phase_skin_copy(_OnBones, bpy.types.Operator):
    """Give all selected bones the Two-Phase Skin settings of the active one"""

    bl_idname = "pose.two_phase_skin_copy"
    bl_label = "Copy Two-Phase Skin to Selected Bones"

    def execute(self, context):
        active = context.active_pose_bone
        if active is None:
            self.report({"ERROR"}, rpt_("There is no active bone: click the one to copy from last"))
            return {"CANCELLED"}
        return self.change(context, {name: getattr(active.bone, name) for name in bone_settings.PROPERTIES})


_CLASSES = (
    POSE_OT_two_phase_skin_set,
    POSE_OT_two_phase_skin_copy,
    BONE_PT_two_phase_skin,
    VIEW3D_PT_two_phase_skin_bone,
)


register, unregister = bpy.utils.register_classes_factory(_CLASSES)
