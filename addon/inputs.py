# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and set a Two-Phase Skin's inputs by name, the same way in every Blender from 4.2 to 5.3.

    from bl_ext.user_default.two_phase_skin import inputs

    skin = inputs.skins(bpy.context.object)[0]   # the first; they are modifiers, in the order of the stack
    inputs.write(skin, "Method", "Dual Quaternion")   # or "Two-Phase", "Linear"
    inputs.write(skin, "Armature", bpy.data.objects["rig"])
    inputs.write(skin, "Inherited Scale", "Before Bend")   # or "After Bend"
    inputs.write_group(skin, "Vertex Group", "mask")   # an empty name goes back to the value
    inputs.read(skin, "Factor")
    skin.id_data.keyframe_insert(inputs.data_path(skin, "Factor"), frame=1)

A name that the skin does not have is a KeyError that lists those it has; a menu item that does not exist is a
ValueError that lists the items, a number out of range one that says the range. What is no skin, or a value of another
type, is a TypeError.
"""

from numbers import Real

import bpy

from . import compat, node_group

_TYPES = {
    "NodeSocketObject": bpy.types.Object,
    "NodeSocketFloat": (float, int),
    "NodeSocketBool": (bool, int),
    "NodeSocketString": str,
}
_NOTHING = {"NodeSocketObject": None, "NodeSocketFloat": 0.0, "NodeSocketBool": False, "NodeSocketString": ""}


def skins(obj):
    """The skins of an object, but for those whose node group is damaged: they can only be removed."""
    return [m for m in obj.modifiers if node_group.is_skin(m) and not node_group.damage(m.node_group)]


def read(modifier, name):
    """The value of the input: a menu gives its item's name, an object input the object or None."""
    identifier, kind = _socket(modifier, name)
    try:
        value = compat.input_get(modifier, identifier)
    except (UnicodeDecodeError, KeyError):  # a text that is none, or a property that somebody removed
        value = None
    if kind == "NodeSocketMenu":
        return _menu_name(name, value)
    # A property that was written by hand can have any type.
    return value if isinstance(value, _TYPES[kind]) else _NOTHING[kind]


def has(modifier, name):
    """Whether the skin has that input: one whose linked node group is of an older version may not."""
    found = node_group.sockets(modifier.node_group).get(name)
    return found is not None and compat.input_has(modifier, found[0])


def read_or_default(modifier, name):
    """The same as `read`; of a skin that lacks the input, what it would be at first."""
    if has(modifier, name):
        return read(modifier, name)
    return node_group.MENUS[name][0] if name in node_group.MENUS else node_group.SLIDERS[name]


def write(modifier, name, value):
    """Set the input and tell Blender to evaluate the object again."""
    _identifier, kind = _socket(modifier, name)
    if name in node_group.HIDDEN:
        raise ValueError(f"{name} is set by the extension alone; expected one of {_names(modifier)}")
    write_own(modifier, name, _CHECKS[kind](name, value))


def write_own(modifier, name, value):
    """The same for what only the extension sets; nothing is checked."""
    compat.input_set(modifier, _socket(modifier, name)[0], value)
    modifier.id_data.update_tag()


def read_group(modifier, name):
    """The vertex group or attribute that the input reads, empty if it uses its value."""
    return compat.input_attribute_get(modifier, _socket(modifier, name)[0])


def write_group(modifier, name, group):
    """Let the input read a vertex group or attribute; an empty name goes back to its value."""
    _socket(modifier, name)
    if name not in node_group.FIELDS:
        raise ValueError(f"{name} reads no vertex group; expected one of {', '.join(sorted(node_group.FIELDS))}")
    if not isinstance(group, str):
        raise TypeError(f"{name}: {group!r}; expected the name of a vertex group or attribute, or an empty text")
    compat.input_attribute_set(modifier, _socket(modifier, name)[0], group)
    modifier.id_data.update_tag()


def data_path(modifier, name):
    """The input's data path, from the object: for keyframe_insert, driver_add and F-Curves."""
    return compat.input_path(modifier, _socket(modifier, name)[0])


def _socket(modifier, name):
    """The identifier and the type of the input."""
    tree = getattr(modifier, "node_group", None)
    if tree is None or not node_group.version_of(tree):
        raise TypeError(f"{modifier!r} is not a Two-Phase Skin; expected one of those that inputs.skins(object) gives")
    found = node_group.sockets(tree).get(name)
    if found is None:
        raise KeyError(f"{modifier.name} has no input {name!r}; it has {_names(modifier)}")
    return found


def _names(modifier):
    """The inputs that are there to be set."""
    return ", ".join(name for name in node_group.sockets(modifier.node_group) if name not in node_group.HIDDEN)


def _menu_name(name, value):
    items = node_group.MENUS[name]
    if isinstance(value, str):
        return value if value in items else items[0]
    return items[value] if isinstance(value, int) and 0 <= value < len(items) else items[0]


def _menu_value(name, value):
    items = node_group.MENUS[name]
    if value not in items:
        raise ValueError(f"{name}: {value!r}; expected one of {', '.join(items)}")
    return value if bpy.app.version >= (5, 2, 0) else items.index(value)


def _number(name, value):
    if not isinstance(value, Real):
        raise TypeError(f"{name}: {value!r}; expected a number")
    most = node_group.SLIDERS[name]
    if not 0 <= value <= most:
        raise ValueError(f"{name}: {value!r}; expected a number from 0 to {most:g}")
    return float(value)


def _switch(name, value):
    if value not in (False, True):
        raise TypeError(f"{name}: {value!r}; expected True or False")
    return bool(value)


def _object(name, value):
    if value is not None and not isinstance(value, bpy.types.Object):
        raise TypeError(f"{name}: {value!r}; expected an object of bpy.data.objects, or None")
    return value


_CHECKS = {
    "NodeSocketMenu": _menu_value,
    "NodeSocketFloat": _number,
    "NodeSocketBool": _switch,
    "NodeSocketObject": _object,
}
