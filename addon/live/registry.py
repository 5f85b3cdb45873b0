# SPDX-License-Identifier: GPL-3.0-or-later
"""All Two-Phase Skins that are known in the open file, and what is kept for their evaluation."""

import contextlib
import threading

from .. import inputs
from ..modifier import schema
from .evaluation import Caches
from .settled import Settled
from .skin import Skin


class Registry:
    def __init__(self):
        self.lock = threading.RLock()
        self.forget_all()

    def forget_all(self):
        self.skins = {}  # (object's session uid, modifier's persistent uid) -> Skin
        self._slots = {}  # (object's session uid, slot) -> (the modifier's name, its Skin), for a quick look
        self.caches = Caches()
        self.settled = Settled()

    def forget_slots(self):
        """Skins may have got other slots, or were removed."""
        self._slots.clear()
        self.settled = Settled()

    def of(self, obj, modifier):
        """The skin that a modifier is, or None if it is not known yet; both may be evaluated."""
        return self.skins.get((obj.original.session_uid, modifier.persistent_uid))

    def add(self, obj, modifier):
        """The skin that a modifier is; it is new if it is not known yet."""
        key = obj.original.session_uid, modifier.persistent_uid
        with self.lock:
            found = self.skins.get(key)
            if found is None:
                found = self.skins[key] = Skin(obj.original, modifier)
            return found

    def in_slot(self, obj, slot):
        """(the modifier, its skin) of the evaluated object's skin that has this slot, or None."""
        key = obj.original.session_uid, slot
        name, skin = self._slots.get(key, ("", None))
        modifier = obj.modifiers.get(name)
        if modifier is not None and modifier.persistent_uid == skin.uid and schema.is_skin(modifier):
            return modifier, skin
        for modifier in obj.modifiers:
            if schema.is_skin(modifier) and inputs.slot_of(modifier) == slot:
                skin = self.add(obj, modifier)
                self._slots[key] = modifier.name, skin
                return modifier, skin
        return None

    def on(self, mesh):
        """The skins whose objects have that mesh."""
        return [skin for skin in list(self.skins.values()) if skin.is_on(mesh)]

    def living(self):
        """All skins whose objects were not removed."""
        found = []
        for skin in list(self.skins.values()):
            with contextlib.suppress(ReferenceError):
                skin.object.name  # noqa: B018 (raises)
                found.append(skin)
        return found


registry = Registry()
