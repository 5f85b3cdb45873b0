# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the operator is found: at the end of Add Modifier > Deform and of Object > Modifiers, and so with F3."""

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


_MENUS = {"OBJECT_MT_modifier_add_deform": _draw_add, "VIEW3D_MT_object_modifiers": _draw_object_modifiers}


def register():
    for name, draw in _MENUS.items():
        getattr(bpy.types, name).append(draw)


def unregister():
    for name, draw in _MENUS.items():
        getattr(bpy.types, name).remove(draw)
