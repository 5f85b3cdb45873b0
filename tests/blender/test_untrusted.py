"""Files that are not trusted, files that are opened where the extension is not, and files of version 0.1."""

import os
import subprocess
import sys
import tempfile

import bpy
import numpy as np
import scene

inputs = scene.extension("inputs")
FRAMES = (3, 9, 16)
SAVED_AT = 9
KEPT = scene.ROOT / "tests" / "blender" / "kept" / "0.1.0.blend"


def saved(skinned=True, name="untrusted.blend"):
    """A keyed character in a file that was saved at frame 9: its path, and the Armature modifier's points by frame."""
    tube, rig = scene.tube()
    scene.animate(rig)
    if skinned:
        scene.add_skin(tube, method="LINEAR")
    control = bpy.data.objects.new("Control", None)  # what needs permission, to be sure that there is none
    bpy.context.collection.objects.link(control)
    control.driver_add("location", 0).driver.expression = "frame + len('a'.upper())"
    expected = {}
    for frame in (*FRAMES, SAVED_AT):
        bpy.context.scene.frame_set(frame)
        expected[frame] = scene.yardstick(tube)
    path = scene.temporary(name)
    bpy.ops.wm.save_as_mainfile(filepath=path, check_existing=False)
    return path, expected


def child(text, *arguments, installed):
    """Run Python in a process of its own, in which the extension is installed but not enabled, or not even installed.

    What it printed, lines: what Python, and what Blender itself, wrote to either stream."""
    start = "import sys\nimport numpy as np\n"
    if installed:
        start += f"sys.path.insert(0, {str(scene.ROOT / 'tests' / 'blender')!r})\nimport scene\n"
    start += "import bpy\nbpy.ops.wm.read_factory_settings(use_empty=True)\n"
    start += (
        "def points():\n"
        "    mesh = bpy.data.objects['Tube'].evaluated_get(bpy.context.evaluated_depsgraph_get()).data\n"
        "    found = np.empty((len(mesh.vertices), 3), np.float32)\n"
        "    mesh.vertices.foreach_get('co', found.reshape(-1))\n"
        "    return found\n"
        "def keep(name):\n"
        "    np.save(sys.argv[2] + name, points())\n"
    )
    environment = {**os.environ, "BLENDER_USER_RESOURCES": tempfile.mkdtemp()}
    end = "\nsys.stdout.flush()\nimport os\nos._exit(0)\n"
    process = subprocess.run(
        [sys.executable, "-P", "-c", start + text + end, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        timeout=120,
        check=False,
    )
    lines = process.stdout.decode("utf-8", "replace").splitlines()
    assert process.returncode == 0, "\n".join(lines)
    return lines


def test_drivers_need_no_permission():
    tube, rig = scene.tube()
    tube.shape_key_add(name="Basis")
    scene.add_skin(tube, method="TWO_PHASE")
    scene.bend(rig)
    bpy.context.view_layer.update()
    drivers = [curve.driver for curve in tube.animation_data.drivers]
    assert drivers
    for driver in drivers:
        assert driver.is_valid and driver.is_simple_expression, driver.expression


def test_a_file_opened_with_scripts_disabled_follows_poses():
    path, expected = saved()
    bpy.context.preferences.filepaths.use_scripts_auto_execute = False
    scene.empty()
    bpy.ops.wm.open_mainfile(filepath=path, use_scripts=False)
    _assert_follows(expected)
    bpy.context.scene.frame_set(16)
    assert bpy.data.objects["Control"].evaluated_get(bpy.context.evaluated_depsgraph_get()).location.x != 17
    scene.bend(bpy.data.objects["Rig"], 0.4)
    tube = bpy.data.objects["Tube"]
    scene.assert_same(scene.points(tube), scene.yardstick(tube), tube)


def _assert_follows(expected):
    tube = bpy.data.objects["Tube"]
    scene.assert_same(scene.points(tube), expected[SAVED_AT], tube)
    for frame in (*FRAMES, 3):
        bpy.context.scene.frame_set(frame)
        scene.assert_same(scene.points(tube), expected[frame], tube)
        scene.assert_same(scene.rendered(tube), expected[frame], tube)
    scene.assert_differ(expected[3], expected[16], tube)


def test_a_process_with_scripts_disabled_follows_poses():
    path, expected = saved()
    text = """
import addon_utils
assert addon_utils.enable(scene.EXTENSION) is not None
bpy.context.preferences.filepaths.use_scripts_auto_execute = False
bpy.ops.wm.open_mainfile(filepath=sys.argv[1], use_scripts=False)
for frame in (3, 9, 16):
    bpy.context.scene.frame_set(frame)
    keep(str(frame))
assert bpy.data.objects["Control"].evaluated_get(bpy.context.evaluated_depsgraph_get()).location.x != 17
"""
    child(text, path, kept := scene.temporary("disabled_"), installed=True)
    tube = bpy.data.objects["Tube"]
    for frame in FRAMES:
        scene.assert_same(np.load(f"{kept}{frame}.npy"), expected[frame], tube)


WITHOUT = """
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
keep("opened")
for frame in (3, 16):
    bpy.context.scene.frame_set(frame)
    keep(str(frame))
"""


def test_without_the_extension_a_file_shows_the_pose_it_was_saved_with():
    path, expected = saved()
    for installed in (False, True):
        kept = scene.temporary(f"without_{installed}_")
        child(WITHOUT, path, kept, installed=installed)
        tube = bpy.data.objects["Tube"]
        for name in ("opened", "3", "16"):
            scene.assert_same(np.load(f"{kept}{name}.npy"), expected[SAVED_AT], tube)


def test_without_the_extension_a_file_says_no_more_than_a_line():
    """More, that is, than the same file with an Armature modifier does."""
    said = {}
    for skinned in (False, True):
        scene.empty()
        path, _expected = saved(skinned, "said.blend")
        said[skinned] = child(WITHOUT, path, scene.temporary("said_"), installed=False)
    for line in said[False]:
        if line in said[True]:
            said[True].remove(line)
    more = [line for line in said[True] if line.strip() and "Read blend" not in line]
    assert len(more) <= 1, "\n".join(more)
    assert not any("Traceback" in line for line in more)


def test_enabling_the_extension_brings_a_file_to_life():
    path, expected = saved()
    text = """
import addon_utils
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
bpy.context.scene.frame_set(3)
keep("before")
assert addon_utils.enable(scene.EXTENSION) is not None
bpy.context.view_layer.update()
keep("enabled")
for frame in (16, 9):
    bpy.context.scene.frame_set(frame)
    keep(str(frame))
"""
    lines = child(text, path, kept := scene.temporary("alive_"), installed=True)
    assert not any("Traceback" in line for line in lines), "\n".join(lines)
    tube = bpy.data.objects["Tube"]
    off = {}
    for name, frame in (("before", SAVED_AT), ("enabled", 3), ("16", 16), ("9", 9)):
        off[name] = scene.distance(np.load(f"{kept}{name}.npy"), expected[frame]) / scene.size(tube)
    assert all(each <= 1e-5 for each in off.values()), off


# ---- files of version 0.1


def old_file():
    """The kept file of version 0.1 with its method and what else the Armature modifier has, saved by that file's own
    node group, as if this version had never seen it; its path."""
    import addon_utils

    addon_utils.disable(scene.EXTENSION)
    try:
        bpy.ops.wm.open_mainfile(filepath=str(KEPT))
        for tube in _tubes():
            for skin in inputs.skins(tube):
                inputs.write(skin, "Method", "Linear")
                inputs.write(skin, "Inherited Scale", "After Bend")
                inputs.write(skin, "Factor", 1.0)
                inputs.write_group(skin, "Vertex Group", "")
                inputs.write(skin, "Vertex Group", 1.0)
                inputs.write(skin, "Invert", False)
        path = scene.temporary("old.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path, check_existing=False)
    finally:
        scene.empty()
    return path


def _tubes():
    return [obj for obj in bpy.data.objects if obj.type == "MESH" and inputs.skins(obj)]


def _assert_old_skins_follow(tubes, rigs):
    assert len(tubes) == 2
    for frame in (4, 10, 7):
        bpy.context.scene.frame_set(frame)
        for tube in tubes:
            _assert_as_twin(tube, f"frame {frame}")
    for rig in rigs:
        rig.animation_data_clear()
        scene.bend(rig, 0.6)
    for tube in tubes if rigs else ():
        _assert_as_twin(tube, "posed")


def _assert_as_twin(tube, where):
    """Against a local copy of the mesh with an Armature modifier, also as a render engine is given it."""
    twin = bpy.data.objects.new("Twin", tube.data.copy())
    bpy.context.scene.collection.objects.link(twin)
    twin.matrix_world = tube.matrix_world
    for group in tube.vertex_groups if not twin.vertex_groups else ():
        twin.vertex_groups.new(name=group.name)
    twin.modifiers.new("Armature", "ARMATURE").object = inputs.read(inputs.skins(tube)[0], "Armature")
    found, expected = scene.points(tube), scene.points(twin)
    print(f"{tube.name_full}, {where}")
    scene.assert_differ(expected, scene.rest(tube), tube)
    scene.assert_same(found, expected, tube)
    scene.assert_same(scene.rendered(twin), expected, tube)
    seen = scene.rendered(tube)
    scene.assert_same(seen, expected, tube)
    bpy.data.objects.remove(twin)


def test_an_old_file_opened():
    path = old_file()
    bpy.ops.wm.open_mainfile(filepath=path)
    _assert_old_skins_follow(_tubes(), [obj for obj in bpy.data.objects if obj.type == "ARMATURE"])


def test_an_old_file_opened_with_scripts_disabled():
    path = old_file()
    bpy.context.preferences.filepaths.use_scripts_auto_execute = False
    bpy.ops.wm.open_mainfile(filepath=path, use_scripts=False)
    _assert_old_skins_follow(_tubes(), [obj for obj in bpy.data.objects if obj.type == "ARMATURE"])


def test_an_old_file_saved_again_and_opened():
    path = old_file()
    bpy.ops.wm.open_mainfile(filepath=path)
    again = scene.temporary("again.blend")
    bpy.ops.wm.save_as_mainfile(filepath=again, check_existing=False)
    bpy.ops.wm.open_mainfile(filepath=again)
    _assert_old_skins_follow(_tubes(), [obj for obj in bpy.data.objects if obj.type == "ARMATURE"])


def _linked(path):
    with bpy.data.libraries.load(path, link=True) as (there, here):
        here.objects = there.objects
    return [obj for obj in here.objects if obj.type in {"MESH", "ARMATURE"}]


def test_an_old_file_linked_without_override():
    for obj in _linked(old_file()):
        bpy.context.scene.collection.objects.link(obj)
    _assert_old_skins_follow(_tubes(), [])


def test_an_old_file_linked_and_overridden():
    linked = _linked(old_file())
    collection = bpy.data.collections.new("Overrides")
    bpy.context.scene.collection.children.link(collection)
    for obj in linked:
        collection.objects.link(obj)
    overrides = {obj: obj.override_create() for obj in linked}
    for obj in linked:
        collection.objects.unlink(obj)
    for obj in overrides.values():
        collection.objects.link(obj)
    for obj in overrides.values():
        for skin in inputs.skins(obj) if obj.type == "MESH" else ():
            inputs.write(skin, "Armature", overrides[inputs.read(skin, "Armature")])
    tubes = [obj for obj in overrides.values() if obj.type == "MESH" and inputs.skins(obj)]
    _assert_old_skins_follow(tubes, [obj for obj in overrides.values() if obj.type == "ARMATURE"])
