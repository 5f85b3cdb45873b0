# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps what is read of meshes: their points and weights, read again only where Blender copied the mesh anew."""

from collections import OrderedDict

import bpy

from . import base_points, vertex_weights

MOST = 512  # evaluated meshes whose contents are kept
INTERACTIVE = not bpy.app.background  # whether there are sliders, and Blender is ever idle


class MeshData:
    """The contents of one evaluated mesh. The weights are the same object as before unless they are others."""

    def __init__(self, uid, names, weights, points, settings):
        self.uid = uid  # the session uid of the file's mesh
        self.names = names  # of the vertex groups
        self.weights = weights
        self.points = points
        self.settings = settings


class MeshCache:
    def __init__(self):
        self.weights = vertex_weights.Store()
        self._latest = {}  # session uid of a mesh -> MeshData
        self._seen = OrderedDict()  # address of an evaluated mesh -> MeshData

    def get(self, mesh, obj, looked_at, settings_of):
        """The contents of an evaluated mesh.

        obj: evaluated. looked_at: whether the mesh carries the mark that it is still what it was when it was last asked
        for. settings_of: gives what is set at the object's modifiers: where that changes, Blender copies the mesh anew,
        weights or not.
        """
        uid = mesh.original.session_uid
        found = self._seen.get(mesh.as_pointer())
        if not looked_at or found is None or found.uid != uid:
            found = self._latest[uid] = self._look(mesh, obj, uid, settings_of, found is not None)
            self._seen[mesh.as_pointer()] = found
            self._seen.move_to_end(mesh.as_pointer())
            while len(self._seen) > MOST:
                self._seen.popitem(last=False)
        return found

    def names_of(self, mesh):
        """The names of the vertex groups of a file's mesh when its evaluated copy was last looked at, or None."""
        known = self._latest.get(mesh.session_uid)
        return known.names if known is not None else None

    def get_edited(self, mesh, obj, changed):
        """The contents of a file's mesh in Edit Mode; changed: whether they may be others than before."""
        uid = mesh.session_uid
        known = self._latest.get(uid)
        if known is None or changed or len(known.points.own) != len(mesh.vertices):
            names = obj.original.vertex_groups.keys()
            self._latest[uid] = MeshData(uid, names, self.weights.get(mesh, uid), self._points(mesh, known), None)
        return self._latest[uid]

    def _look(self, mesh, obj, uid, settings_of, again):
        known = self._latest.get(uid)
        # Before its modifiers are evaluated, an object's vertex groups are those of its mesh, if that was copied anew.
        names = obj.vertex_groups.keys() if known is None or obj.data == mesh else known.names
        painted = obj.mode == "WEIGHT_PAINT"
        in_window = INTERACTIVE and again  # for a new copy, as of a render, there is time for all of the weights
        large = in_window and len(mesh.vertices) > vertex_weights.LARGE
        settings = (settings_of(), _key_settings(mesh)) if INTERACTIVE else None
        same = known is not None and names == known.names
        doubtful = large and same and not painted and known.settings != settings
        later = in_window and painted and len(mesh.vertices) > vertex_weights.AT_ONCE
        weights = self.weights.get(mesh, uid, doubtful, later)
        return MeshData(uid, names, weights, self._points(mesh, known), settings)

    @staticmethod
    def _points(mesh, known):
        points = base_points.BasePoints(mesh)
        if known is not None and points.same_as(known.points):
            points.own = known.points.own
        return points


def _key_settings(mesh):
    keys = mesh.shape_keys
    return [(key.value, key.mute) for key in keys.key_blocks] if keys is not None else ()
