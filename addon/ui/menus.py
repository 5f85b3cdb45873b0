# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the operators are found: Add Modifier > Deform, Object > Modifiers, the Pose menu, and so with F3."""

import bpy

from ..bake import operator as bake
from ..operators import add, convert
from . import bone_panels, heat_map

_ADD = add.OBJECT_OT_two_phase_skin_add.bl_idname


class VIEW3D_MT_two_phase_skin(bpy.types.Menu):
    bl_label = "Two-Phase Skin"

    def draw(self, _context):
        layout = self.layout
        layout.operator(_ADD, icon="MOD_ARMATURE")
        layout.separator()
        for to, name, _tip in convert.DIRECTIONS:
            layout.operator(convert.OBJECT_OT_two_phase_skin_convert.bl_idname, text=name).to = to
        layout.separator()
        layout.operator(heat_map.OBJECT_OT_two_phase_skin_compare.bl_idname)
        layout.operator(heat_map.OBJECT_OT_two_phase_skin_compare_hide.bl_idname)
        layout.separator()
        layout.operator(bake.OBJECT_OT_two_phase_skin_bake.bl_idname)


class VIEW3D_MT_two_phase_skin_pose(bpy.types.Menu):
    bl_label = "Two-Phase Skin"

    def draw(self, _context):
        layout = self.layout
        layout.operator(bone_panels.POSE_OT_two_phase_skin_copy.bl_idname)
        layout.operator(bone_panels.POSE_OT_two_phase_skin_set.bl_idname)


def _draw_add(self, context):
    if context.object is not None and context.object.type == "MESH":
        self.layout.operator(_ADD, text="Two-Phase Skin", icon="MOD_ARMATURE")


def _draw_object(self, _context):
    self.layout.separator()
    self.layout.menu(VIEW3D_MT_two_phase_skin.__name__)


def _draw_pose(self, _context):
    self.layout.separator()
    self.layout.menu(VIEW3D_MT_two_phase_skin_pose.__name__)


_CLASSES = (VIEW3D_MT_two_phase_skin, VIEW3D_MT_two_phase_skin_pose)


_register_classes, _unregister_classes = bpy.utils.register_classes_factory(_CLASSES)


def register():
    _register_classes()
    bpy.types.OBJECT_MT_modifier_add_deform.prepend(_draw_add)
    bpy.types.VIEW3D_MT_object_modifiers.append(_draw_object)
    bpy.types.VIEW3D_MT_pose.append(_draw_pose)


def unregister():
    bpy.types.OBJECT_MT_modifier_add_deform.remove(_draw_add)
    bpy.types.VIEW3D_MT_object_modifiers.remove(_draw_object)
    bpy.types.VIEW3D_MT_pose.remove(_draw_pose)
    _unregister_classes()
