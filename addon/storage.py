# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectors in a mesh's attributes: written, found and removed by name."""

import ctypes
import threading

import numpy as np

SIZE = 12  # bytes of a vector


def store(mesh, name, vectors):
    """Write (V, 3) float32 vectors to the point attribute of that name, which is made if it is not there."""
    data = _ensure(mesh, name).data
    if _is_editable(mesh):
        data.foreach_set("vector", vectors.reshape(-1))
    else:
        _store_linked(data, vectors)


def own_memory(mesh, name):
    """Blender's own array of the attribute of that name, (V, 3) float32, for results to be computed into: this saves
    a copy. None where it cannot be had; then `store` them.

    To be used at once, and in the main thread alone: whoever edits the mesh may free the array.
    """
    if threading.current_thread() is not threading.main_thread():
        return None
    data = _ensure(mesh, name).data
    count = len(data)
    address = _address(data, count) if count == len(mesh.vertices) else None
    if address is None:
        return None
    return np.frombuffer((ctypes.c_float * (3 * count)).from_address(address), np.float32).reshape(count, 3)


def _ensure(mesh, name):
    """The attribute of that name, made if it is not there or is of another kind."""
    attribute = mesh.attributes.get(name)
    if attribute is not None and (attribute.data_type, attribute.domain) != ("FLOAT_VECTOR", "POINT"):
        mesh.attributes.remove(attribute)
        attribute = None
    return attribute if attribute is not None else mesh.attributes.new(name, "FLOAT_VECTOR", "POINT")


def _is_editable(mesh):
    return mesh.library is None and mesh.override_library is None


def discard(mesh, names):
    """Remove the attributes of these names; whether there was any."""
    found = [name for name in names if name in mesh.attributes]
    for name in found:
        mesh.attributes.remove(mesh.attributes[name])
    return bool(found)


def _store_linked(data, vectors):
    """The same for a linked mesh, where Blender lets scripts set one item after the other but ignores foreach_set.

    Where their addresses say that the items are the elements of one array, the vectors are copied to where Blender
    would put them one by one; this is 50 times as fast.
    """
    vectors = np.ascontiguousarray(vectors, np.float32)
    address = _address(data, len(vectors))
    if address is not None:
        ctypes.memmove(address, vectors.ctypes.data, vectors.nbytes)
    else:
        for item, vector in zip(data, vectors.tolist(), strict=True):
            item.vector = vector


def _address(data, count):
    """Where the vectors of an attribute are, if they are one array of that many; asking for an item to write to makes
    Blender give the mesh an array of its own, where it shared one with its copies."""
    if count == 0 or len(data) != count:
        return None
    first, last = data[0].as_pointer(), data[count - 1].as_pointer()
    return first if last - first == (count - 1) * SIZE else None
