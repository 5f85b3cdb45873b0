# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's handlers, for what the evaluation of skins cannot do: it must not change the file.

- `depsgraph_update_post`: finds new skins and gives them their drivers and attributes, writes the layers of meshes in
  Edit Mode, notes that bones are edited, shows in the modifiers' panels what is wrong, and removes what removed skins
  left.
- `frame_change_pre`, `render_init`: the same for what a script changed just before, which comes without an update.
- `frame_change_post`: the same for what the evaluation of the frame found to be missing; the layers of Edit Mode.
- `load_post`, `undo_post`, `redo_post`: the data are others; files of older versions are brought up to date.
- `depsgraph_update_pre` and these: once after the extension was enabled, to find the skins of the file that is open.
- `save_pre`: writes the pose that is shown into the file, for where the extension is not there.

No skin needs any of them to be evaluated, in whatever depsgraph.
"""

import threading

import bpy
from bpy.app.handlers import persistent

from ..modifier import schema
from ..native import tps
from . import edit_mode, getters, upkeep
from .registry import registry

PAUSE = 0.02  # seconds that are left to others between two steps of what is done when idle
IDLE = 0.3  # seconds after which nobody is dragging a slider


@persistent
def _on_updated(_scene, depsgraph):
    if upkeep.none() or depsgraph.mode == "RENDER":
        return
    for update in depsgraph.updates:
        original = update.id.original
        kind = original.id_type
        if kind == "OBJECT" and original.type == "MESH":
            upkeep.look_at_groups(original)
            if update.is_updated_geometry:
                upkeep.look_at(original)
        elif kind == "NODETREE" and schema.version_of(original):
            schema.forget(original)
        elif kind == "ARMATURE" and original.is_editmode:
            _doubt(original)
    upkeep.remove_unused()
    edit_mode.follow(depsgraph)
    upkeep.tell()
    if registry.caches.meshes.weights.unsure and not bpy.app.timers.is_registered(_on_idle):
        bpy.app.timers.register(_on_idle, first_interval=IDLE)


def _doubt(armature):
    """Bones may get other names or parents, and no visible skin may be evaluated meanwhile."""
    for obj in bpy.data.objects:
        if obj.data == armature:
            registry.caches.rigs.doubt(obj.session_uid)


@persistent
def _before_frame(*_):
    if threading.current_thread() is threading.main_thread() and not upkeep.none():
        upkeep.look_at_lacking()


@persistent
def _on_frame_changed(_scene, depsgraph):
    if not upkeep.none() and depsgraph.mode != "RENDER":
        upkeep.look_at_lacking()
        edit_mode.follow(depsgraph)


def _on_idle():
    """Go on comparing the weights of large meshes; called by Blender until it returns None."""
    with registry.caches.lock:
        weights = registry.caches.meshes.weights
        if weights.unsure:
            weights.check()
        return PAUSE if weights.unsure else None


@persistent
def _on_replaced(*_):
    """Undo or redo replaced the data."""
    if not upkeep.none():
        upkeep.search()


@persistent
def _on_loaded(*_):
    upkeep.forget_file()
    upkeep.none()  # which searches the file


@persistent
def _on_saving(*_):
    if not upkeep.none():
        upkeep.write_shown(bpy.context.evaluated_depsgraph_get())


def _take_up():
    """Find the skins of the file that is open; also a timer that runs once."""
    if not upkeep.none():
        upkeep.search(upkeep.prepare_anew)  # Blender has found that the drivers read what was not there
        upkeep.evaluate_all()


@persistent
def _take_up_first(*_):
    """The same before the first evaluation, where no timer runs."""
    _forget_first()
    _take_up()


def _forget_first():
    for event in _FIRST:
        handlers = getattr(bpy.app.handlers, event)
        if _take_up_first in handlers:
            handlers.remove(_take_up_first)


_FIRST = ("depsgraph_update_pre", "frame_change_pre", "render_init")
_HANDLERS = {
    "depsgraph_update_post": _on_updated,
    "frame_change_pre": _before_frame,
    "frame_change_post": _on_frame_changed,
    "render_init": _before_frame,
    "load_post": _on_loaded,
    "undo_post": _on_replaced,
    "redo_post": _on_replaced,
    "save_pre": _on_saving,
}


def register():
    if tps is None:
        return
    getters.register()
    for event, handler in _HANDLERS.items():
        getattr(bpy.app.handlers, event).append(handler)
    # The file that is open may have skins already. While an extension is enabled, bpy.data may be closed to it.
    if isinstance(bpy.data, bpy.types.BlendData):
        _take_up()
    else:
        bpy.app.timers.register(_take_up, first_interval=0)
        for event in _FIRST:
            getattr(bpy.app.handlers, event).append(_take_up_first)


def unregister():
    if tps is None:
        return
    if not upkeep.none():
        upkeep.write_shown(bpy.context.evaluated_depsgraph_get())
    for event, handler in _HANDLERS.items():
        getattr(bpy.app.handlers, event).remove(handler)
    _forget_first()
    for timer in (_on_idle, _take_up):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
    getters.unregister()
    upkeep.forget_file()
