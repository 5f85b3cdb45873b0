"""Undo and redo take the deformation back and forth through every kind of edit."""

import addon_utils
import bpy
import numpy as np
import scene

inputs = scene.extension("inputs")


def tube():
    return bpy.data.objects["Tube"]


def rig():
    return bpy.data.objects["Rig"]


def in_edit_mode(obj, action):
    scene.activate(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    action()
    bpy.ops.object.mode_set(mode="OBJECT")


def assert_undone_and_redone(action, name):
    """Do it, undo it and redo it; each time the mesh must look as Blender's own modifier says, and as it did before."""
    scene.points(tube())
    bpy.ops.ed.undo_push(message=f"before {name}")
    before = scene.points(tube())
    action()
    after = scene.points(tube())
    bpy.ops.ed.undo_push(message=name)
    scene.assert_same(after, scene.yardstick(tube()), tube())
    assert after.shape != before.shape or np.abs(after - before).max() > 1e-3, f"{name} changes nothing"
    for step, expected in ((bpy.ops.ed.undo, before), (bpy.ops.ed.redo, after), (bpy.ops.ed.undo, before)):
        assert step() == {"FINISHED"}
        scene.assert_same(scene.points(tube()), expected, tube())
        scene.assert_same(scene.yardstick(tube()), expected, tube())


def linear():
    obj, armature = scene.tube()
    scene.add_skin(obj, method="LINEAR")
    scene.bend(armature)


def test_poses_and_transforms():
    linear()
    assert_undone_and_redone(lambda: scene.bend(rig(), -0.6), "a pose")
    assert_undone_and_redone(lambda: setattr(rig(), "location", (0.3, 0, 0)), "the rig moved")
    assert_undone_and_redone(lambda: setattr(tube(), "scale", (1, 1.5, -1)), "the mesh mirrored")
    assert_undone_and_redone(lambda: setattr(rig().data, "pose_position", "REST"), "rest position")
    scene.animate(rig())
    bpy.context.scene.frame_set(3)
    assert_undone_and_redone(lambda: bpy.context.scene.frame_set(14), "a frame")


def test_bones():
    linear()
    bones = rig().data.bones
    assert_undone_and_redone(lambda: setattr(rig().data.bones["bone1"], "use_deform", False), "Deform off")
    assert_undone_and_redone(lambda: setattr(rig().data.bones["bone2"], "inherit_scale", "NONE"), "Inherit Scale")

    def remove():
        edit_bones = rig().data.edit_bones
        edit_bones.remove(edit_bones["bone2"])

    assert_undone_and_redone(lambda: in_edit_mode(rig(), remove), "a bone deleted")

    def move():
        rig().data.edit_bones["bone2"].tail.x += 0.5

    assert_undone_and_redone(lambda: in_edit_mode(rig(), move), "a bone moved at rest")
    assert len(bones) == 4


def test_weights_and_vertex_groups():
    linear()
    everything = list(range(len(tube().data.vertices)))
    assert_undone_and_redone(lambda: tube().vertex_groups["bone1"].add(everything, 0.4, "REPLACE"), "weights")
    assert_undone_and_redone(lambda: setattr(tube().vertex_groups["bone1"], "name", "other"), "a group renamed")
    assert_undone_and_redone(lambda: tube().vertex_groups.remove(tube().vertex_groups["bone0"]), "a group deleted")

    def paint():
        bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
        tube().vertex_groups["bone2"].add(everything[:300], 1.0, "REPLACE")
        bpy.ops.object.mode_set(mode="OBJECT")

    scene.activate(tube())
    assert_undone_and_redone(paint, "weights in Weight Paint")


def test_points_and_topology():
    linear()

    def move():
        bpy.ops.mesh.select_all(action="SELECT")
        bpy.ops.transform.resize(value=(1.4, 1.0, 1.0))

    assert_undone_and_redone(lambda: in_edit_mode(tube(), move), "points moved")

    def subdivide():
        bpy.ops.mesh.select_all(action="SELECT")
        bpy.ops.mesh.subdivide()

    assert_undone_and_redone(lambda: in_edit_mode(tube(), subdivide), "subdivided")

    def delete():
        bpy.ops.mesh.select_all(action="DESELECT")
        bpy.ops.mesh.select_random(ratio=0.3, seed=2)
        bpy.ops.mesh.delete(type="VERT")

    assert_undone_and_redone(lambda: in_edit_mode(tube(), delete), "points deleted")


def test_shape_keys():
    linear()
    tube().shape_key_add(name="Basis")

    def key():
        block = tube().shape_key_add(name="wide", from_mix=False)
        block.points.foreach_set("co", (scene.rest(tube()) * np.array([1.5, 1, 1], np.float32)).ravel())
        block.value = 0.8

    assert_undone_and_redone(key, "a shape key")
    bpy.ops.ed.redo()
    assert_undone_and_redone(lambda: setattr(tube().data.shape_keys.key_blocks["wide"], "mute", True), "a key muted")


def test_the_modifier():
    linear()

    def factor(skin, armature):
        inputs.write(skin, "Factor", 0.0)
        armature.object = None

    def move_down(skin, armature):
        for modifier in (skin, armature):
            tube().modifiers.move(tube().modifiers.find(modifier.name), len(tube().modifiers) - 1)

    def change(action):
        return lambda: action(tube().modifiers["Two-Phase Skin"], tube().modifiers["Armature"])

    assert_undone_and_redone(change(factor), "Factor")
    tube().modifiers.new("Bend", "SIMPLE_DEFORM").angle = 1.0
    assert_undone_and_redone(change(move_down), "moved in the stack")
    scene.assert_same(scene.points(tube()), scene.yardstick(tube()), tube())


def test_the_armature_deleted():
    linear()
    assert_undone_and_redone(lambda: bpy.data.objects.remove(rig()), "the armature deleted")
    scene.bend(rig(), 0.3)
    scene.assert_same(scene.points(tube()), scene.yardstick(tube()), tube())


def ours(obj):
    """The extension's attributes on its mesh."""
    return [each.name for each in obj.data.attributes if each.name.startswith(".two_phase_skin")]


def test_undo_brings_back_nothing_of_a_skin_that_is_no_more():
    """Blender keeps a step when the modifier is gone and the next update, which cleans up, is still to come."""
    linear()
    bpy.context.view_layer.update()
    assert len(ours(tube())) == 1
    bpy.ops.ed.undo_push(message="before")
    scene.activate(tube())
    bpy.ops.object.modifier_remove("EXEC_DEFAULT", True, modifier="Two-Phase Skin")
    bpy.context.view_layer.update()
    assert ours(tube()) == []
    scene.bend(rig(), -0.6)
    bpy.ops.ed.undo_push(message="a pose")
    bpy.ops.ed.undo()
    assert ours(tube()) == []


def test_nothing_is_left_of_an_object_that_is_no_more():
    linear()
    copy = tube().copy()
    bpy.context.collection.objects.link(copy)
    bpy.context.view_layer.update()
    assert len(ours(tube())) == 2  # of the two skins on the mesh that they share
    bpy.data.objects.remove(copy)
    bpy.context.view_layer.update()
    assert len(ours(tube())) == 1


def test_nothing_is_left_of_a_skin_that_was_removed_without_the_extension():
    linear()
    other, _armature = scene.tube()
    other.name = "Other"
    scene.add_skin(other)
    addon_utils.disable(scene.EXTENSION)
    tube().modifiers.remove(tube().modifiers["Two-Phase Skin"])
    path = scene.temporary("removed.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert len(ours(tube())) == 1
    addon_utils.enable(scene.EXTENSION)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert (len(ours(tube())), len(ours(bpy.data.objects["Other"]))) == (0, 1)
