# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectors in a mesh's attributes: written, found and removed by name."""

import ctypes

import numpy as np


def store(mesh, name, vectors):
    """Write (V, 3) float32 vectors to the point attribute of that name, which is made if it is not there."""
    attribute = mesh.attributes.get(name)
    if attribute is not None and (attribute.data_type, attribute.domain) != ("FLOAT_VECTOR", "POINT"):
        mesh.attributes.remove(attribute)
        attribute = None
    if attribute is None:
        attribute = mesh.attributes.new(name, "FLOAT_VECTOR", "POINT")
    if mesh.library is None and mesh.override_library is None:
        attribute.data.foreach_set("vector", vectors.reshape(-1))
    else:
        _store_linked(attribute.data, vectors)


def discard(mesh, names):
    """Remove the attributes of these names; whether there was any."""
    found = [name for name in names if name in mesh.attributes]
    for name in found:
        mesh.attributes.remove(mesh.attributes[name])
    return bool(found)


def _store_linked(data, vectors):
    """The same for a linked mesh, where Blender lets scripts set one item after the other but ignores foreach_set.

    The items are the elements of one array. Where their addresses say that it is so, the vectors are copied to where
    Blender would put them one by one; this is 50 times as fast.
    """
    vectors = np.ascontiguousarray(vectors, np.float32)
    first, last = data[0].as_pointer(), data[len(data) - 1].as_pointer()
    if len(data) == len(vectors) and last - first == vectors.nbytes - vectors[0].nbytes:
        ctypes.memmove(first, vectors.ctypes.data, vectors.nbytes)
    else:
        for item, vector in zip(data, vectors.tolist(), strict=True):
            item.vector = vector
