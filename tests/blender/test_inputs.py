"""Reading and setting a skin's inputs from scripts, the same in every version of Blender."""

import bpy
import pytest
import scene

inputs = scene.extension("inputs")


def test_what_is_written_is_read():
    tube, rig = scene.tube()
    skin = scene.add_skin(tube)
    for name, values in {
        "Method": ("Linear", "Dual Quaternion", "Two-Phase"),
        "Inherited Scale": ("Before Bend", "After Bend"),
        "Factor": (0.25, 1, 0),
        "Vertex Group": (0.5, 1.0),
        "Invert": (True, False),
        "Armature": (None, rig),
    }.items():
        for value in values:
            inputs.write(skin, name, value)
            assert inputs.read(skin, name) == value, name
    inputs.write_group(skin, "Vertex Group", "bone0")
    assert inputs.read_group(skin, "Vertex Group") == "bone0"
    inputs.write_group(skin, "Vertex Group", "")
    assert inputs.read_group(skin, "Vertex Group") == ""


def test_what_is_written_is_shown():
    tube, rig = scene.tube()
    skin = scene.add_skin(tube)
    rest = scene.points(tube)
    scene.bend(rig)
    two_phase = scene.points(tube)
    inputs.write(skin, "Method", "Linear")
    linear = scene.points(tube)
    scene.assert_differ(linear, two_phase, tube)
    inputs.write(skin, "Factor", 0.25)
    scene.assert_same(scene.points(tube), rest + 0.25 * (linear - rest), tube)
    inputs.write(skin, "Factor", 1)
    inputs.write(skin, "Armature", None)
    scene.assert_same(scene.points(tube), rest, tube)
    assert inputs.read(skin, "Message") == "Choose an armature"
    inputs.write(skin, "Armature", rig)
    inputs.write(skin, "Method", "Two-Phase")
    scene.assert_same(scene.points(tube), two_phase, tube)
    assert inputs.read(skin, "Message") == ""


def test_wrong_names_list_the_right_ones():
    tube, _rig = scene.tube()
    skin = scene.add_skin(tube)
    with pytest.raises(KeyError, match=r"no input 'Methode'; it has Armature, Method"):
        inputs.read(skin, "Methode")
    with pytest.raises(ValueError, match=r"expected one of Two-Phase, Linear, Dual Quaternion"):
        inputs.write(skin, "Method", "linear")


def refused(error, action, *arguments):
    with pytest.raises(error) as caught:
        action(*arguments)
    return str(caught.value.args[0])


def test_numbers_out_of_range_and_values_of_other_types_are_refused():
    tube, _rig = scene.tube()
    skin = scene.add_skin(tube)
    for name, most in (("Factor", "1"), ("Blend", "1"), ("Vertex Group", "1"), ("Stage", "3")):
        before = inputs.read(skin, name)
        for value in (-0.01, 3.5, float("nan")):
            said = refused(ValueError, inputs.write, skin, name, value)
            assert said == f"{name}: {value}; expected a number from 0 to {most}"
        assert "expected a number" in refused(TypeError, inputs.write, skin, name, "half")
        assert inputs.read(skin, name) == before
    assert "Armature: 'Rig'; expected an object" in refused(TypeError, inputs.write, skin, "Armature", "Rig")
    assert "Invert: 'no'; expected True or False" in refused(TypeError, inputs.write, skin, "Invert", "no")
    said = refused(ValueError, inputs.write_group, skin, "Method", "bone0")
    assert said == "Method reads no vertex group; expected one of Blend, Vertex Group"
    assert "expected the name of a vertex group" in refused(TypeError, inputs.write_group, skin, "Blend", None)


def test_what_only_the_extension_sets_is_not_listed_and_not_written():
    tube, _rig = scene.tube()
    skin = scene.add_skin(tube)
    listed = refused(KeyError, inputs.read, skin, "Nothing")
    for name in ("Identity", "Slot", "Tick", "Saved", "Message"):
        before = inputs.read(skin, name)
        assert name not in listed
        assert f"{name} is set by the extension alone" in refused(ValueError, inputs.write, skin, name, before)
        assert inputs.read(skin, name) == before


def test_what_is_no_skin_is_refused():
    tube, _rig = scene.tube()
    scene.add_skin(tube)
    other = tube.modifiers.new("Other", "NODES")
    empty = tube.modifiers.new("Empty", "NODES")
    other.node_group = bpy.data.node_groups.new("Other", "GeometryNodeTree")
    other.node_group.interface.new_socket("Factor", in_out="INPUT", socket_type="NodeSocketFloat")
    for each in (None, tube, tube.modifiers["Armature"], other, empty):
        for action, arguments in (
            (inputs.read, ("Factor",)),
            (inputs.write, ("Factor", 1)),
            (inputs.write_group, ("Vertex Group", "")),
            (inputs.data_path, ("Factor",)),
        ):
            assert "is not a Two-Phase Skin; expected one of" in refused(TypeError, action, each, *arguments)


def test_the_example_in_the_manual_finds_the_skin():
    """Also where another Geometry Nodes modifier stands above it."""
    tube, _rig = scene.tube()
    other = tube.modifiers.new("Other", "NODES")
    other.node_group = bpy.data.node_groups.new("Other", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        other.node_group.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    nodes = other.node_group.nodes
    ends = nodes.new("NodeGroupInput"), nodes.new("NodeGroupOutput")
    other.node_group.links.new(ends[0].outputs[0], ends[1].inputs[0])
    tube.modifiers.move(1, 0)
    text = (scene.ROOT / "docs" / "blender.md").read_text(encoding="utf-8")
    exec(text.split("```python\n")[1].split("```")[0], {})
    (skin,) = inputs.skins(tube)
    assert skin.node_group.name != "Other" and inputs.read(skin, "Inherited Scale") == "Before Bend"


def test_the_vertex_group_masks_as_in_the_armature_modifier():
    tube, rig = scene.tube()
    mask = tube.vertex_groups.new(name="mask")
    for vertex in range(len(tube.data.vertices)):
        mask.add([vertex], (vertex % 7) / 6, "REPLACE")
    for invert in (False, True):
        armature = tube.modifiers["Armature"]
        armature.vertex_group, armature.invert_vertex_group = "mask", invert
        armature.show_viewport = armature.show_render = True
        for method, preserve in (("LINEAR", False), ("DUAL_QUATERNION", True)):
            skin = scene.add_skin(tube, method=method)
            scene.bend(rig, scale=not preserve)
            expected = scene.yardstick(tube, preserve_volume=preserve)
            scene.assert_same(scene.points(tube), expected, tube)
            tube.modifiers.remove(skin)
            armature.show_viewport = True


def test_a_mask_that_is_missing_or_not_chosen_is_read_as_by_the_armature_modifier():
    tube, rig = scene.tube()
    tube.vertex_groups.new(name="mask").add(list(range(200)), 0.4, "REPLACE")
    skin = scene.add_skin(tube, method="LINEAR")
    scene.bend(rig)
    armature = tube.modifiers["Armature"]

    def assert_same(group, invert):
        armature.vertex_group, armature.invert_vertex_group = group, invert
        inputs.write_group(skin, "Vertex Group", group)
        inputs.write(skin, "Invert", invert)
        scene.assert_same(scene.points(tube), scene.yardstick(tube), tube)

    for group in ("mask", "", "nowhere"):
        for invert in (False, True):
            assert_same(group, invert)
    inputs.write_group(skin, "Vertex Group", "mask")
    armature.vertex_group = "mask"
    for change in (
        lambda: setattr(tube.vertex_groups["mask"], "name", "renamed"),
        lambda: setattr(tube.vertex_groups["renamed"], "name", "mask"),
        lambda: tube.vertex_groups.remove(tube.vertex_groups["mask"]),
    ):
        change()
        scene.assert_same(scene.points(tube), scene.yardstick(tube), tube)


def test_keyframes_and_drivers():
    tube, rig = scene.tube()
    scene.bend(rig)
    skin = scene.add_skin(tube, method="LINEAR")
    full, rest = scene.points(tube), scene.rest(tube)
    path = inputs.data_path(skin, "Factor")
    for frame, factor in ((1, 0.0), (11, 1.0)):
        inputs.write(skin, "Factor", factor)
        assert tube.keyframe_insert(path, frame=frame)
    for curve in scene.curves(tube):
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    for frame in (1, 4, 11):
        bpy.context.scene.frame_set(frame)
        scene.assert_same(scene.points(tube), rest + (frame - 1) / 10 * (full - rest), tube)
    tube.animation_data_clear()
    driver = tube.driver_add(path).driver
    driver.expression = "frame / 10"
    bpy.context.scene.frame_set(3)
    scene.assert_same(scene.points(tube), rest + 0.3 * (full - rest), tube)


def test_drivers_on_what_the_evaluation_reads():
    tube, rig = scene.tube()
    scene.bend(rig)
    skin = scene.add_skin(tube)
    two_phase = scene.points(tube)
    inputs.write(skin, "Blend", 0)
    linear = scene.points(tube)
    inputs.write(skin, "Blend", 1)
    path = inputs.data_path(skin, "Blend")
    tube.driver_add(path).driver.expression = "frame / 10"
    for frame in (3, 8, 5):
        bpy.context.scene.frame_set(frame)
        scene.assert_same(scene.points(tube), linear + frame / 10 * (two_phase - linear), tube)
    tube.driver_remove(path)
    inputs.write(skin, "Blend", 0.25)
    scene.assert_same(scene.points(tube), linear + 0.25 * (two_phase - linear), tube)
    assert "Two-Phase Skin" not in " ".join(tube.keys())


def test_an_animated_method():
    tube, rig = scene.tube()
    scene.bend(rig)
    skin = scene.add_skin(tube)
    shapes = {}
    for method in ("Two-Phase", "Linear", "Dual Quaternion"):
        inputs.write(skin, "Method", method)
        shapes[method] = scene.points(tube)
    for frame, method in enumerate(shapes, 1):
        inputs.write(skin, "Method", method)
        assert tube.keyframe_insert(inputs.data_path(skin, "Method"), frame=frame)
    for frame, method in enumerate(shapes, 1):
        bpy.context.scene.frame_set(frame)
        scene.assert_same(scene.points(tube), shapes[method], tube)


def test_every_input_and_every_item_of_a_menu_has_a_tooltip():
    tube, _rig = scene.tube()
    tree = scene.add_skin(tube).node_group
    items = [item for item in tree.interface.items_tree if item.item_type == "SOCKET"]
    shown = [item for item in items if item.in_out == "INPUT" and not item.hide_in_modifier]
    assert len(shown) == 12
    assert [item.name for item in shown if not item.description] == ["Geometry"]  # which no panel shows
    menus = [node.enum_items for node in tree.nodes if node.bl_idname == "GeometryNodeMenuSwitch"]
    assert len(menus) == 4 and all(item.description for items in menus for item in items)
