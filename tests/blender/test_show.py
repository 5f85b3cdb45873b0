"""Looking at the deformation in its phases, and blending it with Linear, against the core asked directly."""

import itertools

import bpy
import numpy as np
import scene

inputs = scene.extension("inputs")
schema = scene.extension("modifier.schema")

SHOWN = ("Rest", "After Phase 1", "After Phase 2", "Final")


def skinned(**options):
    """A tube whose first bone stops its scale and whose second one passes it on, so that all stages differ."""
    tube, rig = scene.tube()
    rig.data.bones["bone1"].inherit_scale = "NONE"
    skin = scene.add_skin(tube, **options)
    scene.bend(rig)
    bpy.context.view_layer.update()
    return tube, rig, skin


def stages(tube, skin):
    result = []
    for name in SHOWN:
        inputs.write(skin, "Show", name)
        result.append(scene.points(tube))
    return result


def by_stage(tube, skin, stage):
    inputs.write(skin, "Show", "By Stage")
    inputs.write(skin, "Stage", stage)
    return scene.points(tube)


def test_each_phase_is_shown():
    tube, _rig, skin = skinned()
    final = scene.points(tube)
    found = stages(tube, skin)
    scene.assert_same(found[0], scene.rest(tube), tube)
    scene.assert_same(found[3], final, tube)
    for first, second in itertools.pairwise(found):
        scene.assert_differ(first, second, tube)


def test_phase_1_moves_no_head_of_a_bone_and_phase_2_is_rigid_where_one_bone_moves_all():
    tube, _rig, skin = skinned()
    for name in ("bone0", "bone2", "bone3"):
        tube.vertex_groups.remove(tube.vertex_groups[name])
    one = scene.rest(tube)[:, 2]
    whole = np.flatnonzero(abs(one - 1.5) < 0.85)  # those that have a weight on bone1
    rest, scaled, turned, _final = (points[whole] for points in stages(tube, skin))
    assert scene.distance(rest, scaled) > 0.05
    gaps = [np.linalg.norm(points[:, None] - points[None], axis=2) for points in (scaled, turned)]
    assert np.abs(gaps[0] - gaps[1]).max() < 1e-5


def test_the_slider_runs_through_all_stages_without_a_jump():
    for method in ("TWO_PHASE", "DUAL_QUATERNION"):
        tube, _rig, skin = skinned(method=method)
        found = stages(tube, skin)
        for k, expected in enumerate(found):
            scene.assert_same(by_stage(tube, skin, k), expected, tube)
        for k in range(3):
            middle = by_stage(tube, skin, k + 0.25)
            scene.assert_same(middle, 0.75 * found[k] + 0.25 * found[k + 1], tube)
        scene.empty()


def test_linear_has_one_phase():
    tube, _rig, skin = skinned(method="LINEAR")
    final, rest = scene.points(tube), scene.rest(tube)
    found = stages(tube, skin)
    for shown, expected in zip(found, (rest, final, final, final), strict=True):
        scene.assert_same(shown, expected, tube)
    scene.assert_same(by_stage(tube, skin, 0.5), (rest + final) / 2, tube)


def test_stages_of_a_mesh_that_something_above_moves():
    tube, _rig, skin = skinned()
    expected = [*stages(tube, skin), by_stage(tube, skin, 1.5)]
    wave = tube.modifiers.new("Cast", "CAST")
    wave.factor = 0
    tube.modifiers.move(len(tube.modifiers) - 1, 0)
    bpy.context.view_layer.update()
    evaluated = tube.evaluated_get(bpy.context.evaluated_depsgraph_get()).modifiers[skin.name]
    mode = schema.Mode.MATRICES
    assert inputs.read(evaluated, "Tick") == schema.tick(mode, mode, schema.Mask.NONE, True)
    for found, wanted in zip([*stages(tube, skin), by_stage(tube, skin, 1.5)], expected, strict=True):
        scene.assert_same(found, wanted, tube)


def test_the_slider_is_animated():
    tube, _rig, skin = skinned()
    inputs.write(skin, "Show", "By Stage")
    for frame, stage in ((1, 0.0), (31, 3.0)):
        inputs.write(skin, "Stage", stage)
        assert tube.keyframe_insert(inputs.data_path(skin, "Stage"), frame=frame)
    for curve in scene.curves(tube):
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    found = []
    for frame in (1, 11, 21, 31):
        bpy.context.scene.frame_set(frame)
        found.append(scene.points(tube))
    tube.animation_data_clear()
    for shown, expected in zip(found, stages(tube, skin), strict=True):
        scene.assert_same(shown, expected, tube)


def test_blend_by_value_and_by_group():
    tube, _rig, skin = skinned()
    two_phase = scene.points(tube)
    inputs.write(skin, "Method", "Linear")
    linear = scene.points(tube)
    scene.assert_differ(two_phase, linear, tube)
    inputs.write(skin, "Method", "Two-Phase")
    for blend in (0.0, 0.3, 1.0):
        inputs.write(skin, "Blend", blend)
        scene.assert_same(scene.points(tube), linear + blend * (two_phase - linear), tube)
    mask = tube.vertex_groups.new(name="blend")
    factors = np.arange(len(tube.data.vertices)) % 7 / 6
    for vertex, factor in enumerate(factors):
        mask.add([vertex], factor, "REPLACE")
    inputs.write_group(skin, "Blend", "blend")
    scene.assert_same(scene.points(tube), linear + factors[:, None] * (two_phase - linear), tube)
    for vertex in range(len(tube.data.vertices)):
        mask.add([vertex], 0.5, "REPLACE")
    tube.data.update()
    scene.assert_same(scene.points(tube), (linear + two_phase) / 2, tube)
    inputs.write_group(skin, "Blend", "nowhere")  # nodes read 0 where there is nothing
    scene.assert_same(scene.points(tube), linear, tube)


def test_blend_by_an_attribute():
    tube, _rig, skin = skinned()
    two_phase = scene.points(tube)
    inputs.write(skin, "Blend", 0)
    linear = scene.points(tube)
    factors = (np.arange(len(tube.data.vertices)) % 5 / 4).astype(np.float32)
    tube.data.attributes.new("soft", "FLOAT", "POINT").data.foreach_set("value", factors)
    inputs.write_group(skin, "Blend", "soft")
    scene.assert_same(scene.points(tube), linear + factors[:, None] * (two_phase - linear), tube)


def _make_old(tree):
    """What version 1 of the group was: without the inputs and panels that came later."""
    for item in list(tree.interface.items_tree):
        if item.item_type == "PANEL" or item.name in ("Blend", "Show", "Stage"):
            tree.interface.remove(item)
    tree[schema.MARK] = 1


def test_a_file_with_a_group_of_an_older_version():
    tube, _rig, skin = skinned(method="DUAL_QUATERNION")
    inputs.write(skin, "Factor", 0.75)
    inputs.write(skin, "Inherited Scale", "Before Bend")
    bpy.context.view_layer.update()
    expected = scene.points(tube)
    _make_old(skin.node_group)
    path = scene.temporary("old.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    tube = bpy.data.objects["Tube"]
    skin = tube.modifiers["Two-Phase Skin"]
    bpy.context.view_layer.update()
    assert skin.node_group[schema.MARK] == schema.VERSION
    assert inputs.read(skin, "Method") == "Dual Quaternion" and inputs.read(skin, "Factor") == 0.75
    assert inputs.read(skin, "Inherited Scale") == "Before Bend" and inputs.read(skin, "Show") == "Final"
    assert inputs.read(skin, "Blend") == 1.0
    scene.assert_same(scene.points(tube), expected, tube)
    inputs.write(skin, "Show", "Rest")
    scene.assert_same(scene.points(tube), scene.rest(tube), tube)


def test_a_linked_group_of_an_older_version_is_brought_up_to_date():
    tube, _rig, skin = skinned()
    expected = scene.points(tube)
    _make_old(skin.node_group)
    path = scene.temporary("old_library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    scene.empty()
    with bpy.data.libraries.load(path, link=True) as (source, target):
        target.collections = source.collections
        target.scenes = source.scenes
    for obj in target.scenes[0].objects:
        bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.update()
    tube = next(obj for obj in bpy.context.scene.objects if obj.type == "MESH")
    skin = tube.modifiers["Two-Phase Skin"]
    assert skin.node_group.library is not None and schema.version_of(skin.node_group) == schema.VERSION
    assert inputs.read(skin, "Show") == "Final" and inputs.read(skin, "Blend") == 1.0
    scene.assert_same(scene.points(tube), expected, tube)


def test_blender_does_not_grey_out_what_it_should_not():
    """Since 4.5 Blender greys out the inputs that have no effect on the nodes' result."""
    if bpy.app.version < (4, 5, 0):
        return
    _tube, _rig, skin = skinned()
    tree = bpy.data.node_groups.new("Around", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    inner = tree.nodes.new("GeometryNodeGroup")
    inner.node_tree = skin.node_group
    tree.links.new(inner.outputs[0], tree.nodes.new("NodeGroupOutput").inputs[0])
    bpy.context.view_layer.update()
    hidden = schema.HIDDEN
    assert [s.name for s in inner.inputs if s.is_inactive and s.name not in hidden] == ["Stage"]
    inner.inputs["Show"].default_value = "By Stage"
    bpy.context.view_layer.update()
    assert [s.name for s in inner.inputs if s.is_inactive and s.name not in hidden] == []


def test_the_inputs_are_in_panels():
    _tube, _rig, skin = skinned()
    items = [
        (item.parent.name, item.name) for item in skin.node_group.interface.items_tree if item.item_type == "SOCKET"
    ]
    shown = [pair for pair in items if pair[1] not in {"Geometry"} | schema.HIDDEN]
    assert shown == [
        ("", "Armature"), ("", "Method"), ("", "Inherited Scale"), ("", "Blend"),
        ("Influence", "Factor"), ("Influence", "Vertex Group"), ("Influence", "Invert"),
        ("Binding", "Bind To"), ("Binding", "Multi Modifier"),
        ("Phases", "Show"), ("Phases", "Stage"),
    ]  # fmt: skip


def test_a_bone_can_be_left_out_of_a_phase():
    tube, rig, _skin = skinned()
    bones = rig.data.bones
    for bone in bones:
        bone.inherit_scale = "NONE"
        rig.pose.bones[bone.name].location = (0, 0, 0)
    everything = scene.points(tube)
    for bone in bones:
        bone.two_phase_skin_nonrigid = "OFF"
    without_scale = scene.points(tube)
    scene.assert_differ(without_scale, everything, tube)
    for pose_bone in rig.pose.bones:
        pose_bone.scale = (1, 1, 1)
    unscaled = scene.points(tube)
    scene.assert_same(without_scale, unscaled, tube)
    for bone in bones:
        bone.two_phase_skin_nonrigid, bone.two_phase_skin_rigid = "ON", "OFF"
    scene.assert_same(scene.points(tube), scene.rest(tube), tube)
    for bone in bones:
        bone.two_phase_skin_rigid = "AUTO"
    scene.assert_same(scene.points(tube), unscaled, tube)
