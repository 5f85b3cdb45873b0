"""The Rigify human with a body of 20,000 vertices and automatic weights, over its whole animation."""

import time

import bpy
import numpy as np
import scene

inputs = scene.extension("inputs")


def test_linear_is_the_armature_modifier_over_the_animation():
    body, _rig = scene.character()
    assert len(body.data.vertices) >= 20000
    scene.add_skin(body, method="LINEAR")
    largest = _largest_distance_over_animation(body, preserve_volume=False)
    print(f"linear: {largest:.2e} of the size")
    assert largest <= 1e-5


def test_linear_with_b_bones_is_the_armature_modifier_over_the_animation():
    body, rig = scene.character(segments=True)
    assert sum(bone.bbone_segments > 1 for bone in rig.data.bones) == 52
    scene.add_skin(body, method="LINEAR")
    largest = _largest_distance_over_animation(body, preserve_volume=False)
    print(f"linear with B-bones: {largest:.2e} of the size")
    assert largest <= 1e-5


def test_dual_quaternion_is_preserve_volume_over_the_animation_without_scale():
    body, rig = scene.character()
    _remove_scale_animation(rig)
    scene.add_skin(body, method="DUAL_QUATERNION")
    largest = _largest_distance_over_animation(body, preserve_volume=True)
    print(f"dual quaternion: {largest:.2e} of the size")
    assert largest <= 1e-5


def test_two_phase_moves_and_is_finite_over_the_animation():
    body, _rig = scene.character()
    scene.add_skin(body)
    rest = scene.points(body)
    previous = rest
    for frame in (5, 9, 14, 18, 33, 38, 43):
        bpy.context.scene.frame_set(frame)
        now = scene.points(body)
        assert np.isfinite(now).all()
        assert scene.distance(now, previous) > 1e-4
        previous = now


def test_the_cost_of_a_frame():
    for segments in (False, True):
        _compare_cost(segments)


def _compare_cost(segments):
    body, _rig = scene.character(segments)
    skin = scene.add_skin(body)
    with_skin = _milliseconds_a_frame()
    skin.show_viewport = False
    armature = next(modifier for modifier in body.modifiers if modifier.type == "ARMATURE")
    armature.show_viewport, armature.use_deform_preserve_volume = True, True
    with_armature = _milliseconds_a_frame()
    bones = "B-bones" if segments else "plain bones"
    print(f"frame_set with {bones}: Two-Phase Skin {with_skin:.1f} ms, Armature {with_armature:.1f} ms")


def _milliseconds_a_frame():
    times = []
    for frame in range(1, 25):
        start = time.perf_counter()
        bpy.context.scene.frame_set(frame)
        times.append(time.perf_counter() - start)
    return 1e3 * float(np.median(times))


def _largest_distance_over_animation(body, preserve_volume):
    """In fractions of the body's size; the same evaluation has both, by a copy of the body without the skin."""
    twin = body.copy()
    bpy.context.collection.objects.link(twin)
    for modifier in list(twin.modifiers):
        if modifier.type == "ARMATURE":
            modifier.show_viewport, modifier.use_deform_preserve_volume = True, preserve_volume
        else:
            twin.modifiers.remove(modifier)
    rest = scene.points(twin)
    largest = moved = 0.0
    for frame in range(1, 49):
        bpy.context.scene.frame_set(frame)
        expected = scene.points(twin)
        largest = max(largest, scene.distance(scene.points(body), expected))
        moved = max(moved, scene.distance(rest, expected))
    assert moved > 0.05 * scene.size(body)
    return largest / scene.size(body)


def _remove_scale_animation(rig):
    """Take the scale out of the animation, and out of what the rig makes of it: bones and IK that stretch."""
    rig.pose.bones["thigh_parent.R"]["IK_FK"] = 1.0  # the others are FK already
    for curve in list(scene.curves(rig)):
        if curve.data_path.endswith("scale"):
            scene.remove_curve(rig, curve)
    for bone in rig.pose.bones:
        bone.scale = (1, 1, 1)
        for constraint in bone.constraints:
            if constraint.type in {"STRETCH_TO", "COPY_SCALE", "MAINTAIN_VOLUME"}:
                constraint.mute = True
