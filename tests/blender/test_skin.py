"""A skin on a small tube: it equals the Armature modifier, and follows what is done to it."""

import bpy
import scene

inputs = scene.extension("inputs")


def test_linear_is_the_armature_modifier():
    tube, rig = scene.tube()
    rest = scene.points(tube)
    scene.add_skin(tube, method="LINEAR")
    scene.bend(rig)
    bpy.context.view_layer.update()
    expected = scene.yardstick(tube)
    scene.assert_differ(expected, rest, tube)
    scene.assert_same(scene.points(tube), expected, tube)


def test_dual_quaternion_is_preserve_volume_without_scale():
    tube, rig = scene.tube()
    scene.add_skin(tube, method="DUAL_QUATERNION")
    scene.bend(rig, scale=False)
    bpy.context.view_layer.update()
    expected = scene.yardstick(tube, preserve_volume=True)
    scene.assert_same(scene.points(tube), expected, tube)


def test_two_phase_is_preserve_volume_without_scale():
    tube, rig = scene.tube()
    scene.add_skin(tube)
    scene.bend(rig, scale=False)
    bpy.context.view_layer.update()
    scene.assert_same(scene.points(tube), scene.yardstick(tube, preserve_volume=True), tube)
    scene.bend(rig, scale=True)
    bpy.context.view_layer.update()
    scene.assert_differ(scene.points(tube), scene.yardstick(tube, preserve_volume=True), tube)
