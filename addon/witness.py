# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes Blender evaluate the pose of an armature that is hidden, for the sake of a skin.

A hidden armature is only posed if something that is shown depends on its pose. Up to Blender 5.1 a node group's object
input depends on an armature's place alone. So the skin has another input, and in it an object that is in no scene: one
point, deformed by an Armature modifier, which does depend on the pose.
"""

import bpy

from . import compat, inputs, node_group

MARK = "two_phase_skin_witness"
NAME = ".Two-Phase Skin Witness"  # the dot hides it in lists


def ensure(skin, armature):
    """Give a skin the witness of its armature, where this Blender needs one and the skin can be edited."""
    if not compat.NEEDS_WITNESS or skin.id_data.library is not None:
        return
    present = inputs.read(skin, node_group.WITNESS)
    if present is None or not _sees(present, armature):
        inputs.write_own(skin, node_group.WITNESS, _of(armature))
        skin.node_group = skin.node_group  # makes Blender look at the dependencies again


def _of(armature):
    for obj in bpy.data.objects:
        if MARK in obj and _sees(obj, armature):
            return obj
    mesh = bpy.data.meshes.new(NAME)
    mesh.vertices.add(1)
    obj = bpy.data.objects.new(NAME, mesh)
    obj[MARK] = True
    modifier = obj.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    modifier.use_bone_envelopes = True  # otherwise it depends on the bones of vertex groups alone
    return obj


def _sees(obj, armature):
    return any(modifier.type == "ARMATURE" and modifier.object == armature for modifier in obj.modifiers)
