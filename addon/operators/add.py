# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist does with skins. Every failure is a report that says what to do."""

import bpy
from bpy.app.translations import pgettext_rpt as rpt_
from bpy.props import EnumProperty, StringProperty

from .. import native
from ..errors import UserError
from ..live import upkeep, weight_reading
from ..modifier import replace, schema
from . import progress

METHOD_ITEMS = tuple((key, name, schema.TIPS[name]) for key, name in schema.METHODS.items())


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
        if not replace.meshes_of(context):
            cls.poll_message_set("Select a mesh object")
            return False
        return True

    def invoke(self, context, event):
        large = {
            obj.data: obj for obj in replace.meshes_of(context) if upkeep.must_read(obj.data, weight_reading.LARGE)
        }
        self._large = list(large.values())
        if not self.armature and any(not replace.armatures_of(obj, context) for obj in replace.meshes_of(context)):
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
            self._reading = weight_reading.reading(self._large)
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
            upkeep.weights_are_old()

    def cancel(self, _context):
        """Blender ends the operator: it quits, or another file is opened."""
        self._stopped()

    def _stopped(self):
        if self._steps is not None:
            self._steps.end()
        upkeep.weights_are_old()
        self.report({"WARNING"}, rpt_("Stopped: no skin was added"))
        return {"CANCELLED"}

    def _add(self, context):
        refused, added, changed = [], [], []
        for obj in replace.meshes_of(context):
            try:
                armature = replace.armature_named(self.armature)
                skins = replace.change_skins(obj, armature, self.method, context)
                changed += skins
                added += [] if skins else replace.add_skins(obj, armature, self.method, context)
            except UserError as refusal:
                refused.append(str(refusal))
        skins = changed + added
        if skins:
            upkeep.refresh(context)
            problems = [(skin, problem) for skin in skins if (problem := upkeep.problem_of(skin))]
            refused += [f'"{skin.id_data.name}": {problem.text}' for skin, problem in problems]
        for text in refused:
            self.report({"WARNING" if skins else "ERROR"}, text)
        if not skins:
            return {"CANCELLED"}
        if changed:
            method = schema.METHODS[self.method]
            text = rpt_("{objects} had Two-Phase Skin already: the method is now {method}")
            self.report({"INFO"}, text.format(objects=_count(changed), method=rpt_(method)))
        if added and not refused:
            self.report(
                {"INFO"}, rpt_("Two-Phase Skin added to {objects}").format(objects=_count(added)) + _found(added)
            )
        return {"FINISHED"}


def _found(skins):
    """What new skins were found to be bound to, in words; nothing for several."""
    found = upkeep.found(skins[0]) if len(skins) == 1 else None
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


_CLASSES = (OBJECT_OT_two_phase_skin_add,)


register, unregister = bpy.utils.register_classes_factory(_CLASSES)
