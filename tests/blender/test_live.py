"""The evaluated mesh follows: poses, frames, edits, undo, files."""

import sys
from contextlib import contextmanager

import bpy
import numpy as np
import scene

inputs = scene.extension("inputs")
handlers = scene.extension("live.handlers")
weights = scene.extension("read.vertex_weights")
mesh_cache = scene.extension("read.mesh_cache")


def linear():
    """A bent tube with a linear skin."""
    tube, rig = scene.tube()
    scene.add_skin(tube, method="LINEAR")
    scene.bend(rig)
    return tube, rig


def assert_follows(tube, preserve_volume=False, least=1e-5):
    found = scene.points(tube)
    scene.assert_same(found, scene.yardstick(tube, preserve_volume), tube, least)


def count(name, action):
    """How often that method of any skin is called during the action."""
    with scene.calls_of(scene.extension("live.skin").Skin, name) as calls:
        action()
    return len(calls)


def test_posing():
    tube, rig = linear()
    for amount in (0.2, 0.6, -0.5):
        scene.bend(rig, amount)
        assert_follows(tube)


def test_one_update_is_one_evaluation_and_none_follows():
    tube, rig = linear()
    bpy.context.view_layer.update()
    for name in ("evaluate", "_deform"):
        rig.pose.bones["bone2"].rotation_euler.x += 0.3
        assert count(name, bpy.context.view_layer.update) == 1
    found = scene.points(tube)
    for name in ("evaluate", "_deform"):
        assert count(name, lambda: [bpy.context.view_layer.update() for _ in range(5)]) == 0
    scene.assert_same(found, scene.yardstick(tube), tube)


def test_a_new_frame_is_one_evaluation():
    tube, rig = linear()
    scene.animate(rig)
    bpy.context.scene.frame_set(1)
    for name in ("evaluate", "_deform"):
        assert count(name, lambda: [bpy.context.scene.frame_set(frame) for frame in (3, 4, 5)]) == 3
    assert_follows(tube)


def test_weights_are_read_only_when_they_may_have_changed():
    tube, rig = linear()
    scene.animate(rig)
    tube.shape_key_add(name="Basis")
    key = tube.shape_key_add(name="wide")
    for point in key.points:
        point.co.x *= 2
    for frame in (1, 20):
        key.value = frame / 20
        key.keyframe_insert("value", frame=frame)
    scene.points(tube)
    with scene.calls_of(weights, "read") as calls:
        for frame in range(2, 20):
            bpy.context.scene.frame_set(frame)
            rig.pose.bones["bone2"].rotation_euler.x += 0.1
            bpy.context.view_layer.update()
        assert len(calls) <= 1
        calls.clear()
        tube.vertex_groups["bone0"].add([100], 0.5, "REPLACE")
        bpy.context.scene.frame_set(5)
        assert len(calls) == 1
    assert_follows(tube)


def test_nothing_is_computed_when_nothing_of_it_changed():
    tube, _rig = linear()
    other = bpy.data.objects.new("Other", None)
    bpy.context.collection.objects.link(other)
    scene.points(tube)

    def elsewhere():
        other.location.x += 1
        bpy.context.view_layer.update()
        bpy.context.scene.frame_set(5)
        scene.activate(other)
        bpy.context.view_layer.update()

    assert count("_deform", elsewhere) == 0


def test_frames():
    tube, rig = linear()
    scene.animate(rig)
    for frame in (1, 7, 3, 20, 12):
        bpy.context.scene.frame_set(frame)
        assert_follows(tube)
    bpy.context.scene.frame_set(6, subframe=0.5)
    assert_follows(tube)


def test_undo_and_redo():
    tube, _rig = linear()
    shapes = []
    for amount in (0.1, 0.5, 0.9):
        scene.bend(bpy.data.objects["Rig"], amount)
        shapes.append(scene.points(bpy.data.objects["Tube"]))
        bpy.ops.ed.undo_push(message=str(amount))
    for expected in reversed(shapes[:-1]):
        bpy.ops.ed.undo()
        tube = bpy.data.objects["Tube"]
        scene.assert_same(scene.points(tube), expected, tube)
        assert_follows(tube)
    bpy.ops.ed.redo()
    tube = bpy.data.objects["Tube"]
    scene.assert_same(scene.points(tube), shapes[1], tube)
    assert_follows(tube)
    scene.bend(bpy.data.objects["Rig"], -0.4)
    assert_follows(tube)


def test_save_and_load():
    tube, rig = linear()
    expected = scene.points(tube)
    path = scene.temporary("saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    scene.empty()
    bpy.ops.wm.open_mainfile(filepath=path)
    tube, rig = bpy.data.objects["Tube"], bpy.data.objects["Rig"]
    scene.assert_same(scene.points(tube), expected, tube)
    scene.bend(rig, 0.3)
    assert_follows(tube)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.revert_mainfile()
    assert_follows(bpy.data.objects["Tube"])


def test_the_attribute_does_not_reach_the_result():
    tube, _rig = linear()
    mesh = tube.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    assert not [attribute.name for attribute in mesh.attributes if "two_phase" in attribute.name]
    assert [a.name for a in tube.data.attributes if a.name.startswith(".two_phase_skin.")]


def test_weights_that_change():
    tube, _rig = linear()
    tube.vertex_groups["bone1"].add(list(range(0, 300, 7)), 0.9, "REPLACE")
    assert_follows(tube)
    tube.vertex_groups["bone0"].remove(list(range(40)))
    assert_follows(tube)
    tube.vertex_groups["bone2"].name = "another"
    assert_follows(tube)
    tube.vertex_groups["another"].name = "bone2"
    assert_follows(tube)
    tube.vertex_groups.remove(tube.vertex_groups["bone3"])
    assert_follows(tube)
    tube.vertex_groups.new(name="bone3").add([600, 601, 602], 0.7, "REPLACE")
    assert_follows(tube)


def test_weights_that_do_not_sum_to_one_and_vertices_in_no_group():
    tube, _rig = linear()
    for group in tube.vertex_groups:
        group.add(list(range(group.index, 200, 5)), 0.37, "ADD")
        group.remove(list(range(300, 320)))
    for vertex in range(320, 330):
        for group in tube.vertex_groups:
            group.remove([vertex])
        tube.vertex_groups["bone1"].add([vertex], 1e-4 * (0.5 if vertex % 2 else 1.5), "REPLACE")
    tube.vertex_groups.new(name="no bone").add(list(range(100)), 1, "REPLACE")
    assert_follows(tube)


def test_vertex_groups_that_are_added_moved_sorted_renamed_and_deleted():
    tube, _rig = linear()
    scene.activate(tube)
    scene.points(tube)
    for change in (
        lambda: tube.vertex_groups.new(name="another").add([3, 4], 0.5, "REPLACE"),
        lambda: bpy.ops.object.vertex_group_move(direction="UP"),
        lambda: bpy.ops.object.vertex_group_sort(sort_type="NAME"),
        lambda: setattr(tube.vertex_groups["another"], "name", "bone9"),
        lambda: setattr(tube.vertex_groups["bone1"], "name", "lost"),
        lambda: setattr(tube.vertex_groups["lost"], "name", "bone1"),
        lambda: tube.vertex_groups.remove(tube.vertex_groups["bone0"]),
        lambda: bpy.ops.object.vertex_group_remove(all=True),
    ):
        change()
        assert_follows(tube)


def test_use_deform():
    tube, rig = linear()
    rig.data.bones["bone1"].use_deform = False
    assert_follows(tube)
    rig.data.bones["bone1"].use_deform = True
    assert_follows(tube)


def test_bones_renamed_added_and_deleted():
    tube, rig = linear()
    rig.data.bones["bone1"].name = "renamed"  # Blender renames the group with it
    assert_follows(tube)
    scene.activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    scene.points(tube)
    bone = rig.data.edit_bones.new("added")
    bone.head, bone.tail, bone.parent = (0, 0, 1), (0, 1, 1), rig.data.edit_bones["bone0"]
    rig.data.edit_bones["bone2"].parent = bone
    rig.data.edit_bones["bone3"].tail.x = 0.4
    bpy.ops.object.mode_set(mode="OBJECT")
    scene.bend(rig)
    assert_follows(tube)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.remove(rig.data.edit_bones["renamed"])
    bpy.ops.object.mode_set(mode="OBJECT")
    assert_follows(tube)


def test_rest_position_and_armature_edit_mode():
    tube, rig = linear()
    rest = scene.rest(tube)
    rig.data.pose_position = "REST"
    scene.assert_same(scene.points(tube), rest, tube)
    rig.data.pose_position = "POSE"
    assert_follows(tube)
    scene.activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    assert_follows(tube)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert_follows(tube)


def test_points_that_move_in_edit_mode():
    import bmesh

    tube, _rig = linear()
    scene.activate(tube)
    bpy.ops.object.mode_set(mode="EDIT")
    edit = bmesh.from_edit_mesh(tube.data)
    for vertex in edit.verts:
        vertex.co.x *= 1.3
    bmesh.update_edit_mesh(tube.data)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert_follows(tube)
    points = scene.rest(tube)
    points[:, 1] *= 0.8
    tube.data.vertices.foreach_set("co", points.reshape(-1))
    tube.data.update()
    assert_follows(tube)


def test_topology_that_changes():
    tube, _rig = linear()
    scene.activate(tube)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert_follows(tube)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.mesh.select_random(ratio=0.2)
    bpy.ops.mesh.delete(type="VERT")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert_follows(tube)


def test_another_mesh_in_the_object():
    tube, _rig = linear()
    mesh = tube.data.copy()
    mesh.transform(np.diag([1.1, 0.9, 1, 1]))
    tube.data = mesh
    assert_follows(tube)


def test_the_armature_is_deleted():
    tube, rig = linear()
    rest = scene.rest(tube)
    bpy.data.objects.remove(rig)
    scene.assert_same(scene.points(tube), rest, tube)


def test_the_skin_is_removed():
    tube, _rig = linear()
    scene.points(tube)
    tube.modifiers.remove(tube.modifiers["Two-Phase Skin"])
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(2)
    assert not [a.name for a in tube.data.attributes if a.name.startswith(".two_phase_skin")]
    assert not len(tube.animation_data.drivers)
    scene.assert_same(scene.points(tube), scene.rest(tube), tube)


def test_copies_have_their_own_deformation():
    tube, rig = linear()
    other_rig = rig.copy()
    other_rig.data = rig.data
    bpy.context.collection.objects.link(other_rig)
    other = tube.copy()  # which shares the mesh
    bpy.context.collection.objects.link(other)
    inputs.write(other.modifiers["Two-Phase Skin"], "Armature", other_rig)
    other.modifiers["Armature"].object = other_rig
    bpy.context.view_layer.update()
    scene.bend(other_rig, -0.7)
    for obj in (tube, other):
        assert_follows(obj)
    scene.assert_differ(scene.points(tube), scene.points(other), tube)
    identities = {inputs.read(obj.modifiers["Two-Phase Skin"], "Identity") for obj in (tube, other)}
    assert len(identities) == 2


def test_a_second_armature_and_a_second_skin_in_one_stack():
    tube, rig = linear()
    second = scene.chain(4)
    second.location.x = 0.1
    tube.modifiers.new("Second", "ARMATURE").object = second
    scene.activate(tube)
    scene.add_skin(tube, method="LINEAR")
    scene.bend(second, -0.3)
    skins = inputs.skins(tube)
    assert len(skins) == 2
    for name in ("Identity", "Slot"):
        assert len({inputs.read(skin, name) for skin in skins}) == 2
    assert_follows(tube)
    scene.bend(rig, 0.4)
    assert_follows(tube)


def test_object_transforms():
    tube, rig = linear()
    tube.location, tube.rotation_euler, tube.scale = (1, 2, 3), (0.4, 0.5, 0.6), (1.5, -0.7, 1.1)
    assert_follows(tube)
    rig.location, rig.rotation_euler, rig.scale = (-1, 0, 0.5), (-0.3, 0.2, 0.1), (0.8, 1.2, -1.4)
    assert_follows(tube)
    tube.delta_location, tube.delta_scale = (0, 0.3, 0), (1, 1.2, 1)
    assert_follows(tube)
    tube.parent = rig
    assert_follows(tube)
    tube.parent_type, tube.parent_bone = "BONE", "bone2"
    assert_follows(tube)
    tube.parent = None
    rig.parent = tube
    assert_follows(tube)


def test_preserve_volume_with_object_transforms():
    tube, rig = linear()
    inputs.write(tube.modifiers["Two-Phase Skin"], "Method", "Dual Quaternion")
    scene.bend(rig, scale=False)
    tube.location, tube.rotation_euler, tube.scale = (1, 2, 3), (0.4, 0.5, 0.6), (1.5, 0.7, 1.1)
    rig.location, rig.rotation_euler = (-1, 0, 0.5), (-0.3, 0.2, 0.1)
    assert_follows(tube, preserve_volume=True)


def test_a_scene_without_skins_costs_nothing():
    """Of what keeps skins live, nothing runs at an update or a new frame but its handlers and one question."""
    tube, _rig = scene.tube()
    scene.points(tube)
    called = []

    def on_call(frame, event, _argument):
        if event == "call" and scene.EXTENSION in (name := frame.f_globals.get("__name__", "")):
            called.append((name.removeprefix(f"{scene.EXTENSION}."), frame.f_code.co_name))

    sys.setprofile(on_call)
    try:
        tube.location.x = 1
        bpy.context.view_layer.update()
        bpy.context.scene.frame_set(5)
    finally:
        sys.setprofile(None)
    asked = [call for call in called if call[0] != "ui.heat_map"]
    question = ("live.upkeep", "none")
    handlers = [("live.handlers", name) for name in ("_on_updated", "_before_frame", "_on_frame_changed")]
    assert asked == [call for handler in handlers for call in (handler, question)], called


def test_a_pose_that_is_not_finite():
    tube, rig = linear()
    scene.points(tube)
    skin = tube.modifiers["Two-Phase Skin"]
    bone = rig.pose.bones["bone1"]
    bone.location.x = float("inf")
    scene.assert_same(scene.points(tube), scene.rest(tube), tube)
    assert "has a number that is not finite" in inputs.read(skin, "Message")
    bone.location.x = 0
    assert_follows(tube)
    assert inputs.read(skin, "Message") == ""


def test_scale_zero():
    tube, rig = linear()
    rig.pose.bones["bone1"].scale = (0, 1, 0)
    assert_follows(tube)
    rig.pose.bones["bone1"].scale = (0, 0, 0)
    assert_follows(tube)
    rig.scale = (1, 0, 1)
    scene.assert_same(scene.points(tube), scene.rest(tube), tube)


def test_weight_paint_mode():
    tube, _rig = linear()
    scene.activate(tube)
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    assert_follows(tube)
    for weight in (0.2, 0.8):
        tube.vertex_groups["bone1"].add(list(range(200, 400)), weight, "REPLACE")
        assert_follows(tube)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert_follows(tube)


def test_a_mesh_that_is_sculpted():
    tube, _rig = linear()
    scene.activate(tube)
    bpy.ops.object.mode_set(mode="SCULPT")
    assert_follows(tube)
    points = scene.rest(tube)
    points[100:200] *= 1.2
    tube.data.vertices.foreach_set("co", points.reshape(-1))
    tube.data.update()
    assert_follows(tube)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert_follows(tube)


@contextmanager
def as_in_a_window():
    """With sliders that are dragged and strokes of brushes, for which the weights of large meshes may wait."""
    assert not mesh_cache.INTERACTIVE
    mesh_cache.INTERACTIVE = True
    try:
        yield
    finally:
        mesh_cache.INTERACTIVE = False


def wait_until_idle():
    assert bpy.app.timers.is_registered(handlers._on_idle)
    while handlers._on_idle() is not None:
        pass


def large():
    """A bent tube of more vertices than are read at once, with a linear skin."""
    tube, rig = scene.tube(rings=4001, around=16)
    assert len(tube.data.vertices) > weights.LARGE
    skin = scene.add_skin(tube, method="LINEAR")
    scene.bend(rig)
    return tube, skin


def test_a_slider_on_a_large_mesh_does_not_wait_for_its_weights():
    with as_in_a_window():
        tube, skin = large()
        scene.points(tube)
        with scene.calls_of(weights, "read") as calls:
            for factor in (0.9, 0.7, 0.5, 0.3):
                inputs.write(skin, "Factor", factor)
                bpy.context.view_layer.update()
            assert not calls
            tube.vertex_groups["bone1"].add([5], 0.5, "REPLACE")
            bpy.context.view_layer.update()
            assert len(calls) == 1


def test_weights_of_a_large_mesh_that_change_together_with_a_setting():
    tube, skin = large()
    scene.points(tube)
    _change_weights_and_setting(tube, skin, 0.3)
    assert_follows(tube, least=1e-5)


def test_weights_of_a_large_mesh_that_change_while_a_slider_is_dragged():
    with as_in_a_window():
        tube, skin = large()
        scene.points(tube)
        _change_weights_and_setting(tube, skin, 0.3)
        bpy.context.view_layer.update()
        wait_until_idle()
        assert_follows(tube)


def test_weights_of_a_large_mesh_that_change_while_a_slider_is_dragged_are_rendered():
    with as_in_a_window():
        tube, skin = large()
        scene.points(tube)
        _change_weights_and_setting(tube, skin, 0.8)
        bpy.context.view_layer.update()
        found = scene.rendered(tube)
        scene.assert_same(found, scene.yardstick(tube), tube)


def test_strokes_on_a_very_large_mesh_do_not_wait_for_its_weights():
    with _painted() as (tube, before):
        scene.assert_same(scene.points(tube), before, tube)
        wait_until_idle()
        assert_follows(tube)
        scene.assert_differ(scene.points(tube), before, tube)


def test_strokes_on_a_very_large_mesh_are_rendered():
    with _painted() as (tube, before):
        scene.points(tube)
        found = scene.rendered(tube)
        scene.assert_differ(found, before, tube)
        wait_until_idle()
        scene.assert_same(found, scene.yardstick(tube), tube)


@contextmanager
def _painted():
    """A tube that counts as very large, painted a moment ago; where its points were before."""
    at_once, weights.AT_ONCE = weights.AT_ONCE, 100
    try:
        with as_in_a_window():
            tube, _rig = linear()
            scene.activate(tube)
            bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
            before = scene.points(tube)
            tube.vertex_groups["bone1"].add(list(range(200, 400)), 0.9, "REPLACE")
            yield tube, before
    finally:
        weights.AT_ONCE = at_once


def _change_weights_and_setting(tube, skin, weight):
    """Change the weights of one vertex that is not among those that are compared at once."""
    compared = np.linspace(0, len(tube.data.vertices) - 1, weights.PART).astype(int)
    vertex = int(np.flatnonzero(~np.isin(np.arange(30000, 30100), compared))[0]) + 30000
    skin.show_in_editmode = not skin.show_in_editmode
    tube.vertex_groups["bone0"].add([vertex], weight, "REPLACE")
