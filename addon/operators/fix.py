# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators behind the buttons that mend what is off with a skin."""

import bpy
from bpy.app.translations import pgettext_iface as iface_
from bpy.app.translations import pgettext_rpt as rpt_
from bpy.props import EnumProperty, StringProperty

from .. import inputs
from ..errors import UserError
from ..live import upkeep
from ..modifier import replace, schema
from . import status

ACTIONS = {
    "ARMATURE": ("Choose Armature", "Choose the armature that deforms the mesh", "ARMATURE_DATA"),
    "AUTOMATIC_WEIGHTS": ("Automatic Weights", "Let Blender weight the mesh to the bones by heat", "MOD_VERTEX_WEIGHT"),
    "VERTEX_GROUPS": ("Bind to Vertex Groups", "Bind the mesh by its vertex groups", "GROUP_VERTEX"),
    "MOVE_UP": ("Move to the Top", "Move the skin above the modifiers that it cannot follow", "TRIA_UP_BAR"),
    "SHOW": ("Show", "Show the skin in the viewport", "HIDE_OFF"),
    "MUTE_ARMATURE": ("Turn It Off", "Turn the Armature modifiers of the same armature off", "MOD_ARMATURE"),
    "POSE_POSITION": ("Pose Position", "Show the armature in its pose", "POSE_HLT"),
    "SHOW_FINAL": ("Show Final", "Show the whole deformation", "CHECKMARK"),
    "CLEAR_GROUPS": ("Use the Value", "Use the number in place of the vertex group that is not there", "X"),
    "OVERRIDE": ("Make Library Override", "Make the linked object editable", "LIBRARY_DATA_OVERRIDE"),
    "UPDATE": ("Update Now", "Read everything again and evaluate", "FILE_REFRESH"),
}


class OBJECT_OT_two_phase_skin_mend(bpy.types.Operator):
    """Mend what keeps a Two-Phase Skin from deforming its mesh"""

    bl_idname = status.FIX
    bl_label = "Mend Two-Phase Skin"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012 (Blender reads a plain set)

    action: EnumProperty(
        name="Action",
        description="What to do",
        items=[(key, name, tip, icon, k) for k, (key, (name, tip, icon)) in enumerate(ACTIONS.items())],
        default="UPDATE",
    )
    modifier: StringProperty(name="Modifier", description="The skin's name; empty: the object's first skin")
    armature: StringProperty(name="Armature", description="With Choose Armature: the armature's name")

    @classmethod
    def description(cls, _context, properties):
        return bpy.app.translations.pgettext_tip(ACTIONS[properties.action][1])

    @classmethod
    def poll(cls, context):
        if context.object is None or not inputs.skins(context.object):
            cls.poll_message_set("Select a mesh with a Two-Phase Skin")
            return False
        return True

    def invoke(self, context, _event):
        if self.action != "ARMATURE":
            return self.execute(context)
        if not self.armature:
            found = replace.armatures_of(context.object, context)
            self.armature = found[0].name if found else ""
        return context.window_manager.invoke_props_dialog(self, title=iface_(ACTIONS[self.action][0]))

    def draw(self, _context):
        self.layout.use_property_split = True
        self.layout.prop_search(self, "armature", bpy.data, "objects", icon="ARMATURE_DATA")

    def execute(self, context):
        obj = context.object
        skins = {skin.name: skin for skin in inputs.skins(obj)}
        if self.modifier and self.modifier not in skins:
            text = rpt_('"{object}" has no Two-Phase Skin "{name}"')
            self.report({"ERROR"}, text.format(object=obj.name, name=self.modifier))
            return {"CANCELLED"}
        skin = skins[self.modifier] if self.modifier else next(iter(skins.values()))
        try:
            _DO[self.action](self, context, obj, skin)
        except UserError as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        upkeep.refresh(context, anew=self.action == "UPDATE")
        skin = context.object.modifiers.get(skin.name) if context.object is not None else None
        if skin is not None and (problem := upkeep.problem_of(skin)):
            self.report({"WARNING"}, problem.text)
        return {"FINISHED"}


def _choose_armature(operator, context, obj, skin):
    replace.check_editable(obj)
    if not operator.armature:
        raise UserError(rpt_("Name an armature"))
    inputs.write(skin, schema.ARMATURE, replace.armature_named(operator.armature))


def _automatic_weights(_operator, context, obj, skin):
    """What Parent with Automatic Weights does, but for what it does to the parent and to the modifiers."""
    replace.check_editable(obj)
    armature = inputs.read(skin, schema.ARMATURE)
    if context.mode != "OBJECT":
        raise UserError(rpt_("Go to Object Mode first"))
    if armature.name not in context.view_layer.objects or armature.hide_get():
        raise UserError(rpt_('Show "{name}" first').format(name=armature.name))
    parent = obj.parent, obj.parent_type, obj.parent_bone, obj.matrix_parent_inverse.copy(), obj.matrix_basis.copy()
    before = {modifier.name for modifier in obj.modifiers}
    with context.temp_override(
        active_object=armature,
        object=armature,
        selected_objects=[obj, armature],
        selected_editable_objects=[obj, armature],
    ):
        bpy.ops.object.parent_set(type="ARMATURE_AUTO")
    obj.parent, obj.parent_type, obj.parent_bone, obj.matrix_parent_inverse, obj.matrix_basis = parent
    for modifier in [modifier for modifier in obj.modifiers if modifier.name not in before]:
        modifier.show_viewport = modifier.show_render = False  # Blender's weight tools need it
    inputs.write(skin, schema.BIND, "Vertex Groups")


def _vertex_groups(_operator, _context, obj, skin):
    replace.check_editable(obj)
    inputs.write(skin, schema.BIND, "Vertex Groups")


def _move_up(_operator, _context, obj, skin):
    replace.check_editable(obj)
    obj.modifiers.move(obj.modifiers.find(skin.name), 0)


def _show(_operator, _context, obj, skin):
    skin.show_viewport = True


def _mute_armature(_operator, _context, obj, skin):
    replace.check_editable(obj)
    for modifier in status.doubles(obj, inputs.read(skin, schema.ARMATURE)):
        modifier.show_viewport = modifier.show_render = False


def _pose_position(_operator, _context, _obj, skin):
    data = inputs.read(skin, schema.ARMATURE).data
    if data.library is not None:
        raise UserError(rpt_('"{name}" is linked: its library says its position').format(name=data.name))
    data.pose_position = "POSE"


def _show_final(_operator, _context, obj, skin):
    replace.check_editable(obj)
    inputs.write(skin, schema.SHOW, "Final")


def _clear_groups(_operator, _context, obj, skin):
    replace.check_editable(obj)
    for name in (schema.BLEND, schema.GROUP):
        group = inputs.read_group(skin, name) if inputs.has(skin, name) else ""
        if group and group not in obj.vertex_groups and group not in obj.data.attributes:
            inputs.write_group(skin, name, "")


def _override(_operator, context, obj, _skin):
    with context.temp_override(object=obj, active_object=obj, selected_objects=[obj]):
        if bpy.ops.object.make_override_library.poll():
            bpy.ops.object.make_override_library()
            return
    raise UserError(rpt_("Blender cannot override this object: select the collection that brings it instead"))


def _nothing(*_):
    """All is evaluated after each action."""


_DO = {
    "ARMATURE": _choose_armature,
    "AUTOMATIC_WEIGHTS": _automatic_weights,
    "VERTEX_GROUPS": _vertex_groups,
    "MOVE_UP": _move_up,
    "SHOW": _show,
    "MUTE_ARMATURE": _mute_armature,
    "POSE_POSITION": _pose_position,
    "SHOW_FINAL": _show_final,
    "CLEAR_GROUPS": _clear_groups,
    "OVERRIDE": _override,
    "UPDATE": _nothing,
}


def register():
    bpy.utils.register_class(OBJECT_OT_two_phase_skin_mend)


def unregister():
    bpy.utils.unregister_class(OBJECT_OT_two_phase_skin_mend)
