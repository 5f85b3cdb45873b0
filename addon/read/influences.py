# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones move which vertices and how much, by the rules of Blender's Armature modifier.

Influences are three arrays: the vertex, the bone and the weight of each. The weights of vertex groups need only be
gathered; envelopes and the segments of B-bones depend on where a vertex is.
"""

import enum
from typing import NamedTuple

import numpy as np

LEAST = 1e-4  # a vertex whose weights sum up to no more is left where it is


class Bind(enum.Enum):
    """What binds the points to the bones; the values are the items of the menu."""

    GROUPS = "Vertex Groups"
    ENVELOPES = "Bone Envelopes"
    BOTH = "Both"


class Influences(NamedTuple):
    vertices: np.ndarray
    bones: np.ndarray
    values: np.ndarray

    def subset(self, mask):
        return Influences(self.vertices[mask], self.bones[mask], self.values[mask])

    def joined(self, other):
        return Influences(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))


def of_groups(weights, bone_of_group):
    """What the vertex groups say; bone_of_group is -1 for a group that is not a deforming bone's."""
    known = weights.groups < len(bone_of_group)  # a group that was deleted can still be in a vertex's list
    bones = np.full(len(weights.groups), -1, np.int64)
    bones[known] = bone_of_group[weights.groups[known]]
    return Influences(weights.rows(), bones, weights.values.astype(float)).subset(bones >= 0)


def by_position(groups, bind_to, points, rig):
    """Influences complete with what depends on the points, which are in the armature's space.

    groups: what `of_groups` gave; bind_to: a Bind.
    """
    result = groups
    if bind_to is Bind.ENVELOPES:
        result = _enveloped(np.arange(len(points)), points, rig)
    else:
        values = groups.values.copy()
        for bone in np.flatnonzero(rig.multiplies):
            mine = groups.bones == bone
            values[mine] *= _envelope(points[groups.vertices[mine]], rig, bone)
        result = groups = groups._replace(values=values)
        if bind_to is Bind.BOTH:
            without = np.setdiff1d(np.arange(len(points)), groups.vertices)
            result = groups.joined(_enveloped(without, points[without], rig))
    return significant(result, len(points))


def significant(influences, vertex_count):
    """Those that move a vertex at all, of vertices that are moved enough."""
    total = np.bincount(influences.vertices, influences.values, vertex_count)
    used = (total > LEAST)[influences.vertices] & (influences.values > 0)
    return influences if used.all() else influences.subset(used)


def needs_position(rig, groups, bind_to):
    """Whether these influences depend on where the points are."""
    if bind_to is not Bind.GROUPS:
        return True
    used = np.flatnonzero(np.bincount(groups.bones))
    return bool((rig.multiplies[used] | (rig.segments[used] > 1)).any())


def on_segments(influences, points, rig, first_joint, curved_index):
    """Influences on joints: a bone's own, or of a B-bone the two joints between which the point is.

    first_joint: of each bone, its joint, or the first of its segments' joints.
    curved_index: asks Blender for a point's segment, for bones whose mapping follows the curve.
    """
    joints = first_joint[influences.bones]
    result = Influences(influences.vertices, joints, influences.values)
    segmented = rig.segments[influences.bones] > 1
    if not segmented.any():
        return result
    parts = [result.subset(~segmented)]
    for bone in np.unique(influences.bones[segmented]):
        mine = influences.subset(influences.bones == bone)
        index, blend = _segment(points[mine.vertices], rig, bone, curved_index)
        joint = first_joint[bone] + index
        parts.append(Influences(mine.vertices, joint, mine.values * (1 - blend)))
        parts.append(Influences(mine.vertices, joint + 1, mine.values * blend))
    return Influences(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def as_rows(influences, vertex_count):
    """The same as compressed rows: (starts, joints, values)."""
    order = np.argsort(influences.vertices, kind="stable")
    starts = np.zeros(vertex_count + 1, np.int64)
    np.cumsum(np.bincount(influences.vertices, minlength=vertex_count), out=starts[1:])
    return starts, influences.bones[order], influences.values[order]


def _segment(points, rig, bone, curved_index):
    """Of each point, the segment of a B-bone that it is in, and how far along: where the next joint takes over."""
    if rig.curved[bone]:
        found = np.array([curved_index(bone, point) for point in points])
        return found[:, 0].astype(np.int64), found[:, 1]
    count = rig.segments[bone]
    _x, axis, _z, _w = rig.to_bone[bone]
    along = (points @ axis[:3] + axis[3]) / rig.lengths[bone]
    place = np.clip(along, 0, 1) * count
    index = np.clip(np.floor(place).astype(np.int64), 0, count - 1)
    return index, np.clip(place - index, 0, 1)


def _enveloped(vertices, points, rig):
    """What the envelopes of all deforming bones say about these vertices."""
    found = [Influences(vertices[:0], vertices[:0], np.empty(0))]
    for bone in np.flatnonzero(rig.deforms):
        factors = _envelope(points, rig, bone) * rig.envelope_weights[bone]
        inside = np.flatnonzero(factors > 0)
        found.append(Influences(vertices[inside], np.full(len(inside), bone), factors[inside]))
    return Influences(*(np.concatenate(arrays) for arrays in zip(*found, strict=True)))


def _envelope(points, rig, bone):
    """How far each point is in a bone's envelope: 1 inside its radii, falling to 0 over its distance."""
    head, tail = rig.heads[bone], rig.tails[bone]
    length = np.linalg.norm(tail - head)
    direction = (tail - head) / length if length > 0 else np.zeros(3)
    offset = points - head
    along = offset @ direction
    nearest = np.clip(along, 0, length)
    radius = rig.head_radii[bone]
    if length > 0:
        radius = radius + nearest / length * (rig.tail_radii[bone] - radius)
    beyond = np.linalg.norm(offset - nearest[:, None] * direction, axis=1) - radius
    falloff = rig.distances[bone]
    if falloff == 0:
        return (beyond < 0).astype(float)
    return np.where(beyond < 0, 1.0, np.clip(1 - (beyond / falloff) ** 2, 0, None) * (beyond < falloff))
