"""The points that a render engine gets are those of the Armature modifier, and what the module computes by itself."""

import bpy
import numpy as np
import scene

import two_phase_skinning as tps


class Recorder(bpy.types.RenderEngine):
    """A render engine that paints nothing and keeps the points of the tube that Blender hands to it."""

    bl_idname = "TWO_PHASE_RECORDER"
    bl_label = "Recorder"
    steps = (0.0,)  # of the frame, as an engine with motion blur asks for them
    seen: list = []  # noqa: RUF012 (shared on purpose: Blender makes the instances)

    def render(self, depsgraph):
        frame = depsgraph.scene.frame_current
        for step in self.steps:
            if len(self.steps) > 1:
                self.frame_set(frame + (1 if step >= 1 else 0), step % 1)
            tube = next(obj for obj in depsgraph.objects if obj.name == "Tube")
            self.seen.append(scene.points_of(tube.data))


def recorded(render, steps=(0.0,)):
    Recorder.seen, Recorder.steps = [], steps
    render()
    return Recorder.seen


def animated():
    """A tube that is animated, and a scene that renders frames 2, 8 and 14 with the recorder."""
    tube, rig = scene.tube()
    scene.animate(rig)
    here = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    here.collection.objects.link(camera)
    here.camera = camera
    here.render.engine = Recorder.bl_idname
    here.render.resolution_x = here.render.resolution_y = 8
    here.frame_start, here.frame_end, here.frame_step = 2, 14, 6
    here.render.filepath = scene.temporary("recorded_")
    return tube, rig


def animation():
    assert bpy.ops.render.render(animation=True) == {"FINISHED"}


def still():
    assert bpy.ops.render.render() == {"FINISHED"}


def with_recorder(check):
    bpy.utils.register_class(Recorder)
    try:
        check()
    finally:
        bpy.utils.unregister_class(Recorder)


def assert_all_same(found, expected, tube):
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected, strict=True):
        scene.assert_same(one, other, tube)


def test_animations():
    def check():
        tube, _rig = animated()
        expected = recorded(animation)
        scene.assert_differ(expected[0], expected[1], tube)
        scene.add_skin(tube, method="LINEAR")
        for persistent in (False, True):
            for locked in (False, True):
                bpy.context.scene.render.use_persistent_data = persistent
                bpy.context.scene.render.use_lock_interface = locked
                bpy.context.scene.frame_set(17)
                assert_all_same(recorded(animation), expected, tube)
                scene.assert_same(scene.points(tube), scene.yardstick(tube), tube)

    with_recorder(check)


def test_steps_between_frames():
    def check():
        tube, _rig = animated()
        steps = (0.0, 0.25, 0.5, 0.75, 1.0)
        expected = recorded(animation, steps)
        assert len(expected) == 15
        scene.assert_differ(expected[0], expected[4], tube)
        scene.add_skin(tube, method="LINEAR")
        assert_all_same(recorded(animation, steps), expected, tube)

    with_recorder(check)


def test_stills_of_poses_without_keys():
    def check():
        tube, rig = scene.tube()[0], bpy.data.objects["Rig"]
        bpy.context.scene.render.engine = Recorder.bl_idname
        camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        bpy.context.scene.collection.objects.link(camera)
        bpy.context.scene.camera = camera
        scene.add_skin(tube, method="LINEAR")
        for amount in (0.4, -0.7):
            scene.bend(rig, amount)
            found = recorded(still)
            assert_all_same(found, [scene.yardstick(tube)], tube)
            scene.assert_same(scene.points(tube), found[0], tube)

    with_recorder(check)


def test_the_method_gives_the_same_numbers_without_blender():
    def check():
        tube, rig = animated()
        scene.add_skin(tube, method="TWO_PHASE")
        for name in ("bone1", "bone3"):
            rig.data.bones[name].inherit_scale = "NONE"
        rendered = recorded(animation)
        for frame, found in zip((2, 8, 14), rendered, strict=True):
            bpy.context.scene.frame_set(frame)
            scene.assert_same(scene.points(tube), found, tube)
            scene.assert_same(by_the_module(tube, rig), found, tube)

    with_recorder(check)


def by_the_module(tube, rig):
    """The tube, skinned by the module from what Blender's own interface says."""
    bones = list(rig.data.bones)
    index = {bone.name: k for k, bone in enumerate(bones)}
    skeleton = tps.Skeleton(
        [index[bone.parent.name] if bone.parent else -1 for bone in bones],
        np.array([bone.matrix_local for bone in bones]),
        inherits=[bone.inherit_scale not in ("NONE", "NONE_LEGACY") for bone in bones],
    )
    weights = np.zeros((len(tube.data.vertices), len(bones)))
    for vertex in tube.data.vertices:
        for entry in vertex.groups:
            weights[vertex.index, index[tube.vertex_groups[entry.group].name]] = entry.weight
    posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    world = np.array([posed[bone.name].matrix for bone in bones])
    return tps.Skin(scene.rest(tube), weights, skeleton).deform(world)
