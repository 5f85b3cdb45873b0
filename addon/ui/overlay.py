# SPDX-License-Identifier: GPL-3.0-or-later
"""What a skin makes of its skeleton, drawn over the 3D views: off until it is turned on in the Overlays popover."""

import bpy
import gpu
import numpy as np
from bpy.props import BoolProperty, PointerProperty
from gpu_extras.batch import batch_for_shader

from ..live import upkeep

_SUPPORT = (1.0, 0.25, 0.75, 1.0)
_COMPENSATING = (0.15, 0.75, 1.0, 1.0)
_INTERMEDIATE = (1.0, 0.85, 0.1, 1.0)
_COLOURS = {"support": "Magenta", "compensating": "Blue", "intermediate": "Yellow"}
_WIDTH = 3.0  # of a line, in pixels


class TwoPhaseSkinOverlay(bpy.types.PropertyGroup):
    support: BoolProperty(
        name="Support Joints",
        description="Draw, in magenta, the bones that have no vertices of their own but carry bones that have",
    )
    compensating: BoolProperty(
        name="Compensating Bones",
        description="Draw, in blue, the bones whose scale stops at themselves: their children do not inherit it",
    )
    intermediate: BoolProperty(
        name="Intermediate Skeleton",
        description="Draw, in yellow, the skeleton after phase 1: scaled, but not yet turned or moved",
    )


class VIEW3D_PT_overlay_two_phase_skin(bpy.types.Panel):
    bl_label = "Two-Phase Skin"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_parent_id = "VIEW3D_PT_overlay"

    def draw(self, context):
        settings = context.window_manager.two_phase_skin_overlay
        column = self.layout.column(align=True)
        column.active = context.space_data.overlay.show_overlays
        for name in ("support", "compensating", "intermediate"):
            row = column.split(factor=0.7)
            row.prop(settings, name)
            row.label(text=_COLOURS[name])


def segments(skeletons, settings):
    """What to draw: of each kind that is on, its colour and the ends of its lines, (N, 2, 3) in the world."""
    found = []
    for shown, name, colour in (
        (settings.intermediate, "intermediate", _INTERMEDIATE),
        (settings.compensating, "compensating", _COMPENSATING),
        (settings.support, "support", _SUPPORT),
    ):
        lines = [getattr(skeleton, name)() for skeleton in skeletons] if shown else []
        if any(map(len, lines)):
            found.append((colour, np.concatenate(lines)))
    return found


def _draw():
    context = bpy.context
    settings = context.window_manager.two_phase_skin_overlay
    if not context.space_data.overlay.show_overlays:
        return
    if not (settings.support or settings.compensating or settings.intermediate):
        return
    found = segments(upkeep.skeletons(context), settings)
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE")
    for colour, lines in found:
        batch = batch_for_shader(shader, "LINES", {"pos": lines.reshape(-1, 3).astype(np.float32).tolist()})
        shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
        shader.uniform_float("lineWidth", _WIDTH * context.preferences.system.ui_scale)
        shader.uniform_float("color", colour)
        batch.draw(shader)
    gpu.state.blend_set("NONE")


_CLASSES = (TwoPhaseSkinOverlay, VIEW3D_PT_overlay_two_phase_skin)
_handles = []


_register_classes, _unregister_classes = bpy.utils.register_classes_factory(_CLASSES)


def register():
    _register_classes()
    bpy.types.WindowManager.two_phase_skin_overlay = PointerProperty(type=TwoPhaseSkinOverlay)
    if not bpy.app.background:
        _handles.append(bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_VIEW"))


def unregister():
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    del bpy.types.WindowManager.two_phase_skin_overlay
    _unregister_classes()
