# SPDX-License-Identifier: GPL-3.0-or-later
"""Skins in the place of Armature modifiers: which ones, where in the stack, and with which settings."""

import bpy
from bpy.app.translations import pgettext_rpt as rpt_

from .. import compat, inputs
from ..errors import UserError
from . import node_group, schema, stack
from .stack import State

# Of an Armature modifier: (use_vertex_groups, use_bone_envelopes)
_BINDS = {(True, False): "Vertex Groups", (False, True): "Bone Envelopes", (True, True): "Both"}


def change_skins(obj, armature, method, context):
    """Set the method of the skins that the object has for that armature (None: the likeliest) and see that they act.

    Returns them: none if there is none, or if an Armature modifier of its own is to be replaced.
    """
    acts_for = stands_for(obj)
    armatures = [armature] if armature is not None else armatures_of(obj, context)
    if not armatures or _replaceable(obj, armature, armatures[0]):
        return []
    skins = [skin for skin in inputs.skins(obj) if inputs.read(skin, schema.ARMATURE) == armatures[0]]
    if skins:
        check_editable(obj)
    for skin in skins:
        inputs.write(skin, schema.METHOD, schema.METHODS[method])
        skin.show_viewport = skin.show_render = True
        modifier = acts_for.get(skin.name)
        if modifier is not None:
            modifier.show_viewport = modifier.show_render = False
    return skins


def add_skins(obj, armature, method, context):
    """Give a mesh object its skins: one in place of each Armature modifier, or one for its parent.

    Returns the new modifiers; raises UserError, having changed nothing.
    """
    check_editable(obj)
    likeliest = armatures_of(obj, context)
    replaced = _replaceable(obj, armature, likeliest[0] if likeliest else None)
    if replaced:
        for modifier in replaced:
            _check_replaceable(obj, modifier)
            above = stack.above(obj, modifier, obj.data.shape_keys)
            if above.state is State.REFUSED:
                raise UserError(f'"{obj.name}": {above.refusal}')
        return [_replace(obj, modifier, method) for modifier in replaced]
    armature = armature or (likeliest[0] if likeliest else None)
    if armature is None:
        text = rpt_('"{object}": no armature found. Parent it to one, select one as well, or name one')
        raise UserError(text.format(object=obj.name))
    return [_add(obj, armature, method)]


def stands_for(obj):
    """Skin's name -> the Armature modifier in whose place it acts: the next of its armature, or one above."""
    result: dict = {}
    order, skins = list(obj.modifiers), inputs.skins(obj)
    for index, skin in enumerate(order):
        if skin in skins:
            armature = inputs.read(skin, schema.ARMATURE)
            for modifier in order[index:] + order[:index]:
                if modifier.type == "ARMATURE" and modifier.object == armature and modifier not in result.values():
                    result[skin.name] = modifier
                    break
    return result


def _replaceable(obj, armature, likeliest):
    """The Armature modifiers that skins are to replace. armature: only of this one, if it is not None.

    They are those that are on. If none is, they are the muted ones of the armature, or else of the likeliest, unless a
    skin follows it already: these are left where a skin was removed.
    """
    used = list(stands_for(obj).values())
    unused = [m for m in obj.modifiers if m.type == "ARMATURE" and m.object is not None and m not in used]
    if armature is not None:
        unused = [m for m in unused if m.object == armature]
    shown = [m for m in unused if m.show_viewport]
    wanted = armature or likeliest
    if shown or any(inputs.read(skin, schema.ARMATURE) == wanted for skin in inputs.skins(obj)):
        return shown
    return [m for m in unused if m.object == wanted]


def _add(obj, armature, method):
    """A new skin: first in the stack in place of Blender's invisible one for a mesh parented with Armature Deform."""
    deformed_by_parent = obj.parent == armature and obj.parent_type == "ARMATURE"
    index = 0 if deformed_by_parent else stack.place_for_new(obj)
    skin = _new_skin(obj, armature, method, index)
    if deformed_by_parent:
        obj.parent_type = "OBJECT"
        inputs.write(skin, schema.BIND, "Both")  # as Blender's does
        _leave_muted(obj, armature, index + 1)
    return skin


def _leave_muted(obj, armature, index):
    """An Armature modifier that is off: it tells Blender's weight tools whose bones the vertex groups are."""
    modifier = obj.modifiers.new("Armature", "ARMATURE")
    modifier.object, modifier.use_bone_envelopes = armature, True
    modifier.show_viewport = modifier.show_render = False
    skin = obj.modifiers[index - 1]
    obj.modifiers.move(obj.modifiers.find(modifier.name), index)
    obj.modifiers.active = skin


def _replace(obj, modifier, method):
    """A new skin in the place of an Armature modifier, which is muted."""
    index = obj.modifiers.find(modifier.name)
    shown = modifier.show_in_editmode, modifier.show_on_cage
    multi = modifier.use_multi_modifier
    group, invert, armature = modifier.vertex_group, modifier.invert_vertex_group, modifier.object
    bind_to = _BINDS[modifier.use_vertex_groups, modifier.use_bone_envelopes]
    modifier.show_viewport = modifier.show_render = False
    skin = _new_skin(obj, armature, method, index)
    inputs.write(skin, schema.BIND, bind_to)
    inputs.write(skin, schema.MULTI, multi)
    skin.show_in_editmode, skin.show_on_cage = shown
    if group in obj.vertex_groups:  # Blender ignores a name that no group has
        inputs.write_group(skin, schema.GROUP, group)
        inputs.write(skin, schema.INVERT, invert)
    return skin


def _new_skin(obj, armature, method, index):
    skin = obj.modifiers.new(schema.NAME, "NODES")
    skin.node_group = node_group.ensure()
    inputs.write(skin, schema.ARMATURE, armature)
    inputs.write(skin, schema.METHOD, schema.METHODS[method])
    compat.hide_group_selector(skin)
    obj.modifiers.move(obj.modifiers.find(skin.name), index)
    obj.modifiers.active = skin
    return skin


def uses_of(bind_to):
    """What an Armature modifier must use to bind like that: (vertex groups, bone envelopes)."""
    return next(uses for uses, name in _BINDS.items() if name == bind_to)


def check_editable(obj):
    if obj.library is not None or (obj.override_library is not None and obj.override_library.is_system_override):
        text = rpt_('"{object}" is linked: make an editable library override of it first (Object > Library Override)')
        raise UserError(text.format(object=obj.name))


def _check_replaceable(obj, modifier):
    if not (modifier.use_vertex_groups or modifier.use_bone_envelopes):
        text = rpt_('"{object}": "{modifier}" binds to nothing. Turn its Vertex Groups or Bone Envelopes on')
        raise UserError(text.format(object=obj.name, modifier=modifier.name))


def armature_named(name):
    """The armature object of that name, None for no name."""
    if not name:
        return None
    armature = bpy.data.objects.get(name)
    if armature is None:
        raise UserError(rpt_('There is no object "{name}": choose an armature').format(name=name))
    if armature.type != "ARMATURE":
        raise UserError(rpt_('"{name}" is not an armature: choose one').format(name=name))
    return armature


def meshes_of(context):
    """The selected mesh objects and the active one."""
    objects = list(context.selected_objects)
    if context.active_object is not None and context.active_object not in objects:
        objects.append(context.active_object)
    return [obj for obj in objects if obj.type == "MESH"]


def armatures_of(obj, context):
    """The armatures that a mesh may mean, the likeliest first."""
    modifiers = [m for m in obj.modifiers if m.type == "ARMATURE" and m.object is not None]
    found = [m.object for m in modifiers if m.show_viewport]
    if obj.parent is not None and obj.parent.type == "ARMATURE":
        found.append(obj.parent)
    found += [other for other in context.selected_objects if other.type == "ARMATURE"]
    found += [m.object for m in modifiers]
    found += [rig for skin in inputs.skins(obj) if (rig := inputs.read(skin, schema.ARMATURE)) is not None]
    return found
