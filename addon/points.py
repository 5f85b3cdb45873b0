# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a mesh's points are when they reach the first modifier: the mesh's own, or the mix of its shape keys."""

import numpy as np


class Points:
    """The points of one mesh, read again only when they may have changed."""

    def __init__(self):
        self.now = None  # (V, 3) float32
        self._mix = None
        self._blocks = {}

    def read(self, obj, moment, keyed, edited):
        """Bring `now` up to date; whether it changed. keyed: mix the shape keys; edited: the mesh may have changed."""
        mesh = obj.data
        if edited:
            self._blocks = {}
        if keyed:
            mix = _mix(obj, moment)
            if self.now is not None and mix == self._mix and not edited:
                return False
            found = self._mixed(obj, mix, moment)
        else:
            mix = None
            if self.now is not None and self._mix is None and not edited:
                return False
            found = _read(mesh.vertices, "co", len(mesh.vertices))
        self._mix = mix
        if self.now is not None and np.array_equal(found, self.now):
            return False
        self.now = found
        return True

    def _mixed(self, obj, mix, moment):
        """The mix of keys, in Blender's order and in its precision."""
        keys = obj.data.shape_keys
        blocks = keys.key_blocks
        reference = blocks.find(keys.reference_key.name)
        result = self._block(blocks, reference).copy()
        for index, value, base, group in mix:
            difference = self._block(blocks, index) - self._block(blocks, base)
            factor = np.float32(value)
            if group >= 0:
                factor = factor * moment.weights(obj).of_group(group)[:, None]
            result += factor * difference
        return result

    def _block(self, blocks, index):
        found = self._blocks.get(index)
        if found is None:
            found = self._blocks[index] = _read(blocks[index].points, "co", len(blocks[index].points))
        return found


def _mix(obj, moment):
    """What is mixed: of each key that is on its index, value, base key and vertex group (-1: none)."""
    keys = obj.data.shape_keys
    if obj.show_only_shape_key:
        return _pinned(obj, keys)
    blocks = keys.key_blocks
    values = np.empty(len(blocks), np.float32)
    moment.evaluated(keys).key_blocks.foreach_get("value", values)
    reference = keys.reference_key.name
    found = []
    for index in np.flatnonzero(values).tolist():
        block = blocks[index]
        if not block.mute and block.name != reference:
            base = blocks.find(block.relative_key.name)
            found.append((index, float(values[index]), base, _group_of(obj, block)))
    return found


def _pinned(obj, keys):
    """The same where the active key is shown alone, whatever its value."""
    block = obj.active_shape_key
    if block is None or block.mute or block == keys.reference_key:
        return []
    blocks = keys.key_blocks
    return [(blocks.find(block.name), 1.0, blocks.find(keys.reference_key.name), _group_of(obj, block))]


def _group_of(obj, block):
    return obj.vertex_groups.find(block.vertex_group) if block.vertex_group else -1


def _read(data, name, count):
    points = np.empty((count, 3), np.float32)
    data.foreach_get(name, points.reshape(-1))
    return points
