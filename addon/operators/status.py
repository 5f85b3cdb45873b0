# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a skin from doing what an artist expects, in words, each with the operator that mends it."""

from typing import NamedTuple

from bpy.app.translations import pgettext_rpt as rpt_

from .. import inputs, native
from ..errors import Kind
from ..live import upkeep
from ..modifier import schema, snapshot
from ..read.influences import Bind
from ..write import edit_mode

FIX = "object.two_phase_skin_mend"


class State(NamedTuple):
    """Something that is off. fixes: the actions of the operator `object.two_phase_skin_mend` that help."""

    text: str
    fixes: tuple = ()
    icon: str = "ERROR"


def of(obj, skin):
    """Everything that is off with a skin, the worst first."""
    if native.PROBLEM:
        return [State(native.PROBLEM)]
    if damage := schema.damage(skin.node_group):
        return [State(damage)]
    found = list(_not_bound(obj, skin)) or list(_unfamiliar(obj, skin))
    return list(_newer(skin)) + found + list(_linked(obj)) + list(_choices(obj, skin))


def _newer(skin):
    if newer := schema.newer_maker(skin.node_group):
        text = rpt_("Made by Two-Phase Skin {newer}: this is {here}, which may not do all of it. Update the extension")
        yield State(text.format(newer=newer, here=native.VERSION))


def _linked(obj):
    if obj.library is not None:
        yield State(rpt_("The object is linked: its settings are its library's"), ("OVERRIDE",), "LINKED")


def _not_bound(obj, skin):
    """Why the mesh is not deformed at all."""
    armature = inputs.read(skin, schema.ARMATURE)
    if armature is None:
        yield State(rpt_("No armature is chosen"), ("ARMATURE",))
    elif armature.type != "ARMATURE":
        yield State(rpt_('"{name}" is not an armature').format(name=armature.name), ("ARMATURE",))
    elif not len(obj.data.vertices):
        yield State(rpt_("The mesh has no vertices"))
    elif problem := upkeep.problem_of(skin):
        yield State(problem.text, _fixes_of(obj, skin, armature, problem))


def _fixes_of(obj, skin, armature, problem):
    if problem.kind in (Kind.REFUSED_ABOVE, Kind.MOVED_TOO_EARLY) and problem.mover:
        return ("MOVE_UP",)
    if problem.kind is not Kind.NOTHING_BOUND:
        return ("UPDATE",)
    if inputs.read(skin, schema.BIND) == Bind.ENVELOPES.value and _has_groups(obj, armature):
        return ("VERTEX_GROUPS", "AUTOMATIC_WEIGHTS")
    return ("AUTOMATIC_WEIGHTS",)


def _has_groups(obj, armature):
    """Whether any vertex group is named like a deforming bone."""
    bones = armature.data.bones
    return any(group.name in bones and bones[group.name].use_deform for group in obj.vertex_groups)


def _unfamiliar(obj, skin):
    """What deforms the mesh otherwise than one may think."""
    armature = inputs.read(skin, schema.ARMATURE)
    if not skin.show_viewport:
        yield State(rpt_("Off in the viewport"), ("SHOW",), "HIDE_ON")
    if doubles(obj, armature):
        yield State(rpt_("An Armature modifier deforms the mesh as well"), ("MUTE_ARMATURE",))
    if armature.data.pose_position == "REST":
        yield State(rpt_('"{name}" is in Rest Position').format(name=armature.name), ("POSE_POSITION",), "INFO")
    if armature.data.is_editmode:
        yield State(rpt_('"{name}" is in Edit Mode: the mesh is at rest').format(name=armature.name), (), "INFO")
    if obj.data.is_editmode and edit_mode.vertex_count(obj.data) > edit_mode.LIMIT:
        yield State(rpt_("Too many vertices to be skinned in Edit Mode"), (), "INFO")


def _choices(obj, skin):
    """Settings that one may have forgotten."""
    if snapshot.take(skin, {}).stage < snapshot.FINAL:
        yield State(rpt_("Not all of the deformation is shown"), ("SHOW_FINAL",), "INFO")
    for name in (schema.BLEND, schema.GROUP):
        group = inputs.read_group(skin, name) if inputs.has(skin, name) else ""
        if group and group not in obj.vertex_groups and group not in obj.data.attributes:
            text = rpt_('{input}: there is no vertex group "{name}"').format(input=name, name=group)
            yield State(text, ("CLEAR_GROUPS",))


def doubles(obj, armature):
    """The Armature modifiers that deform the mesh by the same armature beside the skin."""
    return [m for m in obj.modifiers if m.type == "ARMATURE" and m.object == armature and m.show_viewport]
