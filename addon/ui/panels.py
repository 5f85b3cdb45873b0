# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels for a mesh: in Properties > Modifiers, and in the sidebar of the 3D view."""

import textwrap

import bpy
from bpy.app.translations import pgettext_iface as iface_

from .. import inputs, native
from ..bake import operator as bake
from ..modifier import replace, schema
from ..operators import add, convert, fix, status
from . import heat_map

CATEGORY = "Two-Phase Skin"


def _draw(layout, context, obj):
    """What is off with each skin of the object, and what one can do with it."""
    skins = inputs.skins(obj)
    if native.PROBLEM:
        _lines(layout, context, native.PROBLEM, "ERROR")
        return
    if not skins:
        layout.operator(add.OBJECT_OT_two_phase_skin_add.bl_idname, icon="MOD_ARMATURE")
        return
    for skin in skins:
        _draw_skin(layout, context, obj, skin, len(skins) > 1)
    _draw_tools(layout.column(), context, obj)


def _draw_tools(layout, context, obj):
    row = layout.row(align=True)
    comparison, stale = heat_map.current()
    shown = comparison is not None and comparison.object == obj
    compare = iface_("Compare Again") if shown else iface_("Compare with Armature")
    row.operator(heat_map.OBJECT_OT_two_phase_skin_compare.bl_idname, text=compare, icon="OVERLAY", translate=False)
    if shown:
        row.operator(heat_map.OBJECT_OT_two_phase_skin_compare_hide.bl_idname, text="", icon="X")
        figures = layout.column(align=True)
        figures.active = not stale
        for label, value in heat_map.lines_of(comparison, context.scene):
            split = figures.split(factor=0.6)
            split.label(text=label, translate=False)
            split.label(text=value, translate=False)
    layout.operator(bake.OBJECT_OT_two_phase_skin_bake.bl_idname, text="Bake", icon="REC")
    several = len(replace.meshes_of(context)) > 1
    text = iface_("Convert Selected to Armature") if several else iface_("Convert to Armature")
    back = layout.operator(convert.OBJECT_OT_two_phase_skin_convert.bl_idname, text=text, translate=False)
    back.to, back.scope = "ARMATURE", "SELECTED" if several else "ACTIVE"


def _draw_armature(layout):
    """What one can do with all meshes of the active armature."""
    column = layout.column(align=True)
    for to, text in (("TWO_PHASE", "All Meshes to Two-Phase Skin"), ("ARMATURE", "All Meshes to Armature")):
        button = column.operator(convert.OBJECT_OT_two_phase_skin_convert.bl_idname, text=text)
        button.to, button.scope = to, "RIG"


def _draw_skin(layout, context, obj, skin, named):
    column = layout.column()
    found = status.of(obj, skin)
    if named:
        column.label(text=skin.name, icon="MOD_ARMATURE", translate=False)
    if not found:
        armature = inputs.read(skin, schema.ARMATURE)
        text = iface_('Deformed by "{name}"').format(name=armature.name)
        column.label(text=text, icon="CHECKMARK", translate=False)
    for state in found:
        box = column.box()
        _lines(box, context, state.text, state.icon)
        if state.fixes:
            row = box.row(align=True)
            for action in state.fixes:
                name, _tip, icon = fix.ACTIONS[action]
                button = row.operator(status.FIX, text=name, icon=icon)
                button.action, button.modifier = action, skin.name


def _lines(layout, context, text, icon):
    """A text over as many lines as the region's width asks for."""
    per_line = max(20, int(context.region.width / (7.5 * context.preferences.system.ui_scale)) - 6)
    column = layout.column(align=True)
    column.scale_y = 0.8
    for k, line in enumerate(textwrap.wrap(text, per_line)):
        column.label(text=line, icon="BLANK1" if k else icon, translate=False)


class DATA_PT_two_phase_skin(bpy.types.Panel):
    bl_label = "Two-Phase Skin"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "modifier"

    @classmethod
    def poll(cls, context):
        return context.object is not None and bool(inputs.skins(context.object))

    def draw(self, context):
        _draw(self.layout, context, context.object)


class VIEW3D_PT_two_phase_skin(bpy.types.Panel):
    bl_label = "Skin"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = CATEGORY

    @classmethod
    def poll(cls, context):
        return context.mode != "POSE"

    def draw(self, context):
        obj = context.object
        if obj is not None and obj.type == "ARMATURE":
            _draw_armature(self.layout)
        elif obj is None or obj.type != "MESH":
            self.layout.label(text=iface_("Select a mesh"), icon="INFO")
        else:
            _draw(self.layout, context, obj)


_CLASSES = (DATA_PT_two_phase_skin, VIEW3D_PT_two_phase_skin)


register, unregister = bpy.utils.register_classes_factory(_CLASSES)
