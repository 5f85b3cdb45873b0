"""The recipes of the manual (docs/manual/recipes.md), step by step on the Rigify human: each does what it says."""

import bpy
import numpy as np
import scene

inputs = scene.extension("inputs")
upkeep = scene.extension("live.upkeep")
compare = scene.extension("operators.compare")


def human():
    body, rig = scene.character()
    rig.animation_data_clear()
    for pose_bone in rig.pose.bones:
        pose_bone.matrix_basis.identity()
    scene.add_skin(body)
    bpy.context.view_layer.update()
    return body, rig


def scale_of(rig, name):
    return np.array(rig.pose.bones[name].matrix.to_scale())


def stretch_the_arm(rig):
    rig.pose.bones["upper_arm_parent.L"]["IK_FK"] = 1.0
    rig.pose.bones["upper_arm_fk.L"].scale = (0.8, 1.4, 0.8)
    forearm = rig.pose.bones["forearm_fk.L"]
    forearm.rotation_mode, forearm.rotation_euler = "XYZ", (1.6, 0.9, 0)
    bpy.context.view_layer.update()


def test_squash_and_stretch():
    body, rig = human()
    stretch_the_arm(rig)
    assert scale_of(rig, "DEF-upper_arm.L")[1] > 1.3
    assert compare.measure(bpy.context, body).largest > 0.01  # what linear skinning loses at the elbow
    assert abs(scale_of(rig, "DEF-forearm.L") - 1).max() > 0.02
    rig.data.bones["forearm_fk.L"].inherit_scale = "NONE"
    bpy.context.view_layer.update()
    assert abs(scale_of(rig, "DEF-forearm.L") - 1).max() < 0.01


def test_a_support_joint():
    body, rig = human()
    before = scene.points(body)
    assert upkeep.roles_of(rig, "torso") == [(body.name, "support")]
    rig.pose.bones["torso"].scale = (1.4, 0.7, 1.4)
    bpy.context.view_layer.update()
    squashed = scene.points(body)
    assert scene.distance(squashed, before) > 0.3
    rig.data.bones["torso"].two_phase_skin_nonrigid = "OFF"
    assert scene.distance(scene.points(body), squashed) > 0.3
    rig.data.bones["torso"].two_phase_skin_nonrigid = "AUTO"
    scene.assert_same(scene.points(body), squashed, body)


def test_blend_by_hand():
    body, rig = human()
    stretch_the_arm(rig)
    skin = body.modifiers["Two-Phase Skin"]
    bpy.context.view_layer.update()
    two_phase = scene.points(body)
    inputs.write(skin, "Blend", 0)
    linear = scene.points(body)
    assert scene.distance(two_phase, linear) > 0.01
    group = body.vertex_groups.new(name="left")
    left = scene.rest(body)[:, 0] > 0
    group.add(np.flatnonzero(left).tolist(), 1, "REPLACE")
    assert left.any() and not left.all()
    inputs.write_group(skin, "Blend", "left")
    scene.assert_same(scene.points(body), np.where(left[:, None], two_phase, linear), body)
