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

from . import compat
from .modifier import schema

_TYPES = {
    "NodeSocketObject": bpy.types.Object,
    "NodeSocketFloat": (float, int),
    "NodeSocketInt": int,
    "NodeSocketBool": (bool, int),
    "NodeSocketString": str,
}
_NOTHING = {
    "NodeSocketObject": None,
    "NodeSocketFloat": 0.0,
    "NodeSocketInt": 0,
    "NodeSocketBool": False,
    "NodeSocketString": "",
}


def skins(obj):
    """The skins of an object, but for those whose node group is damaged: they can only be removed."""
    return [m for m in obj.modifiers if schema.is_skin(m) and not schema.damage(m.node_group)]


def read(modifier, name):
    """The value of the input: a menu gives its item's name, an object input the object or None."""
    identifier, kind = _socket(modifier, name)
    try:
        value = compat.input_get(modifier, identifier)
    except (UnicodeDecodeError, KeyError):  # a text that is none, or a property that somebody removed
        value = None
    return as_value(name, kind, value)


def as_value(name, kind, value):
    """What Blender holds for an input, as its value; what it cannot be counts as the value that it has at first."""
    if kind == "NodeSocketMenu":
        return _menu_name(name, value)
    if value is None and name in schema.SLIDERS:
        return schema.SLIDERS[name]
    # A property that was written by hand can have any type.
    return value if isinstance(value, _TYPES[kind]) else _NOTHING[kind]


def has(modifier, name):
    """Whether the skin has that input: one whose linked node group is of an older version may not."""
    found = schema.sockets(modifier.node_group).get(name)
    return found is not None and compat.input_has(modifier, found[0])


def read_or_default(modifier, name):
    """The same as `read`; of a skin that lacks the input, what it would be at first."""
    if has(modifier, name):
        return read(modifier, name)
    return schema.MENUS[name][0] if name in schema.MENUS else schema.SLIDERS[name]


def write(modifier, name, value):
    """Set the input and tell Blender to evaluate the object again."""
    _identifier, kind = _socket(modifier, name)
    if name in schema.HIDDEN:
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
    if name not in schema.FIELDS:
        raise ValueError(f"{name} reads no vertex group; expected one of {', '.join(sorted(schema.FIELDS))}")
    if not isinstance(group, str):
        raise TypeError(f"{name}: {group!r}; expected the name of a vertex group or attribute, or an empty text")
    compat.input_attribute_set(modifier, _socket(modifier, name)[0], group)
    modifier.id_data.update_tag()


def slot_of(modifier):
    """Which of its object's skins a skin is, also of an evaluated one; -1 if its node group has no such input."""
    found = schema.sockets(modifier.node_group).get(schema.SLOT)
    value = compat.InputReader(modifier)(found[0]) if found is not None else None
    return value if isinstance(value, int) else -1


def names_read(modifier):
    """The inputs that the evaluation of the skin reads."""
    return [name for name in schema.READ if name in schema.sockets(modifier.node_group)]


def mirror_name(modifier, name):
    """The custom property of the object that has the value of an input that a driver of somebody else's drives."""
    return f"Two-Phase Skin {slot_of(modifier)} {name}"


def mirrored(obj, modifier):
    """Name of an input -> its value, of those that have such a property."""
    names = [name for name in schema.READ if mirror_name(modifier, name) in obj] if len(obj.keys()) else ()
    return {name: obj[mirror_name(modifier, name)] for name in names}


def data_path(modifier, name):
    """The input's data path, from the object: for keyframe_insert, driver_add and F-Curves."""
    return compat.input_path(modifier, _socket(modifier, name)[0])


def _socket(modifier, name):
    """The identifier and the type of the input."""
    tree = getattr(modifier, "node_group", None)
    if tree is None or not schema.version_of(tree):
        raise TypeError(f"{modifier!r} is not a Two-Phase Skin; expected one of those that inputs.skins(object) gives")
    found = schema.sockets(tree).get(name)
    if found is None:
        raise KeyError(f"{modifier.name} has no input {name!r}; it has {_names(modifier)}")
    return found


def _names(modifier):
    """The inputs that are there to be set."""
    return ", ".join(name for name in schema.sockets(modifier.node_group) if name not in schema.HIDDEN)


def _menu_name(name, value):
    items = schema.MENUS[name]
    if isinstance(value, str):
        return value if value in items else items[0]
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # of a driver
    return items[value] if isinstance(value, int) and 0 <= value < len(items) else items[0]


def _menu_value(name, value):
    items = schema.MENUS[name]
    if value not in items:
        raise ValueError(f"{name}: {value!r}; expected one of {', '.join(items)}")
    return value if bpy.app.version >= (5, 2, 0) else items.index(value)


def _number(name, value):
    if not isinstance(value, Real):
        raise TypeError(f"{name}: {value!r}; expected a number")
    most = schema.SLIDERS[name]
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
