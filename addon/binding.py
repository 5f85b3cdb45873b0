# SPDX-License-Identifier: GPL-3.0-or-later
"""One skin: what its mesh is bound to, and the deformation that was last written for its modifier to apply."""

import numpy as np

from . import inputs, node_group, stack, weights
from .native import tps

_METHODS = {name: key.lower() for key, name in node_group.METHODS.items()}
_INHERITED = {"After Bend": "after", "Before Bend": "before"}


class Binding:
    """Computes and writes the deformation when what it depends on is not what it was when it was last written."""

    def __init__(self, obj, modifier):
        self.object = obj  # Blender makes a reference to a removed object raise ReferenceError
        self.uid = modifier.persistent_uid
        self.mesh = obj.data
        self.identity = ""
        self.problem = ""
        self.forget()

    def forget(self):
        """Read everything again at the next update."""
        self._bound_to = None
        self._written = None
        self._points = None
        self._skin = None
        self._joints = None

    def is_on(self, mesh):
        """Whether this skin deforms that mesh; false for a skin whose object was removed."""
        try:
            return self.object.data == mesh
        except ReferenceError:
            return False

    def update(self, modifier, moment, points_changed):
        """Bring the mesh's attribute up to date with this moment, if anything that it depends on has changed."""
        mesh = self.object.data
        armature = inputs.read(modifier, node_group.ARMATURE)
        if mesh.is_editmode:
            return
        state, problem = stack.above(self.object, modifier, moment.render)
        problem = problem or self._bind(mesh, armature, moment)
        self._tell(modifier, problem)
        if problem:
            self._write_nothing(mesh, modifier)
            return
        settings = self._settings(modifier, moment)
        space = moment.space(self.object, armature)
        if space is None or armature.data.is_editmode:  # Blender shows the rest shape while bones are edited
            self._write_nothing(mesh, modifier)
            return
        if state == stack.AS_IS and (points_changed or self._points is None):
            points_changed = self._read_points(mesh)
        world = moment.pose(armature)[self._joints]
        state_key = (state, settings, space.tobytes(), world.tobytes())
        if state_key == self._written and not (points_changed and state == stack.AS_IS):
            return
        self._write(mesh, modifier, state, world.astype(np.float64), settings, space)
        self._written = state_key

    def _bind(self, mesh, armature, moment):
        """Bind the mesh to the armature unless it is already. Returns what is wrong, in words, or nothing."""
        if armature is None:
            return "Choose an armature"
        if armature.type != "ARMATURE":
            return f'"{armature.name}" is not an armature: choose one'
        if not len(mesh.vertices):
            return "The mesh has no vertices"
        found = moment.weights(mesh)
        rig = moment.rig(armature)
        groups = tuple(group.name for group in self.object.vertex_groups)
        bound_to = (id(found), id(rig), groups)
        if self._bound_to is not None and bound_to == self._bound_to[0]:
            return "" if self._skin else self._nothing_bound(armature)
        self.forget()
        self._bound_to = (bound_to, found, rig)  # holding them keeps their ids from being used again
        bone_of_group = np.array([_deforming(rig, name) for name in groups] or [-1])
        starts, bones, values = weights.for_joints(found, bone_of_group)
        if not len(bones):
            return self._nothing_bound(armature)
        self._joints = rig.with_ancestors(np.unique(bones))
        joint_of_bone = np.zeros(len(rig.names), np.int64)
        joint_of_bone[self._joints] = np.arange(len(self._joints))
        self._read_points(mesh)
        self._skin = tps.Skin(self._points, (starts, joint_of_bone[bones], values), rig.skeleton(self._joints))
        self._bound_points = self._points
        self._moved = np.empty_like(self._points)
        self._offset = np.empty_like(self._points)
        return ""

    @staticmethod
    def _nothing_bound(armature):
        return (
            f'No vertex group is named like a deforming bone of "{armature.name}" and has weights: '
            "parent the mesh to it with Automatic Weights, or paint weights"
        )

    def _read_points(self, mesh):
        """Read the mesh's own points; whether they changed."""
        points = np.empty((len(mesh.vertices), 3), np.float32)
        mesh.attributes["position"].data.foreach_get("vector", points.reshape(-1))
        if self._points is not None and np.array_equal(points, self._points):
            return False
        self._points = points
        return True

    def _settings(self, modifier, moment):
        live = moment.evaluated(self.object).modifiers.get(modifier.name, modifier)
        method = _METHODS[inputs.read(live, node_group.METHOD)]
        return method, _INHERITED[inputs.read(live, node_group.INHERITED)]

    def _write(self, mesh, modifier, state, world, settings, space):
        method, inherited = settings
        name = node_group.PREFIX + inputs.read(modifier, node_group.IDENTITY)
        if state == stack.AS_IS:
            points = None if self._points is self._bound_points else self._points
            self._skin.deform(world, method=method, inherited=inherited, points=points, out=self._moved, space=space)
            np.subtract(self._moved, self._points, out=self._offset)
            _store(mesh, name, self._offset)
            _discard(mesh, [name + column for column in node_group.COLUMNS])
        else:
            matrices = self._skin.matrices(world, method=method, inherited=inherited, space=space)
            for k, column in enumerate(node_group.COLUMNS):
                values = np.ascontiguousarray(matrices[:, :, k])
                if k < 3:
                    values[:, k] -= 1
                _store(mesh, name + column, values)
            _discard(mesh, [name])
        self._choose_form(modifier, state != stack.AS_IS)
        mesh.update_tag()

    def _choose_form(self, modifier, per_vertex):
        if inputs.read(modifier, node_group.PER_VERTEX) != per_vertex:
            inputs.write(modifier, node_group.PER_VERTEX, per_vertex)

    def _write_nothing(self, mesh, modifier):
        """Show the mesh undeformed."""
        if self._written == ():
            return
        name = node_group.PREFIX + inputs.read(modifier, node_group.IDENTITY)
        if _discard(mesh, attribute_names(name)):
            mesh.update_tag()
        self._written = ()

    def _tell(self, modifier, problem):
        """Show in the modifier's panel what is wrong."""
        self.problem = problem
        if self.object.library is None and inputs.read(modifier, node_group.MESSAGE) != problem:
            inputs.write(modifier, node_group.MESSAGE, problem)


def remove_attributes(mesh, identity):
    """Remove what a skin of that identity has left on a mesh."""
    if not mesh.is_editmode and _discard(mesh, attribute_names(node_group.PREFIX + identity)):
        mesh.update_tag()


def attribute_names(name):
    """All attributes that a skin of that name can have on its mesh."""
    return [name] + [name + column for column in node_group.COLUMNS]


def _deforming(rig, name):
    """The bone that a vertex group of that name is moved by, or -1."""
    bone = rig.index.get(name, -1)
    return bone if bone >= 0 and rig.deforms[bone] else -1


def _store(mesh, name, values):
    attribute = mesh.attributes.get(name)
    if attribute is not None and (attribute.data_type, attribute.domain) != ("FLOAT_VECTOR", "POINT"):
        mesh.attributes.remove(attribute)
        attribute = None
    if attribute is None:
        attribute = mesh.attributes.new(name, "FLOAT_VECTOR", "POINT")
    attribute.data.foreach_set("vector", values.reshape(-1))


def _discard(mesh, names):
    found = [name for name in names if name in mesh.attributes]
    for name in found:
        mesh.attributes.remove(mesh.attributes[name])
    return bool(found)
