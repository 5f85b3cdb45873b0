# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a mesh's points are when they reach the first modifier: the mesh's own, or the mix of its shape keys."""

import numpy as np


class BasePoints:
    """The points of one evaluated mesh: its own, and those of its shape keys, each read once."""

    def __init__(self, mesh):
        self.own = _read(mesh.vertices, "co", len(mesh.vertices))
        self._blocks = {}
        self._mix = None
        self._mixed = None

    def same_as(self, other):
        return np.array_equal(self.own, other.own)

    def mixed(self, obj, keys, names, weights):
        """The mix of relative shape keys, (V, 3): the same array as before while nothing of it changed.

        obj, keys: evaluated; names: of the vertex groups; weights: of the mesh.
        """
        mix = _mix(obj, keys, names)
        if self._mixed is None or mix != self._mix:
            self._mixed, self._mix = self._compute(keys, mix, weights), mix
        return self._mixed

    def _compute(self, keys, mix, weights):
        """In Blender's order and in its precision."""
        blocks = keys.key_blocks
        result = self._block(blocks, blocks.find(keys.reference_key.name)).copy()
        for index, value, base, group in mix:
            difference = self._block(blocks, index) - self._block(blocks, base)
            factor = np.float32(value)
            if group >= 0:
                factor = factor * weights.of_group(group)[:, None]
            result += factor * difference
        return result

    def _block(self, blocks, index):
        found = self._blocks.get(index)
        if found is None:
            found = self._blocks[index] = _read(blocks[index].points, "co", len(blocks[index].points))
        return found


def _mix(obj, keys, names):
    """What is mixed: of each key that is on its index, value, base key and vertex group (-1: none)."""
    blocks = keys.key_blocks
    if obj.show_only_shape_key:
        return _pinned(obj, keys, names)
    values = np.empty(len(blocks), np.float32)
    blocks.foreach_get("value", values)
    reference = keys.reference_key.name
    found = []
    for index in np.flatnonzero(values).tolist():
        block = blocks[index]
        if not block.mute and block.name != reference:
            base = blocks.find(block.relative_key.name)
            found.append((index, float(values[index]), base, _group_of(names, block)))
    return found


def _pinned(obj, keys, names):
    """The same where the active key is shown alone, whatever its value."""
    blocks = keys.key_blocks
    index = obj.active_shape_key_index
    if not 0 <= index < len(blocks) or blocks[index].mute or blocks[index] == keys.reference_key:
        return []
    return [(index, 1.0, blocks.find(keys.reference_key.name), _group_of(names, blocks[index]))]


def _group_of(names, block):
    return names.index(block.vertex_group) if block.vertex_group in names else -1


def _read(data, name, count):
    points = np.empty((count, 3), np.float32)
    data.foreach_get(name, points.reshape(-1))
    return points
