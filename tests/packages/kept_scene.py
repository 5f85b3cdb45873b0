"""What is in the file that is kept of a version: small, and with every way in which a skin is saved."""

import bpy
import numpy as np

JOINTS, RINGS, AROUND = 3, 7, 6
FRAMES = (4, 10)
SETTINGS = {"Plain": {}, "Settings": {"Factor": 0.75, "Inherited Scale": "Before Bend"}}


def make(inputs, add_skin, points):
    """In the open, empty scene; the rest is given: the extension's `inputs`, and what the steps do."""
    rig = _rig()
    for name, settings in SETTINGS.items():
        tube = _tube(name, rig)
        skin = add_skin(tube, "TWO_PHASE")
        for key, value in settings.items():
            inputs.write(skin, key, value)
        for frame in FRAMES:
            bpy.context.scene.frame_set(frame)
            expected = tube.data.attributes.new(f"expected {frame}", "FLOAT_VECTOR", "POINT")
            expected.data.foreach_set("vector", points(tube).ravel())


def _rig():
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for joint in range(JOINTS):
        bone = rig.data.edit_bones.new(f"bone{joint}")
        bone.head, bone.tail, bone.parent = (0, 0, joint), (0, 0, joint + 1), parent
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    for frame, amount in ((1, 0.0), (6, 1.0), (12, -0.5)):
        for k, bone in enumerate(rig.pose.bones):
            bone.rotation_mode = "XYZ"
            bone.rotation_euler, bone.scale = (0.5 * amount * k, 0.3 * amount, 0.2 * amount), (1 + 0.3 * amount, 1, 1)
            bone.keyframe_insert("rotation_euler", frame=frame)
            bone.keyframe_insert("scale", frame=frame)
    return rig


def _tube(name, rig):
    angles = np.linspace(0, 2 * np.pi, AROUND, endpoint=False)
    points = [(0.3 * np.cos(a), 0.3 * np.sin(a), z) for z in np.linspace(0, JOINTS, RINGS) for a in angles]
    corners = ((0, 0), (0, 1), (1, 1), (1, 0))
    faces = [
        [(ring + up) * AROUND + (side + on) % AROUND for up, on in corners]
        for ring in range(RINGS - 1)
        for side in range(AROUND)
    ]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    tube = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(tube)
    for joint in range(JOINTS):
        group = tube.vertex_groups.new(name=f"bone{joint}")
        for vertex, (_x, _y, z) in enumerate(points):
            if (weight := 1.0 - abs(z - joint - 0.5)) > 0:
                group.add([vertex], weight, "REPLACE")
    tube.modifiers.new("Armature", "ARMATURE").object = rig
    if name == "Settings":  # a shape key above: the skin saves a matrix for each point
        tube.shape_key_add(name="Basis")
        key = tube.shape_key_add(name="Wide")
        key.value = 0.5
        for point in key.data:
            point.co.x *= 1.5
    return tube
