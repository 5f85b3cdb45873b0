"""One character in two scenes, two view layers, and where its armature is not in the view layer."""

import bpy
import scene

inputs = scene.extension("inputs")


def shown(obj, view_layer):
    """The points in a view layer's own evaluation."""
    view_layer.update()
    return scene.points_of(obj.evaluated_get(view_layer.depsgraph).data)


def expected_at(rig, frame):
    """What the Armature modifier shows at a frame."""
    tube = bpy.data.objects["Tube"]
    twin = bpy.data.objects.new("Twin", tube.data.copy())
    twin.modifiers.new("Armature", "ARMATURE").object = rig
    here = bpy.context.scene
    here.collection.objects.link(twin)
    before = here.frame_current
    here.frame_set(frame)
    result = scene.points(twin)
    bpy.data.objects.remove(twin)
    here.frame_set(before)
    return result


def test_two_scenes_at_different_frames():
    tube, rig = scene.tube()
    scene.animate(rig)
    expected = {frame: expected_at(rig, frame) for frame in (4, 9, 15)}
    scene.add_skin(tube, method="LINEAR")
    first = bpy.context.scene
    second = bpy.data.scenes.new("Second")
    for obj in (tube, rig):
        second.collection.objects.link(obj)
    layers = {first: first.view_layers[0], second: second.view_layers[0]}
    for where, frame in ((first, 4), (second, 15), (first, 4), (second, 9), (second, 15), (first, 9)):
        where.frame_set(frame)
        scene.assert_same(shown(tube, layers[where]), expected[frame], tube)


def test_two_scenes_come_to_rest():
    """Each shows its own frame of one mesh, and goes on doing so without any further work."""
    tube, rig = scene.tube()
    scene.animate(rig)
    expected = [expected_at(rig, frame) for frame in (4, 15)]
    scene.add_skin(tube, method="LINEAR")
    second = bpy.data.scenes.new("Second")
    for obj in (tube, rig):
        second.collection.objects.link(obj)
    bpy.context.scene.frame_set(4)
    second.frame_set(15)
    layers = [where.view_layers[0] for where in bpy.data.scenes]
    for layer in layers:
        layer.update()
    with scene.calls_of(scene.extension("live.skin").Skin, "_deform") as calls:
        for _ in range(10):
            for layer, points in zip(layers, expected, strict=True):
                scene.assert_same(shown(tube, layer), points, tube)
    assert not calls


def test_two_view_layers():
    tube, rig = scene.tube()
    scene.add_skin(tube, method="LINEAR")
    second = bpy.context.scene.view_layers.new("Second")
    first = bpy.context.scene.view_layers[0]
    for amount in (0.3, -0.4):
        scene.bend(rig, amount)
        expected = scene.yardstick(tube)
        for layer in (first, second):
            scene.assert_same(shown(tube, layer), expected, tube)


def test_an_armature_that_is_not_in_the_view_layer():
    tube, rig = scene.tube()
    scene.animate(rig)
    expected = {frame: expected_at(rig, frame) for frame in (4, 9)}
    scene.add_skin(tube, method="LINEAR")
    for how in ("hide_viewport", "hide_set"):
        _hide(rig, how, True)
        for frame in (4, 9):
            bpy.context.scene.frame_set(frame)
            scene.assert_same(scene.points(tube), expected[frame], tube)
        _hide(rig, how, False)
    hidden = bpy.data.collections.new("Rigs")
    bpy.context.scene.collection.children.link(hidden)
    hidden.objects.link(rig)
    bpy.context.scene.collection.objects.unlink(rig)
    bpy.context.view_layer.layer_collection.children["Rigs"].exclude = True
    for frame in (4, 9):
        bpy.context.scene.frame_set(frame)
        scene.assert_same(scene.points(tube), expected[frame], tube)


def test_hidden_and_shown_again():
    tube, rig = scene.tube()
    scene.add_skin(tube, method="LINEAR")
    for hide in ("hide_viewport", "hide_set"):
        for obj in (tube, rig):
            _hide(obj, hide, True)
            scene.bend(rig, 0.5)
            bpy.context.view_layer.update()
            scene.bend(rig, 0.2)
            bpy.context.view_layer.update()
            _hide(obj, hide, False)
            scene.assert_same(scene.points(tube), scene.yardstick(tube), tube)


def _hide(obj, how, value):
    if how == "hide_set":
        obj.hide_set(value)
    else:
        obj.hide_viewport = value
