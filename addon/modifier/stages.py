# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a deformation is shown: at rest, after each of its phases, final, or in between."""

import numpy as np

from .snapshot import FINAL, Method

_STEPS = {Method.LINEAR: ("rest", "final")}  # it has one phase
_ALL_STEPS = ("rest", 1, 2, "final")


def mixed(compute, settings, rest, blend, out=None):
    """The deformation as the settings show it.

    compute: Skin.deform or Skin.matrices, complete but for phase, blend and out; settings: a Snapshot; rest: gives what
    it would give at rest; blend: from linear to the method, one number or one for each vertex.
    """
    steps = _STEPS.get(settings.method, _ALL_STEPS)
    place = settings.stage / FINAL * (len(steps) - 1)
    low = min(int(place), len(steps) - 1)
    part = place - low
    first = _at_step(compute, steps[low], rest, blend, out)
    if part == 0:
        return first
    second = _at_step(compute, steps[low + 1], rest, blend, None)
    return np.add((1 - np.float32(part)) * first, np.float32(part) * second, out=out)


def _at_step(compute, step, rest, blend, out):
    if step == "final":
        return compute(blend=blend, out=out)
    if step != "rest":
        return compute(phase=step, out=out)
    if out is None:
        return rest()
    np.copyto(out, rest())
    return out


def blend(mesh, settings, names, weights):
    """From Linear (0) to the method (1): one number, or an array for a vertex group or another attribute of the points.

    mesh: evaluated; names: of its vertex groups. The same array as before while the weights are the same. A name that
    is nowhere counts as 0, as in all nodes.
    """
    name = settings.blend_group
    if not name:
        return settings.blend
    if name in names:
        return np.clip(weights.of_group(names.index(name)), 0, 1)
    attribute = mesh.attributes.get(name)
    if attribute is None or attribute.domain != "POINT" or attribute.data_type != "FLOAT":
        return 0.0
    values = np.empty(len(mesh.vertices), np.float32)
    attribute.data.foreach_get("value", values)
    return np.clip(np.nan_to_num(values), 0, 1)
