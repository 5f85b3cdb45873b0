"""Checks in a window of what follows live: brush strokes, undo, two windows, scrubbing and playback.

Each compares the skin, set to Linear, with the Armature modifier that it stands for, in the same scene.
"""

import contextlib
import subprocess
from itertools import pairwise

import bpy
import numpy as np
import scenes
import window

LEAST = 1e-5  # of the mesh's size, which is about 4
STEPS = 15  # of the pointer from one place to the next


def points():
    arm = bpy.data.objects["Arm"]
    return points_of(arm.evaluated_get(bpy.context.evaluated_depsgraph_get()).data)


def points_of(mesh):
    found = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.vertices.foreach_get("co", found.reshape(-1))
    return found


def yardstick():
    """What the Armature modifier gives in the skin's place."""
    modifiers = {modifier.type: modifier for modifier in bpy.data.objects["Arm"].modifiers}
    for skin, armature in ((False, True), (True, False)):
        modifiers["NODES"].show_viewport, modifiers["ARMATURE"].show_viewport = skin, armature
        bpy.context.view_layer.update()
        if armature:
            found = points()
    return found


def distance(first, second):
    return float(np.abs(first - second).max())


def assert_follows():
    found = points()
    assert distance(found, yardstick()) <= 4 * LEAST, distance(found, yardstick())


def posed():
    """A posed arm with a linear skin, seen from the front."""
    scenes.empty()
    arm, rig = scenes.arm()
    with window.context():
        assert bpy.ops.object.two_phase_skin_add(method="LINEAR") == {"FINISHED"}
    scenes.pose(rig)
    scenes.look()
    return arm, rig


def draw(*places):
    """Draw with the left button over the 3D view, from one place to the next, from its middle in pixels."""
    region = window.region(window.area("VIEW_3D"))
    middle = region.x + region.width // 2, window.window().height - region.y - region.height // 2
    at = [(middle[0] + x, middle[1] - y) for x, y in places]
    command = ["xdotool", "mousemove", *map(str, at[0]), "sleep", "0.2", "mousedown", "1"]
    for start, end in pairwise(np.array(at)):
        for step in range(1, STEPS + 1):
            place = start + (end - start) * step // STEPS
            command += ["sleep", "0.05", "mousemove", *map(str, place.tolist())]
        command += ["sleep", "1.5"]  # so that Blender draws in the middle of the stroke
    return subprocess.Popen([*command, "sleep", "0.1", "mouseup", "1"])


def take_brush(mode):
    """A brush of this file: a Blender without its bundled brushes has none."""
    brush = bpy.data.brushes.new(f"Test {mode}", mode=mode)
    brush.asset_mark()
    with window.context():
        bpy.ops.brush.asset_activate(asset_library_type="LOCAL", relative_asset_identifier=f"Brush/{brush.name}")
    settings = bpy.context.scene.tool_settings.unified_paint_settings
    settings.use_unified_weight, settings.weight, settings.size = True, 1.0, 60


def stroke(mode, *places):
    """Enter the mode, draw, and look at what is shown meanwhile; then undo and redo it."""
    with window.context():
        bpy.ops.object.mode_set(mode=mode)
    take_brush(mode)
    bpy.data.objects["Arm"].vertex_groups.active_index = 2
    with window.context():
        bpy.ops.ed.undo_push(message=f"Before {mode}")
    yield window.redraw()
    before, seen = points(), []
    drawing = draw(*places)
    while drawing.poll() is None:
        seen.append(points())
        yield 0.1
    yield window.DRAWN
    after = points()
    assert distance(before, after) > 0.01, f"{mode}: the stroke does nothing"
    assert any(distance(before, one) > 1e-4 and distance(one, after) > 1e-4 for one in seen), f"{mode}: not live"
    assert_follows()
    for keys, expected in (("ctrl+z", before), ("ctrl+shift+z", after), ("ctrl+z", before)):
        yield window.key(keys)
        yield window.DRAWN
        assert distance(points(), expected) <= 4 * LEAST, (mode, keys)
        assert_follows()
    with window.context():
        bpy.ops.object.mode_set(mode="OBJECT")
    yield window.DRAWN
    assert_follows()


def check_weights_follow_the_brush():
    posed()
    yield window.redraw()
    yield from stroke("WEIGHT_PAINT", (-150, -60), (150, -60), (-100, 30))


def check_the_shape_follows_the_sculpting_brush():
    posed()
    yield window.redraw()
    yield from stroke("SCULPT", (-100, -40), (0, 40), (100, 0))


def check_two_windows_show_the_same():
    _arm, rig = posed()
    with window.context():
        bpy.ops.wm.window_new()
    yield 1.0
    try:
        rig.pose.bones["lower"].rotation_euler.x += 0.5
        yield window.redraw()
        assert_follows()
        other = _second_scene()
        bpy.context.window_manager.windows[1].scene = other
        yield 1.0
        rig.pose.bones["lower"].rotation_euler.x -= 0.8
        yield window.redraw()
        assert_follows()
        with _counted() as computed:
            yield 2.0
        assert not computed, "two windows that keep each other busy"
    finally:
        with bpy.context.temp_override(window=bpy.context.window_manager.windows[1]):
            bpy.ops.wm.window_close()
        yield window.DRAWN
        for scene in list(bpy.data.scenes)[1:]:
            bpy.data.scenes.remove(scene)


def _second_scene():
    other = bpy.data.scenes.new("Other")
    for name in ("Arm", "Rig"):
        other.collection.objects.link(bpy.data.objects[name])
    return other


@contextlib.contextmanager
def _counted():
    """How often any skin is computed meanwhile."""
    from bl_ext.user_default.two_phase_skin.live.skin import Skin

    deform, calls = Skin._deform, []
    Skin._deform = lambda self, *arguments: calls.append(self) or deform(self, *arguments)
    try:
        yield calls
    finally:
        Skin._deform = deform


def _animated():
    _arm, rig = posed()
    bone = rig.pose.bones["lower"]
    for frame, angle in ((1, 0.0), (40, 2.0)):
        bone.rotation_euler.x = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_end = 40


def check_scrubbing_shows_the_frame():
    _animated()
    for frame in (30, 7, 19):
        bpy.context.scene.frame_current = frame  # as the timeline does; evaluated when it is drawn
        yield window.redraw()
        assert bpy.context.scene.frame_current == frame
        assert_follows()


def check_playback_draws_the_frame_it_is_at():
    _animated()
    drawn = {}

    def on_draw():
        drawn[bpy.context.scene.frame_current] = points()

    handle = bpy.types.SpaceView3D.draw_handler_add(on_draw, (), "WINDOW", "POST_VIEW")
    try:
        with window.context():
            bpy.ops.screen.animation_play()
        yield 4.0
        with window.context():
            bpy.ops.screen.animation_cancel(restore_frame=False)
        yield window.DRAWN
    finally:
        bpy.types.SpaceView3D.draw_handler_remove(handle, "WINDOW")
    assert len(drawn) > 2, "hardly anything was drawn"
    for frame, found in drawn.items():
        bpy.context.scene.frame_set(frame)
        assert distance(found, yardstick()) <= 4 * LEAST, frame


class Recorder(bpy.types.RenderEngine):
    """A render engine that paints nothing and keeps the points that Blender hands to it."""

    bl_idname = "TWO_PHASE_RECORDER"
    bl_label = "Recorder"
    seen: dict = {}  # noqa: RUF012 (shared on purpose: Blender makes the instances)

    def render(self, depsgraph):
        arm = next(obj for obj in depsgraph.objects if obj.name == "Arm")
        self.seen[depsgraph.scene.frame_current] = points_of(arm.data)


def check_a_render_from_the_window_with_the_interface_open_or_locked():
    _animated()
    scene = bpy.context.scene
    bpy.utils.register_class(Recorder)
    scene.render.engine = Recorder.bl_idname
    scene.render.resolution_x = scene.render.resolution_y = 16
    scene.render.filepath = str(window.OUT / "recorded_")
    scene.frame_start, scene.frame_end, scene.frame_step = 2, 20, 6
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(scene.camera)
    try:
        for locked in (False, True):
            scene.render.use_lock_interface = locked
            yield from _render_as_recorded()
    finally:
        scene.render.engine = "BLENDER_WORKBENCH"
        bpy.utils.unregister_class(Recorder)
        for picture in window.OUT.glob("recorded_*"):
            picture.unlink()


def _render_as_recorded():
    """Render in Blender's own thread, with the 3D view drawn and the selection changed meanwhile."""
    scene, ended = bpy.context.scene, []
    scene.frame_set(11)
    Recorder.seen.clear()
    handlers = bpy.app.handlers.render_complete
    handlers.append(lambda *_: ended.append(True))
    with window.context():
        bpy.ops.render.render("INVOKE_DEFAULT", animation=True)
    for step in range(200):
        if not scene.render.use_lock_interface:
            bpy.data.objects["Rig"].select_set(step % 2 == 0)
            window.redraw()
        yield 0.1
        if ended:
            break
    handlers.pop()
    yield window.redraw()
    assert ended and sorted(Recorder.seen) == [2, 8, 14, 20], Recorder.seen.keys()
    assert_follows()
    for frame, found in Recorder.seen.items():
        scene.frame_set(frame)
        assert distance(found, yardstick()) <= 4 * LEAST, frame


ALL = (
    check_weights_follow_the_brush,
    check_the_shape_follows_the_sculpting_brush,
    check_two_windows_show_the_same,
    check_scrubbing_shows_the_frame,
    check_playback_draws_the_frame_it_is_at,
    check_a_render_from_the_window_with_the_interface_open_or_locked,
)
