# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake what skins do over a range of frames, so that it can be opened without the extension."""

import contextlib

import bpy
from bpy.app.translations import pgettext_iface as iface_
from bpy.app.translations import pgettext_rpt as rpt_
from bpy.props import EnumProperty, IntProperty, StringProperty

from .. import inputs, native
from ..errors import UserError
from ..live import upkeep
from ..modifier import replace
from ..operators import progress
from . import cache_files, paths, targets

_KINDS = (
    ("SHAPE_KEYS", "Shape Keys", "A copy of the object that shape keys animate, one for each frame"),
    ("MDD", "Mesh Cache (MDD)", "A point cache, and a Mesh Cache modifier that reads it in place of the skin"),
    ("PC2", "Mesh Cache (PC2)", "A point cache, and a Mesh Cache modifier that reads it in place of the skin"),
    ("MESHES", "Meshes", "An object for each frame, with all modifiers applied, shown at that frame alone"),
)


class Source:
    """An object that is baked, evaluated with what stands above its last skin and that one, but nothing below."""

    def __init__(self, obj, whole):
        self.object = obj
        self.skins = [skin for skin in inputs.skins(obj) if skin.show_viewport]
        if not self.skins:
            raise UserError(rpt_('"{object}" has no Two-Phase Skin that is on').format(object=obj.name))
        end = obj.modifiers.find(self.skins[-1].name) + 1
        self._baked = [modifier.name for modifier in obj.modifiers[:end]]
        self._below = [] if whole else [m for m in obj.modifiers[end:] if m.show_viewport]
        for modifier in self._below:
            modifier.show_viewport = False

    def restore(self):
        for modifier in self._below:
            modifier.show_viewport = True

    def copy(self, mesh, context):
        """A copy of the object with that mesh, and with those modifiers alone that were not baked.

        It moves as the object does: by the same action, and with the same parent.
        """
        obj = self.object.copy()
        obj.name = mesh.name = rpt_("{name} Baked").format(name=self.object.name)
        obj.data = mesh
        for name in self._baked:
            obj.modifiers.remove(obj.modifiers[name])
        if obj.parent_type == "ARMATURE":
            obj.parent_type = "OBJECT"  # it would be deformed again
        for collection in self.object.users_collection or (context.scene.collection,):
            collection.objects.link(obj)
        return obj

    def hide(self, context, copy=None):
        """Hide the object, that what was made of it is seen in its place; a copy is selected in its place too."""
        obj, layer = self.object, context.view_layer
        obj.hide_render = True
        if layer.objects.get(obj.name) != obj:
            return
        selected = obj.select_get()
        obj.hide_set(True)
        if copy is not None and copy.visible_get():
            copy.select_set(selected)
            if layer.objects.active == obj:
                layer.objects.active = copy


class Bake:
    """A bake that is under way, frame after frame. Whatever happens, `close` must be called."""

    def __init__(self, context, objects, kind, frames, path):
        self.objects = objects
        self.frames = frames
        self.done = 0
        self._scene = context.scene
        self._frame_before = context.scene.frame_current_final
        self._sources, self._targets = [], []
        found_paths = paths.of(path, kind, objects) if kind in cache_files.KINDS else {}
        try:
            for obj in objects:
                source = Source(obj, whole=kind == "MESHES")
                self._sources.append(source)
                self._targets.append(_target(source, kind, frames, found_paths.get(obj), context.scene))
        except BaseException:
            self.close()
            raise

    def step(self, context):
        """Bake one frame; whether there are more."""
        frame = self.frames[self.done]
        self._scene.frame_set(frame)
        for source, target in zip(self._sources, self._targets, strict=True):
            if problem := next(filter(None, map(upkeep.problem_of, source.skins)), None):
                raise UserError(f'"{source.object.name}": {problem.text}')
            depsgraph = context.evaluated_depsgraph_get()
            target.add(source.object.evaluated_get(depsgraph), depsgraph)
        self.done += 1
        return self.done < len(self.frames)

    def finish(self, context):
        """Make what the frames were baked for; returns it."""
        for source in self._sources:
            source.restore()
        for target in self._targets:
            target.complete()  # of all, before the first takes the place of a file that is there
        for target in self._targets:
            target.place()
        targets, self._targets = self._targets, []  # from here on nothing can fail
        return [target.finish(context) for target in targets]

    def close(self):
        """Leave nothing half-made behind, and put everything else back as it was."""
        for target in self._targets:
            target.abort()
        self._targets = []
        for source in self._sources:
            with contextlib.suppress(ReferenceError):
                source.restore()
        self._scene.frame_set(int(self._frame_before // 1), subframe=self._frame_before % 1)


def _target(source, kind, frames, path, scene):
    if kind == "SHAPE_KEYS":
        return targets.Keys(source, frames, scene)
    if kind == "MESHES":
        return targets.Meshes(source, frames, scene)
    return targets.Cache(source, frames, path, kind, scene)


class OBJECT_OT_two_phase_skin_bake(bpy.types.Operator):
    """Bake the deformation over a range of frames, to be opened without the extension"""

    bl_idname = "object.two_phase_skin_bake"
    bl_label = "Bake Two-Phase Skin"
    bl_options = {"UNDO"}  # noqa: RUF012 (Blender reads a plain set)

    kind: EnumProperty(name="To", description="What to bake to", items=_KINDS)
    frame_start: IntProperty(name="Frame Start", description="The first frame that is baked", default=1)
    frame_end: IntProperty(name="End", description="The last frame that is baked", default=250)
    _steps = None  # while there is a window to show progress in

    filepath: StringProperty(name="File", description="Where the point cache is written", subtype="FILE_PATH")

    @classmethod
    def poll(cls, context):
        if native.PROBLEM:
            cls.poll_message_set(native.PROBLEM)
            return False
        if not any(map(inputs.skins, replace.meshes_of(context))):
            cls.poll_message_set("Select a mesh with a Two-Phase Skin")
            return False
        if context.mode not in {"OBJECT", "POSE"}:
            cls.poll_message_set("Go to Object Mode or Pose Mode first")
            return False
        return True

    def invoke(self, context, _event):
        self._choose_range(context.scene)
        return context.window_manager.invoke_props_dialog(self, confirm_text=iface_("Bake"))

    def _choose_range(self, scene):
        """The scene's, unless other frames were named."""
        if not self.properties.is_property_set("frame_start"):
            self.frame_start = scene.frame_preview_start if scene.use_preview_range else scene.frame_start
        if not self.properties.is_property_set("frame_end"):
            self.frame_end = scene.frame_preview_end if scene.use_preview_range else scene.frame_end

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "kind")
        frames = layout.column(align=True)
        frames.prop(self, "frame_start")
        frames.prop(self, "frame_end")
        if self.kind in cache_files.KINDS:
            objects = self._objects(context)
            layout.prop(self, "filepath", placeholder=paths.default(self.kind, objects[0]) if objects else "")

    def _objects(self, context):
        return [obj for obj in replace.meshes_of(context) if inputs.skins(obj)]

    def execute(self, context):
        objects = self._objects(context)
        self._choose_range(context.scene)
        frames = range(self.frame_start, self.frame_end + 1)
        if not frames:
            text = rpt_("Frame Start {first} is after End {last}")
            self.report({"ERROR"}, text.format(first=self.frame_start, last=self.frame_end))
            return {"CANCELLED"}
        if context.screen is not None and context.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        try:
            self._bake = Bake(context, objects, self.kind, frames, self.filepath)
        except UserError as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        if not progress.possible(context):
            return self._to_the_end(context)
        self._steps = progress.Steps(self, context)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if self._steps.asks_to_stop(event):
            return self._stop({"WARNING"}, rpt_("Stopped: nothing was baked"))
        if not self._steps.asks_for_work(event):
            return {"RUNNING_MODAL"}  # nothing else is to change what is baked
        result = self._guarded(context, self._bake.step)
        if result is True:
            done, count = self._bake.done, len(self._bake.frames)
            self._steps.show(done / count, rpt_("Baking: {done} of {count} frames").format(done=done, count=count))
            return {"RUNNING_MODAL"}
        return self._finish(context) if result is False else {"CANCELLED"}

    def cancel(self, context):
        """Blender ends the operator: it quits, or another file is opened."""
        self._stop({"WARNING"}, rpt_("Stopped: nothing was baked"))

    def _to_the_end(self, context):
        more = True
        while more:
            more = self._guarded(context, self._bake.step)
        return self._finish(context) if more is False else {"CANCELLED"}

    def _finish(self, context):
        made = self._guarded(context, self._bake.finish)
        if made is None:
            return {"CANCELLED"}
        self._end()
        upkeep.refresh(context)
        text = rpt_("Baked {count} frames to {names}").format(count=len(self._bake.frames), names=_names(made))
        if self.kind not in cache_files.KINDS:
            text += rpt_(". Hidden: {names}").format(names=_names(self._bake.objects))
        self.report({"INFO"}, text)
        return {"FINISHED"}

    def _guarded(self, context, action):
        """What the action returns, or None after what went wrong was reported and all was put back."""
        try:
            return action(context)
        except (UserError, OSError, ValueError, ReferenceError) as error:
            self._stop({"ERROR"}, rpt_("Nothing was baked: {reason}").format(reason=error))
            return None

    def _stop(self, level, text):
        self._end()
        self.report(level, text)
        return {"CANCELLED"}

    def _end(self):
        self._bake.close()
        if self._steps is not None:
            self._steps.end()


def _names(made):
    return ", ".join(f'"{each.name}"' for each in made)


def register():
    bpy.utils.register_class(OBJECT_OT_two_phase_skin_bake)


def unregister():
    bpy.utils.unregister_class(OBJECT_OT_two_phase_skin_bake)
