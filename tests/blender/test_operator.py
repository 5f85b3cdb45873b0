"""Adding a skin: what it takes over, where it stands, and what it says when it cannot."""

import bpy
import pytest
import scene

inputs = scene.extension("inputs")


def test_it_takes_over_the_armature_modifier_and_its_place():
    tube, rig = scene.tube()
    tube.modifiers.new("Wave", "WAVE")
    tube.modifiers.new("Subdivision", "SUBSURF")
    tube.modifiers.move(0, 1)
    armature = tube.modifiers["Armature"]
    armature.vertex_group, armature.invert_vertex_group = "bone1", True
    skin = scene.add_skin(tube, method="DUAL_QUATERNION")
    assert [modifier.name for modifier in tube.modifiers] == ["Wave", skin.name, "Armature", "Subdivision"]
    assert skin.name == "Two-Phase Skin" and skin.node_group.name == "Two-Phase Skin"
    assert inputs.read(skin, "Armature") == rig
    assert inputs.read(skin, "Method") == "Dual Quaternion"
    assert inputs.read(skin, "Inherited Scale") == "After Bend"
    assert inputs.read(skin, "Factor") == 1.0
    assert inputs.read_group(skin, "Vertex Group") == "bone1" and inputs.read(skin, "Invert")
    assert not armature.show_viewport and not armature.show_render


def test_several_objects_share_one_node_group():
    tube, _rig = scene.tube()
    other = tube.copy()
    other.data = tube.data.copy()
    bpy.context.collection.objects.link(other)
    scene.activate(tube, other)
    assert bpy.ops.object.two_phase_skin_add() == {"FINISHED"}
    groups = {obj.modifiers["Two-Phase Skin"].node_group for obj in (tube, other)}
    assert len(groups) == 1 and len(bpy.data.node_groups) == 1


def test_the_parent_armature_is_found():
    tube, rig = scene.tube()
    tube.modifiers.clear()
    tube.parent = rig
    assert inputs.read(scene.add_skin(tube), "Armature") == rig


def test_the_selected_armature_is_found():
    tube, rig = scene.tube()
    tube.modifiers.clear()
    scene.activate(rig, tube)
    assert bpy.ops.object.two_phase_skin_add() == {"FINISHED"}
    assert inputs.read(tube.modifiers["Two-Phase Skin"], "Armature") == rig


def test_a_mesh_parented_with_armature_deform_is_not_deformed_twice():
    tube, rig = scene.tube()
    tube.modifiers.clear()
    tube.parent, tube.parent_type = rig, "ARMATURE"
    scene.bend(rig)
    bpy.context.view_layer.update()
    expected = scene.points(tube)
    place = tube.matrix_world.copy()
    tube.modifiers.new("Wave", "WAVE").show_viewport = False
    skin = scene.add_skin(tube, method="LINEAR")
    assert tube.parent_type == "OBJECT" and tube.matrix_world == place
    assert tube.modifiers.find(skin.name) == 0
    scene.assert_same(scene.points(tube), expected, tube)


def test_a_mesh_parented_with_armature_deform_is_bound_as_blender_binds_it():
    tube, rig = scene.tube()
    tube.modifiers.clear()
    tube.vertex_groups.remove(tube.vertex_groups["bone3"])  # its points are left to the envelopes
    tube.vertex_groups.remove(tube.vertex_groups["bone2"])
    tube.parent, tube.parent_type = rig, "ARMATURE"
    scene.bend(rig)
    bpy.context.view_layer.update()
    expected = scene.points(tube)
    skin = scene.add_skin(tube, method="LINEAR")
    scene.assert_same(scene.points(tube), expected, tube)
    scene.assert_same(scene.yardstick(tube), expected, tube)
    bpy.ops.object.modifier_remove(modifier=skin.name)
    scene.add_skin(tube, method="LINEAR")
    scene.assert_same(scene.points(tube), expected, tube)


def test_a_mesh_parented_with_armature_deform_keeps_the_weight_tools():
    tube, rig = scene.tube()
    tube.modifiers.clear()
    tube.parent, tube.parent_type = rig, "ARMATURE"
    scene.bend(rig)
    bpy.context.view_layer.update()
    expected = scene.points(tube)
    skin = scene.add_skin(tube, method="LINEAR")
    assert [modifier.name for modifier in tube.modifiers] == [skin.name, "Armature"]
    assert tube.modifiers.active == skin
    left = tube.modifiers["Armature"]
    assert left.object == rig and not left.show_viewport and not left.show_render
    scene.assert_same(scene.points(tube), expected, tube)
    assert bpy.ops.object.vertex_group_limit_total(group_select_mode="BONE_DEFORM", limit=4)
    scene.activate(rig, tube)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.context.view_layer.objects.active = tube
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    assert bpy.context.pose_object == rig
    assert bpy.ops.paint.weight_from_bones(type="AUTOMATIC") == {"FINISHED"}


def test_adding_again_changes_the_method():
    tube, rig = scene.tube()
    scene.bend(rig)
    skin = scene.add_skin(tube, method="LINEAR")
    expected = scene.points(tube)
    names = [modifier.name for modifier in tube.modifiers]
    for method, name in (("TWO_PHASE", "Two-Phase"), ("LINEAR", "Linear")):
        assert bpy.ops.object.two_phase_skin_add(method=method) == {"FINISHED"}
        assert [modifier.name for modifier in tube.modifiers] == names
        assert inputs.read(skin, "Method") == name
    scene.assert_same(scene.points(tube), expected, tube)
    tube.parent = rig
    assert bpy.ops.object.two_phase_skin_add(armature=rig.name) == {"FINISHED"}
    assert [modifier.name for modifier in tube.modifiers] == names


def test_adding_again_puts_the_skin_back_in_the_modifiers_place():
    tube, rig = scene.tube()
    scene.bend(rig)
    skin = scene.add_skin(tube, method="LINEAR")
    expected = scene.points(tube)
    skin.show_viewport = False
    tube.modifiers["Armature"].show_viewport = True
    assert bpy.ops.object.two_phase_skin_add(method="LINEAR") == {"FINISHED"}
    assert [(m.name, m.show_viewport) for m in tube.modifiers] == [(skin.name, True), ("Armature", False)]
    scene.assert_same(scene.points(tube), expected, tube)


def test_a_second_armature_gets_a_skin_of_its_own():
    tube, _rig = scene.tube()
    scene.add_skin(tube)
    other = scene.chain(2)
    second = scene.add_skin(tube, armature=other.name)
    assert inputs.read(second, "Armature") == other
    assert sum(modifier.type == "NODES" for modifier in tube.modifiers) == 2


def test_added_again_after_it_was_removed_it_takes_over_the_muted_modifier():
    tube, _rig = scene.tube()
    tube.modifiers.new("Smooth", "SMOOTH")
    tube.modifiers["Armature"].vertex_group = "bone1"
    tube.modifiers["Armature"].use_bone_envelopes = True
    skin = scene.add_skin(tube)
    bpy.ops.object.modifier_remove(modifier=skin.name)
    skin = scene.add_skin(tube)
    assert [modifier.name for modifier in tube.modifiers] == [skin.name, "Armature", "Smooth"]
    assert inputs.read_group(skin, "Vertex Group") == "bone1" and inputs.read(skin, "Bind To") == "Both"


def test_a_muted_modifier_of_another_armature_is_left_alone():
    tube, old = scene.tube()
    tube.modifiers["Armature"].show_viewport = False
    rig = scene.chain(4)
    tube.parent = rig
    skin = scene.add_skin(tube)
    assert inputs.read(skin, "Armature") == rig
    assert [modifier.name for modifier in tube.modifiers] == ["Armature", skin.name]
    assert tube.modifiers["Armature"].object == old


def test_it_goes_above_a_modifier_that_changes_the_topology():
    tube, rig = scene.tube()
    tube.modifiers.clear()
    tube.modifiers.new("Subdivision", "SUBSURF")
    skin = scene.add_skin(tube, armature=rig.name)
    assert [modifier.name for modifier in tube.modifiers] == [skin.name, "Subdivision"]


def test_one_undo_takes_it_all_back():
    tube, rig = scene.tube()
    scene.bend(rig)
    bpy.ops.ed.undo_push(message="before")
    expected = scene.points(tube)
    scene.add_skin(tube)
    bpy.ops.ed.undo_push(message="Add Two-Phase Skin")  # a window does this itself
    scene.assert_differ(scene.points(tube), expected, tube)
    bpy.ops.ed.undo()
    tube = bpy.data.objects["Tube"]
    assert [modifier.name for modifier in tube.modifiers] == ["Armature"]
    assert tube.modifiers[0].show_viewport and tube.modifiers[0].show_render
    scene.assert_same(scene.points(tube), expected, tube)
    bpy.ops.ed.redo()
    tube = bpy.data.objects["Tube"]
    assert [modifier.name for modifier in tube.modifiers] == ["Two-Phase Skin", "Armature"]
    scene.assert_differ(scene.points(tube), expected, tube)


def test_nothing_selected():
    scene.chain(2)
    with pytest.raises(RuntimeError, match="Select a mesh object"):
        bpy.ops.object.two_phase_skin_add()


def test_no_armature():
    tube, rig = scene.tube()
    bpy.data.objects.remove(rig)
    with pytest.raises(RuntimeError, match=r'"Tube": no armature found\. Parent it to one'):
        bpy.ops.object.two_phase_skin_add()
    assert [modifier.name for modifier in tube.modifiers] == ["Armature"]


def test_a_wrong_armature():
    tube, _rig = scene.tube()
    with pytest.raises(RuntimeError, match='There is no object "nobody"'):
        bpy.ops.object.two_phase_skin_add(armature="nobody")
    with pytest.raises(RuntimeError, match='"Tube" is not an armature'):
        bpy.ops.object.two_phase_skin_add(armature="Tube")
    assert [modifier.name for modifier in tube.modifiers] == ["Armature"]


def test_an_armature_modifier_that_binds_to_nothing_is_refused_with_the_way_out():
    tube, _rig = scene.tube()
    tube.modifiers["Armature"].use_vertex_groups = False
    with pytest.raises(RuntimeError, match="Turn its Vertex Groups or Bone Envelopes on"):
        bpy.ops.object.two_phase_skin_add()
    assert tube.modifiers["Armature"].show_viewport


def test_no_weights_is_said_and_shows_the_rest_shape():
    tube, rig = scene.tube()
    rest = scene.yardstick(tube)
    tube.vertex_groups.clear()
    skin = scene.add_skin(tube)
    assert "Automatic Weights" in inputs.read(skin, "Message")
    scene.bend(rig)
    scene.assert_same(scene.points(tube), rest, tube)


def test_nothing_in_an_envelope_is_said():
    tube, rig = scene.tube()
    for bone in rig.data.bones:
        bone.head_radius = bone.tail_radius = bone.envelope_distance = 0.01
    tube.modifiers["Armature"].use_vertex_groups, tube.modifiers["Armature"].use_bone_envelopes = False, True
    skin = scene.add_skin(tube)
    message = inputs.read(skin, "Message")
    assert "envelope" in message and "vertex group" not in message
    inputs.write(skin, "Bind To", "Both")
    bpy.context.view_layer.update()
    assert inputs.read(skin, "Message") == ""
    tube.vertex_groups.clear()
    for _ in range(2):  # up to 4.5 Blender evaluates the mesh only because the first update's handler asks for it
        tube.update_tag()
        bpy.context.view_layer.update()
    assert "vertex group" in inputs.read(skin, "Message") and "envelope" in inputs.read(skin, "Message")


def test_the_menu_has_it():
    for menu, there in (("modifier_add_deform", True), ("object_modifiers", True), ("object", False)):
        kind = getattr(bpy.types, f"OBJECT_MT_{menu}", None) or getattr(bpy.types, f"VIEW3D_MT_{menu}")
        draw = getattr(kind.draw, "_draw_funcs", [])
        assert any(function.__module__.endswith("two_phase_skin.ui.menus") for function in draw) == there, menu
    deform = bpy.types.OBJECT_MT_modifier_add_deform.draw._draw_funcs
    assert deform[0].__module__.endswith("two_phase_skin.ui.menus"), "Armature comes first of Blender's own; beside it"


def test_it_leaves_nothing_behind_when_it_is_disabled():
    import addon_utils

    handlers = bpy.app.handlers
    names = ("depsgraph_update_post", "frame_change_post", "load_post", "undo_post", "redo_post", "save_pre")
    addon_utils.disable(scene.EXTENSION)
    for name in names:
        assert not [h for h in getattr(handlers, name) if "two_phase" in h.__module__], name
    draw = bpy.types.OBJECT_MT_modifier_add_deform.draw._draw_funcs
    assert not any("two_phase" in function.__module__ for function in draw)
    for kind in (bpy.types.Object, bpy.types.Mesh, bpy.types.Bone):
        assert not [prop.identifier for prop in kind.bl_rna.properties if "two_phase" in prop.identifier]
    addon_utils.enable(scene.EXTENSION)
    for name in names:
        found = [h for h in getattr(handlers, name) if "two_phase" in h.__module__]
        assert found and len(found) == len(set(found)), name
