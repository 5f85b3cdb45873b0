"""What Blender's exporters write of a skinned mesh is the deformed mesh, frame by frame."""

import bpy
import numpy as np
import scene

FRAMES = (1, 6, 11)


def animated():
    tube, rig = scene.tube(joints=3, rings=21, around=8)
    scene.add_skin(tube)
    scene.animate(rig)
    bpy.context.scene.frame_end = 11
    expected = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        expected.append(scene.points(tube))
    bpy.context.scene.frame_set(1)
    scene.assert_differ(expected[0], expected[1], tube)
    scene.activate(tube)
    return tube, expected


def imported_points(select=lambda obj: obj.type == "MESH"):
    (obj,) = [obj for obj in bpy.context.scene.objects if select(obj)]
    matrix = np.array(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
    return scene.points(obj) @ matrix[:3, :3].T + matrix[:3, 3]


def assert_frames(expected, size):
    for frame, points in zip(FRAMES, expected, strict=True):
        bpy.context.scene.frame_set(frame)
        found = imported_points()
        assert scene.distance(found, points) < 1e-5 * size, frame


def test_alembic():
    tube, expected = animated()
    size, path = scene.size(tube), scene.temporary("tube.abc")
    assert bpy.ops.wm.alembic_export(filepath=path, start=1, end=11, selected=True) == {"FINISHED"}
    scene.empty()
    assert bpy.ops.wm.alembic_import(filepath=path) == {"FINISHED"}
    assert_frames(expected, size)


def test_usd():
    tube, expected = animated()
    size, path = scene.size(tube), scene.temporary("tube.usdc")
    options = {"export_armatures": False, "selected_objects_only": True, "export_animation": True}
    assert bpy.ops.wm.usd_export(filepath=path, **options) == {"FINISHED"}
    scene.empty()
    assert bpy.ops.wm.usd_import(filepath=path) == {"FINISHED"}
    assert_frames(expected, size)


def test_gltf():
    """A still: glTF has no moving points but those of shape keys and bones."""
    tube, expected = animated()
    size, path = scene.size(tube), scene.temporary("tube.glb")
    bpy.context.scene.frame_set(6)
    options = {"export_apply": True, "use_selection": True, "export_animations": False, "export_current_frame": True}
    assert bpy.ops.export_scene.gltf(filepath=path, export_format="GLB", **options) == {"FINISHED"}
    scene.empty()
    assert bpy.ops.import_scene.gltf(filepath=path, merge_vertices=True) == {"FINISHED"}
    found = imported_points()
    nearest = np.linalg.norm(found[:, None] - expected[1][None], axis=2)
    assert len(found) >= len(expected[1])
    assert nearest.min(axis=1).max() < 1e-5 * size and nearest.min(axis=0).max() < 1e-5 * size


def test_gltf_of_baked_shape_keys_moves():
    tube, expected = animated()
    size, path = scene.size(tube), scene.temporary("keys.glb")
    assert bpy.ops.object.two_phase_skin_bake(kind="SHAPE_KEYS", frame_start=1, frame_end=11) == {"FINISHED"}
    copy = bpy.data.objects["Tube Baked"]
    copy.modifiers.clear()
    scene.activate(copy)
    options = {"use_selection": True, "export_morph": True, "export_morph_normal": False}
    assert bpy.ops.export_scene.gltf(filepath=path, export_format="GLB", **options) == {"FINISHED"}
    scene.empty()
    rate = bpy.context.scene.render.fps
    assert bpy.ops.import_scene.gltf(filepath=path, merge_vertices=True) == {"FINISHED"}
    assert rate == 24
    for frame, points in zip(FRAMES, expected, strict=True):
        bpy.context.scene.frame_set(frame)
        found = imported_points()
        nearest = np.linalg.norm(found[:, None] - points[None], axis=2)
        assert nearest.min(axis=1).max() < 1e-5 * size, frame
