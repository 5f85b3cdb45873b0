# SPDX-License-Identifier: GPL-3.0-or-later
"""From Armature modifiers to Two-Phase Skins and back, for one object, the selected ones, or all on an armature."""

import bpy
from bpy.app.translations import pgettext_rpt as rpt_
from bpy.props import EnumProperty

from .. import inputs, native
from ..errors import UserError
from ..live import upkeep
from ..modifier import replace, schema
from . import add

DIRECTIONS = (
    (
        "TWO_PHASE",
        "Armature to Two-Phase Skin",
        "Put a skin in the place of each Armature modifier, which is turned off",
    ),
    (
        "ARMATURE",
        "Two-Phase Skin to Armature",
        "Put the Armature modifier back in the place of each skin, which is removed",
    ),
)
_SCOPES = (
    ("ACTIVE", "Active Object", "The active mesh alone"),
    ("SELECTED", "Selected Objects", "All selected meshes"),
    (
        "RIG",
        "All on the Armature",
        "All meshes of the view layer that the active armature, or the active mesh's, deforms",
    ),
)


class OBJECT_OT_two_phase_skin_convert(bpy.types.Operator):
    """Convert Armature modifiers to Two-Phase Skins, or skins back to Armature modifiers"""

    bl_idname = "object.two_phase_skin_convert"
    bl_label = "Convert Two-Phase Skin"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012 (Blender reads a plain set)

    to: EnumProperty(name="Convert", description="What to convert into what", items=DIRECTIONS)
    scope: EnumProperty(name="Objects", description="Which objects", items=_SCOPES, default="SELECTED")
    method: EnumProperty(name="Method", description="How new skins blend bones", items=add.METHOD_ITEMS)

    @classmethod
    def poll(cls, context):
        if native.PROBLEM:
            cls.poll_message_set(native.PROBLEM)
            return False
        if context.mode != "OBJECT" or context.object is None:
            cls.poll_message_set("Select a mesh or an armature in Object Mode")
            return False
        return True

    def draw(self, _context):
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "to")
        layout.prop(self, "scope")
        if self.to == "TWO_PHASE":
            layout.prop(self, "method")

    def execute(self, context):
        converted, refused = [], []
        for obj in _objects(context, self.scope):
            try:
                if _to_skins(obj, self.method, context) if self.to == "TWO_PHASE" else _to_armature(obj):
                    converted.append(obj)
            except UserError as refusal:
                refused.append(str(refusal))
        for text in refused:
            self.report({"WARNING" if converted else "ERROR"}, text)
        if not converted:
            if not refused:
                self.report({"ERROR"}, self._nothing())
            return {"CANCELLED"}
        upkeep.refresh(context)
        self.report({"INFO"}, rpt_("Converted {objects}").format(objects=add.in_words(converted)))
        return {"FINISHED"}

    def _nothing(self):
        if self.to == "TWO_PHASE":
            return rpt_("None of these objects has an Armature modifier that is on")
        return rpt_("None of these objects has a Two-Phase Skin")


def _objects(context, scope):
    if scope == "SELECTED":
        return replace.meshes_of(context)
    if scope == "ACTIVE":
        return [context.object] if context.object.type == "MESH" else []
    armatures = {context.object} if context.object.type == "ARMATURE" else set(_armatures_on(context.object))
    meshes = [obj for obj in context.view_layer.objects if obj.type == "MESH"]
    return [obj for obj in meshes if armatures & set(_armatures_on(obj))]


def _armatures_on(obj):
    """The armatures that deform an object by modifiers, skins, or as its parent."""
    found = [modifier.object for modifier in obj.modifiers if modifier.type == "ARMATURE"]
    found += [inputs.read(skin, schema.ARMATURE) for skin in inputs.skins(obj)]
    if obj.parent_type == "ARMATURE":
        found.append(obj.parent)
    return [armature for armature in found if armature is not None]


def _to_skins(obj, method, context):
    """Whether the object has got skins in place of what deformed it."""
    on = [m for m in obj.modifiers if m.type == "ARMATURE" and m.object is not None and m.show_viewport]
    if not on and not (obj.parent is not None and obj.parent_type == "ARMATURE"):
        return False
    if not replace.change_skins(obj, None, method, context):
        replace.add_skins(obj, None, method, context)
    return True


def _to_armature(obj):
    """Whether the object has got Armature modifiers in place of its skins."""
    skins = inputs.skins(obj)
    if not skins:
        return False
    replace.check_editable(obj)
    _check_armatures(obj, skins)
    acts_for = replace.stands_for(obj)
    for skin in skins:
        modifier = acts_for.get(skin.name)
        if modifier is None:
            modifier = armature_modifier_like(skin, obj)
        else:
            _copy_settings(skin, modifier, obj)
            obj.modifiers.move(obj.modifiers.find(modifier.name), obj.modifiers.find(skin.name))
        obj.modifiers.remove(skin)
        obj.modifiers.active = modifier
    return True


def _check_armatures(obj, skins):
    """An Armature modifier without one would deform nothing, and nobody would see why."""
    for skin in skins:
        armature = inputs.read(skin, schema.ARMATURE)
        if armature is None or armature.type != "ARMATURE":
            text = rpt_('"{object}": "{modifier}" has no armature. Choose one first, or remove the modifier')
            raise UserError(text.format(object=obj.name, modifier=skin.name))


def armature_modifier_like(skin, obj):
    """A new Armature modifier above a skin, that deforms as the skin does, as far as it can."""
    modifier = obj.modifiers.new("Armature", "ARMATURE")
    modifier.use_deform_preserve_volume = True
    _copy_settings(skin, modifier, obj)
    obj.modifiers.move(obj.modifiers.find(modifier.name), obj.modifiers.find(skin.name))
    return modifier


def _copy_settings(skin, modifier, obj):
    """Let an Armature modifier deform as the skin does, as far as it can."""
    modifier.object = inputs.read(skin, schema.ARMATURE)
    bind_to = inputs.read(skin, schema.BIND)
    modifier.use_vertex_groups, modifier.use_bone_envelopes = replace.uses_of(bind_to)
    modifier.use_multi_modifier = inputs.read(skin, schema.MULTI)
    method = inputs.read(skin, schema.METHOD)
    if method != "Two-Phase":  # of which Preserve Volume is the nearest: that is as it was before
        modifier.use_deform_preserve_volume = method == "Dual Quaternion"
    group = inputs.read_group(skin, schema.GROUP)
    modifier.vertex_group = group if group in obj.vertex_groups else ""
    modifier.invert_vertex_group = bool(modifier.vertex_group) and inputs.read(skin, schema.INVERT)
    modifier.show_viewport, modifier.show_render = skin.show_viewport, skin.show_render
    modifier.show_in_editmode, modifier.show_on_cage = skin.show_in_editmode, skin.show_on_cage


def register():
    bpy.utils.register_class(OBJECT_OT_two_phase_skin_convert)


def unregister():
    bpy.utils.unregister_class(OBJECT_OT_two_phase_skin_convert)
