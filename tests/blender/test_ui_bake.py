"""Bakes: what comes out is what went in, without the extension too, and a bake that fails leaves nothing behind."""

import os
import struct
import tempfile
from pathlib import Path

import addon_utils
import bpy
import numpy as np
import pytest
import scene
from mathutils import Matrix

inputs = scene.extension("inputs")
bake = scene.extension("bake.operator")

FRAMES = range(3, 12)


def animated(below=True):
    """A tube that moves, with a mirror above its skin and a subdivision below it."""
    tube, rig = scene.tube(joints=3, rings=21, around=8)
    tube.modifiers.new("Solidify", "SOLIDIFY").thickness = 0.05
    tube.modifiers.move(1, 0)
    if below:
        tube.modifiers.new("Subdivision", "SUBSURF").levels = 1
    skin = scene.add_skin(tube)
    scene.animate(rig)
    for frame in (1, 20):
        tube.location.x = 0.1 * frame
        tube.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(6)
    return tube, rig, skin


def world_points(obj):
    matrix = np.array(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
    return scene.points(obj) @ matrix[:3, :3].T + matrix[:3, 3]


def frames_of(name):
    result = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        result.append(world_points(bpy.data.objects[name]))
    return result


def assert_same_frames(found, expected, obj):
    for first, second in zip(found, expected, strict=True):
        scene.assert_same(first, second, obj)


def baked(kind, **options):
    return bpy.ops.object.two_phase_skin_bake(kind=kind, frame_start=FRAMES[0], frame_end=FRAMES[-1], **options)


def without_the_extension(path):
    """The file as one finds it who does not have the extension."""
    bpy.ops.wm.save_as_mainfile(filepath=path)
    addon_utils.disable(scene.EXTENSION)
    bpy.ops.wm.open_mainfile(filepath=path)


def with_the_extension():
    addon_utils.enable(scene.EXTENSION)


def test_mesh_caches():
    for kind in ("MDD", "PC2"):
        scene.empty()
        tube, _rig, skin = animated()
        expected = frames_of("Tube")
        bpy.context.scene.frame_set(6)
        blend = scene.temporary(f"cache_{kind}.blend")
        bpy.ops.wm.save_as_mainfile(filepath=blend)
        assert baked(kind) == {"FINISHED"}
        assert bpy.context.scene.frame_current == 6
        names = [(m.name, m.show_viewport) for m in tube.modifiers]
        assert names == [
            ("Solidify", True), ("Two-Phase Skin", False), ("Two-Phase Skin Cache", True), ("Armature", False),
            ("Subdivision", True),
        ]  # fmt: skip
        assert not skin.show_render
        cache = tube.modifiers["Two-Phase Skin Cache"]
        assert cache.filepath == f"//cache_{kind}_Tube.{kind.lower()}"
        without_the_extension(blend)
        try:
            assert_same_frames(frames_of("Tube"), expected, bpy.data.objects["Tube"])
        finally:
            with_the_extension()


def test_shape_keys():
    tube, rig, _skin = animated()
    tube.parent = rig
    rig.location.z = 0.3
    expected = frames_of("Tube")
    assert baked("SHAPE_KEYS") == {"FINISHED"}
    copy = bpy.data.objects["Tube Baked"]
    assert [m.name for m in copy.modifiers] == ["Armature", "Subdivision"]
    assert len(copy.data.shape_keys.key_blocks) == 1 + len(FRAMES)
    assert [m.name for m in tube.modifiers] == ["Solidify", "Two-Phase Skin", "Armature", "Subdivision"]
    without_the_extension(scene.temporary("keys.blend"))
    try:
        assert_same_frames(frames_of("Tube Baked"), expected, bpy.data.objects["Tube Baked"])
    finally:
        with_the_extension()


def test_shape_keys_of_a_mesh_with_shape_keys():
    tube, _rig, _skin = animated(below=False)
    tube.shape_key_add(name="Basis")
    key = tube.shape_key_add(name="Fat", from_mix=False)
    for point in key.data:
        point.co.x *= 1.5
    key.value = 0.7
    expected = frames_of("Tube")
    assert baked("SHAPE_KEYS") == {"FINISHED"}
    assert_same_frames(frames_of("Tube Baked"), expected, tube)


def test_meshes():
    tube, _rig, _skin = animated()
    expected = frames_of("Tube")
    assert baked("MESHES") == {"FINISHED"}
    names = [obj.name for obj in bpy.data.collections["Tube Baked"].objects]
    assert names == [f"Tube {frame:04}" for frame in FRAMES]
    without_the_extension(scene.temporary("meshes.blend"))
    try:
        for frame, name, points in zip(FRAMES, names, expected, strict=True):
            bpy.context.scene.frame_set(frame)
            assert [n for n in names if not bpy.data.objects[n].hide_render] == [name]
            scene.assert_same(world_points(bpy.data.objects[name]), points, bpy.data.objects["Tube"])
    finally:
        with_the_extension()
    assert tube is not None


def test_several_objects_get_a_file_each():
    tube, _rig, _skin = animated()
    other = tube.copy()
    other.data = tube.data.copy()
    bpy.context.collection.objects.link(other)
    bpy.context.view_layer.update()
    scene.activate(tube, other)
    path = _in_new_folder("both.mdd")
    assert baked("MDD", filepath=path) == {"FINISHED"}
    assert _files_beside(path) == ["both_Tube.mdd", "both_Tube_001.mdd"]


def _in_new_folder(name):
    folder = Path(tempfile.mkdtemp(dir=scene.temporary("")))
    return str(folder / name)


def _files_beside(path):
    return sorted(file.name for file in Path(path).parent.iterdir())


def two_tubes(first="Tube", second="Other"):
    """Of other shapes, selected."""
    tube, _rig, _skin = animated()
    other = tube.copy()
    other.data = tube.data.copy()
    other.data.transform(Matrix.Scale(2, 4))
    bpy.context.collection.objects.link(other)
    tube.name, other.name = first, second
    bpy.context.view_layer.update()
    scene.activate(tube, other)
    return tube, other


def test_objects_that_are_baked_one_after_the_other_keep_their_caches():
    tube, other = two_tubes()
    path = _in_new_folder("shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    expected = [frames_of(obj.name) for obj in (tube, other)]
    for obj in (tube, other):
        scene.activate(obj)
        assert baked("MDD") == {"FINISHED"}
    assert _files_beside(path) == ["shot.blend", "shot_Other.mdd", "shot_Tube.mdd"]
    for obj, frames in zip((tube, other), expected, strict=True):
        assert_same_frames(frames_of(obj.name), frames, obj)


def test_a_file_that_another_object_reads_is_not_overwritten():
    tube, other = two_tubes()
    path = _in_new_folder("one.mdd")
    scene.activate(tube)
    assert baked("MDD", filepath=path) == {"FINISHED"}
    before = Path(path).read_bytes()
    scene.activate(other)
    with pytest.raises(RuntimeError, match=r'one\.mdd" is the cache that "Tube" reads: name another file'):
        baked("MDD", filepath=path)
    assert Path(path).read_bytes() == before
    scene.activate(tube)
    tube.modifiers["Two-Phase Skin"].show_viewport = True
    assert baked("MDD", filepath=path) == {"FINISHED"}  # its own


def test_names_that_become_one_in_a_file_name():
    path = _in_new_folder("z.mdd")
    expected = {}
    for obj in two_tubes("a:b", "A/b"):
        expected[obj.name] = frames_of(obj.name)
    assert baked("MDD", filepath=path) == {"FINISHED"}
    assert _files_beside(path) == ["z_A_b.mdd", "z_a_b_2.mdd"]
    for name, frames in expected.items():
        assert_same_frames(frames_of(name), frames, bpy.data.objects[name])


def test_one_file_of_several_that_cannot_be_put_in_its_place():
    path = _in_new_folder("z.mdd")
    tubes = two_tubes()
    first, second = (path.replace("z.mdd", f"z_{name}.mdd") for name in ("Tube", "Other"))
    for there in (True, False):
        if there:
            Path(first).write_text("what was there", encoding="utf-8")
        before = state()
        running = bake.Bake(bpy.context, tubes, "MDD", FRAMES, path)
        while running.step(bpy.context):
            pass
        os.mkdir(second)
        with pytest.raises(OSError, match=r"z_Other\.mdd"):
            running.finish(bpy.context)
        running.close()
        os.rmdir(second)
        assert state() == before
        assert _files_beside(path) == (["z_Tube.mdd"] if there else [])
        if there:
            assert Path(first).read_text(encoding="utf-8") == "what was there"
            os.remove(first)


def test_the_original_is_hidden_behind_what_was_made_of_it():
    for kind in ("SHAPE_KEYS", "MESHES", "MDD"):
        scene.empty()
        tube, _rig, _skin = animated()
        bpy.ops.ed.undo_push(message="before")
        name, hidden = tube.name, kind != "MDD"
        bpy.ops.object.two_phase_skin_bake(
            "EXEC_DEFAULT", True, kind=kind, frame_start=3, frame_end=5, filepath=scene.temporary("shown.mdd")
        )
        tube = bpy.data.objects[name]
        assert (tube.hide_render, tube.visible_get()) == (hidden, not hidden)
        if kind == "SHAPE_KEYS":
            copy = bpy.data.objects["Tube Baked"]
            assert copy.visible_get() and not copy.hide_render
            assert bpy.context.object == copy and bpy.context.selected_objects == [copy]
        bpy.ops.ed.undo()
        tube = bpy.data.objects[name]
        assert not tube.hide_render and tube.visible_get()


def test_the_range_is_the_scenes_unless_it_is_named():
    _tube, _rig, _skin = animated()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 2, 6
    assert bpy.ops.object.two_phase_skin_bake(kind="MESHES") == {"FINISHED"}
    assert sorted(obj.name for obj in bpy.data.objects if obj.name[-1].isdigit()) == [
        f"Tube 000{k}" for k in range(2, 7)
    ]


def test_a_place_where_no_file_can_be():
    _tube, _rig, _skin = animated()
    before = state()
    folder = _in_new_folder("not there")
    with pytest.raises(RuntimeError, match=r'There is no folder ".*not there": make it first'):
        baked("MDD", filepath=os.path.join(folder, "x.mdd"))
    assert not os.path.exists(folder)
    os.mkdir(folder)
    for path in (folder, folder + os.sep):
        with pytest.raises(RuntimeError, match=r'not there.?" is a folder: name the file to write'):
            baked("PC2", filepath=path)
    with pytest.raises(RuntimeError, match=r"Save the \.blend file first, or name the file"):
        baked("PC2", filepath="//x.pc2")
    assert state() == before and os.listdir(folder) == []


def test_the_files_are_what_other_programs_read():
    tube, _rig, _skin = animated(below=False)
    expected = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        expected.append(scene.points(tube))
    path = scene.temporary("format.mdd")
    assert baked("MDD", filepath=path) == {"FINISHED"}
    data = Path(path).read_bytes()
    assert struct.unpack(">ii", data[:8]) == (len(FRAMES), len(expected[0]))
    times = np.frombuffer(data, ">f4", len(FRAMES), 8)
    np.testing.assert_allclose(times, np.array(FRAMES) / 24, rtol=1e-6)
    points = np.frombuffer(data, ">f4", offset=8 + 4 * len(FRAMES)).reshape(len(FRAMES), -1, 3)
    np.testing.assert_array_equal(points, expected)
    tube.modifiers["Two-Phase Skin"].show_viewport = True
    tube.modifiers["Two-Phase Skin Cache"].show_viewport = False
    path = scene.temporary("format.pc2")
    assert baked("PC2", filepath=path) == {"FINISHED"}
    data = Path(path).read_bytes()
    header = struct.unpack("<12siiffi", data[:32])
    assert header == (b"POINTCACHE2\0", 1, len(expected[0]), FRAMES[0], 1, len(FRAMES))
    np.testing.assert_array_equal(np.frombuffer(data, "<f4", offset=32).reshape(points.shape), expected)
    assert len([m for m in tube.modifiers if m.type == "MESH_CACHE"]) == 1


def state():
    """Everything of the file that a bake could leave behind."""
    return {name: getattr(bpy.data, name).keys() for name in ("objects", "meshes", "collections", "shape_keys")} | {
        "modifiers": [(m.name, m.show_viewport) for m in bpy.data.objects["Tube"].modifiers],
        "frame": bpy.context.scene.frame_current,
    }


def test_a_bake_that_is_stopped_leaves_nothing():
    tube, _rig, _skin = animated()
    path = scene.temporary("stopped.mdd")
    for kind in ("SHAPE_KEYS", "MDD", "PC2", "MESHES"):
        Path(path).write_text("what was there", encoding="utf-8")
        before = state()
        running = bake.Bake(bpy.context, [tube], kind, FRAMES, path)
        running.step(bpy.context)
        running.step(bpy.context)
        running.close()
        assert state() == before, kind
        assert Path(path).read_text(encoding="utf-8") == "what was there"
        assert not Path(f"{path}.part").exists()


def test_a_bake_that_fails_leaves_nothing_and_says_why():
    tube, _rig, skin = animated()
    before = state()
    folder = scene.temporary("a file")
    Path(folder).write_text("", encoding="utf-8")
    with pytest.raises(RuntimeError, match=r'There is no folder ".*a file"'):
        baked("MDD", filepath=os.path.join(folder, "x.mdd"))
    assert state() == before
    with pytest.raises(RuntimeError, match=r"Save the \.blend file first, or name the file"):
        baked("PC2")
    with pytest.raises(RuntimeError, match="Frame Start 5 is after End 4"):
        bpy.ops.object.two_phase_skin_bake(kind="MESHES", frame_start=5, frame_end=4)
    build = tube.modifiers.new("Build", "BUILD")
    tube.modifiers.move(len(tube.modifiers) - 1, 0)
    build.frame_start, build.frame_duration = 1, 20
    before = state()
    for kind in ("SHAPE_KEYS", "MDD"):
        with pytest.raises(RuntimeError, match=r"Nothing was baked: .* points; the frames before have"):
            baked(kind, filepath=scene.temporary("count.mdd"))
        assert state() == before
    inputs.write(skin, "Armature", None)
    with pytest.raises(RuntimeError, match='"Tube": Choose an armature'):
        baked("MESHES")
    assert state() == before


def test_one_undo_step():
    animated()
    bpy.ops.ed.undo_push(message="before")
    before = state()
    bpy.ops.object.two_phase_skin_bake("EXEC_DEFAULT", True, kind="SHAPE_KEYS", frame_start=3, frame_end=5)
    assert state() != before
    bpy.ops.ed.undo()
    assert state() == before
