"""From Armature modifiers to skins and back: nothing of the stack is lost, and one undo step brings it back."""

import bpy
import pytest
import scene

inputs = scene.extension("inputs")


def two_tubes():
    tube, rig = scene.tube()
    other = tube.copy()
    other.data = tube.data.copy()
    bpy.context.collection.objects.link(other)
    scene.bend(rig)
    bpy.context.view_layer.update()
    return tube, other, rig


def stack(obj):
    return [(m.name, m.type, m.show_viewport, m.show_render) for m in obj.modifiers]


def to(direction, scope="SELECTED", **options):
    return bpy.ops.object.two_phase_skin_convert(to=direction, scope=scope, **options)


def test_there_and_back_the_stack_is_the_same():
    tube, _other, _rig = two_tubes()
    armature = tube.modifiers["Armature"]
    armature.vertex_group, armature.invert_vertex_group = "bone1", True
    armature.use_deform_preserve_volume = True
    tube.modifiers.new("Cast", "CAST").factor = 0.1
    tube.modifiers.move(1, 0)
    tube.modifiers.new("Wave", "WAVE")
    before, expected = stack(tube), scene.points(tube)
    scene.activate(tube)
    assert to("TWO_PHASE") == {"FINISHED"}
    assert [m.name for m in tube.modifiers] == ["Cast", "Two-Phase Skin", "Armature", "Wave"]
    assert to("ARMATURE") == {"FINISHED"}
    assert stack(tube) == before
    assert armature.vertex_group == "bone1" and armature.invert_vertex_group and armature.use_deform_preserve_volume
    scene.assert_same(scene.points(tube), expected, tube)
    assert not [a.name for a in tube.data.attributes if "two_phase" in a.name]


def test_settings_go_back_with_the_skin():
    tube, _other, rig = two_tubes()
    tube.modifiers.clear()
    scene.activate(tube)
    skin = scene.add_skin(tube, method="DUAL_QUATERNION", armature=rig.name)
    inputs.write(skin, "Bind To", "Both")
    inputs.write_group(skin, "Vertex Group", "bone2")
    inputs.write(skin, "Invert", True)
    scene.bend(rig, scale=False)
    expected = scene.points(tube)
    assert to("ARMATURE") == {"FINISHED"}
    (modifier,) = tube.modifiers
    assert modifier.type == "ARMATURE" and modifier.object == rig and modifier.use_deform_preserve_volume
    assert modifier.use_vertex_groups and modifier.use_bone_envelopes and modifier.invert_vertex_group
    scene.assert_same(scene.points(tube), expected, tube)


def test_scopes():
    tube, other, rig = two_tubes()
    free = bpy.data.objects.new("Free", tube.data.copy())
    bpy.context.collection.objects.link(free)
    skins = lambda: [any(m.type == "NODES" for m in obj.modifiers) for obj in (tube, other, free)]  # noqa: E731
    scene.activate(tube, other)
    assert to("TWO_PHASE", "ACTIVE") == {"FINISHED"} and skins() == [True, False, False]
    scene.activate(rig)
    assert to("TWO_PHASE", "RIG") == {"FINISHED"} and skins() == [True, True, False]
    scene.activate(other, free)
    assert to("ARMATURE", "SELECTED") == {"FINISHED"} and skins() == [True, False, False]
    scene.activate(other)
    assert to("ARMATURE", "RIG") == {"FINISHED"} and skins() == [False, False, False]


def test_a_mesh_parented_with_armature_deform():
    tube, _other, rig = two_tubes()
    tube.modifiers.clear()
    tube.parent, tube.parent_type = rig, "ARMATURE"
    bpy.context.view_layer.update()
    expected = scene.points(tube)
    scene.activate(rig)
    assert to("TWO_PHASE", "RIG", method="LINEAR") == {"FINISHED"}
    scene.assert_same(scene.points(tube), expected, tube)
    assert to("ARMATURE", "RIG") == {"FINISHED"}
    scene.assert_same(scene.points(tube), expected, tube)


def test_what_cannot_be_converted_is_said():
    tube, other, _rig = two_tubes()
    tube.modifiers.clear()
    scene.activate(tube)
    with pytest.raises(RuntimeError, match="None of these objects has an Armature modifier that is on"):
        to("TWO_PHASE")
    with pytest.raises(RuntimeError, match="None of these objects has a Two-Phase Skin"):
        to("ARMATURE")
    other.modifiers["Armature"].use_vertex_groups = False
    scene.activate(other)
    with pytest.raises(RuntimeError, match="binds to nothing"):
        to("TWO_PHASE")
    assert [m.type for m in other.modifiers] == ["ARMATURE"]


def test_a_skin_whose_armature_is_gone_is_left_and_the_others_are_converted():
    tube, other, rig = two_tubes()
    lost = rig.copy()
    bpy.context.collection.objects.link(lost)
    other.modifiers["Armature"].object = lost
    scene.activate(tube, other)
    assert to("TWO_PHASE") == {"FINISHED"}
    bpy.data.objects.remove(lost)
    before = stack(other)
    assert to("ARMATURE") == {"FINISHED"}
    assert stack(other) == before
    assert stack(tube) == [("Armature", "ARMATURE", True, True)]
    scene.activate(other)
    with pytest.raises(RuntimeError, match='"Two-Phase Skin" has no armature'):
        to("ARMATURE")
    assert stack(other) == before


def test_one_undo_step():
    tube, other, _rig = two_tubes()
    scene.activate(tube, other)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.object.two_phase_skin_convert("EXEC_DEFAULT", True, to="TWO_PHASE", scope="SELECTED")
    names = tube.name, other.name
    assert all(len(bpy.data.objects[name].modifiers) == 2 for name in names)
    bpy.ops.ed.undo()
    for name in names:
        assert stack(bpy.data.objects[name]) == [("Armature", "ARMATURE", True, True)]
    bpy.ops.ed.redo()
    assert all(len(bpy.data.objects[name].modifiers) == 2 for name in names)
