# SPDX-License-Identifier: GPL-3.0-or-later
"""The weights of a mesh's vertices, as painted. Blender has no fast reader (1 µs a vertex): they are kept."""

import time
from itertools import chain, islice
from operator import methodcaller

import bmesh
import bpy
import numpy as np

CHUNK = 20000  # vertices that are read at a time, to bound the memory that it takes
AT_ONCE = 100_000  # vertices up to which a stroke in Weight Paint is followed at once, 0.2 s a step
REST = 0.3  # seconds without a step of the brush after which it rests
UNREAD = -1  # for a mesh that was painted: nothing of it was compared
LARGE = 10000  # vertices that take longer to read than a slider may lag
PART = 1000  # vertices of a large mesh that are compared at once; the rest when Blender is idle
PACE = 10000  # vertices that are compared at a time then
_KEYS, _VALUES = methodcaller("keys"), methodcaller("values")
INTERACTIVE = not bpy.app.background  # whether there are sliders, and Blender is ever idle


class Weights:
    """All weights of one mesh as CSR: of row v, groups[starts[v]:starts[v + 1]] and values[...]."""

    def __init__(self, starts, groups, values):
        self.starts = starts
        self.groups = groups
        self.values = values

    def rows(self):
        """The vertex of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def of_group(self, group):
        """One group's weights, (V,) float32, zero where a vertex is not in it."""
        mine = self.groups == group
        result = np.zeros(len(self.starts) - 1, np.float32)
        result[self.rows()[mine]] = self.values[mine]
        return result

    def same_as(self, other):
        return (
            np.array_equal(self.starts, other.starts)
            and np.array_equal(self.groups, other.groups)
            and np.array_equal(self.values, other.values)
        )


class Store:
    """The weights of every mesh that has a skin; a mesh is read again only when it is asked for as changed."""

    def __init__(self):
        self.unsure = {}  # session uid of a mesh that was only compared in part -> what is to be compared next
        self.asked = 0.0  # when weights were last left for later
        self._known = {}
        self.fresh = set()  # session uids of meshes that were read a moment ago

    def get(self, mesh, uid, doubtful=False, later=False):
        """The weights of an evaluated mesh that may have changed: the same object as before if none of them did.

        uid: the session uid of the file's mesh. doubtful: something else than the weights did change; a large mesh is
        then only compared in part, so that one can drag a slider, and is read if anything in that part is new; `check`
        compares the rest. later: it is being painted, and `check` reads it as soon as it was not asked for a while.
        """
        known = self._known.get(uid)
        if known is not None and len(known.starts) == len(mesh.vertices) + 1:
            if uid in self.fresh:
                return known
            if later:
                self.unsure[uid] = UNREAD
                self.asked = time.monotonic()
                return known
            if doubtful and _same(mesh, known, np.linspace(0, len(mesh.vertices) - 1, PART).astype(int)):
                self.unsure[uid] = 0
                return known
        self.unsure.pop(uid, None)
        found = read(mesh)
        if known is None or not known.same_as(found):
            self._known[uid] = known = found
        return known

    def has(self, mesh):
        known = self._known.get(mesh.session_uid)
        return known is not None and len(known.starts) == len(mesh.vertices) + 1

    def keep(self, mesh, found):
        """What somebody else has just read. It counts until `fresh` is cleared, even if the mesh looks changed, as it
        does when it gets a modifier."""
        known = self._known.get(mesh.session_uid)
        self.fresh.add(mesh.session_uid)
        if known is None or not known.same_as(found):
            self._known[mesh.session_uid] = found

    def check(self):
        """Compare some more of a mesh that was only compared in part; if anything is new, it is evaluated and read."""
        uid, start = next(iter(self.unsure.items()))
        mesh = next((mesh for mesh in bpy.data.meshes if mesh.session_uid == uid), None)
        known = self._known.get(uid)
        if mesh is None or known is None or len(known.starts) != len(mesh.vertices) + 1:
            del self.unsure[uid]  # it was removed, or is read at the next evaluation in any case
            return
        if start == UNREAD:
            if time.monotonic() - self.asked > REST:
                self._read_anew(mesh)
            return
        end = min(start + PACE, len(mesh.vertices))
        if not _same(mesh, known, np.arange(start, end)):
            self._read_anew(mesh)
        elif end < len(mesh.vertices):
            self.unsure[uid] = end
        else:
            del self.unsure[uid]

    def _read_anew(self, mesh):
        """Forget the mesh's weights and let Blender evaluate it, which has them read."""
        del self.unsure[mesh.session_uid], self._known[mesh.session_uid]
        mesh.update_tag()


def _same(mesh, known, indices):
    """Whether these vertices have the weights that are known."""
    for index in indices.tolist():
        first, end = known.starts[index], known.starts[index + 1]
        entries = mesh.vertices[index].groups
        if [entry.group for entry in entries] != known.groups[first:end].tolist():
            return False
        if [entry.weight for entry in entries] != known.values[first:end].tolist():
            return False
    return True


def read(mesh):
    """Read a mesh's weights.

    A BMesh hands over all of a vertex's weights in one call; that is twice as fast as asking the mesh for each of them,
    though half of the time goes into making it.
    """
    copy = bmesh.new()
    try:
        copy.from_mesh(mesh, face_normals=False, vertex_normals=False)
        return _read(copy.verts)
    finally:
        copy.free()


def _read(vertices):
    """Of a BMesh's vertices, a chunk at a time; no Python runs for each of them but what gives its weights."""
    layer = vertices.layers.deform.active
    if layer is None or not len(vertices):
        return Weights(np.zeros(len(vertices) + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32))
    remaining = iter(vertices)
    found = [
        _read_chunk([vertex[layer] for vertex in islice(remaining, CHUNK)]) for _ in range(0, len(vertices), CHUNK)
    ]
    counts, groups, values = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    return Weights(np.append(0, np.cumsum(counts)), groups, values)


def _read_chunk(entries):
    """How many weights each of these vertices has, their groups, and their values."""
    counts = np.fromiter(map(len, entries), np.int64, len(entries))
    total = int(counts.sum())
    groups = np.fromiter(chain.from_iterable(map(_KEYS, entries)), np.int32, total)
    return counts, groups, np.fromiter(chain.from_iterable(map(_VALUES, entries)), np.float32, total)
