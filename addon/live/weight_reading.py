# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the weights of large meshes in small steps, so that the window stays alive meanwhile."""

import numpy as np

from ..read import vertex_weights
from . import upkeep

LARGE = 100_000  # vertices; fewer are read at once, in a fraction of a second
STEP = 5_000  # vertices between two reports, 20 ms or so


def reading(objects):
    """Read and keep the weights of these objects' meshes. Yields each object's name and the fraction that is done.

    Nothing is kept of a mesh that was not read to its end.
    """
    total = sum(len(obj.data.vertices) for obj in objects)
    before = 0
    for obj in objects:
        mesh = obj.data
        parts = []
        for first in range(0, len(mesh.vertices), STEP):
            yield obj.name, (before + first) / total
            parts.append(_part(mesh, first, min(first + STEP, len(mesh.vertices))))
        before += len(mesh.vertices)
        upkeep.keep_weights(mesh, _joined(parts))


def _part(mesh, first, end):
    """The counts, groups and values of some vertices."""
    counts, groups, values = [], [], []
    for vertex in mesh.vertices[first:end]:
        entries = vertex.groups
        counts.append(len(entries))
        for entry in entries:
            groups.append(entry.group)
            values.append(entry.weight)
    return np.array(counts, np.int64), np.array(groups, np.int32), np.array(values, np.float32)


def _joined(parts):
    counts, groups, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return vertex_weights.Weights(np.concatenate([[0], np.cumsum(counts)]), groups, values)
