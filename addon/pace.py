# SPDX-License-Identifier: GPL-3.0-or-later
"""Which skins wait while an animation plays: those of large meshes, if the preferences say so."""

import contextlib
import time

import bpy

from . import preferences

PERIOD = 1.0  # seconds between two updates of a large mesh with Every Second
LOOK = 0.1  # seconds between two looks at whether the animation still plays

_waiting = {}  # session uid of an object that was passed over -> the object
_written = {}  # session uid of an object -> when it was last let through


def must_wait(obj):
    """Whether the skin of an object is to be passed over at this frame, because its mesh is large and plays."""
    found = preferences.get()
    if found is None or found.playback == "EACH_FRAME" or len(obj.data.vertices) < found.large or not playing():
        return False
    now = time.monotonic()
    uid = obj.session_uid
    if found.playback == "EVERY_SECOND" and now - _written.get(uid, -PERIOD) >= PERIOD:
        _written[uid] = now
        return False
    _waiting[uid] = obj
    if not bpy.app.timers.is_registered(_catch_up):
        bpy.app.timers.register(_catch_up, first_interval=LOOK)
    return True


def playing():
    """Whether an animation plays in any window."""
    manager = bpy.context.window_manager
    return manager is not None and any(window.screen.is_animation_playing for window in manager.windows)


def _catch_up():
    """Once the animation is stopped, skin what has waited; called by Blender until it returns None."""
    if playing():
        return LOOK
    for obj in _waiting.values():
        with contextlib.suppress(ReferenceError):  # an object that was removed
            obj.update_tag()
    _waiting.clear()
    _written.clear()
    return None


def unregister():
    if bpy.app.timers.is_registered(_catch_up):
        bpy.app.timers.unregister(_catch_up)
    _waiting.clear()
    _written.clear()


def register():
    """Nothing is there to be registered before anything waits."""
