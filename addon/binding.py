# SPDX-License-Identifier: GPL-3.0-or-later
"""One skin: what its mesh is bound to, and the deformation that was last written for its modifier to apply."""

from functools import partial

import numpy as np
from bpy.app.translations import pgettext_rpt as rpt_

from . import editing, influences, inputs, node_group, points, preferences, stack, stages, storage, weights, witness
from . import rig as rig_module
from .native import tps
from .skeleton_view import SkeletonView

_SETTINGS = (
    node_group.METHOD, node_group.INHERITED, node_group.FACTOR, node_group.GROUP, node_group.INVERT, node_group.BLEND,
    node_group.SHOW, node_group.STAGE,
)  # fmt: skip


class Binding:
    """Computes and writes the deformation when what it depends on is not what it was when it was last written."""

    def __init__(self, obj, modifier):
        self.object = obj  # Blender makes a reference to a removed object raise ReferenceError
        self.uid = modifier.persistent_uid
        self.mesh = obj.data
        self.identity = ""
        self.problem = ""
        self.damage = None  # what is wrong with the node group; None: not looked at yet
        self._set_to = None
        self._armature = None
        self._pose = None  # the joints' matrices at the last update, and where inherited scale acts
        self.forget()

    def forget(self):
        """Read everything again at the next update."""
        self._bound_to = None
        self._written = None
        self._seen = {}  # what was last seen in each scene and view layer
        self._groups = None  # what the vertex groups say
        self._points = points.Points()
        self._placed = None  # where the points were when they were last skinned to their bones, and for which bones
        self._joints = None
        self._skin = None

    def write_again(self):
        """Write at the next update even if nothing changed: what is in the mesh may be of another scene or frame."""
        self._written = None

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
        if self._joints is None or self._armature != armature:
            return ""
        index = self._bound_to[2].index.get(bone, -1)
        if index in self._joints.used:
            return "weighted"
        return "support" if index in self._joints.bones else "unused"

    def skeleton_view(self, context):
        """What can be seen of its skeleton, or None if it is not bound."""
        if not self._skin or self._pose is None:
            return None
        place = self._armature.evaluated_get(context.evaluated_depsgraph_get()).matrix_world
        world, inherited = self._pose
        return SkeletonView(place, self._bound_to[2], self._joints, self._skin.weighted, world, inherited)

    def found(self):
        """What the mesh is bound to: the numbers of vertices, bones, support joints, and vertices without weights."""
        if not self._skin:
            return None
        starts, _joints, _weights = self._skin.weights
        used, all_bones = len(self._joints.used), len(self._joints.bones)
        return len(self._skin), used, all_bones - used, int((np.diff(starts) == 0).sum())

    def update(self, modifier, moment):
        """Bring the mesh's attribute up to date with this moment, if anything that it depends on has changed."""
        mesh = self.object.data
        shown = modifier.show_render if moment.render else modifier.show_viewport
        if not shown or (mesh.is_editmode and not self._follow_edits(mesh, modifier, moment)):
            return
        self._tell_mask(modifier)
        armature = self._armature = inputs.read(modifier, node_group.ARMATURE)
        self._multi = inputs.read(modifier, node_group.MULTI)
        state, problem = stack.above(self.object, modifier, moment.render, self._multi)
        problem = problem or self._bind(mesh, modifier, armature, moment)
        space = None if problem else moment.space(self.object, armature)
        if space is not None and not armature.data.is_editmode:  # Blender shows the rest shape while bones are edited
            problem = self._too_early(modifier, state, moment) or self._place(armature, state, space, moment)
            if not problem:
                problem = self._update_placed(mesh, modifier, armature, state, space, moment)
        self._tell(modifier, problem)
        if problem or space is None or armature.data.is_editmode:
            self._write_nothing(mesh, modifier, moment)

    def _follow_edits(self, mesh, modifier, moment):
        """Let Blender bring the mesh up to date with Edit Mode where its vertices or weights are others than before.
        Returns whether the skin is shown in Edit Mode."""
        count = editing.vertex_count(mesh)
        multi = inputs.read(modifier, node_group.MULTI)
        if count > editing.LIMIT or multi or not modifier.show_in_editmode:
            return False
        if self._skin is None or count != len(mesh.vertices) or moment.changes.weights_of(mesh):
            self.object.update_from_editmode()
        return True

    def fail(self, modifier, problem, moment):
        """Show the rest shape and what is wrong; all is read anew at the next update."""
        self.forget()
        self._write_nothing(self.object.data, modifier, moment)
        self._tell(modifier, problem)

    def give_up(self, problem):
        """The same for a skin of which not even the inputs can be read."""
        self.forget()
        self.problem = problem
        remove_attributes(self.object.data, self.identity)

    def _bind(self, mesh, modifier, armature, moment):
        """Gather what the vertex groups say, unless it is known. Returns what is wrong, in words, or nothing."""
        if armature is None:
            return rpt_("Choose an armature")
        if armature.type != "ARMATURE":
            return rpt_('"{name}" is not an armature: choose one').format(name=armature.name)
        if not len(mesh.vertices):
            return rpt_("The mesh has no vertices")
        names = tuple(self.object.vertex_groups.keys())
        regrouped = self._bound_to is not None and names != self._bound_to[0][2]
        found = moment.weights(self.object, self._settings_changed(modifier), regrouped)
        rig = moment.rig(armature)
        bind_to = inputs.read(modifier, node_group.BIND)
        bound_to = (id(found), id(rig), names, bind_to)
        if self._bound_to is None or bound_to != self._bound_to[0]:
            self.forget()
            witness.ensure(modifier, armature)
            self._bound_to = (bound_to, found, rig)  # holding these keeps their ids from being used again
            bone_of_group = np.array([_deforming(rig, name) for name in names] or [-1])
            self._groups = influences.of_groups(found, bone_of_group)
            self._by_position = influences.needs_position(rig, self._groups, bind_to)
        return ""

    def _settings_changed(self, modifier):
        """Of a large mesh: whether modifiers or shape keys are set otherwise than at the last update. Blender then
        reports the mesh as changed, weights or not."""
        if len(self.object.data.vertices) <= weights.LARGE:
            return False  # it is read as a whole in any case
        keys = self.object.data.shape_keys
        now = (
            [(m.name, m.show_viewport, m.show_render, m.show_in_editmode) for m in self.object.modifiers],
            [inputs.read(modifier, name) for name in _SETTINGS if inputs.has(modifier, name)],
            [(key.value, key.mute) for key in keys.key_blocks] if keys is not None else (),
        )
        changed = self._set_to is not None and now != self._set_to
        self._set_to = now
        return changed

    def _too_early(self, modifier, state, moment):
        """What is wrong if something moves the points before they can be placed among the bones, or nothing."""
        if state == stack.MOVED and (self._by_position or self._multi):
            return moved_too_early(stack.moved_by(self.object, modifier, moment.render, self._multi))
        return ""

    def _place(self, armature, state, space, moment):
        """Make the skin, or make it anew where it depends on the points' places. Returns what is wrong, or nothing."""
        edited = moment.changes.points_of(self.object.data)
        keyed = state == stack.KEYED and not self.object.data.is_editmode
        changed = self._points.read(self.object, moment, keyed, edited)
        if changed:
            self._written = None
        if self._joints is not None and self._joints.curves != self._bound_to[2].curves:
            self._joints = self._placed = None  # the segments of B-bones at rest are others
        if self._placed is not None and not (self._by_position and (changed or self._placed != space.tobytes())):
            return "" if self._skin else nothing_bound(armature, self._bound_to[0][3])
        self._placed = space.tobytes()
        self._written = None
        self._skin = self._make_skin(self._bound_to[2], self._bound_to[0][3], moment.evaluated(armature), space)
        return "" if self._skin else nothing_bound(armature, self._bound_to[0][3])

    def _make_skin(self, rig, bind_to, armature, space):
        """The points skinned to the joints, or None where nothing moves any of them; armature: evaluated."""
        self._bound_points = self._points.now
        count = len(self._bound_points)
        places = self._bound_points @ space[:3, :3].T + space[:3, 3] if self._by_position else None
        if places is None:
            found = influences.significant(self._groups, count)
        else:
            found = influences.by_position(self._groups, bind_to, places, rig)
        if not len(found.bones):
            return None
        used = np.flatnonzero(np.bincount(found.bones))
        if self._joints is None or self._joints.used != frozenset(used.tolist()):
            self._joints = rig.joints(used, armature)
        if places is None:
            found = found._replace(bones=self._joints.first[found.bones])
        else:
            ask = rig_module.curved_index(rig, armature)
            found = influences.on_segments(found, places, rig, self._joints.first, ask)
        return tps.Skin(self._bound_points, influences.as_rows(found, count), self._joints.skeleton)

    def _update_placed(self, mesh, modifier, armature, state, space, moment):
        live = moment.evaluated(self.object).modifiers.get(modifier.name, modifier)
        settings = stages.settings(live)
        world = self._joints.world(moment.pose(armature), self._bound_to[2], moment.evaluated(armature))
        if not np.isfinite(world).all():
            joint = int(np.argmin(np.isfinite(world).all(axis=(1, 2))))
            text = rpt_('The pose of bone "{bone}" has a number that is not finite: clear its transforms')
            return text.format(bone=self._joints.names[joint])
        self._pose = world, settings.inherited
        blend = stages.blend(self.object, live, self._bound_to[1])
        per_vertex = state == stack.MOVED or mesh.is_editmode
        blended = blend if isinstance(blend, float) else blend.tobytes()
        now = (per_vertex, mesh.is_editmode, self._multi, settings, blended, space.tobytes(), world.tobytes())
        if self._is_news(now, moment):
            pose = {"world": world, "method": settings.method, "inherited": settings.inherited, "space": space}
            pose |= {"threads": preferences.threads(), **self._joints.associated}
            self._write(mesh, modifier, per_vertex, pose, settings, blend)
            self._written = now
        return ""

    def _is_news(self, now, moment):
        """Whether to write. Two scenes that show the mesh at different frames each see what the other has written; if
        both put that right at once, they would never come to rest. So the last to be edited has it."""
        seen_before = self._seen.get(moment.place)
        self._seen[moment.place] = now
        if now == self._written:
            return False
        return self._written is None or moment.frame_changed or now != seen_before

    def _write(self, mesh, modifier, per_vertex, pose, settings, blend):
        name = node_group.PREFIX + inputs.read(modifier, node_group.IDENTITY)
        blend = None if isinstance(blend, float) and blend == 1.0 else blend
        if per_vertex:
            rest = np.broadcast_to(np.eye(3, 4, dtype=np.float32), (len(mesh.vertices), 3, 4))
            _store_matrices(mesh, name, stages.mixed(partial(self._skin.matrices, **pose), settings, rest, blend))
        else:
            now = self._points.now
            points = None if now is self._bound_points else now
            compute = partial(self._skin.deform, points=points, offsets=not self._multi, **pose)
            rest = now if self._multi else np.broadcast_to(np.float32(0), now.shape)
            memory = storage.own_memory(mesh, name)
            result = np.empty_like(now) if memory is None else memory
            stages.mixed(compute, settings, rest, blend, out=result)
            if memory is None:
                storage.store(mesh, name, result)
            storage.discard(mesh, [name + column for column in node_group.COLUMNS])
        if inputs.read(modifier, node_group.PER_VERTEX) != per_vertex:
            inputs.write_own(modifier, node_group.PER_VERTEX, per_vertex)
        mesh.update_tag()

    def _write_nothing(self, mesh, modifier, moment):
        """Show the mesh undeformed."""
        self._seen[moment.place] = ()
        if self._written == ():
            return
        name = node_group.PREFIX + inputs.read(modifier, node_group.IDENTITY)
        remove = editing.clear if mesh.is_editmode else storage.discard
        if remove(mesh, attribute_names(name)):
            mesh.update_tag()
        self._written = ()

    def _tell_mask(self, modifier):
        """Tell the nodes whether there is a vertex group to mask with."""
        if self.object.library is None and inputs.has(modifier, node_group.GROUP_STATE):
            state = _group_state(self.object, modifier)
            if inputs.read(modifier, node_group.GROUP_STATE) != state:
                inputs.write_own(modifier, node_group.GROUP_STATE, state)

    def _tell(self, modifier, problem):
        """Show in the modifier's panel what is wrong."""
        self.problem = problem
        if self.object.library is None and inputs.read(modifier, node_group.MESSAGE) != problem:
            inputs.write_own(modifier, node_group.MESSAGE, problem)


def remove_attributes(mesh, identity):
    """Remove what a skin of that identity has left on a mesh."""
    if not mesh.is_editmode and storage.discard(mesh, attribute_names(node_group.PREFIX + identity)):
        mesh.update_tag()


def remove_left_behind(mesh, identities):
    """Remove what skins of other identities than these have left on a mesh of this file."""
    if mesh.library is None and not mesh.is_editmode:
        ours = [each.name for each in mesh.attributes if each.name.startswith(node_group.PREFIX)]
        used = tuple(node_group.PREFIX + identity for identity in identities)
        if storage.discard(mesh, [name for name in ours if not name.startswith(used)]):
            mesh.update_tag()


def attribute_names(name):
    """All attributes that a skin of that name can have on its mesh."""
    return [name] + [name + column for column in node_group.COLUMNS]


def _group_state(obj, modifier):
    group = inputs.read_group(modifier, node_group.GROUP)
    if not group:
        return node_group.NO_GROUP
    if group in obj.vertex_groups or group in obj.data.attributes or stack.nodes_above(obj, modifier):
        return node_group.GROUP_THERE
    return node_group.GROUP_MISSING


def moved_too_early(mover):
    """That the points are not where the bones must find them, and the way out. mover: the modifier that moves them,
    empty for absolute shape keys."""
    if mover:
        text = rpt_(
            'Multi Modifier, bone envelopes and B-bones of several segments need the points before "{name}" moves '
            "them: move it below Two-Phase Skin, or apply it"
        )
        return text.format(name=mover)
    return rpt_(
        "Multi Modifier, bone envelopes and B-bones of several segments need the points of relative shape keys: "
        "turn Relative on"
    )


def nothing_bound(armature, bind_to):
    """That no point is moved by any bone, and the way out."""
    if bind_to == "Vertex Groups":
        text = rpt_(
            'No vertex group is named like a deforming bone of "{name}" and has weights: '
            "parent the mesh to it with Automatic Weights, or paint weights"
        )
    elif bind_to == "Both":
        text = rpt_(
            "No point has a weight in a vertex group of a bone or is in the envelope of a deforming bone of "
            '"{name}": enlarge the bones\' envelopes, or set Bind To to Vertex Groups and give the mesh weights'
        )
    else:
        text = rpt_(
            'No point is in the envelope of a deforming bone of "{name}": '
            "enlarge the bones' envelopes, or set Bind To to Vertex Groups and give the mesh weights"
        )
    return text.format(name=armature.name)


def _deforming(rig, name):
    """The bone that a vertex group of that name is moved by, or -1."""
    bone = rig.index.get(name, -1)
    return bone if bone >= 0 and rig.deforms[bone] else -1


def _store_matrices(mesh, name, matrices):
    """(V, 3, 4) as the four columns of (matrix - 1)."""
    store = editing.store if mesh.is_editmode else storage.store
    for k, column in enumerate(node_group.COLUMNS):
        values = np.ascontiguousarray(matrices[:, :, k])
        if k < 3:
            values[:, k] -= 1
        store(mesh, name + column, values)
    if not mesh.is_editmode:
        storage.discard(mesh, [name])
