"""Blender and USD: what Blender exports is read and baked as Blender shows it, and what is baked Blender shows.

OpenUSD's Python modules run in processes of their own: Blender has another OpenUSD inside.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scene

bpy = scene.bpy

import two_phase_skinning as tps  # noqa: E402

PAGE = Path(__file__).parents[2] / "docs" / "conventions.md"
FRAMES = (1, 4, 8, 12)
READ = """
import sys
import numpy as np
from pxr import Usd, UsdGeom
stage = Usd.Stage.Open(sys.argv[1])
(mesh,) = [prim for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
found = []
for frame in map(float, sys.argv[3:]):
    world = np.array(UsdGeom.Xformable(mesh).ComputeLocalToWorldTransform(frame)).T
    points = np.array(UsdGeom.Mesh(mesh).GetPointsAttr().Get(frame), np.float64)
    found.append(points @ world[:3, :3].T + world[:3, 3])
np.save(sys.argv[2], found)
"""


def run(*arguments):
    done = subprocess.run([sys.executable, "-P", *map(str, arguments)], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def animated_tube():
    """The tube with its rig, both moved and turned, and keys that bend, twist and scale its bones."""
    scene.empty()
    mesh, armature = scene.tube()
    armature.location, armature.rotation_euler = (1, 2, 0.5), (0.3, 0, 0.8)
    mesh.location, mesh.scale = (0.2, 0, 0.1), (1.1, 0.9, 1)
    rng = np.random.default_rng(4)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 12
    # UsdSkel has scales as half floats: these are such
    scales = rng.choice([0.75, 1, 1.25, 1.5], (len(armature.pose.bones), 3))
    for frame in (1, 12):
        for bone, scale in zip(armature.pose.bones, scales, strict=True):
            bone.rotation_mode = "QUATERNION"
            bone.rotation_quaternion = np.array([1, 0, 0, 0]) + rng.uniform(-0.4, 0.4, 4)
            bone.scale = scale
            bone.keyframe_insert("rotation_quaternion", frame=frame)
            bone.keyframe_insert("scale", frame=frame)
    return mesh, armature


def shown(mesh):
    """What Blender makes of it, at the present frame: (V, 3), in the object's space and in the world's."""
    evaluated = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get())
    points = np.empty(3 * len(evaluated.data.vertices), np.float32)
    evaluated.data.vertices.foreach_get("co", points)
    points = points.reshape(-1, 3)
    world = np.array(evaluated.matrix_world)
    return points, points @ world[:3, :3].T + world[:3, 3]


def at_frames(mesh):
    points = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        points.append(shown(mesh)[1])
    return np.array(points)


def test_the_lines_of_the_page():
    """The blocks for Blender in docs/conventions.md."""
    mesh, armature = animated_tube()
    text = PAGE.read_text(encoding="utf-8")
    code = "".join(re.findall(r"^```python blender\n(.*?)^```", text, flags=re.S | re.M))
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        names = {"np": np, "tps": tps, "armature": armature, "mesh": mesh}
        exec(code, names)
        np.testing.assert_allclose(names["points"], shown(mesh)[0], atol=2e-5)
        assert np.abs(names["points"] - names["rest"]).max() > 0.1


def exported(folder):
    """The animated tube as Blender writes it, and where Blender shows its points."""
    mesh, _armature = animated_tube()
    expected = at_frames(mesh)
    path = folder / "exported.usdc"
    bpy.ops.wm.usd_export(filepath=str(path), export_animation=True, export_armatures=True, export_materials=False)
    return path, expected


def test_an_export_that_is_baked_is_what_blender_shows():
    folder = Path(tempfile.mkdtemp())
    path, expected = exported(folder)
    baked = folder / "baked.usd"
    run("-m", "two_phase_skinning", "bake", path, baked, "--method", "linear")
    run("-c", READ, baked, folder / "points.npy", *FRAMES)
    found = np.load(folder / "points.npy")
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=5e-5)
    assert np.abs(expected[0] - expected[-1]).max() > 0.5


def test_blender_shows_what_was_baked():
    folder = Path(tempfile.mkdtemp())
    path, _expected = exported(folder)
    baked = folder / "baked.usd"
    run("-m", "two_phase_skinning", "bake", path, baked, "--frames", "1:12")
    run("-c", READ, baked, folder / "points.npy", *FRAMES)
    scene.empty()
    bpy.ops.wm.usd_import(filepath=str(baked))
    (mesh,) = [obj for obj in bpy.context.scene.objects if obj.type == "MESH"]
    assert not [modifier for modifier in mesh.modifiers if modifier.type == "ARMATURE"]
    np.testing.assert_allclose(at_frames(mesh), np.load(folder / "points.npy"), atol=5e-5)
