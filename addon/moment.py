# SPDX-License-Identifier: GPL-3.0-or-later
"""One evaluation of a scene, as the skins see it: evaluated poses and transforms, each read at most once."""

from . import rig, weights


class Known:
    """What is kept from one moment to the next: the weights of meshes and the bones of armatures."""

    def __init__(self):
        self.weights = weights.Store()
        self.rigs = {}  # session uid of an armature object -> (signature, Rig)


class Moment:
    """A depsgraph that has just been evaluated, and what changed in it."""

    def __init__(self, depsgraph, known, frame_changed):
        changes = Changes(depsgraph)
        self.depsgraph = depsgraph
        self.frame_changed = frame_changed
        self.place = depsgraph.scene.session_uid, depsgraph.view_layer.name, depsgraph.mode
        self.render = depsgraph.mode == "RENDER"
        self.changes = changes
        self._known = known
        self._poses = {}
        self._rigs = {}
        self._weights = {}

    def evaluated(self, obj):
        return obj.evaluated_get(self.depsgraph)

    def pose(self, armature):
        """The pose matrices of all bones, (J, 4, 4) float32."""
        found = self._poses.get(armature.session_uid)
        if found is None:
            found = self._poses[armature.session_uid] = rig.pose(self.evaluated(armature))
        return found

    def rig(self, armature):
        """The bones at rest: the same object as before unless they changed."""
        uid = armature.session_uid
        found = self._rigs.get(uid)
        if found is None:
            signature, found = self._known.rigs.get(uid, (None, None))
            touched = found is None or self.changes.touched(armature.data)
            # A new frame alone touches the data where drivers change the curves of B-bones, and comes without flags.
            if found is None or (touched and not (self.frame_changed and self.changes.unflagged(armature.data))):
                now = rig.signature(armature, found is None or self.changes.more_than_posed(armature))
                if found is None or not rig.same(now, signature):
                    found = rig.Rig(armature)
                    self._known.rigs[uid] = rig.signature(armature, True), found
            if touched and (found.segments > 1).any():
                found.curves = found.curves_of(self.evaluated(armature))
            self._rigs[uid] = found
        return found

    def weights(self, obj, doubtful=False, regrouped=False):
        """The weights of the object's mesh: the same as before unless they changed. doubtful: see weights.Store;
        regrouped: the vertex groups are others, which renumbers those after a deleted one and does not say so in 4.5.
        """
        mesh = obj.data
        uid = mesh.session_uid
        if uid not in self._weights:
            changed = self.changes.weights_of(mesh)
            painted = obj.mode == "WEIGHT_PAINT"
            if painted:  # a stroke is not told from a new evaluation
                changed = self.changes.points_of(mesh)
            changed = changed or regrouped
            if regrouped or self.render or not weights.INTERACTIVE:
                doubtful = painted = False  # there is time for all of them
            later = painted and len(mesh.vertices) > weights.AT_ONCE
            self._weights[uid] = self._known.weights.get(mesh, changed, doubtful, later)
        return self._weights[uid]

    def space(self, obj, armature):
        """The matrix from the object's space into the armature's, or None where the armature has none (scale zero)."""
        return rig.local(self.evaluated(armature).matrix_world, self.evaluated(obj).matrix_world)


class Changes:
    """What a depsgraph says has changed since its last update."""

    def __init__(self, depsgraph):
        self.objects = []  # whose geometry was updated
        self._flags = {}
        for update in depsgraph.updates:
            original = update.id.original
            self._flags[original.session_uid] = update
            if update.is_updated_geometry and original.id_type == "OBJECT" and original.type == "MESH":
                self.objects.append(original)

    def touched(self, data):
        return data.session_uid in self._flags

    def unflagged(self, data):
        """Whether no more is said than that it was looked at."""
        update = self._flags[data.session_uid]
        return not (update.is_updated_geometry or update.is_updated_transform or update.is_updated_shading)

    def more_than_posed(self, armature):
        """Whether bones may have got other parents: leaving Edit Mode comes with more flags than a pose does."""
        update = self._flags.get(armature.session_uid)
        return update is not None and (update.is_updated_transform or update.is_updated_shading)

    def points_of(self, mesh):
        return mesh.session_uid in self._flags

    def weights_of(self, mesh):
        """Whether somebody may have changed the weights.

        A mesh that was edited comes with more flags than one that was only evaluated again, because its armature, a
        driver or a modifier's object changed.
        """
        update = self._flags.get(mesh.session_uid)
        return update is not None and (update.is_updated_transform or update.is_updated_shading)
