# SPDX-License-Identifier: GPL-3.0-or-later
"""The same as `attributes` for a mesh in Edit Mode, whose attributes are layers of its BMesh.

Edit Mode gets per vertex matrices: a vertex that is moved, and a new one that takes over the layers of what it was made
of, is then deformed as exactly as the others without any help from Python.
"""

import bmesh
import numpy as np

from ..modifier import schema

LIMIT = 100_000  # vertices; layers are written one vertex after the other, 0.2 µs each


def vertex_count(mesh):
    return len(bmesh.from_edit_mesh(mesh).verts)


class Layers:
    """The four layers of a skin; they are made when Edit Mode begins, not during a tool."""

    address = 0  # there is one BMesh, whatever the depsgraph
    is_written = True

    def __init__(self, mesh, name):
        self._mesh = mesh
        self._name = name
        self.were_written = False

    def set_matrices(self, matrices):
        """(V, 3, 4) as the four columns of (matrix - 1)."""
        edited = bmesh.from_edit_mesh(self._mesh)
        for k, column in enumerate(schema.COLUMNS):
            values = np.ascontiguousarray(matrices[:, :, k])
            if k < 3:
                values[:, k] -= 1
            layers = edited.verts.layers.float_vector
            layer = layers.get(self._name + column) or layers.new(self._name + column)
            for vertex, vector in zip(edited.verts, values.tolist(), strict=True):
                vertex[layer] = vector

    def set_written(self):
        self.were_written = True
