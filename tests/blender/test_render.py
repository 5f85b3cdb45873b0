"""What is rendered is what the Armature modifier would have rendered."""

import bpy
import numpy as np
import scene


def test_a_rendered_animation_shows_each_frame():
    tube, rig = scene.tube()
    scene.animate(rig)
    _studio()
    expected = _render_animation("armature")
    scene.add_skin(tube, method="LINEAR")
    bpy.context.scene.frame_set(17)  # not a frame that is rendered
    found = _render_animation("skin")
    for k in range(len(expected)):
        assert np.abs(found[k] - expected[k]).max() < 0.02, f"frame {k}"
    assert np.abs(expected[0] - expected[1]).max() > 0.2 and np.abs(expected[1] - expected[2]).max() > 0.2
    assert bpy.context.scene.frame_current == 17
    scene.assert_same(scene.points(tube), scene.yardstick(tube), tube)


def test_motion_blur_shows_the_steps_between_frames():
    tube, rig = scene.tube()
    scene.animate(rig)
    _studio()
    bpy.context.scene.cycles.samples = 16
    sharp = _render_animation("sharp armature")
    bpy.context.scene.render.use_motion_blur = True
    bpy.context.scene.render.motion_blur_shutter = 2.0
    tube.cycles.motion_steps = 3
    expected = _render_animation("blurred armature")
    scene.add_skin(tube, method="LINEAR")
    found = _render_animation("blurred skin")
    for k in range(len(expected)):
        assert np.abs(found[k] - expected[k]).max() < 0.05, f"frame {k}"
    assert np.abs(sharp - expected).max() > 0.2


def test_persistent_data_and_lock_interface():
    tube, rig = scene.tube()
    scene.animate(rig)
    _studio()
    expected = _render_animation("plain armature")
    scene.add_skin(tube, method="LINEAR")
    for persistent in (False, True):
        for locked in (False, True):
            bpy.context.scene.render.use_persistent_data = persistent
            bpy.context.scene.render.use_lock_interface = locked
            found = _render_animation(f"skin_{persistent}_{locked}")
            assert np.abs(found - expected).max() < 0.02, (persistent, locked)
            scene.assert_same(scene.points(tube), scene.yardstick(tube), tube)


def test_a_still_after_a_change_of_pose():
    tube, rig = scene.tube()
    _studio()
    scene.add_skin(tube, method="LINEAR")
    scene.bend(rig, 0.5)
    found = _render_still("skin")
    tube.modifiers["Two-Phase Skin"].show_render = False
    tube.modifiers["Armature"].show_render = True
    assert np.abs(found - _render_still("armature")).max() < 0.02


def test_shown_in_the_render_only():
    tube, rig = scene.tube()
    scene.animate(rig)
    _studio()
    expected = _render_animation("shown armature")
    skin = scene.add_skin(tube, method="LINEAR")
    skin.show_viewport = False
    scene.assert_same(scene.points(tube), scene.rest(tube), tube)
    assert np.abs(_render_animation("hidden skin") - expected).max() < 0.02


def test_an_armature_that_is_not_rendered():
    tube, rig = scene.tube()
    scene.animate(rig)
    _studio()
    expected = _render_animation("seen rig")
    scene.add_skin(tube, method="LINEAR")
    rig.hide_render = True
    rig.hide_viewport = True
    assert np.abs(_render_animation("hidden rig") - expected).max() < 0.02


def _render_still(name):
    bpy.context.scene.render.filepath = scene.temporary(f"{name}.png")
    bpy.ops.render.render(write_still=True)
    return np.array(bpy.data.images.load(bpy.context.scene.render.filepath).pixels)


def _studio():
    """A camera that sees the tube, and Cycles at its fastest, without randomness."""
    here = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    here.collection.objects.link(camera)
    camera.location, camera.rotation_euler = (0, -14, 2), (np.pi / 2, 0, 0)
    here.camera = camera
    here.world = bpy.data.worlds.new("World")
    light = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    light.rotation_euler = (0.6, 0.2, 0)
    here.collection.objects.link(light)
    here.render.engine = "CYCLES"
    here.cycles.device, here.cycles.samples, here.cycles.seed = "CPU", 1, 1
    here.cycles.use_denoising, here.cycles.use_adaptive_sampling = False, False
    here.cycles.max_bounces = 0
    here.render.resolution_x = here.render.resolution_y = 48
    here.render.resolution_percentage = 100
    here.render.image_settings.file_format = "PNG"
    here.frame_start, here.frame_end, here.frame_step = 2, 14, 6


def _render_animation(name):
    """Render the scene's frames; their pixels, (frames, pixels)."""
    here = bpy.context.scene
    here.render.filepath = scene.temporary(f"{name}_")
    bpy.ops.render.render(animation=True)
    frames = range(here.frame_start, here.frame_end + 1, here.frame_step)
    images = [bpy.data.images.load(here.render.frame_path(frame=frame)) for frame in frames]
    return np.array([np.array(image.pixels) for image in images])
