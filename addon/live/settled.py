# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modifiers of an evaluated object say of a skin, kept from one evaluation to the next while nothing can have
changed it.

Blender copies the evaluated object anew after each edit, but not from frame to frame. A mark on the skin's evaluated
modifier tells: a setting that acts on curves alone, and is off on meshes. Where anything animates the object, or
something stands above the skin, everything is read at each evaluation.
"""

from collections import OrderedDict
from typing import NamedTuple

from .. import compat, inputs
from ..modifier import schema, snapshot, stack
from ..modifier.schema import Mask

MOST = 1024  # evaluated skins of which it is kept
_MARK = "use_apply_on_spline"


class Standing(NamedTuple):
    """What is said of a skin."""

    settings: snapshot.Snapshot
    above: tuple  # what stands above it, in the viewport and in renders; empty: nothing
    mask: Mask
    last: bool  # whether no other skin that is on stands below it


class _Kept(NamedTuple):
    index: int  # of the modifier
    skin: object
    armature: str  # the identifier of the input that says which armature
    standing: Standing  # but for the armature, which is evaluated data


class Settled:
    def __init__(self):
        self._kept = OrderedDict()  # (address of an evaluated object, slot) -> _Kept

    def find(self, obj, slot):
        """(the modifier, its skin, its Standing) of an evaluated object, or None where it is not known."""
        kept = self._kept.get((obj.as_pointer(), slot))
        if kept is None or not _is_marked(obj, kept.index):
            return None
        modifier = obj.modifiers[kept.index]
        armature = inputs.as_value(schema.ARMATURE, "NodeSocketObject", compat.InputReader(modifier)(kept.armature))
        standing = kept.standing
        return modifier, kept.skin, standing._replace(settings=standing.settings._replace(armature=armature))

    def keep(self, obj, slot, modifier, skin, standing):
        """Keep it, if nothing but an edit can change it."""
        if standing.above or standing.settings.mask_group or _is_animated(obj):
            return
        index = obj.modifiers.find(modifier.name)
        if _is_marked(obj, index):  # in the file, too: then it tells nothing
            return
        _mark(obj, index)
        armature = schema.sockets(modifier.node_group)[schema.ARMATURE][0]
        bare = standing._replace(settings=standing.settings._replace(armature=None))
        self._kept[obj.as_pointer(), slot] = _Kept(index, skin, armature, bare)
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)


def look(obj, modifier, mesh):
    """The Standing of an evaluated skin."""
    settings = snapshot.take(modifier, inputs.mirrored(obj, modifier))
    above = ()
    if stack.anything_above(obj, modifier):
        above = tuple(stack.above(obj, modifier, mesh.shape_keys, render, settings.multi) for render in (False, True))
    return Standing(settings, above, _mask(obj, modifier, mesh, settings), stack.is_last(obj, modifier))


def _mask(obj, modifier, mesh, settings):
    group = settings.mask_group
    if not group:
        return Mask.NONE
    if group in obj.vertex_groups or group in mesh.attributes or stack.nodes_above(obj, modifier):
        return Mask.THERE
    return Mask.MISSING


def _is_animated(obj):
    """Whether anything animates the object, but for the drivers that evaluate its skins."""
    animation = obj.animation_data
    if animation is None:
        return False
    ours = len(inputs.skins(obj))
    return animation.action is not None or len(animation.nla_tracks) > 0 or len(animation.drivers) > ours


def _marks(obj):
    found = [False] * len(obj.modifiers)
    obj.modifiers.foreach_get(_MARK, found)
    return found


def _is_marked(obj, index):
    found = _marks(obj)
    return index < len(found) and found[index]


def _mark(obj, index):
    """Without telling Blender, as a plain assignment would."""
    found = _marks(obj)
    found[index] = True
    obj.modifiers.foreach_set(_MARK, found)
