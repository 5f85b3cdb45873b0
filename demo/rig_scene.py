"""The demo's character: the Rigify human, a body around its deform bones, weights, a squash-and-stretch animation.

    rig = generate_rig()
    body = make_body(rig, minimum_vertices=20000)
    bind(body, rig)            # Blender's automatic weights: an Armature modifier and a vertex group for each bone
    animate(rig)               # frames 1 to FRAMES

Every function works in the current scene, so `bpy` must be imported (in Blender it always is) and no window is needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import bpy
import numpy as np

if __package__:
    from . import body as shape
else:  # run or imported with demo/ itself on the path
    import body as shape  # type: ignore[no-redef]

FRAMES = 48
SHOWN_FRAME = 24  # the forearm and the thigh are at their widest, and the torso is stretched


def generate_rig() -> bpy.types.Object:
    """The Rigify human, generated as a rigger would, with B-bones of one segment. Takes about 7 s."""
    bpy.ops.preferences.addon_enable(module="rigify")
    bpy.ops.object.armature_human_metarig_add()
    metarig = bpy.context.object
    bpy.ops.pose.rigify_generate()
    rig = bpy.context.object
    bpy.data.objects.remove(metarig)
    for bone in rig.data.bones:
        bone.bbone_segments = 1
    return rig


def deform_bones(rig: bpy.types.Object) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Head and tail of each deform bone at rest, in the rig's space."""
    return {b.name: (np.array(b.head_local), np.array(b.tail_local)) for b in rig.data.bones if b.use_deform}


def make_body(rig: bpy.types.Object, minimum_vertices: int = 20000) -> bpy.types.Object:
    """One closed, smooth mesh around the rig's deform bones with at least that many vertices, in the current scene."""
    bones = deform_bones(rig)
    vertices, faces = shape.mannequin(bones)
    parts = bpy.data.meshes.new("Body")
    parts.from_pydata(vertices.tolist(), [], faces)
    parts.validate()
    body, tubes = bpy.data.objects.new("Body", parts), bpy.data.objects.new("Tubes", parts.copy())
    bpy.context.collection.objects.link(body)
    bpy.context.collection.objects.link(tubes)
    remesh = body.modifiers.new("Remesh", "REMESH")
    remesh.mode = "VOXEL"
    # back onto the tubes: the voxels' steps are too long for smoothing alone
    body.modifiers.new("Shrinkwrap", "SHRINKWRAP").target = tubes
    smooth = body.modifiers.new("Smooth", "SMOOTH")
    smooth.factor, smooth.iterations = 0.5, 16
    remesh.voxel_size = 0.02
    while (count := _evaluated_size(body)) < minimum_vertices:
        remesh.voxel_size *= min(0.97, 0.99 * math.sqrt(count / minimum_vertices))
    _keep_evaluated(body)
    bpy.data.meshes.remove(tubes.data)
    fused = np.empty(3 * len(body.data.vertices), dtype=np.float32)
    body.data.vertices.foreach_get("co", fused)
    points = shape.magnify_hands(fused.reshape(-1, 3).astype(float), bones, undo=True)
    body.data.vertices.foreach_set("co", points.astype(np.float32).ravel())
    body.data.polygons.foreach_set("use_smooth", np.ones(len(body.data.polygons), dtype=bool))
    body.data.update()
    return body


def _evaluated_size(obj: bpy.types.Object) -> int:
    return len(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices)


def _keep_evaluated(obj: bpy.types.Object) -> None:
    """Replace the object's mesh by what its modifiers make of it."""
    result = bpy.data.meshes.new_from_object(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()))
    parts = obj.data
    obj.modifiers.clear()
    obj.data = result
    bpy.data.meshes.remove(parts)
    result.name = "Body"


def bind(body: bpy.types.Object, rig: bpy.types.Object) -> None:
    """Parent the body to the rig with Blender's automatic weights: groups for the bones and an Armature modifier."""
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.object.select_all(action="DESELECT")
    body.select_set(True)
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.parent_set(type="ARMATURE_AUTO")
    bpy.context.view_layer.objects.active = body
    rig.select_set(False)


# The animation, as a rigger would key it: control -> channel -> one value for each frame in KEYS. Metres and degrees.
# Rigify's deform bones keep their volume: a control that is 1.6 long makes its bones 1.6 long and 0.79 wide.
KEYS = (1, 9, 18, 28, 38, 48)
REST = (0, 0, 0)
ONE = (1, 1, 1)
SQUASH = (1.155, 1.155, 0.75)
STRETCH = (0.861, 0.861, 1.35)
WIDE = (1.6, 1, 0.6)
FLAT = (1.5, 1, 0.6)
ANIMATION: dict[str, dict[str, tuple[tuple[float, float, float], ...]]] = {
    # torso, down and squashed, then up and stretched
    "torso": {
        "location": (REST, (0, 0, -0.10), (0, 0, 0.02), (0, 0, 0.02), (0, 0, -0.07), REST),
        "scale": (ONE, SQUASH, STRETCH, STRETCH, (1.08, 1.08, 0.857), ONE),
    },
    # the head keeps most of its shape
    "head": {"scale": (ONE, (0.90, 1.22, 0.90), (1.13, 0.80, 1.13), (1.13, 0.80, 1.13), (0.95, 1.12, 0.95), ONE)},
    # left forearm: 1.6 long and flat, the hand turned by 120 degrees; a tweak control takes that turn to mid-forearm
    "upper_arm_fk.L": {"rotation_euler": (REST, (0, 0, -20), (0, 0, 30), (0, 0, 30), (0, 0, -5), REST)},
    "forearm_fk.L": {"scale": (ONE, (1, 0.85, 1), (1, 1.6, 1), (1, 1.6, 1), (1, 0.95, 1), ONE)},
    "forearm_tweak.L": {"scale": (ONE, ONE, FLAT, FLAT, ONE, ONE)},
    "hand_fk.L": {"rotation_euler": (REST, (0, -20, 0), (0, 120, 0), (0, 120, 0), (0, 20, 0), REST)},
    "forearm_tweak.L.001": {"rotation_euler": (REST, (0, -10, 0), (0, 60, 0), (0, 60, 0), (0, 10, 0), REST)},
    "upper_arm_fk.R": {"rotation_euler": (REST, (0, 0, 20), (0, 0, -30), (0, 0, -30), (0, 0, 5), REST)},
    # left leg lifted and turned out, the knee bent, the thigh wide one way and flat the other
    "thigh_fk.L": {"rotation_euler": (REST, (-35, 0, 0), (-75, 45, 0), (-75, 45, 0), (-30, 10, 0), REST)},
    "shin_fk.L": {"rotation_euler": (REST, (60, 0, 0), (100, 0, 0), (100, 0, 0), (50, 0, 0), REST)},
    "thigh_tweak.L": {"scale": (ONE, ONE, WIDE, WIDE, ONE, ONE)},
    "thigh_tweak.L.001": {"rotation_euler": (REST, REST, (0, 60, 0), (0, 60, 0), REST, REST)},
}
FK_LIMBS = ("upper_arm_parent.L", "upper_arm_parent.R", "thigh_parent.L")  # the right leg stays on the floor by IK


def animate(rig: bpy.types.Object) -> None:
    """Key the rig's own controls over frames 1 to FRAMES and set the scene's frame range."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    for limb in FK_LIMBS:
        rig.pose.bones[limb]["IK_FK"] = 1.0
    for control, channels in ANIMATION.items():
        bone = rig.pose.bones[control]
        for channel, values in channels.items():
            for frame, value in zip(KEYS, values, strict=True):
                _key(bone, channel, frame, value)
    scene.frame_set(1)


def _key(bone: bpy.types.PoseBone, channel: str, frame: int, value: Iterable[float]) -> None:
    if channel == "rotation_euler":
        if bone.rotation_mode == "QUATERNION":
            bone.rotation_mode = "XYZ"
        value = map(math.radians, value)
    setattr(bone, channel, tuple(value))
    bone.keyframe_insert(channel, frame=frame)
