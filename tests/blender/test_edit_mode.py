"""The mesh in Edit Mode with the skin shown, against the Armature modifier shown in Edit Mode."""

import bmesh
import bpy
import scene

inputs = scene.extension("inputs")


def editing():
    """A bent tube with a linear skin, in Edit Mode."""
    tube, rig = scene.tube()
    scene.add_skin(tube, method="LINEAR")
    scene.bend(rig)
    scene.points(tube)
    scene.activate(tube)
    bpy.ops.object.mode_set(mode="EDIT")
    return tube, rig


def shown(tube):
    """The points as Edit Mode shows them, deformed."""
    evaluated = tube.evaluated_get(bpy.context.evaluated_depsgraph_get())
    result = scene.points_of(evaluated.to_mesh())
    evaluated.to_mesh_clear()
    return result


def assert_follows(tube):
    found = shown(tube)
    armature, skin = tube.modifiers["Armature"], tube.modifiers["Two-Phase Skin"]
    armature.show_viewport, skin.show_viewport = True, False
    expected = shown(tube)
    armature.show_viewport, skin.show_viewport = False, True
    shown(tube)
    assert len(found) == len(expected)
    scene.assert_same(found, expected, tube)


def leave(tube):
    bpy.ops.object.mode_set(mode="OBJECT")
    scene.assert_same(scene.points(tube), scene.yardstick(tube), tube)
    names = [a.name for a in tube.data.attributes if a.name.startswith(".two_phase_skin")]
    assert len(names) == 1, names


def test_vertices_that_move():
    tube, _rig = editing()
    assert_follows(tube)
    edited = bmesh.from_edit_mesh(tube.data)
    for vertex in edited.verts:
        vertex.co.x *= 1.4
        vertex.co.z += 0.1 * vertex.index % 3
    bmesh.update_edit_mesh(tube.data)
    assert_follows(tube)
    leave(tube)


def test_a_pose_that_changes_and_the_method():
    tube, rig = editing()
    scene.bend(rig, 0.4)
    assert_follows(tube)
    rig.data.pose_position = "REST"
    assert_follows(tube)
    rig.data.pose_position = "POSE"
    assert_follows(tube)
    bpy.context.scene.frame_set(5)
    assert_follows(tube)
    leave(tube)


def test_new_and_deleted_vertices():
    tube, rig = editing()
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide()
    assert_follows(tube)
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.mesh.select_random(ratio=0.1)
    bpy.ops.mesh.delete(type="VERT")
    assert_follows(tube)
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.duplicate_move(TRANSFORM_OT_translate={"value": (0.5, 0, 0)})
    assert_follows(tube)
    scene.bend(rig, 0.3)
    assert_follows(tube)
    leave(tube)


def test_weights_assigned_in_edit_mode():
    tube, _rig = editing()
    bpy.ops.mesh.select_all(action="SELECT")
    tube.vertex_groups.active_index = 1
    bpy.context.tool_settings.vertex_group_weight = 0.35
    bpy.ops.object.vertex_group_assign()
    assert_follows(tube)
    bpy.ops.object.vertex_group_remove_from()
    assert_follows(tube)
    leave(tube)


def test_shape_keys_in_edit_mode():
    tube, rig = scene.tube()
    tube.shape_key_add(name="Basis")
    for name, factor in (("wide", 1.5), ("flat", 0.4)):
        key = tube.shape_key_add(name=name, from_mix=False)
        for point in key.points:
            point.co.x *= factor
        key.value = 0.6
    scene.add_skin(tube, method="LINEAR")
    scene.bend(rig)
    for shown_mixed in (False, True):
        tube.use_shape_key_edit_mode = shown_mixed
        for active in (0, 1, 2):
            tube.active_shape_key_index = active
            scene.activate(tube)
            bpy.ops.object.mode_set(mode="EDIT")
            assert_follows(tube)
            edited = bmesh.from_edit_mesh(tube.data)
            for vertex in list(edited.verts)[:100]:
                vertex.co.y += 0.2
            bmesh.update_edit_mesh(tube.data)
            assert_follows(tube)
            leave(tube)


def test_undo_in_edit_mode():
    tube, _rig = editing()
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide()
    bpy.ops.ed.undo_push(message="subdivide")
    assert_follows(tube)
    bpy.ops.ed.undo()
    tube = bpy.data.objects["Tube"]
    assert_follows(tube)
    leave(tube)


def test_not_shown_in_edit_mode():
    tube, _rig = editing()
    skin = tube.modifiers["Two-Phase Skin"]
    skin.show_in_editmode = tube.modifiers["Armature"].show_in_editmode = False
    assert_follows(tube)
    leave(tube)


def test_added_in_edit_mode():
    tube, rig = scene.tube()
    scene.bend(rig)
    scene.activate(tube)
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.object.two_phase_skin_add(method="LINEAR") == {"FINISHED"}
    assert_follows(tube)
    leave(tube)
