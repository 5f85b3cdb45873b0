# SPDX-License-Identifier: GPL-3.0-or-later
"""Two-Phase Skin: a modifier in the stack that deforms a mesh by an armature, beside Blender's Armature modifier.

The rooms, each of which knows only those above it, and none of which but `ui` draws anything:

- `native`, `compat`, `errors`, `preferences`: the native module, Blender's versions, problems as values, preferences
- `read`: armatures, meshes and bone settings, as arrays
- `modifier`: the modifier and its inputs, its node group, what stands around it in the stack; `inputs` is for scripts
- `write`: the attributes that the node group reads
- `live`: the evaluation of skins within Blender's own, and the handlers for what that cannot do
- `operators`, `bake`: what an artist does
- `ui`: panels, menus, overlays
"""

from . import preferences
from .bake import operator as bake
from .live import handlers
from .operators import add, convert, fix
from .read import bone_settings
from .ui import bone_panels, heat_map, menus, overlay, panels

_ROOMS = (
    preferences,
    add,
    convert,
    fix,
    heat_map,
    bake,
    panels,
    bone_settings,
    bone_panels,
    menus,
    overlay,
    handlers,
)


def register():
    for room in _ROOMS:
        room.register()


def unregister():
    for room in reversed(_ROOMS):
        room.unregister()
