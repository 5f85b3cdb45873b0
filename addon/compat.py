# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that differs between Blender 4.2 and 5.3, and nothing else.

A function's name ends in the version from which it works; the plain name is the one for the running Blender.
Scripts do not need this module: `inputs` reads and writes a modifier's inputs by their names.
"""

from itertools import chain

import bpy
import numpy as np


def matrices_array_4_2(matrices):
    """4x4 matrices as (N, 4, 4) float64. Ten times as fast as numpy.array, which asks each of them for each number."""
    return np.array(list(chain.from_iterable(chain.from_iterable(matrices))), float).reshape(-1, 4, 4)


def matrices_array_5_2(matrices):
    """4x4 matrices as (N, 4, 4) float64; they have buffers that NumPy reads."""
    result = np.empty((len(matrices), 4, 4))
    for k, matrix in enumerate(matrices):
        result[k] = matrix
    return result


def input_has_4_2(modifier, identifier):
    """Whether the modifier has a value for that input: the evaluated one gets it with its next evaluation."""
    return identifier in modifier.keys()  # noqa: SIM118 (a modifier has no "in")


def input_has_5_2(modifier, identifier):
    """Whether the modifier has a value for that input: the evaluated one gets it with its next evaluation."""
    return hasattr(modifier.properties.inputs, identifier)


def input_get_4_2(modifier, identifier):
    """The value of a Geometry Nodes modifier's input; a menu gives an integer, -1 where it was never set."""
    return modifier[identifier]


def input_get_5_2(modifier, identifier):
    """The value of a Geometry Nodes modifier's input; a menu gives the item's name."""
    return getattr(modifier.properties.inputs, identifier).value


def input_set_4_2(modifier, identifier, value):
    modifier[identifier] = value


def input_set_5_2(modifier, identifier, value):
    getattr(modifier.properties.inputs, identifier).value = value


def input_attribute_get_4_2(modifier, identifier):
    """The attribute or vertex group that a field input reads, empty if it uses its value."""
    if not modifier[f"{identifier}_use_attribute"]:
        return ""
    return modifier[f"{identifier}_attribute_name"]


def input_attribute_get_5_2(modifier, identifier):
    """The attribute or vertex group that a field input reads, empty if it uses its value."""
    entry = getattr(modifier.properties.inputs, identifier)
    return entry.attribute_name if entry.type == "ATTRIBUTE" else ""


def input_attribute_set_4_2(modifier, identifier, name):
    modifier[f"{identifier}_use_attribute"] = bool(name)
    modifier[f"{identifier}_attribute_name"] = name


def input_attribute_set_5_2(modifier, identifier, name):
    entry = getattr(modifier.properties.inputs, identifier)
    entry.type = "ATTRIBUTE" if name else "VALUE"
    entry.attribute_name = name


class InputReader_4_2:
    """Reads many inputs of one modifier: reader(identifier), None where there is no value."""

    def __init__(self, modifier):
        self._modifier = modifier

    def __call__(self, identifier):
        try:
            return self._modifier.get(identifier)
        except UnicodeDecodeError:  # a text that is none
            return None

    def group(self, identifier):
        """The attribute or vertex group that a field input reads, empty if it uses its value."""
        if not self._modifier.get(f"{identifier}_use_attribute"):
            return ""
        return self._modifier.get(f"{identifier}_attribute_name", "")


class InputReader_5_2:
    """Reads many inputs of one modifier: reader(identifier), None where there is no value."""

    def __init__(self, modifier):
        self._inputs = modifier.properties.inputs

    def __call__(self, identifier):
        try:
            return getattr(self._inputs, identifier).value
        except (AttributeError, UnicodeDecodeError):  # an input that the modifier has not got yet; a text that is none
            return None

    def group(self, identifier):
        """The attribute or vertex group that a field input reads, empty if it uses its value."""
        entry = getattr(self._inputs, identifier, None)
        return entry.attribute_name if entry is not None and entry.type == "ATTRIBUTE" else ""


def input_path_4_2(modifier, identifier):
    """The data path of an input, from the object: for keyframes and drivers."""
    return f'modifiers["{bpy.utils.escape_identifier(modifier.name)}"]["{identifier}"]'


def input_path_5_2(modifier, identifier):
    """The data path of an input, from the object: for keyframes and drivers."""
    return f'modifiers["{bpy.utils.escape_identifier(modifier.name)}"].properties.inputs.{identifier}.value'


def add_warning_node_4_2(tree):
    """Blender 4.2 has no node that shows a message in the modifier."""
    return None


def add_warning_node_4_3(tree):
    """A node that shows its Message in the modifier's panel while Show is on."""
    node = tree.nodes.new("GeometryNodeWarning")
    node.warning_type = "ERROR"
    return node


def use_wildcards_4_2(node):
    """Let a Remove Named Attribute node take a pattern, which does not complain where nothing matches."""
    node.pattern_mode = "WILDCARD"


def use_wildcards_5_2(node):
    """Let a Remove Named Attribute node take a pattern, which does not complain where nothing matches."""
    if hasattr(node, "pattern_mode"):
        node.pattern_mode = "WILDCARD"
    else:
        node.inputs["Pattern Mode"].default_value = "Wildcard"


def hide_group_selector_4_2(modifier):
    """Do not show which node group stands behind the modifier (`show_group_selector` came with 4.2)."""
    modifier.show_group_selector = False


def curves_of_4_2(owner):
    """The F-Curves of a data-block's action."""
    return owner.animation_data.action.fcurves


def curves_of_4_4(owner):
    """The F-Curves of a data-block's action: they are in the channel bag of its slot."""
    strip = owner.animation_data.action.layers[0].strips[0]
    return strip.channelbag(owner.animation_data.action_slot).fcurves


_5_2 = bpy.app.version >= (5, 2, 0)
# Whether a mesh is copied anew when one of its vertex groups is deleted, which renumbers those after it.
COPIES_AT_DELETED_GROUP = bpy.app.version >= (5, 0, 0)
curves_of = curves_of_4_4 if bpy.app.version >= (4, 4, 0) else curves_of_4_2
input_has = input_has_5_2 if _5_2 else input_has_4_2
input_get = input_get_5_2 if _5_2 else input_get_4_2
input_set = input_set_5_2 if _5_2 else input_set_4_2
input_attribute_get = input_attribute_get_5_2 if _5_2 else input_attribute_get_4_2
input_attribute_set = input_attribute_set_5_2 if _5_2 else input_attribute_set_4_2
input_path = input_path_5_2 if _5_2 else input_path_4_2
InputReader = InputReader_5_2 if _5_2 else InputReader_4_2
use_wildcards = use_wildcards_5_2 if bpy.app.version >= (5, 0, 0) else use_wildcards_4_2
matrices_array = matrices_array_5_2 if _5_2 else matrices_array_4_2
hide_group_selector = hide_group_selector_4_2
add_warning_node = add_warning_node_4_3 if bpy.app.version >= (4, 3, 0) else add_warning_node_4_2
