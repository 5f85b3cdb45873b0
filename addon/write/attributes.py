# SPDX-License-Identifier: GPL-3.0-or-later
"""A skin's vectors in a mesh's attributes: made and removed on the file's mesh, written on evaluated ones.

An evaluated mesh is a copy of the file's, and is copied anew whenever the file's was edited. Two bits of the first
vector, the lowest of its x and its y, tell the copies apart: they are zero in the file, and set on an evaluated mesh
whose contents were looked at and whose attribute was written. They move a point by less than float32 can show.
"""

import ctypes

import numpy as np

SIZE = 12  # bytes of a vector
LOOKED_AT, WRITTEN = 0, 1  # the components of the first vector whose lowest bit is the mark


def ensure(mesh, name):
    """The file's point attribute of that name, made if it is not there or is of another kind; whether it was made."""
    attribute = mesh.attributes.get(name)
    if attribute is not None and (attribute.data_type, attribute.domain) != ("FLOAT_VECTOR", "POINT"):
        mesh.attributes.remove(attribute)
        attribute = None
    if attribute is None:
        mesh.attributes.new(name, "FLOAT_VECTOR", "POINT")
    return attribute is None


def discard(mesh, names):
    """Remove the attributes of these names; whether there was any."""
    found = [name for name in names if name in mesh.attributes]
    for name in found:
        mesh.attributes.remove(mesh.attributes[name])
    return bool(found)


def memory(mesh, name):
    """Blender's own array of that attribute, (V, 3) float32, or None where there is none of that form.

    mesh: evaluated, and not read by anybody else meanwhile: Blender gives it an array of its own, if it shared one with
    the file's mesh. To be used at once.
    """
    attribute = mesh.attributes.get(name)
    if attribute is None or attribute.data_type != "FLOAT_VECTOR":
        return None
    data, count = attribute.data, len(mesh.vertices)
    if count == 0 or len(data) != count:
        return None
    first, last = data[0].as_pointer(), data[count - 1].as_pointer()
    if last - first != (count - 1) * SIZE:
        return None
    return np.frombuffer((ctypes.c_float * (3 * count)).from_address(first), np.float32).reshape(count, 3)


def is_marked(vectors, mark):
    return bool(vectors[0, mark].view(np.uint32) & 1)


def set_mark(vectors, mark):
    vectors.view(np.uint32)[0, mark] |= 1


def store(mesh, name, vectors):
    """Write (V, 3) vectors to the file's mesh, without marks."""
    clean = np.array(vectors, np.float32)
    clean.view(np.uint32)[0, :] &= np.uint32(0xFFFFFFFE)
    mesh.attributes[name].data.foreach_set("vector", clean.reshape(-1))
