# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands above a skin in the modifier stack, and whether the skin is still right below it."""

import enum
from typing import NamedTuple

import bpy
from bpy.app.translations import pgettext_rpt as rpt_

from . import schema

# They move points and keep them all, in their order.
_MOVES = {
    "ARMATURE", "CAST", "CLOTH", "CORRECTIVE_SMOOTH", "CURVE", "DISPLACE", "DYNAMIC_PAINT", "HOOK", "LAPLACIANDEFORM",
    "LAPLACIANSMOOTH", "LATTICE", "MESH_CACHE", "MESH_DEFORM", "SHRINKWRAP", "SIMPLE_DEFORM", "SMOOTH", "SOFT_BODY",
    "SURFACE_DEFORM", "WARP", "WAVE",
}  # fmt: skip
# They leave points and weights alone.
_KEEPS = {"COLLISION", "NORMAL_EDIT", "PARTICLE_SYSTEM", "SURFACE", "UV_PROJECT", "UV_WARP", "WEIGHTED_NORMAL"}
# They copy, split or drop points: each that is left comes with the matrix of the one that it was.
_COPIES = {"ARRAY", "BUILD", "EDGE_SPLIT", "MASK", "SOLIDIFY", "TRIANGULATE"}
_WEIGHTS = {"VERTEX_WEIGHT_EDIT", "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY"}
# Nodes that leave the number, the order and the weights of the points alone.
_QUIET_NODES = {
    "GeometryNodeAttributeStatistic", "GeometryNodeBoundBox", "GeometryNodeCaptureAttribute",
    "GeometryNodeFieldAtIndex", "GeometryNodeFieldOnDomain", "GeometryNodeGroup", "GeometryNodeIndexSwitch",
    "GeometryNodeMenuSwitch", "GeometryNodeObjectInfo", "GeometryNodeProximity", "GeometryNodeRaycast",
    "GeometryNodeRemoveAttribute", "GeometryNodeSampleIndex", "GeometryNodeSampleNearest",
    "GeometryNodeSampleNearestSurface", "GeometryNodeSelfObject", "GeometryNodeSetID", "GeometryNodeSetMaterial",
    "GeometryNodeSetMeshNormal", "GeometryNodeSetPosition", "GeometryNodeSetShadeSmooth", "GeometryNodeStringJoin",
    "GeometryNodeSwitch", "GeometryNodeViewer", "GeometryNodeWarning",
}  # fmt: skip
_QUIET_PREFIXES = ("FunctionNode", "GeometryNodeInput", "GeometryNodeTool", "Node", "ShaderNode")


class State(enum.Enum):
    """How points reach a skin, or what a modifier does to them."""

    AS_IS = enum.auto()  # as they are in the mesh
    KEYED = enum.auto()  # moved by relative shape keys alone
    MOVED = enum.auto()
    REFUSED = enum.auto()  # their number, order or weights are others


class Above(NamedTuple):
    """How the points reach a skin. mover: the name of the first modifier that moves them, or of the one that is
    refused; empty where none does, or where absolute shape keys do."""

    state: State
    refusal: str = ""
    mover: str = ""


def above(obj, skin, keys, render=False, multi=False):
    """How the points reach the skin. keys: the mesh's shape keys, or None.

    multi: how they reach the skin or Armature modifier right above it, which is the one that this skin is mixed with.
    """
    result = first(obj, keys)
    for modifier in _acting_above(obj, skin, render, multi):
        effect = _effect(modifier)
        if effect is State.REFUSED:
            return Above(effect, _refusal(modifier), modifier.name)
        if effect is State.MOVED:
            result = Above(effect, mover=result.mover or modifier.name)
    return result


def first(obj, keys):
    """How the points reach the first modifier."""
    return Above(_shape_keys(obj, keys))


def anything_above(obj, skin):
    """Whether any modifier stands above a skin, be it on or off."""
    return len(obj.modifiers) > 0 and obj.modifiers[0].persistent_uid != skin.persistent_uid


def _acting_above(obj, skin, render, multi):
    """The modifiers that act on the points before they reach the skin."""
    if multi:
        skin = _mixed_with(obj, skin, render)
    for modifier in obj.modifiers:
        if modifier.persistent_uid == skin.persistent_uid:
            break
        if modifier.show_render if render else modifier.show_viewport:
            yield modifier


def _mixed_with(obj, skin, render):
    before = skin
    for modifier in obj.modifiers:
        if modifier.persistent_uid == skin.persistent_uid:
            break
        if modifier.show_render if render else modifier.show_viewport:
            before = modifier
    return before if before.type == "ARMATURE" or schema.is_skin(before) else skin


def _shape_keys(obj, keys):
    if keys is None:
        return State.AS_IS
    # Absolute keys follow curves in time: they are left to Blender.
    return State.KEYED if keys.use_relative or obj.show_only_shape_key else State.MOVED


def place_for_new(obj):
    """The index for a skin that takes over nothing: at the end, but above the first modifier that it cannot follow."""
    for index, modifier in enumerate(obj.modifiers):
        if modifier.show_viewport and _effect(modifier) is State.REFUSED:
            return index
    return len(obj.modifiers)


def nodes_above(obj, skin):
    """Whether any nodes above a skin may give the points attributes that the mesh does not have."""
    for modifier in obj.modifiers:
        if modifier.persistent_uid == skin.persistent_uid:
            return False
        if modifier.type == "NODES" and not schema.is_skin(modifier):
            return True
    return False


def may_be_moved(obj, skin):
    """Whether anything can move the points before they reach the skin, now or when it is turned on."""
    keys = obj.data.shape_keys
    if keys is not None and not keys.use_relative:
        return True
    for modifier in obj.modifiers:
        if modifier.persistent_uid == skin.persistent_uid:
            return False
        if _effect(modifier) is State.MOVED:
            return True
    return False


def is_last(obj, skin):
    """Whether no other skin that is on stands below this one."""
    below = False
    for modifier in obj.modifiers:
        if below and schema.is_skin(modifier) and (modifier.show_viewport or modifier.show_render):
            return False
        below = below or modifier.persistent_uid == skin.persistent_uid
    return True


def find(obj, uid):
    """The object's modifier with that persistent uid, or None."""
    return next((modifier for modifier in obj.modifiers if modifier.persistent_uid == uid), None)


def _effect(modifier):
    kind = modifier.type
    if kind in _MOVES or kind in _COPIES or schema.is_skin(modifier):
        return State.MOVED
    if kind in _KEEPS:
        return State.AS_IS
    if kind == "NODES":
        return State.MOVED if modifier.node_group is None or _quiet(modifier.node_group, set()) else State.REFUSED
    if kind == "DATA_TRANSFER":
        weights = modifier.use_vert_data and "VGROUP_WEIGHTS" in modifier.data_types_verts
        return State.REFUSED if weights else State.AS_IS
    if kind == "MIRROR":
        return State.REFUSED if modifier.use_mirror_vertex_groups and _flippable(modifier.id_data) else State.MOVED
    if kind == "OCEAN":
        return State.MOVED if modifier.geometry_mode == "DISPLACE" else State.REFUSED
    return State.REFUSED


def _refusal(modifier):
    if modifier.type in _WEIGHTS or modifier.type == "DATA_TRANSFER":
        return rpt_('"{name}" above changes the weights: move it below Two-Phase Skin, or apply it').format(
            name=modifier.name
        )
    if modifier.type == "MIRROR":
        return rpt_('"{name}" above changes the weights (it flips vertex groups): apply it, or turn that off').format(
            name=modifier.name
        )
    text = rpt_('"{name}" above changes the points\' number: move it below Two-Phase Skin, or apply it')
    return text.format(name=modifier.name)


def _flippable(obj):
    """Whether any vertex group is one of a left and right pair."""
    names = {group.name for group in obj.vertex_groups}
    return any(bpy.utils.flip_name(name) != name for name in names)


def _quiet(tree, seen):
    """Whether a node tree only moves points, with all the groups that it uses."""
    if tree in seen:
        return True
    seen.add(tree)
    for node in tree.nodes:
        kind = node.bl_idname
        if kind not in _QUIET_NODES and not kind.startswith(_QUIET_PREFIXES):
            return False
        if kind == "GeometryNodeGroup" and node.node_tree is not None and not _quiet(node.node_tree, seen):
            return False
    return True
