# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps the bones of armatures, and finds out at each evaluation, as cheaply as possible, whether they are others.

An evaluated armature is a copy of the file's, and is copied anew after each edit and after each change of the pose by
hand, but not from frame to frame. A mark tells: the display size of the evaluated copy's first bone is made larger by
the least that float32 can show. Only where the mark is missing, or something animates the bones' settings, these are
read and compared.
"""

from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from . import bone_settings, rig

MOST = 256  # evaluated armatures whose marks are kept
_ENVELOPES = ("head_radius", "tail_radius", "envelope_distance", "envelope_weight")
_CURVE_MODES = ("bbone_handle_type_start", "bbone_handle_type_end", "bbone_mapping_mode")
_QUICK = ("matrix_local", "use_deform", "inherit_scale", "bbone_segments", "use_envelope_multiply")
_ALL = frozenset((*_QUICK, *_ENVELOPES, *_CURVE_MODES))
_PER_BONE = {"matrix_local": 16}
_KINDS = {"use_deform": bool, "use_envelope_multiply": bool, "inherit_scale": np.int32, "bbone_segments": np.int32}


class Bones(NamedTuple):
    """The bones of one evaluated armature object. rig: the same object as before unless they are others."""

    rig: rig.Rig
    curves: list  # what the rest shapes of B-bones depend on besides


class _Known(NamedTuple):
    rig: rig.Rig
    quick: tuple
    names: tuple
    settings: int  # the version of the bones' own settings


class _Seen(NamedTuple):
    mark: float
    animated: frozenset  # names of bones' settings that something animates
    bones: dict  # session uid of an armature object -> Bones


class RigCache:
    def __init__(self):
        self._known = {}  # session uid of an armature object -> _Known
        self._seen = OrderedDict()  # address of an evaluated armature -> _Seen
        self._doubted = set()
        self._enveloped = set()  # session uids of armature objects whose bones' envelopes bind a skin

    def doubt(self, uid):
        """Read everything of an armature object at the next evaluation."""
        self._doubted.add(uid)

    def with_envelopes(self, uid):
        """From now on look at the envelopes of this armature object's bones as well."""
        if uid not in self._enveloped:
            self._enveloped.add(uid)
            self._doubted.add(uid)

    def get(self, armature):
        """The bones of an evaluated armature object."""
        data, uid = armature.data, armature.original.session_uid
        if not data.bones:
            return Bones(rig.Rig(armature), [])
        seen = self._seen.get(data.as_pointer())
        marked = seen is not None and data.bones[0].bbone_x == seen.mark
        if marked and uid in seen.bones and uid not in self._doubted and not seen.animated:
            found = seen.bones[uid]
            if self._known[uid].settings == bone_settings.version():
                return found
        found = self._look(armature, uid, uid in self._doubted or seen is None)
        self._doubted.discard(uid)
        if not marked:
            seen = self._mark(data)
        seen.bones[uid] = found
        return found

    def _look(self, armature, uid, thorough):
        known = self._known.get(uid)
        enveloped = uid in self._enveloped or (known is not None and bool(known.rig.multiplies.any()))
        quick, settings = _quick(armature, enveloped), bone_settings.version()
        if thorough or known is None or (known.quick, known.settings) != (quick, settings):
            names = _names(armature)
            if known is None or known[1:] != (quick, names, settings):
                known = self._known[uid] = _Known(rig.Rig(armature), quick, names, settings)
        segmented = bool((known.rig.segments > 1).any())
        return Bones(known.rig, known.rig.curves_of(armature) if segmented else [])

    def _mark(self, data):
        sizes = rig.all_of(data.bones, "bbone_x", len(data.bones))
        sizes[0] = np.nextafter(sizes[0], np.float32(np.inf))
        data.bones.foreach_set("bbone_x", sizes)
        seen = _Seen(float(sizes[0]), _animated(data), {})
        self._seen[data.as_pointer()] = seen
        self._seen.move_to_end(data.as_pointer())
        while len(self._seen) > MOST:
            self._seen.popitem(last=False)
        return seen


def _animated(data):
    """Which of the bones' settings anything animates."""
    animation = data.animation_data
    if animation is None:
        return frozenset()
    if animation.action is not None or len(animation.nla_tracks):
        return _ALL
    names = {
        driver.data_path.rpartition(".")[2] for driver in animation.drivers if driver.data_path.startswith("bones[")
    }
    curved = any(bone.bbone_segments > 1 for bone in data.bones)
    return frozenset(name for name in names if name in _ALL or (curved and name.startswith("bbone_")))


def _quick(armature, with_envelopes):
    """What the settings panels change, the names, and the shape at rest."""
    bones = armature.data.bones
    count = len(bones)  # Blender counts them one by one
    found = [_bytes(bones, name, count) for name in (*_QUICK, *(_ENVELOPES if with_envelopes else ()))]
    segments = np.frombuffer(found[_QUICK.index("bbone_segments")], np.int32)
    return found, bones.keys(), [_ends(bones[index]) for index in np.flatnonzero(segments > 1).tolist()]


def _ends(bone):
    """How a B-bone's ends are made."""
    handles = bone.bbone_custom_handle_start, bone.bbone_custom_handle_end
    return [getattr(bone, mode) for mode in _CURVE_MODES], [handle and handle.name for handle in handles]


def _names(armature):
    """What only Edit Mode changes besides: see `doubt`."""
    return [(bone.name, bone.parent and bone.parent.name) for bone in armature.data.bones], armature.pose.bones.keys()


def _bytes(bones, name, count):
    return rig.all_of(bones, name, count * _PER_BONE.get(name, 1), _KINDS.get(name, np.float32)).tobytes()
