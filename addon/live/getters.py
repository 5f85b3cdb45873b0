# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender calls while it evaluates: properties with getters, read by the variables of the drivers that `drivers`
makes. `self` is evaluated data of the depsgraph in hand.

The variables of a driver are read in the order in which they stand, on one thread. So one hands the mesh over, as it is
before its modifiers, and the last one evaluates. A thread is known by its number: thread-local data does not outlive a
call on Blender's own threads.
"""

import threading
import traceback

import bpy
from bpy.app.translations import pgettext_rpt as rpt_
from bpy.props import FloatProperty

from ..errors import Kind, Problem
from ..modifier import schema
from . import settled
from .evaluation import Evaluation
from .registry import registry

SLOTS = 16  # skins of one object
MESH = "two_phase_skin_mesh"
_handed: dict = {}  # number of a thread -> the mesh that is handed over


def slot_property(slot):
    return f"two_phase_skin_{slot}"


def _hand_over(mesh):
    if mesh.is_evaluated:
        _handed[threading.get_ident()] = mesh
    return 0.0


def _evaluate_slot(obj, slot):
    """The value of a skin's Tick input."""
    mesh = _handed.pop(threading.get_ident(), None)
    if mesh is None or not obj.is_evaluated:
        return 0.0
    known = registry.settled.find(obj, slot)
    modifier, skin, standing = known or (*(registry.in_slot(obj, slot) or (None, None)), None)
    if skin is None:
        return 0.0
    try:
        return _tick(obj, slot, modifier, skin, standing, mesh)
    except Exception as error:  # one skin that fails must not stop the evaluation
        problem = Problem(Kind.FAILED, rpt_("This pose cannot be computed: {error}").format(error=error))
        if problem != skin.problem and not isinstance(error, ValueError):  # once, not at each evaluation
            traceback.print_exc()
        skin.fail(problem)
        return schema.AT_REST


def _tick(obj, slot, modifier, skin, standing, mesh):
    """standing: what is known of the skin already, or None."""
    if mesh.is_editmode:
        return skin.edit_tick
    if standing is not None:
        return skin.evaluate(Evaluation(obj, modifier, mesh, standing, registry.caches))
    if damage := schema.damage(modifier.node_group):
        skin.fail(Problem(Kind.DAMAGED, damage))
        return schema.AT_REST
    if not (modifier.show_viewport or modifier.show_render):
        return schema.AT_REST
    now = Evaluation(obj, modifier, mesh, settled.look(obj, modifier, mesh), registry.caches)
    if obj.original.data != mesh.original or not now.is_prepared:
        skin.lacks = True
        return schema.AT_REST
    registry.settled.keep(obj, slot, modifier, skin, now.standing)
    return skin.evaluate(now)


def _getter_of(slot):
    def evaluate(obj):  # Blender takes nothing but a plain function
        return _evaluate_slot(obj, slot)

    return evaluate


def register():
    options = {"HIDDEN", "SKIP_SAVE"}
    setattr(bpy.types.Mesh, MESH, FloatProperty(get=_hand_over, options=options))
    for slot in range(SLOTS):
        setattr(bpy.types.Object, slot_property(slot), FloatProperty(get=_getter_of(slot), options=options))


def unregister():
    for slot in range(SLOTS):
        delattr(bpy.types.Object, slot_property(slot))
    delattr(bpy.types.Mesh, MESH)
    _handed.clear()
