# SPDX-License-Identifier: GPL-3.0-or-later
"""How a skin is to be shown: by which method, and how far, at rest, after each of its phases, final, or in between."""

from typing import NamedTuple

import numpy as np

from . import inputs, node_group

FINAL = 3.0
_METHODS = {name: key.lower() for key, name in node_group.METHODS.items()}
_INHERITED = {"After Bend": "after", "Before Bend": "before"}
_SHOWN = {"Rest": 0.0, "After Phase 1": 1.0, "After Phase 2": 2.0, "Final": FINAL}
_STEPS = {"linear": ("rest", "final")}  # it has one phase
_ALL_STEPS = ("rest", 1, 2, "final")


class Settings(NamedTuple):
    """What a skin's deformation depends on besides its points, its bones and its blend from Linear."""

    method: str
    inherited: str
    stage: float  # 0 at rest, 1 after phase 1, 2 after phase 2, 3 final


def settings(modifier):
    """The settings of a modifier, evaluated if animation is to count."""
    method = _METHODS[inputs.read(modifier, node_group.METHOD)]
    return Settings(method, _INHERITED[inputs.read(modifier, node_group.INHERITED)], _stage(modifier, method))


def _stage(modifier, method):
    choice = inputs.read_or_default(modifier, node_group.SHOW)
    stage = inputs.read_or_default(modifier, node_group.STAGE) if choice == "By Stage" else _SHOWN[choice]
    stage = min(max(float(stage), 0.0), FINAL) if stage == stage else 0.0  # what is no number counts as 0
    return FINAL * min(stage, 1.0) if method == "linear" else stage


def mixed(compute, now, rest, blend, out=None):
    """The deformation as the settings `now` show it.

    compute: Skin.deform or Skin.matrices, complete but for phase, blend and out; rest: what it would give at rest;
    blend: from linear to the method, one number or one for each vertex.
    """
    steps = _STEPS.get(now.method, _ALL_STEPS)
    place = now.stage / FINAL * (len(steps) - 1)
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
        return rest
    np.copyto(out, rest)
    return out


def blend(obj, modifier, weights):
    """From Linear (0) to the method (1): one number, or an array for a vertex group or another attribute of the points.

    The same array as before while the weights are the same. A name that is nowhere counts as 0, as in all nodes.
    """
    name = inputs.read_group(modifier, node_group.BLEND) if inputs.has(modifier, node_group.BLEND) else ""
    if not name:
        value = float(inputs.read_or_default(modifier, node_group.BLEND))
        return min(max(value, 0.0), 1.0) if value == value else 0.0  # what is no number counts as 0
    index = obj.vertex_groups.find(name)
    if index >= 0:
        return np.clip(weights.of_group(index), 0, 1)
    attribute = obj.data.attributes.get(name)
    if attribute is None or attribute.domain != "POINT" or attribute.data_type != "FLOAT":
        return 0.0
    values = np.empty(len(obj.data.vertices), np.float32)
    attribute.data.foreach_get("value", values)
    return np.clip(np.nan_to_num(values), 0, 1)
