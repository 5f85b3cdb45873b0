"""B-bones, envelopes and the ways of inheriting scale, against the Armature modifier."""

import bpy
import scene

inputs = scene.extension("inputs")


def segmented(segments=6):
    tube, rig = scene.tube()
    for bone in rig.data.bones:
        bone.bbone_segments = segments
    scene.add_skin(tube, method="LINEAR")
    scene.bend(rig)
    return tube, rig


def assert_follows(tube, preserve_volume=False):
    found = scene.points(tube)
    expected = scene.yardstick(tube, preserve_volume)
    scene.assert_differ(expected, scene.rest(tube), tube)
    scene.assert_same(found, expected, tube)


def test_segments():
    tube, rig = segmented()
    assert_follows(tube)
    scene.bend(rig, 0.4)
    assert_follows(tube)
    rig.data.bones["bone1"].bbone_segments = 1
    assert_follows(tube)
    rig.data.bones["bone2"].bbone_segments = 32
    assert_follows(tube)


def test_segments_preserve_volume():
    tube, rig = segmented()
    inputs.write(tube.modifiers["Two-Phase Skin"], "Method", "Dual Quaternion")
    scene.bend(rig, 0.5, scale=False)
    for bone in rig.pose.bones:
        bone.location = (0, 0, 0)  # a child that moves away stretches its parent's curve, which is scale
    assert_follows(tube, preserve_volume=True)
    tube.location, tube.rotation_euler = (0.3, -0.2, 0.1), (0.3, 0.1, -0.2)
    assert_follows(tube, preserve_volume=True)


def test_segments_bent_rolled_eased_and_scaled():
    tube, rig = segmented()
    bone = rig.pose.bones["bone1"]
    bone.bbone_curveinx, bone.bbone_curveoutz, bone.bbone_rollin, bone.bbone_rollout = 0.3, -0.4, 0.7, -0.5
    bone.bbone_easein, bone.bbone_easeout = 0.8, 1.7
    bone.bbone_scalein, bone.bbone_scaleout = (1.4, 0.8, 0.7), (0.6, 1.2, 1.3)
    assert_follows(tube)
    rest = rig.data.bones["bone2"]
    rest.bbone_curveinx, rest.bbone_curveoutz, rest.bbone_rollin = 0.2, 0.3, 0.6
    rest.bbone_easein, rest.bbone_scaleout = 1.3, (0.8, 1.1, 1.2)
    assert_follows(tube)
    rest.bbone_handle_type_start, rest.bbone_custom_handle_start = "ABSOLUTE", rig.data.bones["bone0"]
    rest.bbone_handle_use_scale_start = (True, True, True)
    assert_follows(tube)
    rest.bbone_mapping_mode = "CURVED"
    assert_follows(tube)


def test_segments_depend_on_where_the_mesh_is():
    tube, rig = segmented()
    tube.location.z = 0.37
    assert_follows(tube)
    rig.scale, rig.rotation_euler = (1.2, 0.9, 1.1), (0.1, 0.2, 0)
    assert_follows(tube)
    points = scene.rest(tube)
    points[:, 2] += 0.2
    tube.data.vertices.foreach_set("co", points.reshape(-1))
    tube.data.update()
    assert_follows(tube)


def test_segments_with_shape_keys():
    tube, rig = segmented()
    tube.shape_key_add(name="Basis")
    longer = tube.shape_key_add(name="longer")
    for point in longer.points:
        point.co.z *= 1.3
    longer.value = 0.6
    assert_follows(tube)
    scene.bend(rig, 0.3)
    assert_follows(tube)
    tube.vertex_groups.new(name="half").add(list(range(300)), 0.5, "REPLACE")
    tube.show_only_shape_key = True
    for index, group, mute in ((0, "", False), (1, "", False), (1, "half", False), (1, "", True)):
        tube.active_shape_key_index, longer.vertex_group, longer.mute = index, group, mute
        assert_follows(tube)


def test_two_phase_with_segments_is_exact_where_one_bone_has_all_weight():
    tube, _rig = segmented(4)
    for group in tube.vertex_groups:
        group.remove(list(range(len(tube.data.vertices))))
    tube.vertex_groups["bone2"].add(list(range(len(tube.data.vertices))), 1.0, "REPLACE")
    inputs.write(tube.modifiers["Two-Phase Skin"], "Method", "Two-Phase")
    skin = scene.points(tube)
    linear = scene.yardstick(tube)
    ends = [k for k, (x, y, z) in enumerate(scene.rest(tube)) if z < 2 or z > 3]  # beyond the curve: the last joints
    scene.assert_same(skin[ends], linear[ends], tube)


def test_envelopes():
    tube, rig = scene.tube()
    for bone in rig.data.bones:
        bone.envelope_distance, bone.envelope_weight = 0.45, 0.8
        bone.head_radius, bone.tail_radius = 0.15, 0.22
    armature = tube.modifiers["Armature"]
    for k in range(100, 250):
        for group in tube.vertex_groups:
            group.remove([k])
    for groups, envelopes, expected in ((False, True, "Bone Envelopes"), (True, True, "Both")):
        armature.use_vertex_groups, armature.use_bone_envelopes = groups, envelopes
        armature.show_viewport = True
        skin = scene.add_skin(tube, method="LINEAR")
        assert inputs.read(skin, "Bind To") == expected
        scene.bend(rig)
        assert_follows(tube)
        rig.data.bones["bone1"].envelope_distance = 0.3
        rig.data.bones["bone2"].head_radius = 0.05
        rig.data.bones["bone2"].envelope_weight = 0.4
        assert_follows(tube)
        rig.location.x = 0.05
        assert_follows(tube)
        rig.data.bones["bone0"].use_deform = False
        assert_follows(tube)
        rig.data.bones["bone0"].use_deform = True
        rig.data.bones["bone3"].bbone_segments = 5
        assert_follows(tube)
        inputs.write(skin, "Method", "Dual Quaternion")
        scene.bend(rig, 0.3, scale=False)
        rig.data.bones["bone3"].bbone_segments = 1
        assert_follows(tube, preserve_volume=True)
        tube.modifiers.remove(skin)


def test_multiply_vertex_group_with_envelope():
    tube, rig = scene.tube()
    scene.add_skin(tube, method="LINEAR")
    scene.bend(rig)
    bone = rig.data.bones["bone1"]
    bone.envelope_distance, bone.head_radius, bone.tail_radius = 0.4, 0.1, 0.25
    bone.use_envelope_multiply = True
    assert_follows(tube)
    bone.tail_radius = 0.01
    assert_follows(tube)
    bone.use_envelope_multiply = False
    assert_follows(tube)


def test_all_ways_of_inheriting_scale():
    tube, rig = scene.tube()
    skin = scene.add_skin(tube, method="LINEAR")
    scene.bend(rig)
    shapes = {}
    for mode in ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"):
        for bone in rig.data.bones:
            bone.inherit_scale = mode
        assert_follows(tube)
        inputs.write(skin, "Method", "Two-Phase")
        shapes[mode] = scene.points(tube)
        inputs.write(skin, "Method", "Linear")
    scene.assert_differ(shapes["FULL"], shapes["NONE"], tube)


def test_inheriting_scale_is_overridden_for_each_bone():
    tube, rig = scene.tube()
    skin = scene.add_skin(tube)
    scene.bend(rig)
    bone = rig.data.bones["bone2"]

    def shape(mode, setting):
        bone.inherit_scale, bone.two_phase_skin_scale = mode, setting
        return scene.points(tube)

    for mode, same, other in (("FULL", "YES", "NO"), ("NONE", "NO", "YES")):
        expected = shape(mode, "AUTO")
        scene.assert_same(shape(mode, same), expected, tube)
        scene.assert_differ(shape(mode, other), expected, tube, 1e-3)
    scene.activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert rig.data.bones["bone2"].two_phase_skin_scale == "YES"
    inputs.write(skin, "Method", "Linear")
    assert_follows(tube)


def assert_sees_other_parents(hidden):
    tube, rig = scene.tube()
    skin = scene.add_skin(tube)
    scene.bend(rig)
    rig.pose.bones["bone1"].scale = (1, 1.5, 1)
    before = scene.points(tube)
    skin.show_viewport = skin.show_render = not hidden
    scene.activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    bones["bone3"].use_connect = False
    bones["bone3"].parent = bones["bone0"]
    bpy.ops.object.mode_set(mode="OBJECT")
    skin.show_viewport = skin.show_render = True
    found = scene.points(tube)
    scene.assert_differ(found, before, tube, 1e-3)
    tube.modifiers.remove(skin)
    scene.add_skin(tube)
    scene.assert_same(found, scene.points(tube), tube)


def test_other_parents():
    assert_sees_other_parents(hidden=False)


def test_other_parents_while_the_skin_is_hidden():
    assert_sees_other_parents(hidden=True)


def test_bone_flags_do_not_matter():
    tube, rig = scene.tube()
    scene.add_skin(tube, method="LINEAR")
    scene.bend(rig)
    for name in ("use_local_location", "use_inherit_rotation"):
        setattr(rig.data.bones["bone2"], name, False)
        assert_follows(tube)


def test_constraints_and_drivers_pose_it():
    tube, rig = scene.tube()
    scene.add_skin(tube, method="LINEAR")
    target = bpy.data.objects.new("Target", None)
    bpy.context.collection.objects.link(target)
    target.location = (1, 1, 3)
    ik = rig.pose.bones["bone3"].constraints.new("IK")
    ik.target = target
    assert_follows(tube)
    target.location = (-1, 0.5, 2)
    assert_follows(tube)
    rig.pose.bones["bone0"].driver_add("scale", 0).driver.expression = "1 + frame / 20"
    bpy.context.scene.frame_set(9)
    assert_follows(tube)


def test_segments_whose_rest_is_driven_and_animated():
    tube, rig = segmented()
    driver = rig.data.bones["bone1"].driver_add("bbone_easeout").driver
    driver.expression = "0.5 + frame / 20"
    scene.animate(rig)
    rest = rig.data.bones["bone2"]
    for frame, curve in ((1, 0.0), (20, 0.5)):
        rest.bbone_curveinx = curve
        assert rest.keyframe_insert("bbone_curveinx", frame=frame)
    for frame in (3, 8, 15):
        bpy.context.scene.frame_set(frame)
        assert_follows(tube)
    rig.data.bones["bone0"].name = "renamed"
    bpy.context.scene.frame_set(9)
    assert_follows(tube)
