# SPDX-License-Identifier: GPL-3.0-or-later
"""The node group that stands behind the modifier.

It moves each point by what the evaluation of the skin wrote into an attribute of the evaluated mesh, in one of the
forms of `schema.Mode`. The Tick input says which: a driver evaluates the skin and gives the input its value.

Where the extension is not there, the attribute has what was saved, and Tick the value that it had. Factor and the
vertex group act in the nodes: they are animated without any help from Python.
"""

import bpy

from .. import compat, native
from . import schema

_WITNESS = "two_phase_skin_witness"


def ensure():
    """The file's own node group, made if there is none."""
    for tree in bpy.data.node_groups:
        if schema.version_of(tree) == schema.VERSION and _ours(tree) and not schema.damage(tree):
            return tree
    tree = bpy.data.node_groups.new(schema.NAME, "GeometryNodeTree")
    tree.is_modifier = True
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    _build(tree)
    return tree


def bring_up_to_date():
    """Give the groups that an older version of the extension left in this file, or in one that it links, what they
    lack. Linked ones are the same again when the file is opened the next time.

    Inputs that they have keep their identifiers, and so every skin its settings.
    """
    for tree in bpy.data.node_groups:
        if 0 < schema.version_of(tree) < schema.VERSION and not schema.damage(tree):
            present = set(schema.sockets(tree))
            tree.nodes.clear()
            _build(tree)
            _set_defaults(tree, schema.SLIDERS.keys() - present)
            _remove_witnesses()


def _remove_witnesses():
    """Version 2 had an object for each armature, in no scene, that made Blender pose it while it was hidden."""
    for obj in list(bpy.data.objects):
        if _WITNESS in obj and obj.library is None:
            bpy.data.objects.remove(obj)


def _set_defaults(tree, names):
    """Blender gives the modifiers that are there zero for inputs that are new, whatever their default."""
    identifiers = {schema.sockets(tree)[name][0]: schema.SLIDERS[name] for name in names}
    for obj in bpy.data.objects:
        for modifier in obj.modifiers:
            if modifier.type == "NODES" and modifier.node_group == tree:
                for identifier, value in identifiers.items():
                    compat.input_set(modifier, identifier, value)


def _ours(tree):
    return tree.library is None and tree.override_library is None


def _build(tree):
    tree[schema.MARK], tree[schema.MAKER] = schema.VERSION, native.VERSION
    _declare(tree)
    wires = _Wires(tree)
    source = wires.node("NodeGroupInput", 0, 0)
    tick = _Tick(wires, source)
    offset = _counted_as_used(wires, source, _offset(wires, source, tick))
    moved = wires.node("GeometryNodeSetPosition", 6, 0, Geometry=source.outputs["Geometry"], Offset=offset)
    target = wires.node("NodeGroupOutput", 8, 0)
    wires.link(_without_attributes(wires, source, tick, moved.outputs[0]), target.inputs[0])
    _warning(wires, source)


class _Tick:
    """The parts of the Tick input, as `schema.tick` puts them together; each is one number for all points."""

    def __init__(self, wires, source):
        self._wires = wires
        driven = source.outputs[schema.TICK]
        alive = wires.math("GREATER_THAN", 0, 7, driven, 0.5)
        tick = wires.either(alive, driven, source.outputs[schema.SAVED], 7, "FLOAT")
        viewport = wires.node("GeometryNodeIsViewport", 0, 8).outputs[0]
        choice = wires.node("GeometryNodeSwitch", 3, 8, input_type="FLOAT", Switch=viewport)
        wires.link(self._digit(tick, 2), wires.socket(choice.inputs, "False"))
        wires.link(self._digit(tick, 1), wires.socket(choice.inputs, "True"))
        self._mode = wires.socket(choice.outputs, "Output")
        self._mask = self._digit(tick, 3)
        self.last = wires.math("GREATER_THAN", 3, 11, self._digit(tick, 4), 0.5)

    def is_mode(self, mode):
        return self._is(self._mode, mode)

    def is_mask(self, mask):
        return self._is(self._mask, mask)

    def _digit(self, tick, place):
        row = 8 + place
        shifted = self._wires.math("DIVIDE", 1, row, tick, float(schema.MODES**place))
        whole = self._wires.math("FLOOR", 1.5, row, shifted, 0.0)
        return self._wires.math("MODULO", 2, row, whole, float(schema.MODES))

    def _is(self, number, value):
        compare = self._wires.node("FunctionNodeCompare", 4, 8 + value, data_type="FLOAT", operation="EQUAL", A=number)
        self._wires.socket(compare.inputs, "B").default_value = float(value)
        self._wires.socket(compare.inputs, "Epsilon").default_value = 0.1
        return compare.outputs[0]


def _declare(tree):
    """Make the inputs that are not there, and put all in their order and panels."""
    for item in schema.input_items(tree):
        if item.name in schema.OBSOLETE:
            tree.interface.remove(item)
    present = {item.name for item in schema.input_items(tree)}
    for name, kind, description in schema.INPUTS:
        if name not in present:
            socket = tree.interface.new_socket(name, in_out="INPUT", socket_type=kind)
            if name in schema.SLIDERS:
                most = schema.SLIDERS[name]
                socket.min_value, socket.max_value, socket.default_value, socket.subtype = 0.0, most, most, "FACTOR"
            socket.force_non_field = name not in schema.FIELDS and kind in ("NodeSocketFloat", "NodeSocketBool")
        socket = _interface_socket(tree, name)
        socket.description = description
        socket.hide_in_modifier = name in schema.HIDDEN
    count = len(tree.interface.items_tree)
    for name, _kind, _description in schema.INPUTS:
        tree.interface.move(_interface_socket(tree, name), count)
    for name, description, members in schema.PANELS:
        panel = _panel(tree, name) or tree.interface.new_panel(name, default_closed=name != "Influence")
        panel.description = description
        for place, member in enumerate(members):
            tree.interface.move_to_parent(_interface_socket(tree, member), panel, place)


def _offset(wires, source, tick):
    """What to add to each point: the stored deformation, weighted by the factor and the vertex group."""
    name = wires.join(schema.PREFIX, source.outputs[schema.IDENTITY], -1)
    stored, exists = wires.named_vector_exists(name, 2, -1)
    moved = wires.node("FunctionNodeInputVector", 2, 0).outputs[0]  # nothing
    for mode, deformed in (
        (schema.Mode.OFFSETS, stored),
        (schema.Mode.MATRICES, _per_vertex_offset(wires, name)),
        (schema.Mode.PLACES, _towards(wires, stored, exists)),
    ):
        moved = wires.either(tick.is_mode(mode), deformed, moved, -1)
    strength = wires.math("MULTIPLY", 4, 2, _mask(wires, source, tick), source.outputs[schema.FACTOR])
    scaled = wires.vector("SCALE", 5, 0, moved, Scale=strength)
    return _unless_whole(wires, source, tick, moved, scaled)


def _unless_whole(wires, source, tick, moved, scaled):
    """The scaled offset, or the one that is stored where all of it is wanted, which saves a pass over large meshes.

    Whether a group is chosen comes first: as long as none is, the group's input is one number, not one for each point.
    """
    result = moved
    for row, condition in (
        (0.5, _is_one(wires, source.outputs[schema.GROUP], 3)),
        (0.0, _is_one(wires, source.outputs[schema.FACTOR], 3.5)),
        (-0.5, tick.is_mask(schema.Mask.NONE)),
    ):
        result = wires.either(condition, result, scaled, row)
    return result


def _is_one(wires, value, row):
    compare = wires.node("FunctionNodeCompare", 4, row, data_type="FLOAT", operation="EQUAL", A=value)
    wires.socket(compare.inputs, "B").default_value = 1.0
    wires.socket(compare.inputs, "Epsilon").default_value = 0.0
    return compare.outputs[0]


def _mask(wires, source, tick):
    """How much of each point by the vertex group.

    As with the Armature modifier, Invert does nothing without a group, and a group that is missing leaves nothing out:
    its weights read zero, which are inverted. Nodes cannot tell these cases; the evaluation of the skin does.
    """
    inverse = wires.math("SUBTRACT", 2, 2, 1.0, source.outputs[schema.GROUP])
    found = wires.either(source.outputs[schema.INVERT], inverse, source.outputs[schema.GROUP], 2, "FLOAT")
    found = wires.either(tick.is_mask(schema.Mask.NONE), source.outputs[schema.GROUP], found, 2.5, "FLOAT")
    return wires.either(tick.is_mask(schema.Mask.MISSING), inverse, found, 3, "FLOAT")


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
    total = wires.named_vector(wires.join(name, schema.COLUMNS[3], -5), 2, -5)
    for k in range(3):
        column = wires.named_vector(wires.join(name, schema.COLUMNS[k], -2 - k), 2, -2 - k)
        part = wires.vector("SCALE", 3, -2 - k, column, Scale=axes.outputs[k])
        total = wires.vector("ADD", 3.5, -2 - k, total, part)
    return total


def _without_attributes(wires, source, tick, geometry):
    """The result without this skin's attributes, and below the last skin without any skin's: nothing below sees or
    exports them."""
    own = wires.join(wires.join(schema.PREFIX, source.outputs[schema.IDENTITY], -9), "*", -9.5)
    pattern = wires.either(tick.last, wires.text(schema.PREFIX + "*", -10), own, -9, "STRING")
    removed = wires.node("GeometryNodeRemoveAttribute", 7, 0, Geometry=geometry, Name=pattern)
    compat.use_wildcards(removed)
    return removed.outputs[0]


def _counted_as_used(wires, source, offset):
    """The offset, past a switch that is never thrown, for which Blender needs all inputs that only `live` reads.

    Since 4.5 it greys out the inputs of a modifier that its nodes do not use, and hides what hangs on another choice of
    a menu. It cannot know beforehand where the armature is; so it takes the switch for one that may be thrown, but the
    nodes behind it are never run.
    """
    place = wires.node("GeometryNodeObjectInfo", 1, 3, Object=source.outputs[schema.ARMATURE]).outputs["Location"]
    length = wires.node("ShaderNodeVectorMath", 3, 3, operation="LENGTH")
    wires.link(place, length.inputs[0])
    never = wires.math("LESS_THAN", 4, 3, length.outputs["Value"], -1.0)
    total = wires.math("ADD", 2, 2, source.outputs[schema.BLEND], source.outputs[schema.MULTI])
    for row, number in enumerate(_menus(wires, source)):
        total = wires.vector("ADD", 2, 3 + row, total, number)
    switch = wires.node("GeometryNodeSwitch", 5.5, 0, input_type="VECTOR", Switch=never)
    wires.link(offset, wires.socket(switch.inputs, "False"))
    wires.link(total, wires.socket(switch.inputs, "True"))
    return wires.socket(switch.outputs, "Output")


def _menus(wires, source):
    """A menu input takes its items from a Menu Switch; what these give is of no use to the nodes."""
    results = []
    for row, (name, items) in enumerate(schema.MENUS.items()):
        switch = wires.node("GeometryNodeMenuSwitch", 1, 4 + 2 * row, data_type="FLOAT")
        # The two items that are there are renamed, not replaced: their numbers are counted from the first ever made.
        for k, item in enumerate(items):
            if k < len(switch.enum_items):
                switch.enum_items[k].name = item
            else:
                switch.enum_items.new(item)
            switch.enum_items[k].description = schema.TIPS[item]
            switch.inputs[1 + k].default_value = k
        if name == schema.SHOW:
            wires.link(source.outputs[schema.STAGE], switch.inputs[len(items)])
        wires.link(source.outputs[name], switch.inputs[0])
        _interface_socket(wires.tree, name).default_value = items[0]
        results.append(switch.outputs[0])
    return results


def _warning(wires, source):
    node = compat.add_warning_node(wires.tree)
    if node is not None:
        node.location = (400, -1600)
        shown = wires.node("FunctionNodeCompare", 1, -7.5, data_type="STRING", operation="NOT_EQUAL")
        wires.link(source.outputs[schema.MESSAGE], wires.socket(shown.inputs, "A"))
        wires.link(shown.outputs[0], node.inputs["Show"])
        wires.link(source.outputs[schema.MESSAGE], node.inputs["Message"])


def _panel(tree, name):
    return next((item for item in tree.interface.items_tree if item.item_type == "PANEL" and item.name == name), None)


def _interface_socket(tree, name):
    return next(item for item in schema.input_items(tree) if item.name == name)


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

    def either(self, condition, true, false, row, kind="VECTOR"):
        """The one or the other; the condition is one for all points, so that only that one is computed."""
        switch = self.node("GeometryNodeSwitch", 5, row, input_type=kind, Switch=condition)
        self.link(false, self.socket(switch.inputs, "False"))
        self.link(true, self.socket(switch.inputs, "True"))
        return self.socket(switch.outputs, "Output")

    def text(self, constant, row):
        node = self.node("FunctionNodeInputString", 0.5, row)
        node.string = constant
        return node.outputs[0]

    def join(self, first, second, row):
        """Two texts as one; either is a constant or an output."""
        node = self.node("GeometryNodeStringJoin", 1, row)
        # The last link into a multi-input socket is its first text.
        for part in (second, first):
            self.link(self.text(part, row) if isinstance(part, str) else part, node.inputs["Strings"])
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
