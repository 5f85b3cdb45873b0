# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be wrong, as values: logic asks for the kind, people read the text."""

import enum
from typing import NamedTuple


class UserError(Exception):
    """Why something cannot be done, in words for the artist: what is wrong, and the way out."""


class Kind(enum.Enum):
    """What keeps a skin from deforming its mesh."""

    DAMAGED = enum.auto()  # the node group was edited by hand
    NO_ARMATURE = enum.auto()
    NOT_AN_ARMATURE = enum.auto()
    NO_VERTICES = enum.auto()
    REFUSED_ABOVE = enum.auto()  # something above changes the points' number or weights
    MOVED_TOO_EARLY = enum.auto()  # something above moves the points before the bones can find them
    NOTHING_BOUND = enum.auto()
    POSE_NOT_FINITE = enum.auto()
    TOO_MANY_SKINS = enum.auto()
    FAILED = enum.auto()


class Problem(NamedTuple):
    """What keeps a skin from deforming its mesh. mover: of MOVED_TOO_EARLY and REFUSED_ABOVE, the modifier's name."""

    kind: Kind
    text: str
    mover: str = ""
