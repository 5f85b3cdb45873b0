"""Files of other versions of the extension: what they look like, and what is said of them."""

import bpy
import numpy as np
import scene

inputs = scene.extension("inputs")
schema = scene.extension("modifier.schema")
status = scene.extension("operators.status")


def test_a_file_of_a_newer_version_says_so_and_is_left_as_it_is():
    tube, rig = scene.tube()
    skin = scene.add_skin(tube)
    scene.bend(rig)
    bpy.context.view_layer.update()
    expected = scene.points(tube)
    skin.node_group[schema.MARK], skin.node_group[schema.MAKER] = schema.VERSION + 1, "9.8.7"
    path = scene.temporary("newer.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    tube = bpy.data.objects["Tube"]
    skin = next(modifier for modifier in tube.modifiers if schema.is_skin(modifier))
    assert skin.node_group[schema.MARK] == schema.VERSION + 1
    np.testing.assert_array_equal(scene.points(tube), expected)
    said = status.of(tube, skin)[0].text
    assert "9.8.7" in said and "Update the extension" in said


def test_a_skin_added_to_a_file_of_a_newer_version_has_a_group_of_this_one():
    tube, _rig = scene.tube()
    old = scene.add_skin(tube).node_group
    old[schema.MARK] = schema.VERSION + 1
    other, _rig = scene.tube()
    added = scene.add_skin(other)
    assert added.node_group != old
    assert status.of(other, added) == []


def kept():
    """A file of each version."""
    found = sorted((scene.ROOT / "tests" / "blender" / "kept").glob("*.blend"))
    assert found
    return map(str, found)


def test_files_of_each_version_look_as_they_did():
    for path in kept():
        print(path)
        bpy.ops.wm.open_mainfile(filepath=path)
        for skin in _assert_looks_as_it_did((10, 4, 10)):  # it was saved at 10
            assert status.of(skin.id_data, skin) == []


def test_linked_files_of_each_version_look_as_they_did():
    for path in kept():
        print(path)
        scene.empty()
        with bpy.data.libraries.load(path, link=True) as (there, here):
            here.objects = there.objects
        for obj in here.objects:
            bpy.context.collection.objects.link(obj)
        bpy.context.scene.frame_set(10)
        for skin in _assert_looks_as_it_did((10, 4, 10)):
            (state,) = status.of(skin.id_data, skin)
            assert "linked" in state.text


def _assert_looks_as_it_did(frames):
    """The skins of a kept file, which is at the first of these frames; that is seen before anything else is done."""
    tubes = [obj for obj in bpy.data.objects if obj.type == "MESH" and "expected 4" in obj.data.attributes]
    assert {tube.name for tube in tubes} == {"Plain", "Settings"}
    skins = {tube: next(modifier for modifier in tube.modifiers if schema.is_skin(modifier)) for tube in tubes}
    for frame, following in zip(frames, (*frames[1:], frames[0]), strict=True):
        for tube in tubes:
            scene.assert_same(scene.points(tube), _expected(tube, frame), tube, least=1e-6)
        bpy.context.scene.frame_set(following)
    settings = skins[bpy.data.objects["Settings"]]
    assert abs(inputs.read(settings, "Factor") - 0.75) < 1e-6
    assert inputs.read(settings, "Inherited Scale") == "Before Bend"
    return list(skins.values())


def _expected(tube, frame):
    result = np.empty((len(tube.data.vertices), 3), np.float32)
    tube.data.attributes[f"expected {frame}"].data.foreach_get("vector", result.reshape(-1))
    return result
