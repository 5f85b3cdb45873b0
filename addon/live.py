# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps every skin up to date: after each evaluation of a scene, what changed is skinned and written.

Blender runs the handlers after it has evaluated a scene and, if they tagged something, evaluates it a second time
without them. So what is written here is seen in the same update, and a handler does not wake itself.
"""

import contextlib
import re
import threading
import traceback
import uuid

import bpy
from bpy.app.handlers import persistent
from bpy.app.translations import pgettext_rpt as rpt_

from . import binding, inputs, moment, node_group, pace, preferences, stack
from .native import tps

IDLE = 0.3  # seconds after which nobody is dragging a slider
PAUSE = 0.02  # seconds that are left to others between two steps of what is done when idle
_IDENTITY = re.compile("[0-9a-f]{8}")


class _Skins:
    """All Two-Phase Skins in the open file."""

    def __init__(self):
        self.lock = threading.RLock()  # a render's handlers run in its own thread
        self.rendering = False
        self.forced = False  # whether to update even if live update is off
        self.meshes = set()  # the session uids of all that skins were on since the file was opened
        self.swept = False  # whether the file was swept since then
        self.forget_all()

    def forget_all(self):
        self.bindings = {}  # (object's session uid, modifier's persistent uid) -> Binding
        self.known = moment.Known()
        self.groups_counted = -1
        self.groups = False

    def none(self):
        """Whether there is nothing to do, found out as cheaply as possible: this is asked at every update."""
        count = len(bpy.data.node_groups)
        if count != self.groups_counted:
            self.groups_counted = count
            had, self.groups = self.groups, any(map(node_group.version_of, bpy.data.node_groups))
            if self.groups:
                node_group.bring_up_to_date()
            if self.groups and not had:
                self.search()
        return not self.groups

    def search(self):
        """Find every skin in the file."""
        for obj in bpy.data.objects:
            if obj.type == "MESH":
                self.look_at(obj)

    def sweep(self):
        """Remove what skins have left on meshes that were removed unseen: undo brings it back, and so does a file that
        was edited without this extension."""
        used = {}
        for skin in self.bindings.values():
            with contextlib.suppress(ReferenceError):  # an object that was removed
                used.setdefault(skin.object.data, set()).add(skin.identity)
        for mesh in bpy.data.meshes:
            if not self.swept or mesh.session_uid in self.meshes:
                binding.remove_left_behind(mesh, used.get(mesh, ()))
        self.swept = True

    def look_at(self, obj):
        """Find the skins of one object."""
        for modifier in obj.modifiers:
            if node_group.is_skin(modifier):
                key = obj.session_uid, modifier.persistent_uid
                if key not in self.bindings:
                    self.bindings[key] = binding.Binding(obj, modifier)
                    if not node_group.damage(modifier.node_group):
                        self._identify(self.bindings[key], modifier)

    def _identify(self, skin, modifier):
        """Give a skin that has none, or a copy's, an identity of its own: its attributes must not be another's. One
        that was written by hand is none: it need not fit into an attribute's name."""
        identity = inputs.read(modifier, node_group.IDENTITY)
        if not _IDENTITY.fullmatch(identity) or identity in self._identities(skin, skin.object.data):
            identity = uuid.uuid4().hex[:8]
            inputs.write_own(modifier, node_group.IDENTITY, identity)
        skin.identity = identity
        self._remember_mesh(skin)

    def _remember_mesh(self, skin):
        skin.mesh = skin.object.data
        self.meshes.add(skin.mesh.session_uid)

    def _identities(self, skin, mesh):
        """The identities of the other skins on a mesh."""
        return {other.identity for other in self.bindings.values() if other is not skin and other.is_on(mesh)}

    def update(self, depsgraph, frame_changed):
        """Bring all skins up to date with an evaluated depsgraph."""
        if self.rendering and depsgraph.mode != "RENDER":
            return  # the meshes have the frame that is rendered; the viewport gets its own when that is through
        if depsgraph.mode != "RENDER" and not (self.forced or preferences.live()):
            return
        now = moment.Moment(depsgraph, self.known, frame_changed)
        for obj in now.changes.objects:
            self.look_at(obj)
        for key, skin in list(self.bindings.items()):
            try:
                modifier = stack.find(skin.object, skin.uid)
            except ReferenceError:  # the object was removed
                modifier = None
            if modifier is None or not node_group.is_skin(modifier):
                del self.bindings[key]
                self._clean_up(skin)
            elif now.evaluated(skin.object).is_evaluated and not (frame_changed and self._waits(skin, depsgraph)):
                self._update_one(skin, modifier, now)
        if self.known.weights.unsure and not bpy.app.timers.is_registered(_on_idle):
            bpy.app.timers.register(_on_idle, first_interval=IDLE)

    def _waits(self, skin, depsgraph):
        return depsgraph.mode != "RENDER" and pace.must_wait(skin.object)

    def _update_one(self, skin, modifier, now):
        self._remember_mesh(skin)
        tree = modifier.node_group
        if skin.damage is None or now.changes.touched(tree):
            node_group.forget(tree)
            skin.damage = node_group.damage(tree)
        if skin.damage:
            skin.give_up(skin.damage)
            return
        if inputs.read(modifier, node_group.IDENTITY) != skin.identity:
            self._identify(skin, modifier)
        try:
            skin.update(modifier, now)
        except Exception as error:  # one skin that fails must not leave the others behind
            problem = rpt_("This pose cannot be computed: {error}").format(error=error)
            if problem != skin.problem and not isinstance(error, ValueError):  # once, not at each update
                traceback.print_exc()
            skin.fail(modifier, problem, now)

    def _clean_up(self, skin):
        """Remove the attributes of a skin that is no more."""
        with contextlib.suppress(ReferenceError):  # the mesh is no more either
            if skin.identity not in self._identities(skin, skin.mesh):
                binding.remove_attributes(skin.mesh, skin.identity)


skins = _Skins()


def refresh(context, progress=None, anew=False):
    """Find new skins and bring all up to date now; operators call this after they changed something.

    anew: read everything again, for changes that nobody has followed.
    """
    with skins.lock:
        if anew:
            _on_replaced()
        skins.groups_counted = -1
        if not skins.none():
            skins.search()
            skins.known.weights.progress = progress
            skins.forced = True
            try:
                context.view_layer.update()  # which calls the handler below
            finally:
                skins.known.weights.progress, skins.forced = None, False


def _binding_of(modifier):
    return skins.bindings.get((modifier.id_data.session_uid, modifier.persistent_uid))


def problem_of(modifier):
    """What keeps a skin from deforming its mesh, in words; empty if nothing does."""
    skin = _binding_of(modifier)
    return skin.problem if skin is not None else ""


def roles_of(armature, bone):
    """What a bone is to each skin that follows the armature object: (the skinned object's name, its role)."""
    found = []
    for skin in skins.bindings.values():
        with contextlib.suppress(ReferenceError):  # an object that was removed
            role = skin.role_of(armature, bone)
            if role:
                found.append((skin.object.name, role))
    return found


def must_read(mesh, least):
    """Whether a mesh has so many vertices, and its weights are not known."""
    return len(mesh.vertices) >= least and not skins.known.weights.has(mesh)


def keep_weights(mesh, found):
    """Take over the weights of a mesh that were read step by step."""
    with skins.lock:
        skins.known.weights.keep(mesh, found)


def weights_are_old():
    """What was read step by step is no longer what somebody has just read."""
    skins.known.weights.fresh.clear()


def found(modifier):
    """What a skin was found to be bound to: see Binding.found; None if it is not bound."""
    skin = _binding_of(modifier)
    return skin.found() if skin is not None else None


def skeletons(context):
    """What can be seen of the skeletons of all skins that are bound and visible."""
    views = []
    for skin in skins.bindings.values():
        with contextlib.suppress(ReferenceError):  # an object that was removed
            view = skin.skeleton_view(context) if skin.object.visible_get() else None
            if view is not None:
                views.append(view)
    return views


@persistent
def _on_edited(scene, depsgraph):
    if not skins.none():
        with skins.lock:
            skins.update(depsgraph, frame_changed=False)


@persistent
def _on_frame_changed(scene, depsgraph):
    if not skins.none():
        with skins.lock:
            skins.update(depsgraph, frame_changed=True)


def _on_idle():
    """Go on comparing the weights of large meshes; called by Blender until it returns None."""
    with skins.lock:
        if skins.known.weights.unsure:
            skins.known.weights.check()
        return PAUSE if skins.known.weights.unsure else None


@persistent
def _on_render_started(*_):
    while _on_idle() is not None:
        pass
    if not preferences.live():
        skins.forget_all()  # nobody has followed what was changed
    skins.rendering = True


@persistent
def _on_replaced(*_):
    """Undo or redo replaced the data, or a file was loaded: start over."""
    with skins.lock:
        skins.forget_all()
        node_group.forget_all()
    evaluate_all()


def evaluate_all():
    """Let Blender evaluate every skinned object again, which calls the handlers above; also a timer that runs once."""
    with skins.lock:
        if not skins.none():
            skins.sweep()
            for skin in skins.bindings.values():
                skin.object.update_tag()


def _evaluate_all_soon():
    """The same when Blender is back at its events, where there is a window: only then it runs timers."""
    if not bpy.app.timers.is_registered(evaluate_all):
        bpy.app.timers.register(evaluate_all, first_interval=0)


def _evaluate_all_shown():
    """The same for what the windows show, while an extension is enabled: bpy.data is then closed to it. Without a
    screen, Blender still has the windows of the file that is open, and a scene in each."""
    for window in bpy.context.window_manager.windows:
        for obj in window.scene.objects:
            if any(node_group.is_skin(modifier) for modifier in obj.modifiers):
                obj.update_tag()


@persistent
def _on_loaded(*_):
    """A file was loaded: start over, once the handlers of other extensions are through."""
    skins.meshes, skins.swept = set(), False
    _on_replaced()
    handlers = bpy.app.handlers.load_post
    handlers.remove(_after_loading)
    handlers.append(_after_loading)  # the last: before it, others may name what drivers use


@persistent
def _after_loading(*_):
    """Linked meshes come with their library's frame. Blender calls no handler when it then evaluates the file for the
    first time and forgets what is tagged before; so tag it after that, or without a window do the same here."""
    if not bpy.app.background:
        _evaluate_all_soon()
    elif not skins.none():
        scene = bpy.context.scene
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)


@persistent
def _on_rendered(*_):
    """A render may have left its own frame in the meshes: let the viewport evaluate its own again."""
    with skins.lock:
        skins.rendering = False
        for skin in skins.bindings.values():
            skin.write_again()
            with contextlib.suppress(ReferenceError):  # an object that was removed
                skin.object.update_tag()


_HANDLERS = {
    "depsgraph_update_post": _on_edited,
    "frame_change_post": _on_frame_changed,
    "load_post": _on_loaded,
    "undo_post": _on_replaced,
    "redo_post": _on_replaced,
    "render_init": _on_render_started,
    "render_complete": _on_rendered,
    "render_cancel": _on_rendered,
}


def register():
    if tps is not None:
        for event, handler in _HANDLERS.items():
            getattr(bpy.app.handlers, event).append(handler)
        bpy.app.handlers.load_post.append(_after_loading)
        # The file that is open may have skins already.
        if bpy.app.background:
            _evaluate_all_shown()
        else:
            _evaluate_all_soon()


def unregister():
    for event, handler in (*_HANDLERS.items(), ("load_post", _after_loading)):
        handlers = getattr(bpy.app.handlers, event)
        if handler in handlers:
            handlers.remove(handler)
    for timer in (_on_idle, evaluate_all):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
    skins.forget_all()
