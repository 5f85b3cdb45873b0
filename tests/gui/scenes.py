"""The scenes that the checks in a window look at."""

import sys
from pathlib import Path

import bpy
import numpy as np
import window


def empty():
    """A new file with nothing in it; the windows stay as they are."""
    with window.context():
        if bpy.context.object is not None and bpy.context.object.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
    for collection in (bpy.data.objects, bpy.data.meshes, bpy.data.armatures, bpy.data.node_groups):
        for item in list(collection):
            collection.remove(item)
    bpy.ops.outliner.orphans_purge()


def arm(rings=61, around=48):
    """A limb "Arm" of three parts, weighted to the three bones of "Rig" by an Armature modifier."""
    rig = _rig(("upper", "lower", "end"), (0.0, 1.6, 3.2, 4.0))
    z = np.linspace(0.0, 4.0, rings)
    angle = np.linspace(0, 2 * np.pi, around, endpoint=False)
    radius = 0.42 + 0.06 * np.cos(z * 1.9)
    points = np.stack(
        [np.outer(radius, np.cos(angle)).ravel(), np.outer(radius, np.sin(angle)).ravel(), np.repeat(z, around)], axis=1
    )
    faces = [
        (r * around + k, r * around + (k + 1) % around, (r + 1) * around + (k + 1) % around, (r + 1) * around + k)
        for r in range(rings - 1)
        for k in range(around)
    ]
    mesh = bpy.data.meshes.new("Arm")
    mesh.from_pydata(
        points.tolist(), [], [*faces, tuple(range(around))[::-1], tuple(range(len(points) - around, len(points)))]
    )
    mesh.polygons.foreach_set("use_smooth", [True] * (len(faces)) + [False] * 2)
    obj = bpy.data.objects.new("Arm", mesh)
    bpy.context.scene.collection.objects.link(obj)
    _weight(obj, points[:, 2], {"upper": (-9, 1.6), "lower": (1.6, 3.2), "end": (3.2, 99)})
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    activate(obj)
    return obj, rig


def _rig(names, ends):
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    activate(rig)
    with window.context():
        bpy.ops.object.mode_set(mode="EDIT")
        parent = None
        for name, head, tail in zip(names, ends, ends[1:], strict=False):
            bone = rig.data.edit_bones.new(name)
            bone.head, bone.tail, bone.parent = (0, 0, head), (0, 0, tail), parent
            parent = bone
        bpy.ops.object.mode_set(mode="OBJECT")
    rig.show_in_front = True
    return rig


def _weight(obj, heights, ranges, soft=0.45):
    for name, (low, high) in ranges.items():
        group = obj.vertex_groups.new(name=name)
        rise = np.clip((heights - low + soft) / (2 * soft), 0, 1)
        fall = np.clip((high + soft - heights) / (2 * soft), 0, 1)
        for vertex, weight in enumerate(np.minimum(rise, fall).tolist()):
            if weight > 0:
                group.add([vertex], weight, "REPLACE")


def pose(rig):
    """Stretched, flattened, bent and twisted."""
    upper, lower = rig.pose.bones["upper"], rig.pose.bones["lower"]
    for bone in (upper, lower):
        bone.rotation_mode = "XYZ"
    upper.scale = (1.5, 1.15, 0.75)
    lower.rotation_euler = (0.9, 1.5, 0.0)


def activate(obj, *others):
    layer = bpy.context.view_layer
    for other in layer.objects:
        other.select_set(False)
    for each in (*others, obj):
        each.select_set(True)
    layer.objects.active = obj


def look(distance=9.0, at=(0.0, -0.3, 1.9), front=False):
    """The 3D view from a corner and a little above, or straight from the front."""
    view = window.area("VIEW_3D").spaces.active
    view.region_3d.view_perspective = "PERSP"
    view.region_3d.view_rotation = (0.7071, 0.7071, 0, 0) if front else (0.74, 0.55, 0.23, 0.31)
    view.region_3d.view_location, view.region_3d.view_distance = at, distance
    view.overlay.show_floor = view.overlay.show_axis_x = view.overlay.show_axis_y = False


def human():
    """The Rigify human and its body, as the demo makes them."""
    root = str(Path(__file__).resolve().parents[2])
    if root not in sys.path:
        sys.path.append(root)
    from demo import rig_scene

    rig = rig_scene.generate_rig()
    body = rig_scene.make_body(rig)
    rig_scene.bind(body, rig)
    return body, rig


def animate(rig, frames):
    """From rest to the pose and back."""
    bones = [rig.pose.bones[name] for name in ("upper", "lower")]
    rest = [(bone.scale.copy(), bone.rotation_euler.copy()) for bone in bones]
    for frame, posed in ((1, False), (frames // 2, True), (frames, False)):
        if posed:
            pose(rig)
        else:
            for bone, (scale, rotation) in zip(bones, rest, strict=True):
                bone.scale, bone.rotation_euler = scale, rotation
        for bone in bones:
            bone.rotation_mode = "XYZ"
            bone.keyframe_insert("scale", frame=frame)
            bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames
    bpy.context.scene.frame_set(1)
