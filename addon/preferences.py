# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension's preferences."""

import bpy
from bpy.props import IntProperty

from . import native


class _State:
    threads = 0


def _take_over(preferences, _context):
    _State.threads = preferences.threads


class TwoPhaseSkinPreferences(bpy.types.AddonPreferences):
    bl_idname = __package__

    threads: IntProperty(
        name="Threads",
        description="How many threads skin a mesh at most; 0: as many as pay for its size. The result is the same",
        default=0,
        min=0,
        max=64,
        update=_take_over,
    )

    def draw(self, _context):
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "threads")
        layout.label(text=native.version())


def get():
    """The preferences, or None while the extension is not enabled as one (a script that registers it by hand)."""
    addon = bpy.context.preferences.addons.get(__package__)
    return addon.preferences if addon is not None else None


def threads():
    """How many threads skin a mesh at most; may be asked from any thread, where Blender's context is out of reach."""
    return _State.threads


def register():
    bpy.utils.register_class(TwoPhaseSkinPreferences)
    if (found := get()) is not None:
        _take_over(found, None)


def unregister():
    bpy.utils.unregister_class(TwoPhaseSkinPreferences)
