# SPDX-License-Identifier: GPL-3.0-or-later
"""What the evaluation of skins cannot do for itself, since it changes the file: find new skins, give them what they are
evaluated by, and remove what old ones left. All of it runs on the main thread.
"""

import contextlib
import uuid

import bpy
from bpy.app.translations import pgettext_rpt as rpt_

from .. import compat, inputs
from ..errors import Kind, Problem
from ..modifier import node_group, schema, stack
from ..write import attributes
from . import drivers, getters
from .registry import registry


class _State:
    groups_counted = -1
    groups = False  # whether the file has any node group of ours
    users: dict = {}  # noqa: RUF012  # session uid of a mesh -> how many users it had when its skins were prepared
    meshes: set = set()  # noqa: RUF012  # session uids of all meshes that skins were on since the file was opened
    swept = False  # whether the file was swept since then


def none():
    """Whether there is nothing to do, found out as cheaply as possible: this is asked at every update."""
    count = len(bpy.data.node_groups)
    if count != _State.groups_counted:
        _State.groups_counted = count
        had, _State.groups = _State.groups, any(map(schema.version_of, bpy.data.node_groups))
        if _State.groups and not had:
            node_group.bring_up_to_date()
            search()
    return not _State.groups


def forget_file():
    """The file is another one."""
    registry.forget_all()
    schema.forget_all()
    _State.groups_counted, _State.groups = -1, False
    _State.users, _State.meshes, _State.swept = {}, set(), False


def search(prepare_one=None):
    """Find all skins in the file and prepare them; forget those that were removed.

    prepare_one: what to do with each object that has skins, `prepare` if nothing is said.
    """
    schema.forget_all()
    node_group.bring_up_to_date()
    found = set()
    for obj in bpy.data.objects:
        if obj.type == "MESH":
            for modifier in obj.modifiers:
                if schema.is_skin(modifier):
                    skin = registry.add(obj, modifier)
                    skin.object = obj  # undo makes the references that we have useless
                    found.add((obj.session_uid, modifier.persistent_uid))
    for key in set(registry.skins) - found:
        del registry.skins[key]
    registry.forget_slots()
    for obj in {skin.object for skin in registry.skins.values()}:
        (prepare_one or prepare)(obj)
    _sweep()


def look_at(obj):
    """Prepare the skins of an object that Blender says was changed, if they are new or lack anything."""
    users = _State.users.get(obj.data.session_uid)
    if users is not None and users != obj.data.users:
        prepare(obj)
        return
    for modifier in obj.modifiers:
        if schema.is_skin(modifier):
            skin = registry.of(obj, modifier)
            left = skin is not None and skin.edited and not obj.data.is_editmode
            if left:
                skin.edited = False
            if skin is None or left or skin.ordered is None or _lacks(skin, obj):
                prepare(obj)
                return


def look_at_groups(obj):
    """Have the mesh of an object copied anew if its vertex groups are others, where Blender does not."""
    names = None if compat.COPIES_AT_DELETED_GROUP else registry.caches.meshes.names_of(obj.data)
    if names is not None and names != obj.vertex_groups.keys():
        obj.data.update_tag()


def look_at_lacking():
    """The same for all skins whose last evaluation found that they lack something, and those that have no driver."""
    for skin in registry.living():
        mesh = skin.object.data
        if _lacks(skin, skin.object) or _State.users.get(mesh.session_uid) != mesh.users:
            prepare(skin.object)


def _lacks(skin, obj):
    """Whether attributes or drivers are missing, or somebody drives something else than before."""
    return skin.lacks or drivers.count(obj) != skin.drivers or bool(skin.path and not drivers.has(obj, skin.path))


def prepare_anew(obj):
    """Make the drivers of an object anew, even where they are what they must be."""
    prepare(obj, anew=True)


def prepare(obj, anew=False):
    """Give the skins of an object, and of all that share its mesh, what they are evaluated by.

    anew: make the drivers anew, even where they are what they must be.
    """
    mesh = obj.data
    objects = [obj] if mesh.users == 1 else _sharing(mesh)
    _State.users[mesh.session_uid] = mesh.users
    skinned = [each for each in objects if any(map(schema.is_skin, each.modifiers))]
    for each in skinned:
        _prepare_inputs(each)
    registry.forget_slots()
    before, changed = [each for each in objects if each not in skinned], False
    for each in skinned:
        drivers.remove_orphans(each, all_of_ours=anew)
        for modifier in inputs.skins(each):
            skin = registry.add(each, modifier)
            skin.mesh = mesh
            changed |= skin.lacks
            changed |= _prepare_attributes(mesh, each, modifier, skin)
            changed |= drivers.wire(each, modifier, skin, before)
        for modifier in inputs.skins(each):
            registry.add(each, modifier).drivers = drivers.count(each)
        before = [each]
    if skinned:
        _State.meshes.add(mesh.session_uid)
    if changed:
        for each in skinned:
            each.update_tag()


def _sharing(mesh):
    """The objects of a mesh that are in a scene or in an instance, in an order that stays."""
    shown: set = set()
    for scene in bpy.data.scenes:
        shown.update(scene.collection.all_objects)
    for obj in list(bpy.data.objects):
        if obj.instance_collection is not None:
            shown.update(obj.instance_collection.all_objects)
    return sorted((obj for obj in shown if obj.data == mesh), key=lambda obj: obj.name_full)


def _prepare_inputs(obj):
    """Give each skin an identity of its own on the mesh, and a slot of its own on the object."""
    slots, damaged = set(), False
    for modifier in [m for m in obj.modifiers if schema.is_skin(m)]:
        skin = registry.add(obj, modifier)
        schema.forget(modifier.node_group)
        if damage := schema.damage(modifier.node_group):
            skin.fail(Problem(Kind.DAMAGED, damage))
            attributes.discard(obj.data, schema.attribute_names(schema.PREFIX + skin.identity))
            skin.ordered, damaged = drivers.Ordered(0, frozenset(), frozenset(), ()), True
            continue
        _identify(skin, modifier, obj.data)
        slot = inputs.slot_of(modifier)
        if slot in slots or not 0 <= slot < getters.SLOTS:
            slot = next((each for each in range(getters.SLOTS) if each not in slots), -1)
            inputs.write_own(modifier, schema.SLOT, slot)
        if slot < 0:
            text = rpt_("An object can have {count} skins at most: remove this one").format(count=getters.SLOTS)
            skin.fail(Problem(Kind.TOO_MANY_SKINS, text))
        slots.add(slot)
    return damaged


def _identify(skin, modifier, mesh):
    """Give a skin that has none, or a copy's, an identity of its own: its attributes must not be another's. One that
    was written by hand is none: it need not fit into an attribute's name."""
    identity = inputs.read(modifier, schema.IDENTITY)
    others = {other.identity for other in registry.on(mesh) if other is not skin}
    if not schema.is_identity(identity) or identity in others:
        identity = uuid.uuid4().hex[:8]
        inputs.write_own(modifier, schema.IDENTITY, identity)
    skin.identity = identity


def _prepare_attributes(mesh, obj, modifier, skin):
    """Make the attributes that the evaluation writes to; whether any was missing."""
    if mesh.is_editmode or inputs.slot_of(modifier) < 0:
        return False
    name = schema.PREFIX + skin.identity
    names = schema.attribute_names(name) if stack.may_be_moved(obj, modifier) else [name]
    made = [attributes.ensure(mesh, each) for each in names]
    attributes.discard(mesh, [each for each in schema.attribute_names(name) if each not in names])
    return any(made)


def remove_unused():
    """Forget the skins that were removed, and remove their attributes."""
    for key, skin in list(registry.skins.items()):
        try:
            modifier = stack.find(skin.object, skin.uid)
        except ReferenceError:  # the object was removed
            modifier = None
        if modifier is None or not schema.is_skin(modifier):
            del registry.skins[key]
            registry.forget_slots()
            with contextlib.suppress(ReferenceError):
                drivers.remove_orphans(skin.object)
            with contextlib.suppress(ReferenceError):  # the mesh was removed as well
                _clean_up(skin)


def _clean_up(skin):
    """Remove the attributes of a skin that was removed."""
    if skin.mesh.is_editmode or skin.identity in {other.identity for other in registry.on(skin.mesh)}:
        return
    if attributes.discard(skin.mesh, schema.attribute_names(schema.PREFIX + skin.identity)):
        skin.mesh.update_tag()


def _sweep():
    """Remove what skins have left on meshes that were removed unseen: undo brings it back, and so does a file that
    was edited without this extension."""
    for mesh in bpy.data.meshes:
        if (_State.swept and mesh.session_uid not in _State.meshes) or mesh.library is not None or mesh.is_editmode:
            continue
        ours = [each.name for each in mesh.attributes if each.name.startswith(schema.PREFIX)]
        used = tuple(schema.PREFIX + skin.identity for skin in registry.on(mesh)) if ours else ()
        if attributes.discard(mesh, [name for name in ours if not name.startswith(used)]):
            mesh.update_tag()
    _State.swept = True


def tell():
    """Show in the modifiers' panels what is wrong."""
    for skin in registry.living():
        text = skin.problem.text if skin.problem else ""
        if skin.told == text or skin.object.library is not None:
            continue
        modifier = stack.find(skin.object, skin.uid)
        usable = modifier is not None and not schema.damage(modifier.node_group)
        if usable and inputs.read(modifier, schema.MESSAGE) != text:
            inputs.write_own(modifier, schema.MESSAGE, text)
        skin.told = text


def write_shown(depsgraph):
    """Write the evaluated deformations into the file's meshes, which nobody writes to otherwise: they are what is shown
    where the extension is not there."""
    for mesh in {skin.object.data for skin in registry.living()}:
        if mesh.library is not None or mesh.is_editmode:
            continue
        evaluated = mesh.evaluated_get(depsgraph)
        for attribute in mesh.attributes if evaluated.is_evaluated else ():
            if attribute.name.startswith(schema.PREFIX):
                vectors = attributes.memory(evaluated, attribute.name)
                if vectors is not None:
                    attributes.store(mesh, attribute.name, vectors)
    for skin in registry.living():
        modifier = stack.find(skin.object, skin.uid)
        if modifier is not None and skin.object.library is None and not schema.damage(modifier.node_group):
            inputs.write_own(modifier, schema.SAVED, inputs.read(modifier, schema.TICK))


def refresh(context, anew=False):
    """Find new skins and evaluate all now; operators call this after they changed something.

    anew: read everything again, for changes that nobody has noticed.
    """
    if anew:
        forget_file()
    _State.groups_counted = -1
    if not none():
        search(look_at)
        if anew:
            evaluate_all()
        context.view_layer.update()


def evaluate_all():
    """Let Blender evaluate all skins and what they read anew."""
    for skin in registry.living():
        skin.mesh.update_tag()
        skin.object.update_tag()


def problem_of(modifier):
    """What keeps a skin from deforming its mesh, a Problem, or None."""
    skin = registry.of(modifier.id_data, modifier)
    return skin.problem if skin is not None else None


def roles_of(armature, bone):
    """What a bone is to each skin that follows the armature object: (the skinned object's name, its role)."""
    found = [(skin.object.name, skin.role_of(armature, bone)) for skin in registry.living()]
    return [each for each in found if each[1]]


def found(modifier):
    """What a skin was found to be bound to: see Skin.found; None if it is not bound."""
    skin = registry.of(modifier.id_data, modifier)
    return skin.found() if skin is not None else None


def skeletons(context):
    """What can be seen of the skeletons of all skins that are bound and visible."""
    views = []
    depsgraph = context.evaluated_depsgraph_get()
    for skin in registry.living():
        modifier = stack.find(skin.object, skin.uid) if skin.object.visible_get() else None
        armature = inputs.read(modifier, schema.ARMATURE) if modifier is not None else None
        view = skin.skeleton_view(armature.evaluated_get(depsgraph).matrix_world) if armature is not None else None
        if view is not None:
            views.append(view)
    return views


def must_read(mesh, least):
    """Whether a mesh has so many vertices, and its weights are not known."""
    return len(mesh.vertices) >= least and not registry.caches.meshes.weights.has(mesh)


def keep_weights(mesh, read):
    """Take over the weights of a mesh that were read step by step."""
    with registry.caches.lock:
        registry.caches.meshes.weights.keep(mesh, read)


def weights_are_old():
    """What was read step by step is no longer what somebody has just read."""
    registry.caches.meshes.weights.fresh.clear()
