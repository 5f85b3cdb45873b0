"""Settings of bones: where scale goes, what Automatic has decided, and many bones at once."""

import bpy
import pytest
import scene

inputs = scene.extension("inputs")
upkeep = scene.extension("live.upkeep")
bone_settings = scene.extension("read.bone_settings")


def pose_mode(rig, *names):
    """Pose Mode with these bones selected, the last of them active."""
    scene.activate(rig)
    bpy.ops.object.mode_set(mode="POSE")
    for pose_bone in rig.pose.bones:
        selectable = pose_bone if hasattr(pose_bone, "select") else pose_bone.bone
        selectable.select = pose_bone.name in names
    if names:
        rig.data.bones.active = rig.data.bones[names[-1]]


def test_scale_to_children_says_it_for_all_children():
    tube, rig, _skin = scene.skinned()
    everything = scene.points(tube)
    bones = rig.data.bones
    bones["bone1"].two_phase_skin_passes = "NO"
    by_parent = scene.points(tube)
    scene.assert_differ(by_parent, everything, tube, least=5e-3)
    bones["bone1"].two_phase_skin_passes = "AUTO"
    bones["bone2"].two_phase_skin_scale = "NO"
    scene.assert_same(scene.points(tube), by_parent, tube)
    bones["bone1"].two_phase_skin_passes, bones["bone2"].two_phase_skin_scale = "NO", "YES"
    scene.assert_same(scene.points(tube), everything, tube)  # the child has the last word
    bones["bone2"].two_phase_skin_scale, bones["bone2"].inherit_scale = "AUTO", "NONE"
    bones["bone1"].two_phase_skin_passes = "YES"
    assert bone_settings.inherits_scale(bones["bone2"])


def test_what_automatic_has_decided():
    tube, rig, _skin = scene.skinned()
    tube.vertex_groups.remove(tube.vertex_groups["bone1"])
    tube.vertex_groups.remove(tube.vertex_groups["bone3"])
    bpy.context.view_layer.update()
    roles = [upkeep.roles_of(rig, f"bone{k}") for k in range(4)]
    assert roles == [[("Tube", role)] for role in ("weighted", "support", "weighted", "unused")]
    assert upkeep.roles_of(scene.chain(1), "bone0") == []


def test_settings_of_all_selected_bones():
    tube, rig, _skin = scene.skinned()
    before = scene.points(tube)
    pose_mode(rig, "bone1", "bone2")
    assert bpy.ops.pose.two_phase_skin_set(setting="two_phase_skin_rigid", value="OFF") == {"FINISHED"}
    assert [bone.two_phase_skin_rigid for bone in rig.data.bones] == ["AUTO", "OFF", "OFF", "AUTO"]
    scene.assert_differ(scene.points(tube), before, tube)
    rig.data.bones["bone2"].two_phase_skin_passes = "NO"
    pose_mode(rig, "bone3", "bone2")
    assert bpy.ops.pose.two_phase_skin_copy() == {"FINISHED"}
    assert rig.data.bones["bone3"].two_phase_skin_passes == "NO"
    assert rig.data.bones["bone3"].two_phase_skin_rigid == "OFF"
    assert rig.data.bones["bone0"].two_phase_skin_passes == "AUTO"


def test_one_undo_step():
    _tube, rig, _skin = scene.skinned()
    pose_mode(rig, "bone1", "bone2")
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.pose.two_phase_skin_set("EXEC_DEFAULT", True, setting="two_phase_skin_nonrigid", value="OFF")
    bpy.ops.ed.undo()
    assert [bone.two_phase_skin_nonrigid for bone in bpy.data.objects["Rig"].data.bones] == ["AUTO"] * 4


def test_without_selected_bones():
    _tube, rig, _skin = scene.skinned()
    pose_mode(rig)
    with pytest.raises(RuntimeError, match="Select bones in Pose Mode"):
        bpy.ops.pose.two_phase_skin_set()
