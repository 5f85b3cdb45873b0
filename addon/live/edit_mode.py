# SPDX-License-Identifier: GPL-3.0-or-later
"""Skins of meshes in Edit Mode, whose evaluated meshes have no arrays to write to: a handler writes the layers of the
BMesh after an evaluation, and Blender evaluates once more."""

import bpy

from .. import inputs
from ..modifier import schema
from ..write import edit_mode
from . import settled
from .evaluation import EditModeEvaluation
from .registry import registry


def follow(depsgraph):
    """Bring the skins of all meshes in Edit Mode up to date with an evaluated depsgraph."""
    if bpy.context.mode != "EDIT_MESH":
        return
    updates = {update.id.original.session_uid: update for update in depsgraph.updates}
    for obj in bpy.context.objects_in_mode:
        evaluated = obj.evaluated_get(depsgraph)
        if evaluated.is_evaluated:
            for modifier in inputs.skins(obj):
                skin = registry.add(obj, modifier)
                live = evaluated.modifiers.get(modifier.name, modifier)
                before = skin.edit_tick
                skin.edit_tick, written = _follow(skin, obj, live, evaluated, updates)
                if written or skin.edit_tick != before:
                    obj.data.update_tag()


def _follow(skin, obj, modifier, evaluated, updates):
    """The value of the skin's Tick input, and whether the layers were written."""
    mesh = obj.data
    count = edit_mode.vertex_count(mesh)
    standing = settled.look(evaluated, modifier, mesh)
    if standing.settings.multi or count > edit_mode.LIMIT or not (modifier.show_in_editmode and modifier.show_viewport):
        return schema.AT_REST, False
    update = updates.get(mesh.session_uid)
    changed = update is not None and (update.is_updated_transform or update.is_updated_shading)
    if changed or not skin.edited or count != len(mesh.vertices):
        obj.update_from_editmode()  # where its vertices or weights are others than before
    now = EditModeEvaluation(evaluated, modifier, mesh, standing, registry.caches)
    now.changed = changed or not skin.edited
    skin.edited = True
    tick = skin.evaluate(now)
    return tick, now.layers.were_written
