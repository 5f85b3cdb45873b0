# SPDX-License-Identifier: GPL-3.0-or-later
"""One skin: what its mesh is bound to, and its evaluation, which writes the deformation into the evaluated mesh.

An evaluation may run on any of Blender's worker threads, and those of several depsgraphs at once. It changes nothing of
the file, and keeps no evaluated data, only the addresses by which it knows evaluated meshes again.
"""

import threading
from collections import OrderedDict
from functools import partial
from typing import NamedTuple

import numpy as np
from bpy.app.translations import pgettext_rpt as rpt_

from .. import preferences
from ..errors import Kind, Problem
from ..modifier import schema, stages
from ..modifier.schema import Mode
from ..modifier.stack import State
from ..native import tps
from ..read import influences, rig
from ..read.influences import Bind
from .skeleton_view import SkeletonView

MOST = 64  # evaluated meshes of which it is known what was written


class Ordered(NamedTuple):
    """What is evaluated before a skin."""

    armature: int  # the session uid of an armature object
    bones: frozenset  # names
    segmented: frozenset  # names of bones whose segments too are evaluated before
    keys: tuple  # names of shape keys


class _Bound(NamedTuple):
    """What the influences were gathered from."""

    weights: object
    names: list
    rig: rig.Rig
    bind: Bind

    def same_as(self, other):
        same = self.weights is other.weights and self.rig is other.rig
        return same and (self.names, self.bind) == (other.names, other.bind)


class _MadeOf(NamedTuple):
    """What an attribute was computed from."""

    values: tuple
    points: np.ndarray
    skin: object

    def same_as(self, other):
        return other is not None and self[1] is other[1] and self[2] is other[2] and self.values == other.values


class Skin:
    """One skin of the file; `evaluate` may be called from any thread."""

    def __init__(self, obj, modifier):
        self.object = obj  # Blender makes a reference to a removed object raise ReferenceError
        self.uid = modifier.persistent_uid
        self.mesh = obj.data
        self.identity = ""
        self.problem = None
        self.told = None  # the text that the modifier's panel shows; None: not known
        self.lacks = False  # whether an evaluation found that attributes or drivers are missing
        self.path = ""  # the data path of what is driven
        self.drivers = 0  # how many drivers the object had when the skin was prepared
        self.ordered = None  # what the driver waits for; None: not known
        self.edited = False  # whether there are layers of Edit Mode
        self.edit_tick = schema.AT_REST  # the value of the Tick input while the mesh is in Edit Mode
        self.lock = threading.RLock()
        self.forget()

    def forget(self):
        """Bind anew at the next evaluation."""
        self._bound = None
        self._checked = None  # the order and the bones of which it is known that all is evaluated before
        self._groups = None  # what the vertex groups say
        self._by_position = False
        self._placed = None  # the object's place among the bones when the points were bound to the joints
        self._bound_points = None
        self._places = self._space = (
            None  # the matrices in the world of the armature and the object, and what is between
        )
        self._curves = None
        self._joints = None
        self._skin = None
        self._armature = None
        self._pose = None  # the joints' matrices at the last evaluation, and where inherited scale acts
        self._written = OrderedDict()  # address of an evaluated mesh -> what its attribute was computed from

    def is_on(self, mesh):
        """Whether this skin deforms that mesh; false for a skin whose object was removed."""
        try:
            return self.object.data == mesh
        except ReferenceError:
            return False

    def role_of(self, armature, bone):
        """What the bone of that name is to this skin: "weighted", "support" (only bones below it are), or "unused".

        Empty if the skin does not follow that armature, or is not bound.
        """
        with self.lock:
            if self._joints is None or self._armature != armature.session_uid:
                return ""
            index = self._bound.rig.index.get(bone, -1)
            if index in self._joints.used:
                return "weighted"
            return "support" if index in self._joints.bones else "unused"

    def fail(self, problem):
        """Bind anew at the next evaluation, and say what is wrong until then."""
        with self.lock:
            self.forget()
            self.problem = problem

    def skeleton_view(self, place):
        """What can be seen of its skeleton, or None if it is not bound. place: the armature's matrix in the world."""
        with self.lock:
            if not self._skin or self._pose is None:
                return None
            world, inherited = self._pose
            return SkeletonView(place, self._bound.rig, self._joints, self._skin.weighted, world, inherited)

    def found(self):
        """What the mesh is bound to: the numbers of vertices, bones, support joints, and vertices without weights."""
        with self.lock:
            if not self._skin:
                return None
            starts, _joints, _weights = self._skin.weights
            used, all_bones = len(self._joints.used), len(self._joints.bones)
            return len(self._skin), used, all_bones - used, int((np.diff(starts) == 0).sum())

    def evaluate(self, now):
        """Write the deformation of an Evaluation; the value of the skin's Tick input."""
        with self.lock:
            (viewport, render), self.problem = self._evaluate(now)
        return schema.tick(viewport, render, now.standing.mask, now.standing.last)

    def _evaluate(self, now):
        """What the attribute holds then, for the viewport and for renders, and what is wrong in the viewport."""
        nothing = (Mode.NOTHING, Mode.NOTHING)
        problem = _unusable(now)
        if problem:
            return nothing, problem
        if now.armature.data.is_editmode:  # Blender shows the rest shape while bones are edited
            now.doubt_bones()
            return nothing, None
        self._armature = now.armature.original.session_uid
        self._bind(now)
        ways = now.ways
        problems = [self._problem_above(now, way) for way in ways]
        if all(problems):
            return nothing, problems[0]
        space = self._space_of(now.armature.matrix_world, now.obj.matrix_world)
        if space is None:
            return nothing, None
        points = now.points(State.KEYED in (way.state for way in ways))
        if not (now.edited or self._is_ordered(now)):
            self.lacks = True
            return nothing, None
        if not self._place(now, points, space):
            return nothing, nothing_bound(now.armature, now.settings.bind)
        moved = any(way.state is State.MOVED for way in ways)
        mode = Mode.PLACES if now.settings.multi else Mode.MATRICES if moved or now.edited else Mode.OFFSETS
        problem = self._write(now, mode, points, space)
        if problem:
            return nothing, problem
        return tuple(Mode.NOTHING if each else mode for each in problems), problems[0]

    def _space_of(self, armature, obj):
        """The matrix from the object's space into the armature's, or None where the armature has none (scale zero)."""
        if self._places != (armature, obj):
            self._places = armature.copy(), obj.copy()
            self._space = rig.local(armature, obj)
        return self._space

    def _bind(self, now):
        """Gather what the vertex groups say, unless it is known."""
        data, known = now.mesh_data, self._bound
        if known is not None and known.names != data.names:
            now.doubt_bones()  # groups are renamed with bones
        bones = now.bones
        bound = _Bound(data.weights, data.names, bones.rig, now.settings.bind)
        if known is not None and known.same_as(bound):
            return
        self.forget()
        self._bound = bound
        self._armature = now.armature.original.session_uid
        bone_of_group = np.array([_deforming(bones.rig, name) for name in data.names] or [-1])
        self._groups = influences.of_groups(data.weights, bone_of_group)
        self._by_position = influences.needs_position(bones.rig, self._groups, bound.bind)

    def _problem_above(self, now, way):
        if way.state is State.REFUSED:
            return Problem(Kind.REFUSED_ABOVE, way.refusal, way.mover)
        if way.state is State.MOVED and (self._by_position or now.settings.multi):
            return moved_too_early(way.mover)
        return None

    def _place(self, now, points, space):
        """Bind the points to the joints, anew where that depends on where they are. Returns whether any is bound."""
        if self._curves != now.bones.curves:
            self._curves = now.bones.curves
            self._joints = self._placed = None  # the segments of B-bones at rest are others
        place = space.tobytes() if self._by_position else len(points)
        if self._placed != place or (self._by_position and points is not self._bound_points):
            self._skin = self._make_skin(now, points, space)
            self._placed = place
        return self._skin is not None

    def _is_ordered(self, now):
        """Whether the driver waits for all that is to be read."""
        keys = tuple(now.keys.key_blocks.keys()) if now.keys is not None else ()
        ordered = self.ordered
        if ordered is None:  # the file's own driver, which nobody has looked at yet
            self.lacks = True
            return True
        if (ordered.armature, ordered.keys) != (self._armature, keys):
            return False
        bones = self._bound.rig
        if self._checked == (ordered, bones):
            return True
        by_groups = self._bound.bind is Bind.GROUPS
        may_move = np.unique(self._groups.bones) if by_groups else np.flatnonzero(bones.deforms)
        names = {bones.names[bone] for bone in may_move}
        segmented = {bones.names[bone] for bone in may_move if bones.segments[bone] > 1}
        if not (ordered.bones >= names and ordered.segmented >= segmented):
            return False
        self._checked = ordered, bones
        return True

    def _make_skin(self, now, points, space):
        bones, bind = self._bound.rig, self._bound.bind
        self._bound_points = points
        places = points @ space[:3, :3].T + space[:3, 3] if self._by_position else None
        if places is None:
            found = influences.significant(self._groups, len(points))
        else:
            found = influences.by_position(self._groups, bind, places, bones)
        if not len(found.bones):
            return None
        used = np.flatnonzero(np.bincount(found.bones))
        if self._joints is None or self._joints.used != frozenset(used.tolist()):
            self._joints = bones.joints(used, now.armature)
        if places is None:
            found = found._replace(bones=self._joints.first[found.bones])
        else:
            ask = rig.curved_index(bones, now.armature)
            found = influences.on_segments(found, places, bones, self._joints.first, ask)
        return tps.Skin(points, influences.as_rows(found, len(points)), self._joints.skeleton)

    def _write(self, now, mode, points, space):
        """Compute and write, unless that is there. Returns what is wrong, or None."""
        world = self._joints.world(now.pose, self._bound.rig, now.armature)
        if not np.isfinite(world).all():
            return self._not_finite(world)
        settings = now.settings
        self._pose = world, settings.inherited.value
        blend = stages.blend(now.mesh, settings, now.mesh_data.names, now.mesh_data.weights)
        blended = blend if isinstance(blend, float) else blend.tobytes()
        target = now.target(mode)
        if target is None:
            self.lacks = True
            return None
        made_of = _MadeOf((mode, settings[2:], blended, space.tobytes(), world.tobytes()), points, self._skin)
        if target.is_written and made_of.same_as(self._written.get(target.address)):
            return None
        pose = {"world": world, "method": settings.method.value, "inherited": settings.inherited.value, "space": space}
        pose |= {"threads": preferences.threads(), **self._joints.associated}
        blend = None if isinstance(blend, float) and blend == 1.0 else blend
        self._deform(target, mode, pose, settings, points, blend)
        target.set_written()
        self._written[target.address] = made_of
        self._written.move_to_end(target.address)
        while len(self._written) > MOST:
            self._written.popitem(last=False)
        return None

    def _deform(self, target, mode, pose, settings, points, blend):
        if mode is Mode.MATRICES:
            compute, shape = partial(self._skin.matrices, **pose), (len(points), 3, 4)
            rest = partial(np.broadcast_to, np.eye(3, 4, dtype=np.float32), shape)
            target.set_matrices(stages.mixed(compute, settings, rest, blend))
            return
        moved = None if points is self._bound_points else points
        offsets = mode is Mode.OFFSETS
        compute = partial(self._skin.deform, points=moved, offsets=offsets, **pose)
        stages.mixed(compute, settings, lambda: np.zeros_like(points) if offsets else points, blend, out=target.vectors)

    def _not_finite(self, world):
        joint = int(np.argmin(np.isfinite(world).all(axis=(1, 2))))
        text = rpt_('The pose of bone "{bone}" has a number that is not finite: clear its transforms')
        return Problem(Kind.POSE_NOT_FINITE, text.format(bone=self._joints.names[joint]))


def _unusable(now):
    """What keeps a skin from being bound at all."""
    if now.settings.armature is None:
        return Problem(Kind.NO_ARMATURE, rpt_("Choose an armature"))
    if now.armature.type != "ARMATURE":
        text = rpt_('"{name}" is not an armature: choose one').format(name=now.armature.name)
        return Problem(Kind.NOT_AN_ARMATURE, text)
    if not len(now.mesh.vertices):
        return Problem(Kind.NO_VERTICES, rpt_("The mesh has no vertices"))
    return None


def moved_too_early(mover):
    """That the points are not where the bones must find them, and the way out. mover: the modifier that moves them,
    empty for absolute shape keys."""
    if mover:
        text = rpt_(
            'Multi Modifier, bone envelopes and B-bones of several segments need the points before "{name}" moves '
            "them: move it below Two-Phase Skin, or apply it"
        ).format(name=mover)
    else:
        text = rpt_(
            "Multi Modifier, bone envelopes and B-bones of several segments need the points of relative shape keys: "
            "turn Relative on"
        )
    return Problem(Kind.MOVED_TOO_EARLY, text, mover)


def nothing_bound(armature, bind):
    """That no point is moved by any bone, and the way out."""
    if bind is Bind.GROUPS:
        text = rpt_(
            'No vertex group is named like a deforming bone of "{name}" and has weights: '
            "parent the mesh to it with Automatic Weights, or paint weights"
        )
    elif bind is Bind.BOTH:
        text = rpt_(
            "No point has a weight in a vertex group of a bone or is in the envelope of a deforming bone of "
            '"{name}": enlarge the bones\' envelopes, or set Bind To to Vertex Groups and give the mesh weights'
        )
    else:
        text = rpt_(
            'No point is in the envelope of a deforming bone of "{name}": '
            "enlarge the bones' envelopes, or set Bind To to Vertex Groups and give the mesh weights"
        )
    return Problem(Kind.NOTHING_BOUND, text.format(name=armature.name))


def _deforming(bones, name):
    """The bone that a vertex group of that name is moved by, or -1."""
    bone = bones.index.get(name, -1)
    return bone if bone >= 0 and bones.deforms[bone] else -1
