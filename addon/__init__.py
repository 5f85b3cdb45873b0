# SPDX-License-Identifier: GPL-3.0-or-later
"""Two-Phase Skin: a modifier in the stack that deforms a mesh by an armature, beside Blender's Armature modifier."""

from . import (
    bake,
    bone_panels,
    bone_settings,
    convert,
    heat_map,
    live,
    mend,
    menus,
    operators,
    overlay,
    pace,
    panels,
    preferences,
)

_ROOMS = (
    preferences,
    operators,
    convert,
    mend,
    heat_map,
    bake,
    panels,
    bone_settings,
    bone_panels,
    menus,
    overlay,
    pace,
    live,
)


def register():
    for room in _ROOMS:
        room.register()


def unregister():
    for room in reversed(_ROOMS):
        room.unregister()
