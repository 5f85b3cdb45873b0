# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist does with skins. Every failure is a report that says what to do."""

import bpy
from bpy.props import EnumProperty, StringProperty

from . import compat, inputs, live, native, node_group, stack

_METHOD_ITEMS = (
    ("TWO_PHASE", "Two-Phase", "Scale first, as the bones stretch the flesh, then bend without losing volume"),
    ("LINEAR", "Linear", "Blend the bones' transforms directly, as the Armature modifier does"),
    ("DUAL_QUATERNION", "Dual Quaternion", "Blend rotations, as the Armature modifier does with Preserve Volume"),
)


# Of an Armature modifier: (use_vertex_groups, use_bone_envelopes)
_BINDS = {(True, False): "Vertex Groups", (False, True): "Bone Envelopes", (True, True): "Both"}


class Refusal(Exception):
    """Why something cannot be done, in words for the artist: what is wrong, and the way out."""


class OBJECT_OT_two_phase_skin_add(bpy.types.Operator):
    """Deform the selected meshes by an armature, keeping their shape where bones scale and twist"""

    bl_idname = "object.two_phase_skin_add"
    bl_label = "Add Two-Phase Skin"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012 (Blender reads a plain set)

    method: EnumProperty(name="Method", description="How the bones' transforms are blended", items=_METHOD_ITEMS)
    armature: StringProperty(
        name="Armature",
        description="The armature's name; empty: that of the Armature modifier, the parent, or the selected one",
    )

    @classmethod
    def poll(cls, context):
        if native.PROBLEM:
            cls.poll_message_set(native.PROBLEM)
            return False
        if not _meshes(context):
            cls.poll_message_set("Select a mesh object")
            return False
        return True

    def invoke(self, context, event):
        if not self.armature and any(not _armatures_of(obj, context) for obj in _meshes(context)):
            return context.window_manager.invoke_props_dialog(self)
        return self.execute(context)

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "method")
        layout.prop_search(self, "armature", bpy.data, "objects", icon="ARMATURE_DATA")

    def execute(self, context):
        refused, added = [], []
        for obj in _meshes(context):
            try:
                added += add_skins(obj, _armature_named(self.armature), self.method, context)
            except Refusal as refusal:
                refused.append(str(refusal))
        if added:
            live.refresh(context, progress=_Progress(context))
            refused += [f'"{skin.id_data.name}": {problem}' for skin in added if (problem := live.problem_of(skin))]
        for text in refused:
            self.report({"WARNING" if added else "ERROR"}, text)
        if not added:
            return {"CANCELLED"}
        if not refused:
            self.report({"INFO"}, f"Two-Phase Skin added to {_count(added)}")
        return {"FINISHED"}


def add_skins(obj, armature, method, context):
    """Give a mesh object its skins: one in place of each Armature modifier that is on, or one for its parent.

    Returns the new modifiers; raises Refusal, having changed nothing.
    """
    _check_editable(obj)
    replaced = [m for m in obj.modifiers if m.type == "ARMATURE" and m.show_viewport and m.object is not None]
    if armature is not None:
        replaced = [m for m in replaced if m.object == armature]
    if replaced:
        for modifier in replaced:
            _check_replaceable(obj, modifier)
            state, problem = stack.above(obj, modifier)
            if state == stack.REFUSED:
                raise Refusal(f'"{obj.name}": {problem}')
        return [_replace(obj, modifier, method) for modifier in replaced]
    found = [armature] if armature is not None else _armatures_of(obj, context)
    if not found:
        raise Refusal(f'"{obj.name}": no armature found. Parent it to one, select one as well, or name one')
    return [_add(obj, found[0], method)]


def _add(obj, armature, method):
    """A new skin: first in the stack in place of Blender's invisible one for a mesh parented with Armature Deform."""
    deformed_by_parent = obj.parent == armature and obj.parent_type == "ARMATURE"
    index = 0 if deformed_by_parent else stack.place_for_new(obj)
    skin = _new_skin(obj, armature, method, index)
    if deformed_by_parent:
        obj.parent_type = "OBJECT"
    return skin


def _replace(obj, modifier, method):
    """A new skin in the place of an Armature modifier, which is muted."""
    index = obj.modifiers.find(modifier.name)
    shown = modifier.show_in_editmode, modifier.show_on_cage
    multi = modifier.use_multi_modifier
    group, invert, armature = modifier.vertex_group, modifier.invert_vertex_group, modifier.object
    bind_to = _BINDS[modifier.use_vertex_groups, modifier.use_bone_envelopes]
    modifier.show_viewport = modifier.show_render = False
    skin = _new_skin(obj, armature, method, index)
    inputs.write(skin, node_group.BIND, bind_to)
    inputs.write(skin, node_group.MULTI, multi)
    skin.show_in_editmode, skin.show_on_cage = shown
    if group in obj.vertex_groups:  # Blender ignores a name that no group has
        inputs.write_group(skin, node_group.GROUP, group)
        inputs.write(skin, node_group.INVERT, invert)
    return skin


def _new_skin(obj, armature, method, index):
    skin = obj.modifiers.new(node_group.NAME, "NODES")
    skin.node_group = node_group.ensure()
    inputs.write(skin, node_group.ARMATURE, armature)
    inputs.write(skin, node_group.METHOD, node_group.METHODS[method])
    compat.hide_group_selector(skin)
    obj.modifiers.move(obj.modifiers.find(skin.name), index)
    obj.modifiers.active = skin
    return skin


def _check_editable(obj):
    if obj.library is not None or (obj.override_library is not None and obj.override_library.is_system_override):
        raise Refusal(
            f'"{obj.name}" is linked: make an editable library override of it first (Object > Library Override)'
        )


def _check_replaceable(obj, modifier):
    if not (modifier.use_vertex_groups or modifier.use_bone_envelopes):
        raise Refusal(f'"{obj.name}": "{modifier.name}" binds to nothing. Turn its Vertex Groups or Bone Envelopes on')


def _armature_named(name):
    """The armature object of that name, None for no name."""
    if not name:
        return None
    armature = bpy.data.objects.get(name)
    if armature is None:
        raise Refusal(f'There is no object "{name}": choose an armature')
    if armature.type != "ARMATURE":
        raise Refusal(f'"{name}" is not an armature: choose one')
    return armature


def _meshes(context):
    """The selected mesh objects and the active one."""
    objects = list(context.selected_objects)
    if context.active_object is not None and context.active_object not in objects:
        objects.append(context.active_object)
    return [obj for obj in objects if obj.type == "MESH"]


def _armatures_of(obj, context):
    """The armatures that a mesh may mean, the likeliest first."""
    found = [m.object for m in obj.modifiers if m.type == "ARMATURE" and m.object is not None and m.show_viewport]
    if obj.parent is not None and obj.parent.type == "ARMATURE":
        found.append(obj.parent)
    found += [other for other in context.selected_objects if other.type == "ARMATURE"]
    return found


def _count(skins):
    objects = {skin.id_data.name for skin in skins}
    return f'"{objects.pop()}"' if len(objects) == 1 else f"{len(objects)} objects"


class _Progress:
    """The progress that the mouse pointer shows while weights are read, for meshes that take a while."""

    def __init__(self, context):
        self._manager = context.window_manager

    def __call__(self, fraction):
        if fraction == 0:
            self._manager.progress_begin(0, 100)
        self._manager.progress_update(100 * fraction)
        if fraction == 1:
            self._manager.progress_end()


_CLASSES = (OBJECT_OT_two_phase_skin_add,)


def register():
    for cls in _CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
