"""What the tests in Blender share: Blender itself with the extension, small and real scenes, and how to measure."""

import os
import re
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
EXTENSION = "bl_ext.user_default.two_phase_skin"
SHARED = Path(os.environ.get("TWO_PHASE_TESTS") or tempfile.gettempdir())


def _install():
    """Copy the extension into an empty user folder, where Blender finds it as an installed one."""
    user = Path(tempfile.mkdtemp(prefix="two_phase_blender_"))
    os.environ["BLENDER_USER_RESOURCES"] = str(user)
    target = user / "extensions" / "user_default" / "two_phase_skin"
    shutil.copytree(ROOT / "addon", target, ignore=shutil.ignore_patterns("__pycache__"))


_install()

import bpy  # noqa: E402  (it finds the user folder when it is imported)


def empty():
    """An empty scene with the extension enabled and no leftovers."""
    import addon_utils  # Blender's own; bpy puts it on the path

    bpy.ops.wm.read_factory_settings(use_empty=True)
    if not all(addon_utils.check(EXTENSION)) and addon_utils.enable(EXTENSION, default_set=True) is None:
        raise RuntimeError(f"{EXTENSION} could not be enabled")


def extension(module):
    """A module of the extension, as a script imports it."""
    import importlib

    return importlib.import_module(f"{EXTENSION}.{module}")


@contextmanager
def calls_of(owner, name):
    """The calls of a function of a module or a class meanwhile, each as its arguments."""
    function, calls = getattr(owner, name), []

    def counted(*arguments, **options):
        calls.append(arguments)
        return function(*arguments, **options)

    setattr(owner, name, counted)
    try:
        yield calls
    finally:
        setattr(owner, name, function)


def tube(joints=4, rings=41, around=16):
    """A tube along z with a chain of bones in it, one unit each, smooth weights and an Armature modifier."""
    armature = chain(joints)
    z = np.linspace(0, joints, rings)
    angle = np.linspace(0, 2 * np.pi, around, endpoint=False)
    points = np.stack(
        [np.tile(0.3 * np.cos(angle), rings), np.tile(0.3 * np.sin(angle), rings), np.repeat(z, around)], axis=1
    )
    faces = [
        (r * around + k, r * around + (k + 1) % around, (r + 1) * around + (k + 1) % around, (r + 1) * around + k)
        for r in range(rings - 1)
        for k in range(around)
    ]
    mesh = bpy.data.meshes.new("Tube")
    mesh.from_pydata(points.tolist(), [], faces)
    obj = bpy.data.objects.new("Tube", mesh)
    bpy.context.collection.objects.link(obj)
    for joint in range(joints):
        group = obj.vertex_groups.new(name=f"bone{joint}")
        for vertex, (_x, _y, height) in enumerate(points):
            weight = max(0.0, 1.0 - abs(height - joint - 0.5) / 0.9)
            if weight > 0:
                group.add([vertex], weight, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = armature
    activate(obj)
    return obj, armature


def chain(joints):
    """An armature object "Rig" with that many bones, bone0, bone1, ..., one above the other, one unit each."""
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(armature)
    activate(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for joint in range(joints):
        bone = armature.data.edit_bones.new(f"bone{joint}")
        bone.head, bone.tail, bone.roll = (0, 0, joint), (0, 0, joint + 1), 0.4 * joint
        bone.parent, bone.use_connect = parent, False
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def bend(armature, amount=1.0, scale=True):
    """A pose that bends, twists and, if wanted, scales and shears every bone but the first."""
    for k, bone in enumerate(armature.pose.bones):
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = (amount * 0.35 * k, amount * 0.25, amount * -0.2 * k)
        bone.location = (0.05 * amount * k, 0, 0.03 * amount)
        bone.scale = (1 + 0.3 * amount, 1 - 0.2 * amount * k / 4, 1 + 0.1 * amount * k) if scale else (1, 1, 1)


def activate(obj, *others):
    """Make it the active and selected object; the others are selected with it."""
    for other in bpy.context.selected_objects:
        other.select_set(False)
    for each in (*others, obj):
        each.select_set(True)
    bpy.context.view_layer.objects.active = obj


def add_skin(obj, **options):
    """Add a skin through the operator that the menu calls; the modifier."""
    activate(obj)
    before = {modifier.name for modifier in obj.modifiers}
    assert bpy.ops.object.two_phase_skin_add(**options) == {"FINISHED"}
    return next(modifier for modifier in obj.modifiers if modifier.name not in before)


def skinned(**options):
    """A bent tube, its armature and its skin."""
    obj, armature = tube()
    skin = add_skin(obj, **options)
    bend(armature)
    bpy.context.view_layer.update()
    return obj, armature, skin


def points(obj):
    """The points of the evaluated mesh, (V, 3), in the object's space."""
    return points_of(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data)


def points_of(mesh):
    """The points of a mesh, (V, 3)."""
    result = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.vertices.foreach_get("co", result.reshape(-1))
    return result


class _Recorder(bpy.types.RenderEngine):
    """A render engine that paints nothing and keeps the points that Blender hands to it."""

    bl_idname = "TWO_PHASE_SCENE_RECORDER"
    bl_label = "Recorder"
    seen: dict = {}  # noqa: RUF012 (shared on purpose: Blender makes the instances)

    def render(self, depsgraph):
        self.seen.update({obj.name: points_of(obj.data) for obj in depsgraph.objects if obj.type == "MESH"})


def rendered(obj):
    """The points of the object that a render engine gets for a still of the scene as it is."""
    here = bpy.context.scene
    if here.camera is None:
        here.camera = bpy.data.objects.new("Extra camera", bpy.data.cameras.new("Extra"))
        here.collection.objects.link(here.camera)
    before = here.render.engine
    bpy.utils.register_class(_Recorder)
    try:
        here.render.engine = _Recorder.bl_idname
        here.render.resolution_x = here.render.resolution_y = 8
        _Recorder.seen.clear()
        assert bpy.ops.render.render() == {"FINISHED"}
        return _Recorder.seen[obj.name]
    finally:
        here.render.engine = before
        bpy.utils.unregister_class(_Recorder)


def size(obj):
    """The diagonal of the object's own mesh: what distances are measured by."""
    corners = np.array(obj.bound_box)
    return float(np.linalg.norm(corners.max(0) - corners.min(0)))


def yardstick(obj, preserve_volume=False):
    """The points that Blender's own, muted Armature modifiers give in place of the skins, which are muted for it."""
    shown = {modifier.name: modifier.show_viewport for modifier in obj.modifiers}
    for modifier in obj.modifiers:
        if modifier.type == "ARMATURE":
            modifier.show_viewport = True
            modifier.use_deform_preserve_volume = preserve_volume
        elif modifier.type == "NODES" and "two_phase_skin" in modifier.node_group:
            modifier.show_viewport = False
    bpy.context.view_layer.update()
    result = points(obj)
    for modifier in obj.modifiers:
        modifier.show_viewport = shown[modifier.name]
    bpy.context.view_layer.update()
    return result


def distance(first, second):
    """The largest distance between two sets of points."""
    assert first.shape == second.shape, f"{len(first)} points and {len(second)} points"
    return float(np.linalg.norm(first - second, axis=1).max())


def assert_same(first, second, obj, least=1e-5):
    """The largest distance is at most `least` of the object's size."""
    found = distance(first, second) / size(obj)
    assert found <= least, f"off by {found:.2e} of the size; expected at most {least:.0e}"


def assert_differ(first, second, obj, least=1e-2):
    found = distance(first, second) / size(obj)
    assert found >= least, f"off by {found:.2e} of the size only; expected at least {least:.0e}"


def character(segments=False):
    """The Rigify human and its body with automatic weights, animated over 48 frames: (body, rig).

    segments: its 52 B-bones have as many segments as Rigify gives them, otherwise they have one.
    It is made once in a run of the tests (about 15 s) and then opened from a file.
    """
    path = SHARED / "character.blend"
    if not path.exists():
        if str(ROOT) not in sys.path:
            sys.path.append(str(ROOT))
        from demo import rig_scene

        rig = rig_scene.generate_rig()
        body = rig_scene.make_body(rig)
        rig_scene.bind(body, rig)
        rig_scene.animate(rig)
        bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    body = next(obj for obj in bpy.data.objects if obj.find_armature() == rig)
    for bone in rig.data.bones if segments else ():
        if found := re.match(r"DEF-(spine(\.00[1-5])?$|thigh|shin|upper_arm|forearm|f_|thumb)", bone.name):
            bone.bbone_segments = 8 if found[1].startswith("spine") else 10
    activate(body)
    return body, rig


def _curve_owner(obj):
    """What has the F-Curves of an object's action: the action up to 4.3, a channel bag since the actions have slots."""
    action = obj.animation_data.action
    if hasattr(action, "layers") and len(action.layers):
        return action.layers[0].strips[0].channelbag(obj.animation_data.action_slot)
    return action


def curves(obj):
    return _curve_owner(obj).fcurves


def remove_curve(obj, curve):
    _curve_owner(obj).fcurves.remove(curve)


def rest(obj):
    """The points of the object's own mesh, (V, 3)."""
    return points_of(obj.data)


def animate(armature):
    """Keys for all bones over frames 1 to 20."""
    for frame, amount in ((1, 0.0), (8, 0.9), (14, -0.6), (20, 0.3)):
        bend(armature, amount)
        for bone in armature.pose.bones:
            for channel in ("location", "rotation_euler", "scale"):
                bone.keyframe_insert(channel, frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 20


def temporary(name):
    """The path of a file for this process alone."""
    return str(Path(os.environ["BLENDER_USER_RESOURCES"]) / name)
