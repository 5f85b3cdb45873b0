# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension's preferences: what a mesh may cost while one works."""

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty

from . import native

_PLAYBACK_ITEMS = (
    ("EACH_FRAME", "Each Frame", "Skin large meshes at each frame, as all others"),
    ("EVERY_SECOND", "Every Second", "Skin large meshes once a second; in between they stay as they were"),
    (
        "WHEN_PAUSED",
        "Only When Paused",
        "Skin large meshes when the animation is stopped; until then they stay as they were",
    ),
)


def _changed(_preferences, _context):
    from . import live  # which reads the preferences

    live.evaluate_all()


class TwoPhaseSkinPreferences(bpy.types.AddonPreferences):
    bl_idname = __package__

    live: BoolProperty(
        name="Live Update",
        description="Skin while posing, editing and playing. Off: only with Update Now, and in renders",
        default=True,
        update=_changed,
    )
    threads: IntProperty(
        name="Threads",
        description="How many threads skin a mesh at most; 0: as many as pay for its size. The result is the same",
        default=0,
        min=0,
        max=64,
    )
    large: IntProperty(
        name="Large Mesh",
        description="From how many vertices on a mesh is large",
        default=500_000,
        min=1,
        soft_max=10_000_000,
    )
    playback: EnumProperty(
        name="Large Meshes in Playback",
        description="What to do with large meshes while the animation plays; renders skin them at each frame",
        items=_PLAYBACK_ITEMS,
        default="EACH_FRAME",
    )

    def draw(self, _context):
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "live")
        layout.prop(self, "threads")
        playback = layout.column(align=True)
        playback.prop(self, "large", text="Large Mesh from")
        playback.prop(self, "playback", text="In Playback")
        layout.label(text=native.version())


def get():
    """The preferences, or None while the extension is not enabled as one (a script that registers it by hand)."""
    addon = bpy.context.preferences.addons.get(__package__)
    return addon.preferences if addon is not None else None


def threads():
    found = get()
    return found.threads if found is not None else 0


def live():
    found = get()
    return found is None or found.live


def register():
    bpy.utils.register_class(TwoPhaseSkinPreferences)


def unregister():
    bpy.utils.unregister_class(TwoPhaseSkinPreferences)
