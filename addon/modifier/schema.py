# SPDX-License-Identifier: GPL-3.0-or-later
"""What a Two-Phase Skin's modifier is made of: its inputs, their choices, and what tells it from others."""

import enum
import re

from bpy.app.translations import pgettext_rpt as rpt_

NAME = "Two-Phase Skin"
MARK = "two_phase_skin"  # the custom property that tells our groups, whatever they are called
MAKER = "two_phase_skin_version"  # the custom property that says which version of the extension made the group
VERSION = 3  # 2: Blend, Show, Stage, panels; 3: evaluated by drivers (Slot, Tick, Saved)

ARMATURE = "Armature"
METHOD = "Method"
INHERITED = "Inherited Scale"
BLEND = "Blend"
BIND = "Bind To"
FACTOR = "Factor"
GROUP = "Vertex Group"
INVERT = "Invert"
MULTI = "Multi Modifier"
SHOW = "Show"
STAGE = "Stage"
IDENTITY = "Identity"
SLOT = "Slot"
TICK = "Tick"
SAVED = "Saved"
MESSAGE = "Message"

METHODS = {"TWO_PHASE": "Two-Phase", "LINEAR": "Linear", "DUAL_QUATERNION": "Dual Quaternion"}
MENUS = {
    METHOD: tuple(METHODS.values()),
    INHERITED: ("After Bend", "Before Bend"),
    BIND: ("Vertex Groups", "Bone Envelopes", "Both"),
    SHOW: ("Final", "Rest", "After Phase 1", "After Phase 2", "By Stage"),
}
TIPS = {  # what the items of the menus do
    "Two-Phase": "Scale first, as the bones stretch the flesh, then bend without losing volume",
    "Linear": "Blend the bones' transforms directly, as the Armature modifier does",
    "Dual Quaternion": "Blend rotations, as the Armature modifier does with Preserve Volume",
    "After Bend": "Scale that a bone inherits acts after it has bent: the smoothest where bones also twist",
    "Before Bend": "Scale that a bone inherits shapes it before it bends",
    "Vertex Groups": "The weights of the vertex groups that are named like bones",
    "Bone Envelopes": "How far inside the bones' envelopes a point is",
    "Both": "Vertex groups, and bone envelopes for points that are in no bone's group",
    "Final": "The whole deformation",
    "Rest": "The mesh as it was before the deformation",
    "After Phase 1": "After scale and shear, before anything has turned or moved",
    "After Phase 2": "After rotation and translation, before inherited scale acts",
    "By Stage": "Where the Stage slider says, from rest to final",
}
_IDENTITY = re.compile("[0-9a-f]{8}")
PREFIX = ".two_phase_skin."  # of our attributes' names; the identity follows. The dot hides them in lists
COLUMNS = (".x", ".y", ".z", ".t")  # what the names of the four attributes of a per vertex matrix end in

INPUTS = (
    (ARMATURE, "NodeSocketObject", "The armature whose bones move the mesh"),
    (METHOD, "NodeSocketMenu", "How the bones' transforms are blended"),
    (INHERITED, "NodeSocketMenu", "Whether scale that children inherit acts after or before they bend"),
    (
        BLEND,
        "NodeSocketFloat",
        "From Linear (0) to the Method (1), for all points, or by a vertex group: choose it with the button beside it",
    ),
    (FACTOR, "NodeSocketFloat", "How much of the deformation is applied"),
    (GROUP, "NodeSocketFloat", "How much each point is affected: choose a vertex group with the button beside it"),
    (INVERT, "NodeSocketBool", "Affect the points that the vertex group leaves out"),
    (BIND, "NodeSocketMenu", "What tells how much each bone moves a point; Both: envelopes where no group does"),
    (MULTI, "NodeSocketBool", "Deform what the skin above deforms, not its result, and mix both by the vertex group"),
    (SHOW, "NodeSocketMenu", "How far the deformation is shown"),
    (
        STAGE,
        "NodeSocketFloat",
        "With Show set to By Stage: 0 at rest, 1 after phase 1, 2 after phase 2, 3 final, and in between on the way",
    ),
    (IDENTITY, "NodeSocketString", "What tells this skin's attributes from those of others"),
    (SLOT, "NodeSocketInt", "Which of its object's skins this is"),
    (TICK, "NodeSocketFloat", "Driven: what the evaluation of the skin gives to the nodes"),
    (SAVED, "NodeSocketFloat", "The Tick with which the file was saved, for where nothing evaluates the skin"),
    (MESSAGE, "NodeSocketString", "What is wrong"),
)
READ = (METHOD, INHERITED, BLEND, BIND, MULTI, SHOW, STAGE)  # inputs that the evaluation of the skin reads
SETTINGS = (*READ[:-2], FACTOR, GROUP, INVERT, SHOW, STAGE)  # what an artist sets, but for the armature
HIDDEN = {IDENTITY, SLOT, TICK, SAVED, MESSAGE}
OBSOLETE = {"Witness", "Per Vertex Matrix", "Group State"}  # inputs that groups of version 2 have beside these
_OPTIONAL = {BLEND, SHOW, STAGE}  # groups of version 1 lack them
SLIDERS = {BLEND: 1.0, FACTOR: 1.0, GROUP: 1.0, STAGE: 3.0}  # each from 0 to this, where it is at first
FIELDS = {BLEND, GROUP}  # a value or a vertex group
PANELS = (
    ("Influence", "How much of the deformation is applied, and to which points", (FACTOR, GROUP, INVERT)),
    ("Binding", "What the points are bound by", (BIND, MULTI)),
    ("Phases", "Look at the deformation in its phases", (SHOW, STAGE)),
)


class Mode(enum.IntEnum):
    """What the attribute of a skin holds."""

    NOTHING = 0  # the points stay where they are
    OFFSETS = 1  # one vector a point, for meshes whose points reach the modifier as they are in the mesh: the fast one
    # Four vectors a point, the columns of (matrix - 1), for points that something above has moved already:
    # offset = x·column_x + y·column_y + z·column_z + column_t, which is exact wherever they are now.
    MATRICES = 2
    PLACES = 3  # where each point goes to, for Multi Modifier: what the skin deforms is not what reaches it


class Mask(enum.IntEnum):
    """What is behind the Vertex Group input."""

    THERE = 0
    NONE = 1  # no group is chosen
    MISSING = 2  # the group that is chosen is not there


MODES = len(Mode)  # the base in which `tick` counts


def tick(viewport, render, mask, last):
    """The value of the Tick input: what the attribute holds for the viewport and for renders, what the mask is, and
    whether the skin is the last of its object. It is never 0, which is what a driver gives without the extension."""
    return float(1 + MODES * (viewport + MODES * (render + MODES * (mask + MODES * last))))


AT_REST = tick(Mode.NOTHING, Mode.NOTHING, Mask.NONE, False)


def is_skin(modifier):
    """Whether a modifier is a Two-Phase Skin."""
    return modifier.type == "NODES" and modifier.node_group is not None and version_of(modifier.node_group) > 0


def version_of(tree):
    """Which version of the node group a tree is; 0 if it is none, whatever it is marked with."""
    mark = tree.get(MARK)
    return mark if isinstance(mark, int) and tree.bl_idname == "GeometryNodeTree" else 0


def damage(tree):
    """Why a node group cannot be used that was edited by hand, in words; empty if it can. Kept as `sockets` is."""
    key = _key(tree)
    found = _damage.get(key)
    if found is None:
        found = _damage[key] = _find_damage(tree)
    return found


def _find_damage(tree):
    found = {item.name: item.socket_type for item in input_items(tree)}
    optional = _OPTIONAL | {SLOT, TICK, SAVED} if version_of(tree) < VERSION else _OPTIONAL
    for name, kind in (("Geometry", "NodeSocketGeometry"), *(each[:2] for each in INPUTS)):
        if found.get(name, kind if name in optional else None) != kind:
            text = rpt_(
                'The node group was edited: its input "{name}" is missing or of another type. '
                "Remove the modifier, and add Two-Phase Skin again"
            )
            return text.format(name=name)
    return ""


_sockets: dict = {}  # what `_key` gives of a tree -> what `sockets` gives
_damage: dict = {}  # the same of `damage`


def forget_all():
    """Look at the inputs of all node trees anew: the file is another one."""
    _sockets.clear()
    _damage.clear()


def forget(tree):
    """Look at the inputs of a node tree anew: it was edited."""
    uid = tree.original.session_uid
    for kept in (_sockets, _damage):
        for key in [key for key in kept if key[0] == uid]:
            del kept[key]


def _key(tree):
    return tree.original.session_uid, len(tree.interface.items_tree)  # the uid of an evaluated tree is always 0


def kind_of(name):
    """The socket type of the input of that name."""
    return next(kind for each, kind, _description in INPUTS if each == name)


def newer_maker(tree):
    """The version of the extension that made the group, if this one does not know all of it, else empty."""
    return str(tree.get(MAKER, "")) if version_of(tree) > VERSION else ""


def sockets(tree):
    """The inputs of a node tree, name -> (identifier, type). Kept: this is asked for several times an evaluation."""
    key = _key(tree)
    found = _sockets.get(key)
    if found is None:
        found = _sockets[key] = {
            item.name: (item.identifier, item.socket_type)
            for item in input_items(tree)
            if item.socket_type != "NodeSocketGeometry"
        }
    return found


def input_items(tree):
    return [item for item in tree.interface.items_tree if item.item_type == "SOCKET" and item.in_out == "INPUT"]


def is_identity(text):
    """Whether an Identity is one of ours; what was written by hand need not fit into an attribute's name."""
    return _IDENTITY.fullmatch(text) is not None


def attribute_names(name):
    """All attributes that a skin of that name can have on its mesh."""
    return [name] + [name + column for column in COLUMNS]
