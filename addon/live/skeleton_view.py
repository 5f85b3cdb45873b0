# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be seen of one skin's skeleton in its present pose: lines from the heads to the tails of bones."""

import numpy as np

_BALL = 0.06  # the size of the cross at a bone's head, of the bone's length


class SkeletonView:
    """The bones that a skin depends on; its methods give lines as (N, 2, 3), in the world."""

    def __init__(self, place, rig, joints, weighted, world, inherited):
        """place: the armature's matrix in the world; world: the joints' posed matrices; weighted: which are."""
        self._place = np.array(place)
        self._count = len(joints.bones)  # the joints after these are segments of B-bones
        self._lengths = rig.lengths[joints.bones]
        self._joints, self._weighted, self._world, self._inherited = joints, weighted, world, inherited

    def support(self):
        used = np.isin(self._joints.bones, list(self._joints.used))
        return self._lines(self._world[: self._count], ~used)

    def compensating(self):
        """The bones that have a child which does not inherit their scale."""
        skeleton = self._joints.skeleton
        parents, inherits = skeleton.parents[: self._count], skeleton.inherits[: self._count]
        mask = np.zeros(self._count, bool)
        mask[parents[(parents >= 0) & ~inherits]] = True
        return self._lines(self._world[: self._count], mask)

    def intermediate(self):
        parts = self._joints.skeleton.separate(
            self._world, inherited=self._inherited, weighted=self._weighted, **self._joints.associated
        )
        return self._lines(parts.second[: self._count], np.ones(self._count, bool))

    def _lines(self, matrices, mask):
        """Each bone as a line along it and a small cross at its head."""
        matrices = self._place @ matrices[mask]
        length = self._lengths[mask][:, None]
        heads, x, y, z = (matrices[:, :3, k] for k in (3, 0, 1, 2))
        lines = [np.stack([heads, heads + length * y], axis=1)]
        for axis in (x, y, z):
            arm = _BALL * length * axis
            lines.append(np.stack([heads - arm, heads + arm], axis=1))
        return np.concatenate(lines)
