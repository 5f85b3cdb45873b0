"""Blender's Armature modifier as a judge of the module itself, without the add-on: random trees, weights and poses."""

import bpy
import numpy as np
import scene
from mathutils import Euler, Matrix, Vector

import two_phase_skinning as tps

JOINTS, VERTICES, POSES = 12, 300, 6
NAMES = [f"bone{joint}" for joint in range(JOINTS)]  # Blender lists a tree's bones in an order of its own


def random_armature(rng):
    """A tree of bones in every direction."""
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(armature)
    scene.activate(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = []
    for joint, name in enumerate(NAMES):
        bone = armature.data.edit_bones.new(name)
        bone.head = Vector(rng.uniform(-1, 1, 3))
        bone.tail = bone.head + Vector(rng.normal(size=3)).normalized() * 0.4
        bone.roll = rng.uniform(-3, 3)
        bone.parent = bones[rng.integers(joint)] if joint else None
        bones.append(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    for joint, name in enumerate(NAMES):
        armature.data.bones[name].inherit_scale = ("FULL", "NONE", "ALIGNED", "NONE_LEGACY")[joint % 4]
    return armature


def random_mesh(rng, armature):
    points = rng.uniform(-1.5, 1.5, (VERTICES, 3)).astype(np.float32)
    mesh = bpy.data.meshes.new("Cloud")
    mesh.from_pydata(points.tolist(), [], [])
    obj = bpy.data.objects.new("Cloud", mesh)
    bpy.context.collection.objects.link(obj)
    weights = rng.random((VERTICES, JOINTS)).astype(np.float32) * (rng.random((VERTICES, JOINTS)) < 0.3)
    for joint, name in enumerate(NAMES):
        group = obj.vertex_groups.new(name=name)
        for vertex in np.nonzero(weights[:, joint])[0].tolist():
            group.add([vertex], float(weights[vertex, joint]), "REPLACE")
    modifier = obj.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    return obj, modifier, points, weights


def pose(rng, armature, scaled):
    """Without scale, joints turn by less than 90° from rest: two that are 180° apart can be blended in two ways,
    and Blender takes another than ours there."""
    most = 0.7 if scaled else 0.12
    for bone in armature.pose.bones:
        scale = rng.uniform(0.6, 1.6, 3) if scaled else np.ones(3)
        turn = Euler(rng.uniform(-most, most, 3)).to_matrix().to_4x4()
        bone.matrix_basis = Matrix.Translation(rng.uniform(-0.3, 0.3, 3)) @ turn @ Matrix.Diagonal((*scale, 1))
    bpy.context.view_layer.update()
    return np.array([armature.pose.bones[name].matrix for name in NAMES], np.float64)


def judge(seed, scaled, preserve_volume, methods):
    scene.empty()
    rng = np.random.default_rng(seed)
    armature = random_armature(rng)
    obj, modifier, points, weights = random_mesh(rng, armature)
    modifier.use_deform_preserve_volume = preserve_volume
    bones = [armature.data.bones[name] for name in NAMES]
    skeleton = tps.Skeleton(
        [NAMES.index(bone.parent.name) if bone.parent else -1 for bone in bones],
        np.array([bone.matrix_local for bone in bones], np.float64),
        inherits=np.array([bone.inherit_scale not in {"NONE", "NONE_LEGACY"} for bone in bones]),
    )
    skin = tps.Skin(points, weights, skeleton)
    for _ in range(POSES):
        world = pose(rng, armature, scaled)
        expected = scene.points(obj)
        scene.assert_differ(expected, points, obj)
        for method in methods:
            scene.assert_same(skin.deform(world, method=method), expected, obj)


def test_linear():
    for seed in range(4):
        judge(seed, True, False, ["linear"])


def test_preserve_volume_without_scale():
    for seed in range(4):
        judge(seed, False, True, ["dual_quaternion", "two_phase"])
