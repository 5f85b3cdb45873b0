"""Files of other versions of the extension: what they look like, and what is said of them."""

import bpy
import numpy as np
import scene

inputs = scene.extension("inputs")
node_group = scene.extension("node_group")
states = scene.extension("states")


def test_a_file_of_a_newer_version_says_so_and_is_left_as_it_is():
    tube, rig = scene.tube()
    skin = scene.add_skin(tube)
    scene.bend(rig)
    bpy.context.view_layer.update()
    expected = scene.points(tube)
    skin.node_group[node_group.MARK], skin.node_group[node_group.MAKER] = node_group.VERSION + 1, "9.8.7"
    path = scene.temporary("newer.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    tube = bpy.data.objects["Tube"]
    skin = next(modifier for modifier in tube.modifiers if node_group.is_skin(modifier))
    assert skin.node_group[node_group.MARK] == node_group.VERSION + 1
    np.testing.assert_array_equal(scene.points(tube), expected)
    said = states.of(tube, skin)[0].text
    assert "9.8.7" in said and "Update the extension" in said


def test_a_skin_added_to_a_file_of_a_newer_version_has_a_group_of_this_one():
    tube, _rig = scene.tube()
    old = scene.add_skin(tube).node_group
    old[node_group.MARK] = node_group.VERSION + 1
    other, _rig = scene.tube()
    added = scene.add_skin(other)
    assert added.node_group != old
    assert states.of(other, added) == []
