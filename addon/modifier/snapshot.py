# SPDX-License-Identifier: GPL-3.0-or-later
"""What a skin is set to at one evaluation: its inputs, each read once."""

import enum
from typing import NamedTuple

from .. import compat, inputs
from ..read.influences import Bind
from . import schema


class Method(enum.Enum):
    """How the joints' transforms are blended; the values are those of `two_phase_skinning`."""

    TWO_PHASE = "two_phase"
    LINEAR = "linear"
    DUAL_QUATERNION = "dual_quaternion"


class Inherited(enum.Enum):
    """Where inherited scale acts; the values are those of `two_phase_skinning`."""

    AFTER = "after"
    BEFORE = "before"


FINAL = 3.0
_METHODS = dict(zip(schema.MENUS[schema.METHOD], Method, strict=True))
_INHERITED = dict(zip(schema.MENUS[schema.INHERITED], Inherited, strict=True))
_SHOWN = dict(zip(schema.MENUS[schema.SHOW], (FINAL, 0.0, 1.0, 2.0, None), strict=True))  # None: by the slider


class Snapshot(NamedTuple):
    identity: str
    armature: object  # an evaluated object, or None
    method: Method
    inherited: Inherited
    bind: Bind
    multi: bool
    blend: float  # from linear (0) to the method (1)
    blend_group: str  # the vertex group or attribute that says it for each point, empty if `blend` does
    stage: float  # 0 at rest, 1 after phase 1, 2 after phase 2, 3 final
    mask_group: str


def take(modifier, driven):
    """The inputs of an evaluated skin. driven: name of an input -> its value, for those that are read elsewhere."""
    read = compat.InputReader(modifier)
    sockets = schema.sockets(modifier.node_group)

    def value(name):
        identifier, kind = sockets.get(name) or ("", schema.kind_of(name))
        return inputs.as_value(name, kind, driven[name] if name in driven else read(identifier))

    method = _METHODS[value(schema.METHOD)]
    stage = _SHOWN[value(schema.SHOW)]
    stage = _limited(value(schema.STAGE), FINAL) if stage is None else stage
    return Snapshot(
        identity=value(schema.IDENTITY),
        armature=value(schema.ARMATURE),
        method=method,
        inherited=_INHERITED[value(schema.INHERITED)],
        bind=Bind(value(schema.BIND)),
        multi=bool(value(schema.MULTI)),
        blend=_limited(value(schema.BLEND), 1.0),
        blend_group=_group(read, sockets, schema.BLEND),
        stage=FINAL * min(stage, 1.0) if method is Method.LINEAR else stage,
        mask_group=_group(read, sockets, schema.GROUP),
    )


def _group(read, sockets, name):
    return read.group(sockets[name][0]) if name in sockets else ""


def _limited(number, most):
    return min(max(float(number), 0.0), most) if number == number else 0.0  # what is no number counts as 0
