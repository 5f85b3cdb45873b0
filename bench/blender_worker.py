"""Blender's Armature modifier, in a process of its own: python blender_worker.py

Reads commands, a line each, and answers with lines that begin with "@": "build VERTICES", "check METHOD" (the largest
error), "sample METHOD" (the seconds of one update after a change of the pose; METHOD "pose" is without the modifier).
"""

import os
import sys
import time

import bpy
import numpy as np
from expected import check
from numpy.typing import NDArray
from scene import Mesh, Rig, mesh

import two_phase_skinning as tps

JOINTS = 100
STEPS = 128  # of a weight: Blender takes weights a joint and value at a time


def rounded(fine: Mesh) -> Mesh:
    """The mesh with weights that are multiples of 1 / STEPS."""
    steps = np.maximum(np.rint(fine.weights * STEPS).astype(np.int64), 1)
    rows = np.arange(len(steps))
    steps[rows, steps.argmax(axis=1)] += STEPS - steps.sum(axis=1)
    return Mesh(fine.points, fine.joints, (steps / STEPS).astype(np.float32))


def make_armature(rng: np.random.Generator) -> bpy.types.Object:
    armature = bpy.data.armatures.new("armature")
    rig = bpy.data.objects.new("rig", armature)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = []
    for j in range(JOINTS):
        bone = armature.edit_bones.new(f"{j}")
        bone.parent = bones[(j + 1) // 2 - 1] if j else None
        bone.head = (np.array(bone.parent.tail) if j else np.zeros(3)) + rng.normal(scale=0.1, size=3)
        bone.tail = np.array(bone.head) + rng.normal(scale=0.2, size=3)
        bone.inherit_scale = "NONE"
        bones.append(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = rng.normal(scale=0.3, size=3)
    return rig


def make_mesh(rig: bpy.types.Object, work: Mesh) -> bpy.types.Object:
    data = bpy.data.meshes.new("mesh")
    data.vertices.add(len(work))
    data.vertices.foreach_set("co", work.points.ravel())
    skin = bpy.data.objects.new("mesh", data)
    bpy.context.collection.objects.link(skin)
    groups = [skin.vertex_groups.new(name=f"{j}") for j in range(JOINTS)]
    key = (work.joints.astype(np.int64) * (STEPS + 1) + np.rint(work.weights * STEPS).astype(np.int64)).ravel()
    order = np.argsort(key, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(key[order])) + 1):
        joint, steps = divmod(int(key[part[0]]), STEPS + 1)
        groups[joint].add((part // work.joints.shape[1]).tolist(), steps / STEPS, "REPLACE")
    modifier = skin.modifiers.new("armature", "ARMATURE")
    modifier.object = rig
    return skin


class Scene:
    def __init__(self, vertices: int) -> None:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        rng = np.random.default_rng(JOINTS)
        self.work = rounded(mesh(vertices, JOINTS))
        self.rig = make_armature(rng)
        self.skin = make_mesh(self.rig, self.work)
        self.scales = rng.uniform(0.85, 1.15, (JOINTS, 3))
        self.method = ""
        self.ticks = 0

    def choose(self, method: str) -> None:
        if method == self.method:
            return
        self.method = method
        modifier = self.skin.modifiers["armature"]
        modifier.show_viewport = method != "pose"
        modifier.use_deform_preserve_volume = method != "linear"
        for bone, scale in zip(self.rig.pose.bones, self.scales, strict=True):
            bone.scale = (1, 1, 1) if method == "dual_quaternion" else scale
        bpy.context.view_layer.update()

    def update(self) -> float:
        """Turns a bone a little, and returns the seconds that Blender then takes."""
        self.ticks += 1
        self.rig.pose.bones["3"].rotation_euler[0] = 0.1 + 0.001 * (self.ticks % 50)
        start = time.perf_counter()
        bpy.context.view_layer.update()
        return time.perf_counter() - start

    def sample(self, method: str) -> float:
        self.choose(method)
        self.update()
        return self.update()

    def pose(self) -> Rig:
        bones = [self.rig.pose.bones[f"{j}"] for j in range(JOINTS)]  # Blender has them in an order of its own
        parents = (np.arange(JOINTS) + 1) // 2 - 1
        bind = np.array([np.array(bone.bone.matrix_local, dtype=np.float64) for bone in bones])
        world = np.array([np.array(bone.matrix, dtype=np.float64) for bone in bones])
        return Rig(tps.Skeleton(parents, bind, inherits=np.zeros(JOINTS, dtype=bool)), world)

    def check(self, method: str) -> float:
        self.choose(method)
        self.update()
        evaluated = self.skin.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        result: NDArray[np.float32] = np.empty((len(self.work), 3), np.float32)
        evaluated.vertices.foreach_get("co", result.ravel())
        return check("Blender", method, self.pose(), self.work, result)


def main() -> None:
    scene = None
    for line in sys.stdin:
        command, argument = line.split()
        if command == "build":
            scene = Scene(int(argument))
            answer = 0.0
        else:
            answer = (scene.check if command == "check" else scene.sample)(argument)
        print(f"@{answer!r}", flush=True)


try:
    main()
except BaseException as error:  # SystemExit of a check too: what to say, before Blender is ended without its ceremonies
    print(f"@{type(error).__name__}: {error}", flush=True)
    os._exit(1)
os._exit(0)
