# SPDX-License-Identifier: GPL-3.0-or-later
"""The heat map of a comparison, drawn on the mesh in the 3D views, with its legend."""

import contextlib

import blf
import bpy
import gpu
import numpy as np
from bpy.app.handlers import persistent
from bpy.app.translations import pgettext_iface as iface_
from bpy.app.translations import pgettext_rpt as rpt_
from gpu_extras.batch import batch_for_shader

from .. import inputs
from ..errors import UserError
from ..live import upkeep
from ..operators import compare

# From no difference to the largest, evenly spaced; as light as the next, for those who do not tell red from green.
_STOPS = np.array([(0.10, 0.15, 0.45), (0.05, 0.50, 0.75), (0.30, 0.75, 0.45), (0.95, 0.85, 0.25), (0.95, 0.25, 0.10)])
_LIGHT = np.array((0.36, -0.48, 0.8))
_NEARER = 2e-4  # how far in front of the mesh it is drawn, in depth
_BAR = 260, 14  # the legend's bar, in pixels
_LINE = 18


class _Shown:
    """The comparison that is shown, if any, and what draws it."""

    comparison = None
    batch = None
    stale = False  # whether the object has changed since
    measuring = False
    handles = ()


def colours(values):
    """(V,) from 0 to 1 as (V, 3) colours."""
    place = np.clip(values, 0, 1) * (len(_STOPS) - 1)
    return np.stack([np.interp(place, np.arange(len(_STOPS)), _STOPS[:, k]) for k in range(3)], axis=1)


def lines_of(comparison, scene):
    """What is known of a comparison, in words and in the scene's units: (label, value) pairs."""
    plain, skinned = comparison.volumes
    return [
        (iface_("Largest Distance"), _length(comparison.largest, scene)),
        (iface_("Mean Distance"), _length(comparison.mean, scene)),
        (iface_("Armature Volume"), _volume(plain, scene)),
        (iface_("Two-Phase Volume"), _volume(skinned, scene)),
    ]


def current():
    """The comparison that is shown and whether it is stale; (None, False) if none is."""
    with contextlib.suppress(ReferenceError):  # the object was removed
        if _Shown.comparison is not None and _Shown.comparison.object.name:
            return _Shown.comparison, _Shown.stale
    return None, False


def _length(value, scene):
    return _in_units(value * scene.unit_settings.scale_length, "LENGTH", scene)


def _volume(value, scene):
    return _in_units(value * scene.unit_settings.scale_length**3, "VOLUME", scene)


def _in_units(value, category, scene):
    system = scene.unit_settings.system
    if system == "NONE":
        return f"{value:.5g}"
    return bpy.utils.units.to_string(system, category, value, precision=4, split_unit=False)


class OBJECT_OT_two_phase_skin_compare(bpy.types.Operator):
    """Show how far the mesh is from what the Armature modifier would make of it, as a heat map"""

    bl_idname = "object.two_phase_skin_compare"
    bl_label = "Compare Two-Phase Skin with Armature"

    @classmethod
    def poll(cls, context):
        obj = context.object
        if obj is None or not inputs.skins(obj) or obj.mode == "EDIT":
            cls.poll_message_set("Select a mesh with a Two-Phase Skin, out of Edit Mode")
            return False
        return True

    def execute(self, context):
        _Shown.measuring = True
        try:
            upkeep.refresh(context)
            comparison = compare.measure(context, context.object)
        except UserError as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        finally:
            _Shown.measuring = False
        _show(comparison)
        found = [f"{label} {value}" for label, value in lines_of(comparison, context.scene)]
        self.report({"INFO"}, ", ".join(found))
        return {"FINISHED"}


class OBJECT_OT_two_phase_skin_compare_hide(bpy.types.Operator):
    """Hide the heat map of Two-Phase Skin"""

    bl_idname = "object.two_phase_skin_compare_hide"
    bl_label = "Hide Heat Map"

    @classmethod
    def poll(cls, _context):
        if _Shown.comparison is None:
            cls.poll_message_set("No heat map is shown")
            return False
        return True

    def execute(self, _context):
        hide()
        return {"FINISHED"}


def _show(comparison):
    hide()
    _Shown.comparison, _Shown.stale = comparison, False
    if not bpy.app.background:
        add = bpy.types.SpaceView3D.draw_handler_add
        _Shown.handles = (
            add(_draw_mesh, (), "WINDOW", "POST_VIEW"),
            add(_draw_legend, (), "WINDOW", "POST_PIXEL"),
        )
    _redraw()


def hide():
    for handle in _Shown.handles:
        bpy.types.SpaceView3D.draw_handler_remove(handle, "WINDOW")
    _Shown.comparison, _Shown.batch, _Shown.handles = None, None, ()
    _redraw()


def _redraw():
    for window in bpy.context.window_manager.windows if bpy.context.window_manager is not None else ():
        for area in window.screen.areas:
            if area.type in {"VIEW_3D", "PROPERTIES"}:
                area.tag_redraw()


def _draw_mesh():
    comparison, stale = current()
    if comparison is None or stale or not bpy.context.space_data.overlay.show_overlays:
        return
    if _Shown.batch is None:
        _Shown.batch = _batch(comparison)
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.depth_mask_set(True)
    with gpu.matrix.push_pop_projection():
        projection = gpu.matrix.get_projection_matrix()
        projection[2] = projection[2] - _NEARER * projection[3]
        gpu.matrix.load_projection_matrix(projection)
        _Shown.batch.draw(gpu.shader.from_builtin("SMOOTH_COLOR"))
    gpu.state.depth_mask_set(False)
    gpu.state.depth_test_set("NONE")


def _batch(comparison):
    shape = comparison.skinned
    values = comparison.distances / comparison.largest if comparison.largest > 0 else comparison.distances
    shade = 0.55 + 0.45 * np.abs(_normals(shape) @ _LIGHT)
    rgba = np.ones((len(values), 4), np.float32)
    rgba[:, :3] = colours(values) * shade[:, None]
    content = {"pos": np.ascontiguousarray(shape.points, np.float32), "color": rgba}
    return batch_for_shader(gpu.shader.from_builtin("SMOOTH_COLOR"), "TRIS", content, indices=shape.triangles)


def _normals(shape):
    """Of each point, by the areas of its triangles."""
    a, b, c = (shape.points[shape.triangles[:, k]] for k in range(3))
    face = np.cross(b - a, c - a)
    result = np.zeros((len(shape.points), 3))
    for axis in range(3):
        for corner in range(3):
            result[:, axis] += np.bincount(shape.triangles[:, corner], face[:, axis], len(result))
    length = np.linalg.norm(result, axis=1)
    return result / np.where(length > 0, length, 1)[:, None]


def _draw_legend():
    comparison, stale = current()
    context = bpy.context
    if comparison is None or not context.space_data.overlay.show_overlays:
        return
    scale = context.preferences.system.ui_scale
    x, y = _corner(context.area, scale)
    texts = [f"{label}: {value}" for label, value in lines_of(comparison, context.scene)]
    if stale:
        texts.append(rpt_("The pose has changed: compare again"))
    title = rpt_('"{object}": Two-Phase Skin against Armature').format(object=comparison.object.name)
    y = _draw_bar(x, y, comparison, context.scene, scale)
    for text in (*reversed(texts), title):
        _text(text, x, y, scale)
        y += _LINE * scale


def _corner(area, scale):
    """The lower left corner that Blender's own things leave free: the tools, and the panel of the last operator."""
    sizes = {region.type: region for region in area.regions if region.width > 1 and region.height > 1}
    left = sizes["TOOLS"].width if "TOOLS" in sizes else 0
    below = sizes["HUD"].y + sizes["HUD"].height - area.y if "HUD" in sizes else 0
    return left + 20 * scale, below + 24 * scale


def _draw_bar(x, y, comparison, scene, scale):
    """The colours and what they stand for; returns where the next line goes."""
    width, height = _BAR[0] * scale, _BAR[1] * scale
    place = np.linspace(0, 1, 33)
    pos = [(x + width * t, y + 16 * scale + side * height) for t in place for side in (0, 1)]
    rgba = np.ones((len(pos), 4), np.float32)
    rgba[:, :3] = np.repeat(colours(place), 2, axis=0)
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    batch_for_shader(shader, "TRI_STRIP", {"pos": pos, "color": rgba.tolist()}).draw(shader)
    for t in (0, 0.5, 1):
        text = _length(t * comparison.largest, scene)
        blf.size(0, 11 * scale)
        _text(text, x + t * (width - blf.dimensions(0, text)[0]), y, scale)
    return y + 24 * scale + height


def _text(text, x, y, scale):
    blf.size(0, 11 * scale)
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 3, 0, 0, 0, 0.9)
    blf.color(0, 1, 1, 1, 1)
    blf.position(0, x, y, 0)
    blf.draw(0, text)
    blf.disable(0, blf.SHADOW)


@persistent
def _on_changed(_scene, depsgraph):
    comparison, stale = current()
    if comparison is None or stale or _Shown.measuring:
        return
    for update in depsgraph.updates:
        if update.id.original == comparison.object and (update.is_updated_geometry or update.is_updated_transform):
            _Shown.stale = True
            _redraw()


@persistent
def _on_loaded(*_):
    hide()


_CLASSES = (OBJECT_OT_two_phase_skin_compare, OBJECT_OT_two_phase_skin_compare_hide)
_HANDLERS = {
    "depsgraph_update_post": _on_changed,
    "frame_change_post": _on_changed,
    "load_pre": _on_loaded,
    "undo_pre": _on_loaded,
    "redo_pre": _on_loaded,
}


_register_classes, _unregister_classes = bpy.utils.register_classes_factory(_CLASSES)


def register():
    _register_classes()
    for event, handler in _HANDLERS.items():
        getattr(bpy.app.handlers, event).append(handler)


def unregister():
    hide()
    for event, handler in _HANDLERS.items():
        getattr(bpy.app.handlers, event).remove(handler)
    _unregister_classes()
