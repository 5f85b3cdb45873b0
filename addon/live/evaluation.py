# SPDX-License-Identifier: GPL-3.0-or-later
"""One evaluation of one skin by Blender: what it reads, and where it writes to."""

import threading
from functools import cached_property
from itertools import chain

from .. import inputs
from ..modifier import schema, stack
from ..modifier.schema import Mode
from ..read import rig
from ..read.influences import Bind
from ..read.mesh_cache import MeshCache
from ..read.rig_cache import RigCache
from ..write import attributes, edit_mode


class Caches:
    """What is kept from one evaluation to the next, for all skins of the file."""

    def __init__(self):
        self.lock = threading.RLock()
        self.meshes = MeshCache()
        self.rigs = RigCache()


class Evaluation:
    """What a skin is made of at one evaluation; all of it is evaluated data, and is to be forgotten with this object.

    mesh: as it is before its object's modifiers. standing: what the modifiers say of the skin.
    """

    edited = False

    def __init__(self, obj, modifier, mesh, standing, caches):
        self.obj = obj
        self.modifier = modifier
        self.mesh = mesh
        self.standing = standing
        self.settings = standing.settings
        self.armature = self.settings.armature
        self.keys = mesh.shape_keys
        self._caches = caches
        self._name = schema.PREFIX + self.settings.identity
        self._arrays = {}  # name of an attribute -> what `attributes.memory` gave

    @property
    def is_prepared(self):
        """Whether the mesh has any attribute to write to."""
        return schema.is_identity(self.settings.identity) and self._name in self.mesh.attributes

    @cached_property
    def ways(self):
        """How the points reach the skin, in the viewport and in renders."""
        return self.standing.above or (stack.first(self.obj, self.keys),) * 2

    @cached_property
    def mesh_data(self):
        with self._caches.lock:
            looked_at = self._was_looked_at()
            found = self._caches.meshes.get(self.mesh, self.obj, looked_at, self._settings)
            for vectors in () if looked_at else self._all_vectors():
                attributes.set_mark(vectors, attributes.LOOKED_AT)
            return found

    @cached_property
    def bones(self):
        with self._caches.lock:
            if self.settings.bind is not Bind.GROUPS:
                self._caches.rigs.with_envelopes(self.armature.original.session_uid)
            return self._caches.rigs.get(self.armature)

    def doubt_bones(self):
        """Let `bones` look at the names and parents too."""
        with self._caches.lock:
            self._caches.rigs.doubt(self.armature.original.session_uid)

    @cached_property
    def pose(self):
        """The pose matrices of all bones, (J, 4, 4) float32."""
        return rig.pose(self.armature)

    def points(self, keyed):
        """Where the points are, (V, 3): the same array as before while they are. keyed: with the mix of shape keys."""
        data = self.mesh_data
        if not keyed:
            return data.points.own
        with self._caches.lock:
            return data.points.mixed(self.obj, self.keys, data.names, data.weights)

    def target(self, mode):
        """Where to write in that mode, or None where the mesh lacks the attributes."""
        names = [self._name + column for column in schema.COLUMNS] if mode is Mode.MATRICES else [self._name]
        found = [self._memory(name) for name in names]
        return None if any(vectors is None for vectors in found) else _Memory(self.mesh, found)

    def _settings(self):
        """What is set at the object's modifiers."""
        shown = [(m.name, m.show_viewport, m.show_render, m.show_in_editmode) for m in self.obj.modifiers]
        skins = [m for m in self.obj.modifiers if schema.is_skin(m)]
        return shown, [
            [inputs.read(skin, name) for name in schema.SETTINGS if inputs.has(skin, name)] for skin in skins
        ]

    def _was_looked_at(self):
        vectors = self._memory(self._name)
        return vectors is not None and attributes.is_marked(vectors, attributes.LOOKED_AT)

    def _all_vectors(self):
        """Of all skins' attributes, this one's first."""
        own = schema.attribute_names(self._name)
        others = (each.name for each in self.mesh.attributes if each.name.startswith(schema.PREFIX))
        for name in chain(own, others):
            vectors = self._memory(name)
            if vectors is not None:
                yield vectors

    def _memory(self, name):
        if name not in self._arrays:
            self._arrays[name] = attributes.memory(self.mesh, name)
        return self._arrays[name]


class _Memory:
    """The attributes of an evaluated mesh."""

    def __init__(self, mesh, arrays):
        self.address = mesh.as_pointer()
        self._arrays = arrays
        self.vectors = arrays[0]

    @property
    def is_written(self):
        return attributes.is_marked(self.vectors, attributes.WRITTEN)

    def set_matrices(self, matrices):
        """(V, 3, 4) as the four columns of (matrix - 1)."""
        for k, column in enumerate(self._arrays):
            column[:] = matrices[:, :, k]
            if k < 3:
                column[:, k] -= 1

    def set_written(self):
        attributes.set_mark(self.vectors, attributes.WRITTEN)
        attributes.set_mark(self.vectors, attributes.LOOKED_AT)


class EditModeEvaluation(Evaluation):
    """The same in Edit Mode, where evaluated meshes have no arrays: the file's mesh gets layers, on the main thread.

    obj, modifier: evaluated; mesh: the file's, brought up to date with Edit Mode.
    """

    edited = True
    changed = True  # whether the mesh may be another than at the last evaluation

    def __init__(self, obj, modifier, mesh, standing, caches):
        super().__init__(obj, modifier, mesh, standing, caches)
        self.layers = edit_mode.Layers(mesh, self._name)

    @cached_property
    def mesh_data(self):
        with self._caches.lock:
            return self._caches.meshes.get_edited(self.mesh, self.obj, self.changed)

    def points(self, keyed):
        return self.mesh_data.points.own

    def target(self, mode):
        return self.layers
