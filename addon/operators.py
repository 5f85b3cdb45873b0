# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist does with skins. Every failure is a report that says what to do."""

import bpy
from bpy.app.translations import pgettext_rpt as rpt_
from bpy.props import EnumProperty, StringProperty

from . import binder, compat, inputs, live, native, node_group, progress, stack

METHOD_ITEMS = tuple((key, name, node_group.TIPS[name]) for key, name in node_group.METHODS.items())

# Of an Armature modifier: (use_vertex_groups, use_bone_envelopes)
_BINDS = {(True, False): "Vertex Groups", (False, True): "Bone Envelopes", (True, True): "Both"}


class Refusal(Exception):
    """Why something cannot be done, in words for the artist: what is wrong, and the way out."""


class OBJECT_OT_two_phase_skin_add(bpy.types.Operator):
    """Deform the selected meshes by an armature, keeping their shape where bones scale and twist"""

    bl_idname = "object.two_phase_skin_add"
    bl_label = "Add Two-Phase Skin"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012 (Blender reads a plain set)

    method: EnumProperty(name="Method", description="How the bones' transforms are blended", items=METHOD_ITEMS)
    _large = ()  # meshes whose weights are to be read step by step
    _steps = None

    armature: StringProperty(
        name="Armature",
        description="The armature's name; empty: that of the Armature modifier, the parent, or the selected one",
    )

    @classmethod
    def poll(cls, context):
        if native.PROBLEM:
            cls.poll_message_set(native.PROBLEM)
            return False
        if not meshes_of(context):
            cls.poll_message_set("Select a mesh object")
            return False
        return True

    def invoke(self, context, event):
        large = {obj.data: obj for obj in meshes_of(context) if live.must_read(obj.data, binder.LARGE)}
        self._large = list(large.values())
        if not self.armature and any(not armatures_of(obj, context) for obj in meshes_of(context)):
            return context.window_manager.invoke_props_dialog(self)
        return self.execute(context)

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "method")
        layout.prop_search(self, "armature", bpy.data, "objects", icon="ARMATURE_DATA")

    def execute(self, context):
        """Add the skins at once, or, called from the menu, when the weights of large meshes are read."""
        if self._large and progress.possible(context):
            self._reading = binder.reading(self._large)
            self._large = ()
            self._steps = progress.Steps(self, context)
            return {"RUNNING_MODAL"}
        return self._add(context)

    def modal(self, context, event):
        if self._steps.asks_to_stop(event):
            return self._stopped()
        if not self._steps.asks_for_work(event):
            return {"RUNNING_MODAL"}  # nothing is to change what is read
        for name, fraction in self._reading:
            self._steps.show(fraction, rpt_('Reading the weights of "{object}"').format(object=name))
            return {"RUNNING_MODAL"}
        self._steps.end()
        try:
            return self._add(context)
        finally:
            live.weights_are_old()

    def cancel(self, _context):
        """Blender ends the operator: it quits, or another file is opened."""
        self._stopped()

    def _stopped(self):
        if self._steps is not None:
            self._steps.end()
        live.weights_are_old()
        self.report({"WARNING"}, rpt_("Stopped: no skin was added"))
        return {"CANCELLED"}

    def _add(self, context):
        refused, added, changed = [], [], []
        for obj in meshes_of(context):
            try:
                armature = armature_named(self.armature)
                skins = change_skins(obj, armature, self.method, context)
                changed += skins
                added += [] if skins else add_skins(obj, armature, self.method, context)
            except Refusal as refusal:
                refused.append(str(refusal))
        skins = changed + added
        if skins:
            live.refresh(context, progress=_Progress(context))
            refused += [f'"{skin.id_data.name}": {problem}' for skin in skins if (problem := live.problem_of(skin))]
        for text in refused:
            self.report({"WARNING" if skins else "ERROR"}, text)
        if not skins:
            return {"CANCELLED"}
        if changed:
            method = node_group.METHODS[self.method]
            text = rpt_("{objects} had Two-Phase Skin already: the method is now {method}")
            self.report({"INFO"}, text.format(objects=_count(changed), method=rpt_(method)))
        if added and not refused:
            self.report(
                {"INFO"}, rpt_("Two-Phase Skin added to {objects}").format(objects=_count(added)) + _found(added)
            )
        return {"FINISHED"}


def change_skins(obj, armature, method, context):
    """Set the method of the skins that the object has for that armature (None: the likeliest) and see that they act.

    Returns them: none if there is none, or if an Armature modifier of its own is to be replaced.
    """
    acts_for = stands_for(obj)
    armatures = [armature] if armature is not None else armatures_of(obj, context)
    if not armatures or _replaceable(obj, armature, armatures[0]):
        return []
    skins = [skin for skin in skins_of(obj) if inputs.read(skin, node_group.ARMATURE) == armatures[0]]
    if skins:
        check_editable(obj)
    for skin in skins:
        inputs.write(skin, node_group.METHOD, node_group.METHODS[method])
        skin.show_viewport = skin.show_render = True
        modifier = acts_for.get(skin.name)
        if modifier is not None:
            modifier.show_viewport = modifier.show_render = False
    return skins


def add_skins(obj, armature, method, context):
    """Give a mesh object its skins: one in place of each Armature modifier, or one for its parent.

    Returns the new modifiers; raises Refusal, having changed nothing.
    """
    check_editable(obj)
    likeliest = armatures_of(obj, context)
    replaced = _replaceable(obj, armature, likeliest[0] if likeliest else None)
    if replaced:
        for modifier in replaced:
            _check_replaceable(obj, modifier)
            state, problem = stack.above(obj, modifier)
            if state == stack.REFUSED:
                raise Refusal(f'"{obj.name}": {problem}')
        return [_replace(obj, modifier, method) for modifier in replaced]
    armature = armature or (likeliest[0] if likeliest else None)
    if armature is None:
        text = rpt_('"{object}": no armature found. Parent it to one, select one as well, or name one')
        raise Refusal(text.format(object=obj.name))
    return [_add(obj, armature, method)]


def skins_of(obj):
    """The skins of an object, but for those whose node group is damaged: they can only be removed."""
    return inputs.skins(obj)


def stands_for(obj):
    """Skin's name -> the Armature modifier in whose place it acts: the next of its armature, or one above."""
    result, order, skins = {}, list(obj.modifiers), skins_of(obj)
    for index, skin in enumerate(order):
        if skin in skins:
            armature = inputs.read(skin, node_group.ARMATURE)
            for modifier in order[index:] + order[:index]:
                if modifier.type == "ARMATURE" and modifier.object == armature and modifier not in result.values():
                    result[skin.name] = modifier
                    break
    return result


def _replaceable(obj, armature, likeliest):
    """The Armature modifiers that skins are to replace. armature: only of this one, if it is not None.

    They are those that are on. If none is, they are the muted ones of the armature, or else of the likeliest, unless a
    skin follows it already: these are left where a skin was removed.
    """
    used = list(stands_for(obj).values())
    unused = [m for m in obj.modifiers if m.type == "ARMATURE" and m.object is not None and m not in used]
    if armature is not None:
        unused = [m for m in unused if m.object == armature]
    shown = [m for m in unused if m.show_viewport]
    wanted = armature or likeliest
    if shown or any(inputs.read(skin, node_group.ARMATURE) == wanted for skin in skins_of(obj)):
        return shown
    return [m for m in unused if m.object == wanted]


def _add(obj, armature, method):
    """A new skin: first in the stack in place of Blender's invisible one for a mesh parented with Armature Deform."""
    deformed_by_parent = obj.parent == armature and obj.parent_type == "ARMATURE"
    index = 0 if deformed_by_parent else stack.place_for_new(obj)
    skin = _new_skin(obj, armature, method, index)
    if deformed_by_parent:
        obj.parent_type = "OBJECT"
        inputs.write(skin, node_group.BIND, "Both")  # as Blender's does
        _leave_muted(obj, armature, index + 1)
    return skin


def _leave_muted(obj, armature, index):
    """An Armature modifier that is off: it tells Blender's weight tools whose bones the vertex groups are."""
    modifier = obj.modifiers.new("Armature", "ARMATURE")
    modifier.object, modifier.use_bone_envelopes = armature, True
    modifier.show_viewport = modifier.show_render = False
    skin = obj.modifiers[index - 1]
    obj.modifiers.move(obj.modifiers.find(modifier.name), index)
    obj.modifiers.active = skin


def _replace(obj, modifier, method):
    """A new skin in the place of an Armature modifier, which is muted."""
    index = obj.modifiers.find(modifier.name)
    shown = modifier.show_in_editmode, modifier.show_on_cage
    multi = modifier.use_multi_modifier
    group, invert, armature = modifier.vertex_group, modifier.invert_vertex_group, modifier.object
    bind_to = _BINDS[modifier.use_vertex_groups, modifier.use_bone_envelopes]
    modifier.show_viewport = modifier.show_render = False
    skin = _new_skin(obj, armature, method, index)
    inputs.write(skin, node_group.BIND, bind_to)
    inputs.write(skin, node_group.MULTI, multi)
    skin.show_in_editmode, skin.show_on_cage = shown
    if group in obj.vertex_groups:  # Blender ignores a name that no group has
        inputs.write_group(skin, node_group.GROUP, group)
        inputs.write(skin, node_group.INVERT, invert)
    return skin


def _new_skin(obj, armature, method, index):
    skin = obj.modifiers.new(node_group.NAME, "NODES")
    skin.node_group = node_group.ensure()
    inputs.write(skin, node_group.ARMATURE, armature)
    inputs.write(skin, node_group.METHOD, node_group.METHODS[method])
    compat.hide_group_selector(skin)
    obj.modifiers.move(obj.modifiers.find(skin.name), index)
    obj.modifiers.active = skin
    return skin


def uses_of(bind_to):
    """What an Armature modifier must use to bind like that: (vertex groups, bone envelopes)."""
    return next(uses for uses, name in _BINDS.items() if name == bind_to)


def check_editable(obj):
    if obj.library is not None or (obj.override_library is not None and obj.override_library.is_system_override):
        text = rpt_('"{object}" is linked: make an editable library override of it first (Object > Library Override)')
        raise Refusal(text.format(object=obj.name))


def _check_replaceable(obj, modifier):
    if not (modifier.use_vertex_groups or modifier.use_bone_envelopes):
        text = rpt_('"{object}": "{modifier}" binds to nothing. Turn its Vertex Groups or Bone Envelopes on')
        raise Refusal(text.format(object=obj.name, modifier=modifier.name))


def armature_named(name):
    """The armature object of that name, None for no name."""
    if not name:
        return None
    armature = bpy.data.objects.get(name)
    if armature is None:
        raise Refusal(rpt_('There is no object "{name}": choose an armature').format(name=name))
    if armature.type != "ARMATURE":
        raise Refusal(rpt_('"{name}" is not an armature: choose one').format(name=name))
    return armature


def meshes_of(context):
    """The selected mesh objects and the active one."""
    objects = list(context.selected_objects)
    if context.active_object is not None and context.active_object not in objects:
        objects.append(context.active_object)
    return [obj for obj in objects if obj.type == "MESH"]


def armatures_of(obj, context):
    """The armatures that a mesh may mean, the likeliest first."""
    modifiers = [m for m in obj.modifiers if m.type == "ARMATURE" and m.object is not None]
    found = [m.object for m in modifiers if m.show_viewport]
    if obj.parent is not None and obj.parent.type == "ARMATURE":
        found.append(obj.parent)
    found += [other for other in context.selected_objects if other.type == "ARMATURE"]
    found += [m.object for m in modifiers]
    found += [rig for skin in skins_of(obj) if (rig := inputs.read(skin, node_group.ARMATURE)) is not None]
    return found


def _found(skins):
    """What new skins were found to be bound to, in words; nothing for several."""
    found = live.found(skins[0]) if len(skins) == 1 else None
    if found is None:
        return ""
    vertices, bones, support, unweighted = found
    text = rpt_(": {vertices} vertices on {bones} bones and {support} support joints, {unweighted} without weights")
    return text.format(vertices=vertices, bones=bones, support=support, unweighted=unweighted)


def _count(skins):
    return in_words({skin.id_data for skin in skins})


def in_words(objects):
    """The name of one object, the number of several."""
    return f'"{next(iter(objects)).name}"' if len(objects) == 1 else rpt_("{count} objects").format(count=len(objects))


class _Progress:
    """The progress that the mouse pointer shows while weights are read, for meshes that take a while."""

    def __init__(self, context):
        self._manager = context.window_manager

    def __call__(self, fraction):
        if fraction == 0:
            self._manager.progress_begin(0, 100)
        self._manager.progress_update(100 * fraction)
        if fraction == 1:
            self._manager.progress_end()


_CLASSES = (OBJECT_OT_two_phase_skin_add,)


register, unregister = bpy.utils.register_classes_factory(_CLASSES)
