# SPDX-License-Identifier: GPL-3.0-or-later
"""The drivers that make a skin a part of Blender's evaluation, made on the main thread and saved with the file.

A driver on the Tick input of each skin's modifier. Its variables are read in order: first those that make Blender
evaluate it after the bones, the objects' places and the shape keys, then the getters that evaluate the skin (see
`getters`). The expression is a sum, which Blender computes without Python: it needs no permission.

Where several objects have one mesh, none may write to it while another one's modifiers read it. There each driver also
waits for the dimensions of the object before it, and with that for its modifiers.

An input that the evaluation reads and that somebody else drives has a mirror: a custom property of the object with a
copy of that driver. Blender knows no order between two drivers of one object's modifiers, but a driver that reads a
custom property waits for that property's driver.
"""

from typing import NamedTuple

import bpy

from .. import inputs
from ..modifier import schema
from ..read.influences import Bind
from . import getters
from .skin import Ordered

_PLACE = "matrix_world[0][0]"  # a variable of the kind Transform Channel does not wait for its own object


class _Variable(NamedTuple):
    """A variable of a driver, which waits for what it reads."""

    id_type: str
    id: bpy.types.ID
    path: str


def wire(obj, modifier, skin, before):
    """Make the driver of a skin what it must be; whether anything was changed.

    before: the objects whose modifiers must be through with the mesh.
    """
    changed, mirrors = _mirror(obj, modifier)
    waits, skin.ordered = _order(obj, modifier)
    waits += [_Variable("OBJECT", obj, path) for path in mirrors]
    turns = [_Variable("OBJECT", other, "dimensions[0]") for other in before]
    getter = _Variable("OBJECT", obj, getters.slot_property(inputs.slot_of(modifier)))
    wanted = [*turns, *waits, _Variable("MESH", obj.data, getters.MESH), getter]
    skin.path = inputs.data_path(modifier, schema.TICK)
    changed |= _drive(obj, skin.path, wanted)
    skin.lacks = False
    return changed


def count(obj):
    return len(obj.animation_data.drivers) if obj.animation_data is not None else 0


def has(obj, path):
    """Whether there is a driver of that path, and Blender has not found it invalid: it does not try such ones again."""
    curve = _find(obj, path)
    return curve is not None and curve.driver.is_valid


def remove_orphans(obj, all_of_ours=False):
    """Remove the drivers and mirrors of skins that were removed. all_of_ours: the drivers of the others too."""
    if obj.animation_data is None:
        return
    paths = {inputs.data_path(skin, schema.TICK) for skin in inputs.skins(obj)}
    mirrors = {inputs.mirror_name(skin, name) for skin in inputs.skins(obj) for name in inputs.names_read(skin)}
    for curve in list(obj.animation_data.drivers):
        if _is_ours(curve) and (all_of_ours or curve.data_path not in paths):
            obj.animation_data.drivers.remove(curve)
    for key in [key for key in tuple(obj.keys()) if key.startswith("Two-Phase Skin ") and key not in mirrors]:
        _remove(obj, f'["{key}"]')
        del obj[key]


def _is_ours(curve):
    names = {getters.slot_property(slot) for slot in range(getters.SLOTS)}
    return any(variable.targets[0].data_path in names for variable in curve.driver.variables)


def _order(obj, modifier):
    """The variables that a skin's evaluation must wait for, and what that covers."""
    armature = inputs.read(modifier, schema.ARMATURE)
    found, names, segmented = [_Variable("OBJECT", obj, _PLACE)], set(), set()
    if armature is not None and armature.type == "ARMATURE":
        names = _bones(obj, armature, inputs.read(modifier, schema.BIND))
        segmented = _segmented(armature, names)
        found.append(_Variable("OBJECT", armature, _PLACE))
        for name in sorted(segmented | _last(armature, names)):
            path = f'pose.bones["{bpy.utils.escape_identifier(name)}"].bbone_rollin'  # after a B-bone's segments too
            found.append(_Variable("OBJECT", armature, path))
    keys = obj.data.shape_keys
    key_names = tuple(keys.key_blocks.keys()) if keys is not None else ()
    for name in key_names:
        found.append(_Variable("KEY", keys, f'key_blocks["{bpy.utils.escape_identifier(name)}"].value'))
    found += _visibility(obj)
    uid = armature.session_uid if armature is not None else 0
    return found, Ordered(uid, frozenset(names), frozenset(segmented), key_names)


def _bones(obj, armature, bind):
    """The names of the bones that may move the mesh, with all above them."""
    bones = armature.data.bones
    if bind != Bind.GROUPS.value:
        return set(bones.keys())
    names = set()
    for group in obj.vertex_groups:
        bone = bones.get(group.name)
        while bone is not None and bone.name not in names:
            names.add(bone.name)
            bone = bone.parent
    return names


def _segmented(armature, names):
    """Those of several segments, now or at another time: these are evaluated after the bone itself."""
    data = armature.data
    if data.animation_data is not None:
        return set(names)
    return {name for name in names if data.bones[name].bbone_segments > 1}


def _last(armature, names):
    """Those without others below them: after these, all are evaluated."""
    bones = armature.data.bones
    return {name for name in names if not any(child.name in names for child in bones[name].children)}


def _visibility(obj):
    """Modifiers that are shown or hidden by a driver."""
    if obj.animation_data is None:
        return []
    paths = [curve.data_path for curve in obj.animation_data.drivers]
    return [_Variable("OBJECT", obj, path) for path in paths if path.endswith((".show_viewport", ".show_render"))]


def _drive(owner, path, wanted):
    """Let the sum of the last variables be what drives a property; whether anything was changed."""
    curve = _find(owner, path)
    if curve is not None:
        if _has(curve.driver, wanted) and curve.driver.is_valid and not curve.mute:
            return False
        owner.animation_data.drivers.remove(curve)  # what Blender found invalid once, it does not try again
    driver = owner.driver_add(path).driver
    driver.type = "SCRIPTED"
    for number, each in enumerate(wanted):
        _add(driver, f"v{number}", each)
    driver.expression = f"v{len(wanted) - 1}"
    return True


def _add(driver, name, wanted):
    variable = driver.variables.new()
    variable.name, variable.type = name, "SINGLE_PROP"
    target = variable.targets[0]
    target.id_type = wanted.id_type
    target.id, target.data_path = wanted.id, wanted.path


def _has(driver, wanted):
    if len(driver.variables) != len(wanted) or driver.expression != f"v{len(wanted) - 1}":
        return False
    return all(_is(variable, each) for variable, each in zip(driver.variables, wanted, strict=True))


def _is(variable, wanted):
    target = variable.targets[0]
    return variable.type == "SINGLE_PROP" and (target.id, target.data_path) == (wanted.id, wanted.path)


def _find(owner, path):
    return owner.animation_data.drivers.find(path) if owner.animation_data is not None else None


def _remove(owner, path):
    curve = _find(owner, path)
    if curve is not None:
        owner.animation_data.drivers.remove(curve)
    return curve is not None


def _mirror(obj, modifier):
    """Give each input that somebody drives its mirror, and no other; whether anything was changed, and the mirrors'
    data paths."""
    changed, paths = False, []
    for name in inputs.names_read(modifier):
        key = inputs.mirror_name(modifier, name)
        path = f'["{key}"]'
        source, copy = _find(obj, inputs.data_path(modifier, name)), _find(obj, path)
        if source is not None:
            paths.append(path)
        if (source and _content(source)) == (copy and _content(copy)):
            continue
        changed = True
        if copy is not None:
            obj.animation_data.drivers.remove(copy)
        if source is None:
            del obj[key]
        else:
            obj[key] = 0.0
            obj.animation_data.drivers.from_existing(src_driver=source).data_path = path
    return changed, paths


def _content(curve):
    """What a driver computes."""
    driver = curve.driver
    variables = [(each.name, each.type, [_target(target) for target in each.targets]) for each in driver.variables]
    points = [(p.co[:], p.interpolation) for p in curve.keyframe_points]
    modifiers = [m.type for m in curve.modifiers]
    return driver.type, driver.expression, driver.use_self, variables, points, modifiers, curve.mute


def _target(target):
    return target.id, target.data_path, target.bone_target, target.transform_type, target.transform_space
