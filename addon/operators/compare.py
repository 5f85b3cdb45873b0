# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a skin's mesh is from what the Armature modifier makes of it: measured, and shown as a heat map."""

import numpy as np
from bpy.app.translations import pgettext_rpt as rpt_

from .. import inputs
from ..errors import UserError
from ..live import upkeep
from ..modifier import replace
from . import convert


class Comparison:
    """Two shapes of one object at one moment, in the world's space."""

    def __init__(self, obj, skinned, plain):
        if len(skinned.points) != len(plain.points):
            text = rpt_('"{object}": the two have {first} and {second} points, so that they cannot be compared')
            raise UserError(text.format(object=obj.name, first=len(skinned.points), second=len(plain.points)))
        self.object = obj
        self.skinned = skinned
        self.distances = np.linalg.norm(skinned.points - plain.points, axis=1)
        self.largest = float(self.distances.max(initial=0.0))
        self.mean = float(self.distances.mean()) if len(self.distances) else 0.0
        self.volumes = plain.volume, skinned.volume


class Shape:
    """The points and triangles of an evaluated object, in the world's space."""

    def __init__(self, evaluated):
        mesh = evaluated.to_mesh()
        try:
            points = np.empty((len(mesh.vertices), 3), np.float32)
            mesh.vertices.foreach_get("co", points.reshape(-1))
            mesh.calc_loop_triangles()
            self.triangles = np.empty((len(mesh.loop_triangles), 3), np.int32)
            mesh.loop_triangles.foreach_get("vertices", self.triangles.reshape(-1))
        finally:
            evaluated.to_mesh_clear()
        matrix = np.array(evaluated.matrix_world)
        self.points = points @ matrix[:3, :3].T + matrix[:3, 3]

    @property
    def volume(self):
        """What the triangles enclose; of an open mesh, what they and straight lids to its middle would."""
        if not len(self.triangles):
            return 0.0
        a, b, c = (self.points[self.triangles[:, k]] - self.points.mean(axis=0) for k in range(3))
        return abs(float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum())) / 6


def measure(context, obj):
    """Compare an object's skins with its Armature modifiers, in the pose that it has now. All is put back as it was."""
    skins = [skin for skin in inputs.skins(obj) if skin.show_viewport]
    if not skins:
        raise UserError(rpt_('"{object}" has no Two-Phase Skin that is on').format(object=obj.name))
    context.view_layer.update()
    if problem := next(filter(None, map(upkeep.problem_of, skins)), None):
        raise UserError(f'"{obj.name}": {problem.text}')
    skinned = Shape(_evaluated(context, obj))
    plain_ones, added = _armature_modifiers(obj, skins)
    shown = [(modifier, modifier.show_viewport) for modifier in (*skins, *plain_ones)]
    try:
        for skin in skins:
            skin.show_viewport = False
        for modifier in plain_ones:
            modifier.show_viewport = True
        plain = Shape(_evaluated(context, obj))
    finally:
        for modifier, was in shown:
            modifier.show_viewport = was
        for modifier in added:
            obj.modifiers.remove(modifier)
        context.view_layer.update()
    return Comparison(obj, skinned, plain)


def _evaluated(context, obj):
    context.view_layer.update()
    return obj.evaluated_get(context.evaluated_depsgraph_get())


def _armature_modifiers(obj, skins):
    """The modifiers that the skins stand for, and those of them that were added because there were none."""
    acts_for = replace.stands_for(obj)
    missing = [skin for skin in skins if skin.name not in acts_for]
    if missing:
        replace.check_editable(obj)
    active = obj.modifiers.active
    added = [convert.armature_modifier_like(skin, obj) for skin in missing]
    obj.modifiers.active = active
    return [acts_for[skin.name] for skin in skins if skin.name in acts_for] + added, added
