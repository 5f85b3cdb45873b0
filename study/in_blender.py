"""The limbs in real Blender: armature, tube, two Armature modifiers, and the bones of the Rigify human."""

from __future__ import annotations

import contextlib
import io

import bpy
import numpy as np
from limbs import Limb
from mathutils import Matrix
from numpy.typing import NDArray

Array = NDArray[np.float64]

RIGIFY_LIMBS = {
    "arm": (("upper_arm.L", "upper_arm.L.001", "forearm.L", "forearm.L.001", "hand.L"), 0.045),
    "leg": (("thigh.L", "thigh.L.001", "shin.L", "shin.L.001"), 0.065),  # the foot stands across: no tube's shape
}


def rigify_limbs() -> list[Limb]:
    """Arm and leg of the generated Rigify human: its deform bones as they are at rest. Takes about 7 s."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.preferences.addon_enable(module="rigify")
    bpy.ops.object.armature_human_metarig_add()
    with contextlib.redirect_stdout(io.StringIO()):  # it talks of its progress
        bpy.ops.pose.rigify_generate()
    bones = bpy.context.object.data.bones
    limbs = []
    for name, (chain, radius) in RIGIFY_LIMBS.items():
        chosen = [bones[f"DEF-{bone}"] for bone in chain]
        bind = np.array([bone.matrix_local for bone in chosen], dtype=np.float64)
        limbs.append(Limb(f"Rigify {name}", bind, np.array([bone.length for bone in chosen]), radius))
    return limbs


class BlenderLimb:
    """A limb as an armature and two meshes, one deformed linearly, one with Preserve Volume."""

    def __init__(self, limb: Limb) -> None:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self.rig = self._armature(limb)
        self.meshes = [self._mesh(limb, preserve) for preserve in (False, True)]
        bpy.context.view_layer.update()

    @property
    def bind(self) -> Array:
        return np.array([bone.matrix_local for bone in self.rig.data.bones], dtype=np.float64)

    def _armature(self, limb: Limb) -> bpy.types.Object:
        rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
        bpy.context.collection.objects.link(rig)
        bpy.context.view_layer.objects.active = rig
        bpy.ops.object.mode_set(mode="EDIT")
        parent = None
        for j, (matrix, length) in enumerate(zip(limb.bind, limb.lengths, strict=True)):
            bone = rig.data.edit_bones.new(f"{j}")
            bone.head, bone.tail = (0, 0, 0), (0, float(length), 0)
            bone.matrix = Matrix(matrix.tolist())
            bone.parent = parent
            parent = bone
        bpy.ops.object.mode_set(mode="OBJECT")
        return rig

    def _mesh(self, limb: Limb, preserve_volume: bool) -> bpy.types.Object:
        mesh = bpy.data.meshes.new("Tube")
        mesh.from_pydata(limb.points.tolist(), [], [])
        tube = bpy.data.objects.new("Tube", mesh)
        bpy.context.collection.objects.link(tube)
        for j in range(len(limb.lengths)):
            group = tube.vertex_groups.new(name=f"{j}")
            for vertex in np.flatnonzero(limb.weights[:, j]):
                group.add([int(vertex)], float(limb.weights[vertex, j]), "REPLACE")
        modifier = tube.modifiers.new("Armature", "ARMATURE")
        modifier.object, modifier.use_deform_preserve_volume = self.rig, preserve_volume
        return tube

    def pose(self, user: Array, inherits: bool) -> tuple[Array, Array, Array]:
        """Posed matrices (J,4,4), and the tube deformed linearly and with Preserve Volume, (V,3) each."""
        for bone, matrix in zip(self.rig.pose.bones, user, strict=True):
            bone.bone.inherit_scale = "FULL" if inherits else "NONE"
            bone.matrix_basis = Matrix(matrix.tolist())
        bpy.context.view_layer.update()
        world = np.array([bone.matrix for bone in self.rig.pose.bones], dtype=np.float64)
        graph = bpy.context.evaluated_depsgraph_get()
        return world, *(self._positions(tube.evaluated_get(graph)) for tube in self.meshes)

    @staticmethod
    def _positions(tube: bpy.types.Object) -> Array:
        flat = np.empty(3 * len(tube.data.vertices), dtype=np.float32)
        tube.data.vertices.foreach_get("co", flat)
        return flat.reshape(-1, 3).astype(np.float64)
