# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the operator is found: beside Armature, first in Add Modifier > Deform; in Object > Modifiers; with F3."""

import bpy

from . import operators


def _draw_add(self, context):
    if context.object is not None and context.object.type == "MESH":
        self.layout.operator(
            operators.OBJECT_OT_two_phase_skin_add.bl_idname, text="Two-Phase Skin", icon="MOD_ARMATURE"
        )


def _draw_object_modifiers(self, context):
    self.layout.separator()
    self.layout.operator(operators.OBJECT_OT_two_phase_skin_add.bl_idname, icon="MOD_ARMATURE")


def register():
    bpy.types.OBJECT_MT_modifier_add_deform.prepend(_draw_add)
    bpy.types.VIEW3D_MT_object_modifiers.append(_draw_object_modifiers)


def unregister():
    bpy.types.OBJECT_MT_modifier_add_deform.remove(_draw_add)
    bpy.types.VIEW3D_MT_object_modifiers.remove(_draw_object_modifiers)
