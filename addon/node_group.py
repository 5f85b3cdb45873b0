# SPDX-License-Identifier: GPL-3.0-or-later
"""The node group that stands behind the modifier.

It moves each point by an offset that `live` writes into an attribute of the mesh, in one of these forms:

- *offset*: one vector a point. The fast one, for meshes whose points reach the modifier as they are in the mesh.
- with *Multi Modifier*: the place that the point is to go to, for what this skin deforms is not what reaches it.
- *per vertex matrix*: four vectors a point, the columns of (matrix - 1). For points that something above has moved
  already (shape keys, lattices, another skin): offset = x·column_x + y·column_y + z·column_z + column_t, which is
  exact wherever they are now.

Both are zero where the attribute is missing, so that a new vertex and an unbound skin show the points where they were.
The attributes are saved: a file that is opened without the extension stays at the frame that was last written. Factor
and the vertex group act in the nodes: they are animated without any help from Python.
"""

import bpy
from bpy.app.translations import pgettext_rpt as rpt_

from . import compat, native

NAME = "Two-Phase Skin"
MARK = "two_phase_skin"  # the custom property that tells our groups, whatever they are called
MAKER = "two_phase_skin_version"  # the custom property that says which version of the extension made the group
VERSION = 2  # 2: Blend, Show, Stage, panels

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
WITNESS = "Witness"
PER_VERTEX = "Per Vertex Matrix"
GROUP_STATE = "Group State"
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
PREFIX = ".two_phase_skin."  # of our attributes' names; the identity follows. The dot hides them in lists
COLUMNS = (".x", ".y", ".z", ".t")  # what the names of the four attributes of a per vertex matrix end in

_INPUTS = (
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
    (WITNESS, "NodeSocketObject", "What makes a hidden armature be posed"),
    (PER_VERTEX, "NodeSocketBool", "The deformation is kept as one matrix for each point"),
    (GROUP_STATE, "NodeSocketFloat", "0: Vertex Group is there; -1: none is chosen; 1: it is missing"),
    (MESSAGE, "NodeSocketString", "What is wrong"),
)
HIDDEN = {IDENTITY, WITNESS, PER_VERTEX, GROUP_STATE, MESSAGE}
_OPTIONAL = {BLEND, SHOW, STAGE, GROUP_STATE}  # groups of older versions lack them
GROUP_THERE, NO_GROUP, GROUP_MISSING = 0.0, -1.0, 1.0
SLIDERS = {BLEND: 1.0, FACTOR: 1.0, GROUP: 1.0, STAGE: 3.0}  # each from 0 to this, where it is at first
FIELDS = {BLEND, GROUP}  # a value or a vertex group
_PANELS = (
    ("Influence", "How much of the deformation is applied, and to which points", (FACTOR, GROUP, INVERT)),
    ("Binding", "What the points are bound by", (BIND, MULTI)),
    ("Phases", "Look at the deformation in its phases", (SHOW, STAGE)),
)


def is_skin(modifier):
    """Whether a modifier is a Two-Phase Skin."""
    return modifier.type == "NODES" and modifier.node_group is not None and version_of(modifier.node_group) > 0


def version_of(tree):
    """Which version of the node group a tree is; 0 if it is none, whatever it is marked with."""
    mark = tree.get(MARK)
    return mark if isinstance(mark, int) and tree.bl_idname == "GeometryNodeTree" else 0


def damage(tree):
    """Why a node group cannot be used that was edited by hand, in words; empty if it can."""
    found = {item.name: item.socket_type for item in _input_items(tree)}
    for name, kind in (("Geometry", "NodeSocketGeometry"), *(each[:2] for each in _INPUTS)):
        if found.get(name, kind if name in _OPTIONAL else None) != kind:
            text = rpt_(
                'The node group was edited: its input "{name}" is missing or of another type. '
                "Remove the modifier, and add Two-Phase Skin again"
            )
            return text.format(name=name)
    return ""


def forget_all():
    """Look at the inputs of all node trees anew: the file is another."""
    _sockets.clear()


def forget(tree):
    """Look at the inputs of a node tree anew: it was edited."""
    uid = tree.original.session_uid
    for key in [key for key in _sockets if key[0] == uid]:
        del _sockets[key]


def newer_maker(tree):
    """The version of the extension that made the group, if this one does not know all of it, else empty."""
    return str(tree.get(MAKER, "")) if version_of(tree) > VERSION else ""


def sockets(tree):
    """The inputs of a node tree, name -> (identifier, type). Kept: this is asked for several times an update."""
    items = tree.interface.items_tree
    key = tree.original.session_uid, len(items)  # that of an evaluated tree is always 0
    found = _sockets.get(key)
    if found is None:
        found = _sockets[key] = {
            item.name: (item.identifier, item.socket_type)
            for item in _input_items(tree)
            if item.socket_type != "NodeSocketGeometry"
        }
    return found


def _input_items(tree):
    return [item for item in tree.interface.items_tree if item.item_type == "SOCKET" and item.in_out == "INPUT"]


_sockets = {}


def ensure():
    """The file's own node group, made if there is none."""
    for tree in bpy.data.node_groups:
        if version_of(tree) == VERSION and _ours(tree) and not damage(tree):
            return tree
    tree = bpy.data.node_groups.new(NAME, "GeometryNodeTree")
    tree.is_modifier = True
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    _build(tree)
    return tree


def bring_up_to_date():
    """Give the groups that an older version of the extension left in this file what they lack.

    Inputs that they have keep their identifiers, and so every skin its settings. Linked groups are left as they are:
    what they lack has its default.
    """
    for tree in bpy.data.node_groups:
        if 0 < version_of(tree) < VERSION and _ours(tree) and not damage(tree):
            present = set(sockets(tree))
            tree.nodes.clear()
            _build(tree)
            _set_defaults(tree, SLIDERS.keys() - present)


def _set_defaults(tree, names):
    """Blender gives the modifiers that are there zero for inputs that are new, whatever their default."""
    identifiers = {sockets(tree)[name][0]: SLIDERS[name] for name in names}
    for obj in bpy.data.objects:
        for modifier in obj.modifiers:
            if modifier.type == "NODES" and modifier.node_group == tree and obj.library is None:
                for identifier, value in identifiers.items():
                    compat.input_set(modifier, identifier, value)


def _ours(tree):
    return tree.library is None and tree.override_library is None


def _build(tree):
    tree[MARK], tree[MAKER] = VERSION, native.VERSION
    _declare(tree)
    wires = _Wires(tree)
    source = wires.node("NodeGroupInput", 0, 0)
    offset = _counted_as_used(wires, source, _offset(wires, source))
    moved = wires.node("GeometryNodeSetPosition", 6, 0, Geometry=source.outputs["Geometry"], Offset=offset)
    target = wires.node("NodeGroupOutput", 8, 0)
    wires.link(_without_attributes(wires, source, moved.outputs[0]), target.inputs[0])
    _warning(wires, source)


def _declare(tree):
    """Make the inputs that are not there, and put all in their order and panels."""
    present = sockets(tree)
    for name, kind, description in _INPUTS:
        if name not in present:
            socket = tree.interface.new_socket(name, in_out="INPUT", socket_type=kind)
            if name in SLIDERS:
                most = SLIDERS[name]
                socket.min_value, socket.max_value, socket.default_value, socket.subtype = 0.0, most, most, "FACTOR"
            socket.force_non_field = name not in FIELDS and kind in ("NodeSocketFloat", "NodeSocketBool")
        socket = _interface_socket(tree, name)
        socket.description = description
        socket.hide_in_modifier = name in HIDDEN
    count = len(tree.interface.items_tree)
    for name, _kind, _description in _INPUTS:
        tree.interface.move(_interface_socket(tree, name), count)
    for name, description, members in _PANELS:
        panel = tree.interface.new_panel(name, description=description, default_closed=name != "Influence")
        for place, member in enumerate(members):
            tree.interface.move_to_parent(_interface_socket(tree, member), panel, place)


def _offset(wires, source):
    """What to add to each point: the stored deformation, weighted by the factor and the vertex group."""
    name = wires.join(PREFIX, source.outputs[IDENTITY], -1)
    stored, exists = wires.named_vector_exists(name, 2, -1)
    composed = _per_vertex_offset(wires, name)
    choice = wires.node("GeometryNodeSwitch", 4, -1, input_type="VECTOR", Switch=source.outputs[PER_VERTEX])
    wires.link(stored, wires.socket(choice.inputs, "False"))
    wires.link(composed, wires.socket(choice.inputs, "True"))
    wanted = wires.node("GeometryNodeSwitch", 4.5, -1, input_type="VECTOR", Switch=source.outputs[MULTI])
    wires.link(wires.socket(choice.outputs, "Output"), wires.socket(wanted.inputs, "False"))
    wires.link(_towards(wires, stored, exists), wires.socket(wanted.inputs, "True"))
    moved = wires.socket(wanted.outputs, "Output")
    strength = wires.math("MULTIPLY", 4, 2, _mask(wires, source), source.outputs[FACTOR])
    scaled = wires.vector("SCALE", 5, 0, moved, Scale=strength)
    return _unless_whole(wires, source, moved, scaled)


def _unless_whole(wires, source, moved, scaled):
    """The scaled offset, or the one that is stored where all of it is wanted, which saves a pass over large meshes.

    Whether a group is chosen comes first: as long as none is, the group's input is one number, not one for each point.
    """
    for row, condition in (
        (0.5, _is_one(wires, source.outputs[GROUP], 3)),
        (0.0, _is_one(wires, source.outputs[FACTOR], 3.5)),
        (-0.5, wires.math("LESS_THAN", 4, 4, source.outputs[GROUP_STATE], -0.5)),
    ):
        switch = wires.node("GeometryNodeSwitch", 5.2, row, input_type="VECTOR", Switch=condition)
        wires.link(scaled, wires.socket(switch.inputs, "False"))
        wires.link(moved, wires.socket(switch.inputs, "True"))
        moved = wires.socket(switch.outputs, "Output")
    return moved


def _is_one(wires, value, row):
    compare = wires.node("FunctionNodeCompare", 4, row, data_type="FLOAT", operation="EQUAL", A=value)
    wires.socket(compare.inputs, "B").default_value = 1.0
    wires.socket(compare.inputs, "Epsilon").default_value = 0.0
    return compare.outputs[0]


def _mask(wires, source):
    """How much of each point by the vertex group.

    As with the Armature modifier, Invert does nothing without a group, and a group that is missing leaves nothing out:
    its weights read zero, which are inverted. Nodes cannot tell these cases; `live` does.
    """
    inverse = wires.math("SUBTRACT", 2, 2, 1.0, source.outputs[GROUP])
    counted = wires.math("ADD", 1, 2, source.outputs[INVERT], source.outputs[GROUP_STATE])
    inverted = wires.math("GREATER_THAN", 2, 2.5, counted, 0.5)
    mask = wires.node("GeometryNodeSwitch", 3, 2, input_type="FLOAT", Switch=inverted)
    wires.link(source.outputs[GROUP], wires.socket(mask.inputs, "False"))
    wires.link(inverse, wires.socket(mask.inputs, "True"))
    return wires.socket(mask.outputs, "Output")


def _towards(wires, stored, exists):
    """From where a point is to the place that is stored for it, if there is one."""
    position = wires.node("GeometryNodeInputPosition", 2, -1.5).outputs[0]
    way = wires.vector("SUBTRACT", 3, -1.5, stored, position)
    switch = wires.node("GeometryNodeSwitch", 3.5, -1.5, input_type="VECTOR", Switch=exists)
    wires.link(way, wires.socket(switch.inputs, "True"))
    return wires.socket(switch.outputs, "Output")


def _per_vertex_offset(wires, name):
    position = wires.node("GeometryNodeInputPosition", 1, -6).outputs[0]
    axes = wires.node("ShaderNodeSeparateXYZ", 2, -6, Vector=position)
    total = wires.named_vector(wires.join(name, COLUMNS[3], -5), 2, -5)
    for k in range(3):
        column = wires.named_vector(wires.join(name, COLUMNS[k], -2 - k), 2, -2 - k)
        part = wires.vector("SCALE", 3, -2 - k, column, Scale=axes.outputs[k])
        total = wires.vector("ADD", 3.5, -2 - k, total, part)
    return total


def _without_attributes(wires, source, geometry):
    """The result without our attributes: nothing below sees or exports them."""
    pattern = wires.join(wires.join(PREFIX, source.outputs[IDENTITY], -9), "*", -9.5)
    removed = wires.node("GeometryNodeRemoveAttribute", 7, 0, Geometry=geometry, Name=pattern)
    compat.use_wildcards(removed)
    return removed.outputs[0]


def _counted_as_used(wires, source, offset):
    """The offset, past a switch that is never thrown, for which Blender needs all inputs that only `live` reads.

    Since 4.5 it greys out the inputs of a modifier that its nodes do not use, and hides what hangs on another choice of
    a menu. It cannot know beforehand where the armature is; so it takes the switch for one that may be thrown, but the
    nodes behind it are never run.
    """
    place = wires.node("GeometryNodeObjectInfo", 1, 3, Object=source.outputs[ARMATURE]).outputs["Location"]
    length = wires.node("ShaderNodeVectorMath", 3, 3, operation="LENGTH")
    wires.link(place, length.inputs[0])
    never = wires.math("LESS_THAN", 4, 3, length.outputs["Value"], -1.0)
    total = source.outputs[BLEND]
    for row, number in enumerate(_menus(wires, source)):
        total = wires.vector("ADD", 2, 3 + row, total, number)
    switch = wires.node("GeometryNodeSwitch", 5.5, 0, input_type="VECTOR", Switch=never)
    wires.link(offset, wires.socket(switch.inputs, "False"))
    wires.link(total, wires.socket(switch.inputs, "True"))
    return wires.socket(switch.outputs, "Output")


def _menus(wires, source):
    """A menu input takes its items from a Menu Switch; what these give is of no use to the nodes."""
    results = []
    for row, (name, items) in enumerate(MENUS.items()):
        switch = wires.node("GeometryNodeMenuSwitch", 1, 4 + 2 * row, data_type="FLOAT")
        # The two items that are there are renamed, not replaced: their numbers are counted from the first ever made.
        for k, item in enumerate(items):
            if k < len(switch.enum_items):
                switch.enum_items[k].name = item
            else:
                switch.enum_items.new(item)
            switch.enum_items[k].description = TIPS[item]
            switch.inputs[1 + k].default_value = k
        if name == SHOW:
            wires.link(source.outputs[STAGE], switch.inputs[len(items)])
        wires.link(source.outputs[name], switch.inputs[0])
        _interface_socket(wires.tree, name).default_value = items[0]
        results.append(switch.outputs[0])
    return results


def _warning(wires, source):
    node = compat.add_warning_node(wires.tree)
    if node is not None:
        node.location = (400, -1600)
        shown = wires.node("FunctionNodeCompare", 1, -7.5, data_type="STRING", operation="NOT_EQUAL")
        wires.link(source.outputs[MESSAGE], wires.socket(shown.inputs, "A"))
        wires.link(shown.outputs[0], node.inputs["Show"])
        wires.link(source.outputs[MESSAGE], node.inputs["Message"])


def _interface_socket(tree, name):
    return next(item for item in _input_items(tree) if item.name == name)


class _Wires:
    """Makes nodes on a grid and links them, in as few words as possible."""

    def __init__(self, tree):
        self.tree = tree

    def node(self, kind, column, row, **settings):
        """Settings are the node's properties, or, if they are sockets, what to link to the input of that name."""
        node = self.tree.nodes.new(kind)
        node.location = (column * 200, row * 200)
        for name, value in settings.items():
            if not isinstance(value, bpy.types.NodeSocket):
                setattr(node, name, value)
        for name, value in settings.items():
            if isinstance(value, bpy.types.NodeSocket):
                self.link(value, self.socket(node.inputs, name))
        return node

    def link(self, output, socket):
        self.tree.links.new(output, socket)

    def socket(self, sockets, name):
        """The socket of that name that is in use: a node has one for each of its data types."""
        return next(socket for socket in sockets if socket.enabled and socket.name == name)

    def named_vector(self, name, column, row):
        return self.named_vector_exists(name, column, row)[0]

    def named_vector_exists(self, name, column, row):
        node = self.node("GeometryNodeInputNamedAttribute", column, row, data_type="FLOAT_VECTOR", Name=name)
        return self.socket(node.outputs, "Attribute"), self.socket(node.outputs, "Exists")

    def join(self, first, second, row):
        """Two texts as one; either is a constant or an output."""
        node = self.node("GeometryNodeStringJoin", 1, row)
        # The last link into a multi-input socket is its first text.
        for part in (second, first):
            if isinstance(part, str):
                constant = self.node("FunctionNodeInputString", 0.5, row)
                constant.string = part
                part = constant.outputs[0]
            self.link(part, node.inputs["Strings"])
        return node.outputs[0]

    def math(self, operation, column, row, first, second):
        node = self.node("ShaderNodeMath", column, row, operation=operation)
        for socket, value in zip(node.inputs, (first, second), strict=False):
            if isinstance(value, bpy.types.NodeSocket):
                self.link(value, socket)
            else:
                socket.default_value = value
        return node.outputs[0]

    def vector(self, operation, column, row, first, second=None, **named):
        node = self.node("ShaderNodeVectorMath", column, row, operation=operation, **named)
        self.link(first, node.inputs[0])
        if second is not None:
            self.link(second, node.inputs[1])
        return node.outputs[0]
