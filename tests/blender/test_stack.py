"""What stands above and below a skin in the stack: exact, or refused in words; never silently wrong."""

import bpy
import pytest
import scene

inputs = scene.extension("inputs")


def linear():
    tube, rig = scene.tube()
    scene.add_skin(tube, method="LINEAR")
    scene.bend(rig)
    return tube, rig


def assert_follows(tube, preserve_volume=False):
    found = scene.points(tube)
    expected = scene.yardstick(tube, preserve_volume)
    scene.assert_same(found, expected, tube)


def keys_of(tube):
    """Three shape keys: one above the other, one masked by a vertex group."""
    tube.shape_key_add(name="Basis")
    for name, scale in (("wide", (1.5, 1.2, 1)), ("tall", (1, 1, 1.2)), ("thin", (0.6, 0.5, 1.05))):
        key = tube.shape_key_add(name=name)
        for point in key.points:
            point.co = [c * s for c, s in zip(point.co, scale, strict=True)]
    keys = tube.data.shape_keys.key_blocks
    keys["tall"].relative_key = keys["wide"]
    mask = tube.vertex_groups.new(name="upper half")
    mask.add(list(range(300, len(tube.data.vertices))), 0.7, "REPLACE")
    keys["thin"].vertex_group = "upper half"
    return keys


def test_relative_shape_keys():
    tube, rig = linear()
    keys = keys_of(tube)
    assert_follows(tube)
    for name, value in (("wide", 0.7), ("tall", 1.0), ("thin", 0.4)):
        keys[name].value = value
        assert_follows(tube)
    keys["wide"].mute = True
    assert_follows(tube)
    scene.bend(rig, 0.4)
    assert_follows(tube)
    for point in keys["thin"].points:
        point.co.x += 0.05
    tube.data.update_tag()
    assert_follows(tube)
    tube.vertex_groups["upper half"].add(list(range(100, 200)), 1, "REPLACE")
    assert_follows(tube)


def test_shape_keys_driven_by_bones_and_animated():
    tube, rig = linear()
    keys = keys_of(tube)
    driver = keys["wide"].driver_add("value").driver
    variable = driver.variables.new()
    variable.type = "SINGLE_PROP"
    variable.targets[0].id = rig
    variable.targets[0].data_path = 'pose.bones["bone1"].rotation_euler[0]'
    driver.expression = "abs(var)"
    for frame, value in ((1, 0.0), (11, 1.0)):
        keys["tall"].value = value
        keys["tall"].keyframe_insert("value", frame=frame)
    scene.animate(rig)
    for frame in (3, 9, 15):
        bpy.context.scene.frame_set(frame)
        assert keys["wide"].value > 0
        assert_follows(tube)
    rig.pose.bones["bone1"].rotation_euler.x = 0.9
    assert_follows(tube)


def test_pinned_and_absolute_shape_keys():
    tube, rig = linear()
    keys_of(tube)
    tube.show_only_shape_key = True
    for index in range(len(tube.data.shape_keys.key_blocks)):
        tube.active_shape_key_index = index
        assert_follows(tube)
    tube.show_only_shape_key = False
    keys = tube.data.shape_keys
    keys.use_relative = False
    for time in (0, 7, 18, 25):
        keys.eval_time = time
        assert_follows(tube)
    scene.bend(rig, 0.3)
    assert_follows(tube)


DEFORMING = {
    "CAST": {"factor": 0.5},
    "CORRECTIVE_SMOOTH": {"factor": 0.9, "iterations": 9},
    "CURVE": {},
    "DISPLACE": {"strength": 0.2},
    "HOOK": {},
    "LAPLACIANSMOOTH": {"lambda_factor": 0.9},
    "LATTICE": {},
    "SHRINKWRAP": {},
    "SIMPLE_DEFORM": {"angle": 1.0},
    "SMOOTH": {"iterations": 5},
    "WARP": {},
    "WAVE": {"height": 0.3},
}


def test_deforming_modifiers_above():
    tube, rig = linear()
    for kind, settings in DEFORMING.items():
        modifier = _on_top(tube, kind, settings)
        for method, preserve in (("Linear", False), ("Dual Quaternion", True)):
            inputs.write(tube.modifiers["Two-Phase Skin"], "Method", method)
            scene.bend(rig, 0.6, scale=not preserve)
            found, expected = scene.points(tube), scene.yardstick(tube, preserve)
            assert scene.distance(found, expected) <= 1e-5 * scene.size(tube), kind
        assert inputs.read(tube.modifiers["Two-Phase Skin"], "Message") == ""
        tube.modifiers.remove(modifier)
        inputs.write(tube.modifiers["Two-Phase Skin"], "Method", "Linear")
        assert_follows(tube)


def test_what_deforms_above_is_animated():
    tube, rig = linear()
    scene.animate(rig)
    _on_top(tube, "WAVE", {"height": 0.3, "speed": 0.5})
    for frame in (2, 9, 17):
        bpy.context.scene.frame_set(frame)
        assert_follows(tube)


COPYING = {
    "ARRAY": {"count": 3},
    "BUILD": {"frame_start": -9, "frame_duration": 20},
    "EDGE_SPLIT": {"split_angle": 0.1},
    "MASK": {"vertex_group": "bone1"},
    "SOLIDIFY": {"thickness": 0.1},
    "TRIANGULATE": {},
    "MIRROR": {},
}


def test_modifiers_above_that_copy_or_drop_points():
    tube, rig = linear()
    for kind, settings in COPYING.items():
        modifier = _on_top(tube, kind, settings)
        for method, preserve in (("Linear", False), ("Dual Quaternion", True)):
            inputs.write(tube.modifiers["Two-Phase Skin"], "Method", method)
            scene.bend(rig, 0.6, scale=not preserve)
            found, expected = scene.points(tube), scene.yardstick(tube, preserve)
            assert len(found) == len(expected), kind
            assert scene.distance(found, expected) <= 1e-5 * scene.size(tube), kind
        assert inputs.read(tube.modifiers["Two-Phase Skin"], "Message") == ""
        tube.modifiers.remove(modifier)


REFUSED = {
    "BEVEL": {},
    "DECIMATE": {"ratio": 0.5},
    "REMESH": {},
    "SUBSURF": {},
    "WELD": {"merge_threshold": 0.05},
    "WIREFRAME": {},
    "VERTEX_WEIGHT_EDIT": {"vertex_group": "bone1"},
}


def test_modifiers_above_that_make_new_points_or_weights_are_refused():
    tube, _rig = linear()
    skin = tube.modifiers["Two-Phase Skin"]
    for kind, settings in REFUSED.items():
        modifier = _on_top(tube, kind, settings)
        shown = scene.points(tube)
        assert f'"{modifier.name}" above changes' in inputs.read(skin, "Message"), kind
        assert "move it below Two-Phase Skin" in inputs.read(skin, "Message"), kind
        skin.show_viewport = False
        scene.assert_same(shown, scene.points(tube), tube)  # nothing half deformed
        skin.show_viewport = True
        modifier.show_viewport = False
        assert_follows(tube)
        assert inputs.read(skin, "Message") == ""
        tube.modifiers.remove(modifier)


def test_a_mirror_that_flips_groups_is_refused():
    tube, _rig = linear()
    tube.vertex_groups.new(name="hand.L")
    tube.vertex_groups.new(name="hand.R")
    mirror = _on_top(tube, "MIRROR", {})
    scene.points(tube)
    assert f'"{mirror.name}" above' in inputs.read(tube.modifiers["Two-Phase Skin"], "Message")
    mirror.use_mirror_vertex_groups = False
    assert_follows(tube)


def test_the_operator_refuses_a_place_below_such_a_modifier():
    tube, rig = scene.tube()
    _on_top(tube, "SUBSURF", {})
    scene.bend(rig)
    expected = scene.points(tube)
    with pytest.raises(RuntimeError, match='"SUBSURF" above changes the points'):
        bpy.ops.object.two_phase_skin_add()
    assert [modifier.name for modifier in tube.modifiers] == ["SUBSURF", "Armature"]
    scene.assert_same(scene.points(tube), expected, tube)


def test_node_groups_above():
    tube, rig = linear()
    tree = bpy.data.node_groups.new("Shift", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    source, target = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    move = tree.nodes.new("GeometryNodeSetPosition")
    move.inputs["Offset"].default_value = (0.1, 0.2, 0.3)
    tree.links.new(source.outputs[0], move.inputs[0])
    tree.links.new(move.outputs[0], target.inputs[0])
    modifier = _on_top(tube, "NODES", {})
    modifier.node_group = tree
    assert_follows(tube)
    subdivide = tree.nodes.new("GeometryNodeSubdivideMesh")
    tree.links.new(move.outputs[0], subdivide.inputs[0])
    tree.links.new(subdivide.outputs[0], target.inputs[0])
    scene.points(tube)
    assert f'"{modifier.name}" above' in inputs.read(tube.modifiers["Two-Phase Skin"], "Message")
    scene.bend(rig, 0.2)
    tree.links.new(move.outputs[0], target.inputs[0])
    tree.nodes.remove(subdivide)
    assert_follows(tube)


def test_modifiers_below_see_the_deformed_mesh():
    tube, _rig = linear()
    for kind, settings in {
        "CORRECTIVE_SMOOTH": {"iterations": 5},
        "SUBSURF": {"levels": 1},
        "SOLIDIFY": {"thickness": 0.05},
        "MIRROR": {},
    }.items():
        modifier = tube.modifiers.new(kind, kind)
        for name, value in settings.items():
            setattr(modifier, name, value)
    assert_follows(tube)


def test_a_surface_deform_on_another_object():
    tube, rig = scene.tube()
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.4, location=(0, 0, 2))
    ball = bpy.context.object
    surface = ball.modifiers.new("Surface", "SURFACE_DEFORM")
    surface.target = tube
    bpy.ops.object.surfacedeform_bind(modifier="Surface")
    assert surface.is_bound
    scene.add_skin(tube, method="LINEAR")
    scene.bend(rig)
    found = scene.points(ball)
    tube.modifiers["Two-Phase Skin"].show_viewport = False
    tube.modifiers["Armature"].show_viewport = True
    scene.assert_same(found, scene.points(ball), ball)


def test_it_is_moved_and_muted_in_the_stack():
    tube, rig = linear()
    _on_top(tube, "LATTICE", {})
    assert_follows(tube)
    index = tube.modifiers.find("Two-Phase Skin")
    tube.modifiers.move(index, 0)
    tube.modifiers.move(tube.modifiers.find("Armature"), 1)
    assert_follows(tube)
    skin = tube.modifiers["Two-Phase Skin"]
    skin.show_viewport = False
    undeformed = scene.points(tube)
    scene.bend(rig, 0.2)
    scene.assert_same(scene.points(tube), undeformed, tube)
    skin.show_viewport = True
    assert_follows(tube)


def _on_top(tube, kind, settings):
    """A modifier of that kind at the top of the stack, with what it needs to do something."""
    modifier = tube.modifiers.new(kind, kind)
    for name, value in settings.items():
        setattr(modifier, name, value)
    target = _target_of(kind)
    if target is not None:
        bpy.context.collection.objects.link(target)
        if kind == "WARP":
            modifier.object_from, modifier.object_to = target, bpy.data.objects["Rig"]
        elif kind == "SHRINKWRAP":
            modifier.target = target
        else:
            modifier.object = target
    tube.modifiers.move(tube.modifiers.find(modifier.name), 0)
    return modifier


def _target_of(kind):
    if kind == "LATTICE":
        lattice = bpy.data.objects.new("Lattice", bpy.data.lattices.new("Lattice"))
        lattice.scale = (1, 1, 5)
        lattice.data.points[0].co_deform.x += 0.7
        lattice.data.points[5].co_deform.z -= 0.4
        return lattice
    if kind == "CURVE":
        curve = bpy.data.curves.new("Curve", "CURVE")
        curve.dimensions = "3D"
        spline = curve.splines.new("POLY")
        spline.points.add(2)
        for point, place in zip(spline.points, ((0, 0, 0), (2, 1, 0), (5, 0, 1)), strict=True):
            point.co = (*place, 1)
        return bpy.data.objects.new("Curve", curve)
    if kind == "SHRINKWRAP":
        mesh = bpy.data.meshes.new("Wall")
        mesh.from_pydata([(-9, 2, -9), (9, 2, -9), (9, 1, 9), (-9, 1, 9)], [], [(0, 1, 2, 3)])
        return bpy.data.objects.new("Wall", mesh)
    if kind in {"HOOK", "WARP"}:
        empty = bpy.data.objects.new("Empty", None)
        empty.location = (0.5, 0.3, 2)
        return empty
    return None


def test_what_needs_the_points_before_something_moves_them_is_refused_by_name():
    tube, rig = linear()
    skin = tube.modifiers["Two-Phase Skin"]
    cast = tube.modifiers.new("My Cast", "CAST")
    cast.factor = 0.2
    tube.modifiers.move(len(tube.modifiers) - 1, 0)
    scene.assert_same(scene.points(tube), scene.yardstick(tube), tube)

    def assert_refused(*words):
        found = scene.points(tube)
        message = inputs.read(skin, "Message")
        assert all(word in message for word in words), message
        skin.show_viewport = False
        scene.assert_same(found, scene.points(tube), tube)
        skin.show_viewport = True

    rig.data.bones["bone1"].bbone_segments = 4
    assert_refused('"My Cast"', "below")
    rig.data.bones["bone1"].bbone_segments = 1
    inputs.write(skin, "Bind To", "Both")
    assert_refused('"My Cast"', "below")
    cast.show_viewport = False
    keys_of(tube)
    tube.data.shape_keys.use_relative = False
    assert_refused("Relative")
    inputs.write(skin, "Bind To", "Vertex Groups")
    scene.assert_same(scene.points(tube), scene.yardstick(tube), tube)
    assert inputs.read(skin, "Message") == ""


def test_multi_modifier():
    tube, rig = scene.tube()
    second = scene.chain(4)
    modifier = tube.modifiers.new("Second", "ARMATURE")
    modifier.object, modifier.use_multi_modifier = second, True
    group = tube.vertex_groups.new(name="first only")
    for vertex in range(len(tube.data.vertices)):
        group.add([vertex], (vertex % 5) / 4, "REPLACE")
    for name, invert in (("", False), ("first only", False), ("first only", True)):
        modifier.vertex_group, modifier.invert_vertex_group = name, invert
        for each in tube.modifiers:
            each.show_viewport = True
        scene.bend(rig, 0.7)
        scene.bend(second, -0.3)
        expected = scene.points(tube)
        scene.add_skin(tube, method="LINEAR")
        skins = [each for each in tube.modifiers if each.type == "NODES"]
        assert [inputs.read(skin, "Multi Modifier") for skin in skins] == [False, True]
        scene.assert_same(scene.points(tube), expected, tube)
        scene.bend(second, 0.4)
        # Blender's own needs the two side by side to know what was there before the first.
        found = scene.points(tube)
        for skin in skins:
            tube.modifiers.remove(skin)
        for each in tube.modifiers:
            each.show_viewport = True
        scene.assert_same(found, scene.points(tube), tube)
