"""The comparison with the Armature modifier: figures that are known, and nothing left behind."""

import bpy
import numpy as np
import pytest
import scene

inputs = scene.extension("inputs")
compare = scene.extension("operators.compare")
heat_map = scene.extension("ui.heat_map")


def stack(obj):
    return [(m.name, m.show_viewport, m.show_render) for m in obj.modifiers]


def compared(tube):
    scene.activate(tube)
    assert bpy.ops.object.two_phase_skin_compare() == {"FINISHED"}
    return heat_map.current()[0]


def test_distances_are_those_of_the_two_shapes_in_the_world():
    tube, _rig, _skin = scene.skinned()
    tube.scale, tube.rotation_euler = (2, 2, 2), (0.3, 0.2, 0.1)
    bpy.context.view_layer.update()
    gaps = 2 * np.linalg.norm(scene.points(tube) - scene.yardstick(tube), axis=1)
    before = stack(tube)
    found = compared(tube)
    assert stack(tube) == before
    np.testing.assert_allclose(found.distances, gaps, atol=1e-5)
    np.testing.assert_allclose((found.largest, found.mean), (gaps.max(), gaps.mean()), atol=1e-5)


def test_linear_is_no_different():
    tube, _rig, _skin = scene.skinned(method="LINEAR")
    found = compared(tube)
    assert found.largest < 1e-5 * scene.size(tube)
    np.testing.assert_allclose(found.volumes[0], found.volumes[1], rtol=1e-5)


def test_volumes_of_a_closed_mesh():
    _tube, rig, _skin = scene.skinned()
    bpy.ops.mesh.primitive_cube_add(size=2, location=(0, 0, 0.5))
    cube = bpy.context.object
    group = cube.vertex_groups.new(name="bone0")
    group.add(list(range(8)), 1, "REPLACE")
    cube.parent = rig
    scene.add_skin(cube, armature=rig.name)
    for bone in rig.pose.bones:
        bone.scale, bone.rotation_euler = (1, 1, 1), (0, 0, 0)
    rig.pose.bones["bone0"].scale = (1.5, 1, 2)
    bpy.context.view_layer.update()
    found = compared(cube)
    np.testing.assert_allclose(found.volumes, (24, 24), rtol=1e-5)
    assert len(cube.modifiers) == 1  # the Armature modifier that it is compared with is gone again


def test_units():
    tube, _rig, _skin = scene.skinned()
    found = compared(tube)
    settings = bpy.context.scene.unit_settings
    lines = dict(heat_map.lines_of(found, bpy.context.scene))
    assert list(lines) == ["Largest Distance", "Mean Distance", "Armature Volume", "Two-Phase Volume"]
    assert lines["Largest Distance"].endswith("m") and "m³" in lines["Armature Volume"]
    settings.system = "IMPERIAL"
    assert dict(heat_map.lines_of(found, bpy.context.scene))["Largest Distance"][-1] in "'\""
    settings.system = "NONE"
    assert float(dict(heat_map.lines_of(found, bpy.context.scene))["Mean Distance"]) == pytest.approx(found.mean, 1e-4)


def test_it_knows_that_it_is_stale():
    tube, rig, _skin = scene.skinned()
    compared(tube)
    assert heat_map.current()[1] is False
    bpy.context.view_layer.update()
    assert heat_map.current()[1] is False
    scene.bend(rig, 0.5)
    bpy.context.view_layer.update()
    assert heat_map.current()[1] is True
    bpy.data.objects.remove(tube)
    assert heat_map.current() == (None, False)


def test_a_subdivided_mesh_is_compared_as_it_is_seen():
    tube, _rig, _skin = scene.skinned()
    tube.modifiers.new("Subdivision", "SUBSURF").levels = 1
    assert len(compared(tube).distances) > 3 * len(tube.data.vertices)


def test_what_cannot_be_compared_is_said():
    tube, _rig, skin = scene.skinned()
    skin.show_viewport = False
    with pytest.raises(RuntimeError, match="no Two-Phase Skin that is on"):
        compared(tube)
    assert not skin.show_viewport and not tube.modifiers["Armature"].show_viewport


def test_a_skin_that_does_nothing_is_not_compared():
    tube, rig, _skin = scene.skinned()
    before = stack(tube)
    for harm, said in (
        (tube.vertex_groups.clear, "No vertex group is named like a deforming bone"),
        (lambda: bpy.data.objects.remove(rig), "Choose an armature"),
    ):
        harm()
        with pytest.raises(RuntimeError, match=f'"Tube": {said}'):
            compared(tube)
        assert stack(tube) == before and heat_map.current()[0] is None


def test_colours_run_from_end_to_end():
    found = heat_map.colours(np.array([0, 0.25, 1, 2]))
    np.testing.assert_allclose(found[[0, 2, 3]], heat_map._STOPS[[0, -1, -1]])
    np.testing.assert_allclose(found[1], heat_map._STOPS[1])
