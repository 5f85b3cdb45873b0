"""Every wrong input in Blender has its message: each text of the extension is said once here, by what it is for. A text
that is new, and that nothing here makes it say, fails the last test."""

import ast
import ctypes
import importlib.util
import os
import re
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import bpy
import scene

bake = scene.extension("bake.operator")
edit_mode = scene.extension("write.edit_mode")
inputs = scene.extension("inputs")
native = scene.extension("native")
add_operator = scene.extension("operators.add")
progress = scene.extension("operators.progress")
schema = scene.extension("modifier.schema")
skins = scene.extension("live.skin")
status = scene.extension("operators.status")
upkeep = scene.extension("live.upkeep")

SAID = set()

# Names of what is drawn beside a heat map, where there is a window.
DRAWN = {'"{object}": Two-Phase Skin against Armature', "The pose has changed: compare again"}


@contextmanager
def heard():
    """What Blender prints meanwhile, the reports among it, was said."""
    path, kept, c = scene.temporary("heard.txt"), os.dup(1), ctypes.CDLL(None)
    sys.stdout.flush()
    c.fflush(None)
    with open(path, "wb") as file:
        os.dup2(file.fileno(), 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        c.fflush(None)
        os.dup2(kept, 1)
        os.close(kept)
        SAID.add(Path(path).read_text(encoding="utf-8"))


def wrong(kind, action, *arguments):
    """What a script is told."""
    try:
        action(*arguments)
    except kind as error:
        SAID.add(error.args[0])
        return
    raise AssertionError(f"{arguments} was not refused")


class InWindow:
    """An operator as Blender makes it in a window, which is not there: its methods, and what it reports."""

    def __init__(self, cls, **state):
        self._cls = cls
        self._steps = SimpleNamespace(
            asks_to_stop=progress.Steps.asks_to_stop,
            asks_for_work=progress.Steps.asks_for_work,
            show=lambda _fraction, text: SAID.add(text),
            end=lambda: None,
        )
        self.__dict__.update(state)

    def __getattr__(self, name):
        return getattr(self._cls, name).__get__(self)

    def report(self, _level, text):
        SAID.add(text)


TIMER, ESC = SimpleNamespace(type="TIMER", value="NOTHING"), SimpleNamespace(type="ESC", value="PRESS")


def refused(operator, **options):
    """What an operator says that does nothing; nothing of the objects may have changed."""
    before = everything()
    try:
        result = operator(**options)
        raise AssertionError(f"not refused: {result}")
    except RuntimeError as error:
        said = str(error)
    assert everything() == before, f"it was refused and has changed something: {said}"
    SAID.add(said)
    return said


def everything():
    return [
        (obj.name, obj.parent, obj.parent_type, [(m.name, m.type, m.show_viewport) for m in obj.modifiers])
        for obj in bpy.data.objects
    ]


def told(skin, *expected):
    """What the panel of a skin says."""
    bpy.context.view_layer.update()
    texts = [state.text for state in status.of(skin.id_data, skin)]
    if problem := upkeep.problem_of(skin):
        texts.append(problem.text)
    if inputs.has(skin, "Message"):
        texts.append(inputs.read(skin, "Message"))
    SAID.update(texts)
    for each in expected:
        assert any(each in text for text in texts), f"{each!r} is not in {texts}"


def add(**options):
    return refused(bpy.ops.object.two_phase_skin_add, **options)


def mend(action, **options):
    return refused(bpy.ops.object.two_phase_skin_mend, action=action, **options)


def skinned(count=1):
    """That many tubes with a skin each; the first, its armature and its skin."""
    made = [scene.tube() for _ in range(count)]
    with heard():
        skins = [scene.add_skin(obj) for obj, _armature in made]
    return (*made[0], skins[0])


def test_adding():
    assert "Select a mesh object" in add()
    scene.chain(2)
    assert "Select a mesh object" in add()
    obj, armature = scene.tube()
    assert 'There is no object "nobody": choose an armature' in add(armature="nobody")
    assert '"Tube" is not an armature: choose one' in add(armature="Tube")
    modifier = obj.modifiers["Armature"]
    modifier.use_vertex_groups = False
    assert '"Armature" binds to nothing. Turn its Vertex Groups or Bone Envelopes on' in add()
    modifier.use_vertex_groups = True
    obj.modifiers.new("Subdivision", "SUBSURF")
    obj.modifiers.move(1, 0)
    assert '"Subdivision" above changes the points\' number' in add()
    obj.modifiers.clear()
    assert '"Tube": no armature found. Parent it to one' in add()
    assert armature.name in bpy.data.objects


def test_what_stands_above():
    for kind, expected in (
        ("SUBSURF", "above changes the points' number"),
        ("VERTEX_WEIGHT_EDIT", "above changes the weights: move it below"),
        ("MIRROR", "flips vertex groups"),
    ):
        obj, _armature, skin = skinned()
        obj.vertex_groups.new(name="hand.L")
        obj.modifiers.new("Above", kind)
        obj.modifiers.move(len(obj.modifiers) - 1, 0)
        told(skin, expected)
        scene.empty()


def test_armatures():
    obj, armature, skin = skinned()
    inputs.write(skin, "Armature", None)
    told(skin, "No armature is chosen", "Choose an armature")
    inputs.write(skin, "Armature", obj)
    told(skin, "is not an armature", "is not an armature: choose one")
    inputs.write(skin, "Armature", armature)
    armature.data.pose_position = "REST"
    told(skin, '"Rig" is in Rest Position')
    armature.data.pose_position = "POSE"
    scene.activate(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    told(skin, '"Rig" is in Edit Mode: the mesh is at rest')
    bpy.ops.object.mode_set(mode="OBJECT")
    armature.pose.bones[1].location.x = float("nan")
    told(skin, 'The pose of bone "bone1" has a number that is not finite')
    armature.pose.bones[1].location.x = 0
    told(skin)
    assert not upkeep.problem_of(skin)


def test_weights():
    obj, armature, skin = skinned()
    obj.vertex_groups.clear()
    told(skin, "No vertex group is named like a deforming bone")
    for bone in armature.data.bones:
        bone.envelope_distance = bone.head_radius = bone.tail_radius = 0
    inputs.write(skin, "Bind To", "Bone Envelopes")
    told(skin, "No point is in the envelope of a deforming bone")
    inputs.write(skin, "Bind To", "Both")
    told(skin, "No point has a weight in a vertex group of a bone or is in the envelope")
    mesh = bpy.data.meshes.new("Empty")
    obj.data = mesh
    told(skin, "The mesh has no vertices")


def test_points_that_come_too_late():
    obj, _armature, skin = skinned()
    inputs.write(skin, "Bind To", "Bone Envelopes")
    obj.modifiers.new("Cast", "CAST")
    obj.modifiers.move(len(obj.modifiers) - 1, 0)
    told(skin, 'need the points before "Cast" moves them')
    obj.modifiers.remove(obj.modifiers["Cast"])
    obj.shape_key_add(name="Basis")
    obj.data.shape_keys.use_relative = False
    told(skin, "turn Relative on")


def test_settings():
    obj, armature, skin = skinned()
    inputs.write_group(skin, "Vertex Group", "nothing")
    told(skin, 'there is no vertex group "nothing"')
    inputs.write(skin, "Show", "Rest")
    told(skin, "Not all of the deformation is shown")
    skin.show_viewport = False
    told(skin, "Off in the viewport")
    skin.show_viewport = True
    armature_modifier = obj.modifiers["Armature"]
    armature_modifier.show_viewport = True
    told(skin, "An Armature modifier deforms the mesh as well")
    items = skin.node_group.interface.items_tree
    skin.node_group.interface.remove(next(i for i in items if i.name == "Multi Modifier"))
    told(skin, 'The node group was edited: its input "Multi Modifier" is missing')
    assert armature.name == "Rig"


def test_more_skins_than_an_object_can_have():
    obj, _armature, skin = skinned()
    for _ in range(16):
        obj.modifiers.new("More", "NODES").node_group = skin.node_group
    told(obj.modifiers[-1], "An object can have 16 skins at most: remove this one")


def test_mending():
    scene.tube()
    assert "Select a mesh with a Two-Phase Skin" in mend("UPDATE")
    scene.empty()
    obj, armature, skin = skinned()
    assert '"Tube" has no Two-Phase Skin "nobody"' in mend("UPDATE", modifier="nobody")
    assert "Name an armature" in mend("ARMATURE")
    assert "There is no object" in mend("ARMATURE", armature="nobody")
    armature.hide_set(True)
    assert 'Show "Rig" first' in mend("AUTOMATIC_WEIGHTS")
    armature.hide_set(False)
    bpy.ops.object.mode_set(mode="EDIT")
    assert "Go to Object Mode first" in mend("AUTOMATIC_WEIGHTS")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert skin.name in obj.modifiers


def test_baking_and_comparing():
    scene.tube()
    bake, compare = bpy.ops.object.two_phase_skin_bake, bpy.ops.object.two_phase_skin_compare
    assert "Select a mesh with a Two-Phase Skin" in refused(bake)
    assert "Select a mesh with a Two-Phase Skin, out of Edit Mode" in refused(compare)
    scene.empty()
    obj, _armature, skin = skinned()
    assert "Frame Start 5 is after End 4" in refused(bake, frame_start=5, frame_end=4)
    options = {"kind": "MDD", "frame_start": 1, "frame_end": 2}
    assert 'There is no folder "/dev/null": make it first' in refused(bake, filepath="/dev/null/x.mdd", **options)
    assert '"/dev/" is a folder: name the file to write' in refused(bake, filepath="/dev/", **options)
    assert "Save the .blend file first" in refused(bake, **options)
    path = Path(scene.temporary("blocked.mdd"))
    path.with_name(f"{path.name}.part").mkdir()
    assert "Nothing was baked: " in refused(bake, filepath=str(path), **options)
    reader = scene.tube()[0].modifiers.new("Read", "MESH_CACHE")
    reader.filepath = str(path)
    scene.activate(obj)
    assert '"Tube.001" reads: name another file' in refused(bake, filepath=str(path), **options)
    bpy.ops.object.mode_set(mode="EDIT")
    assert "Go to Object Mode or Pose Mode first" in refused(bake)
    bpy.ops.object.mode_set(mode="OBJECT")
    skin.show_viewport = False
    assert '"Tube" has no Two-Phase Skin that is on' in refused(bake, frame_start=1, frame_end=2)
    assert '"Tube" has no Two-Phase Skin that is on' in refused(compare)
    assert "No heat map is shown" in refused(bpy.ops.object.two_phase_skin_compare_hide)


def test_comparing_meshes_of_other_sizes():
    obj, armature, _skin = skinned()
    remesh = obj.modifiers.new("Remesh", "REMESH")
    remesh.mode, remesh.voxel_size = "VOXEL", 0.1
    scene.bend(armature, 2)
    assert "so that they cannot be compared" in refused(bpy.ops.object.two_phase_skin_compare)


def test_converting():
    convert = bpy.ops.object.two_phase_skin_convert
    assert "Select a mesh or an armature in Object Mode" in refused(convert)
    scene.tube()
    bpy.context.object.modifiers.clear()
    assert "None of these objects has an Armature modifier that is on" in refused(convert, to="TWO_PHASE")
    assert "None of these objects has a Two-Phase Skin" in refused(convert, to="ARMATURE")
    scene.empty()
    _obj, armature, _skin = skinned()
    bpy.data.objects.remove(armature)
    assert '"Two-Phase Skin" has no armature. Choose one first' in refused(convert, to="ARMATURE")


def test_bones():
    copy = bpy.ops.pose.two_phase_skin_copy
    assert "Select bones in Pose Mode" in refused(copy)
    _obj, armature, _skin = skinned()
    scene.activate(armature)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    armature.data.bones.active = None
    assert "There is no active bone" in refused(copy)
    bpy.ops.object.mode_set(mode="OBJECT")


def test_what_was_done():
    obj, _armature, skin = skinned(count=2)
    with heard():
        scene.activate(obj, bpy.data.objects["Tube.001"])
        assert bpy.ops.object.two_phase_skin_add(method="LINEAR") == {"FINISHED"}
        options = {"frame_start": 1, "frame_end": 2}
        scene.activate(obj)
        assert bpy.ops.object.two_phase_skin_bake(kind="SHAPE_KEYS", **options) == {"FINISHED"}
        scene.activate(obj)
        obj.hide_set(False)
        assert bpy.ops.object.two_phase_skin_compare() == {"FINISHED"}
        assert bpy.ops.object.two_phase_skin_convert(to="ARMATURE") == {"FINISHED"}
    assert skin is not None


def test_a_bake_that_cannot_go_on():
    obj, _armature, _skin = skinned()
    running = bake.Bake(bpy.context, [obj], "MDD", range(1, 4), scene.temporary("short.mdd"))
    running.step(bpy.context)
    wrong(ValueError, running.finish, bpy.context)
    running.close()
    build = obj.modifiers.new("Build", "BUILD")
    obj.modifiers.move(len(obj.modifiers) - 1, 0)
    build.frame_start, build.frame_duration = 1, 20
    for kind in ("MDD", "SHAPE_KEYS"):
        running = bake.Bake(bpy.context, [obj], kind, range(1, 9), scene.temporary("other.mdd"))
        wrong(ValueError, lambda running=running: [running.step(bpy.context) for _ in range(8)])
        running.close()


def test_in_a_window():
    """Esc while baking, and while the weights of large meshes are read."""
    obj, _armature, _skin = skinned()
    running = bake.Bake(bpy.context, [obj], "MESHES", range(1, 4), "")
    operator = InWindow(bake.OBJECT_OT_two_phase_skin_bake, _bake=running)
    assert operator.modal(bpy.context, TIMER) == {"RUNNING_MODAL"}
    assert operator.modal(bpy.context, ESC) == {"CANCELLED"}
    adding = InWindow(add_operator.OBJECT_OT_two_phase_skin_add, _reading=iter([("Tube", 0.5)]))
    assert adding.modal(bpy.context, TIMER) == {"RUNNING_MODAL"}
    assert adding.modal(bpy.context, ESC) == {"CANCELLED"}


def test_scripts():
    obj, _armature, skin = skinned()
    wrong(ValueError, inputs.write, skin, "Message", "x")
    wrong(ValueError, inputs.write_group, skin, "Factor", "x")
    wrong(TypeError, inputs.write_group, skin, "Blend", 5)
    wrong(TypeError, inputs.read, obj.modifiers["Armature"], "Factor")
    wrong(KeyError, inputs.read, skin, "Faktor")
    wrong(ValueError, inputs.write, skin, "Method", "linear")
    wrong(TypeError, inputs.write, skin, "Factor", "1")
    wrong(ValueError, inputs.write, skin, "Factor", 1.5)
    wrong(TypeError, inputs.write, skin, "Invert", 2)
    wrong(TypeError, inputs.write, skin, "Armature", "Rig")


def test_an_error_that_nobody_foresees():
    _obj, armature, skin = skinned()

    def torn(*_, **__):
        raise ValueError("torn")

    kept, skins.stages.mixed = skins.stages.mixed, torn
    try:
        scene.bend(armature)
        told(skin, "This pose cannot be computed: torn")
    finally:
        skins.stages.mixed = kept


def test_large_meshes_in_edit_mode():
    _obj, _armature, skin = skinned()
    kept, edit_mode.LIMIT = edit_mode.LIMIT, 100
    try:
        bpy.ops.object.mode_set(mode="EDIT")
        told(skin, "Too many vertices to be skinned in Edit Mode")
    finally:
        edit_mode.LIMIT = kept


def test_files_of_a_newer_version():
    _obj, _armature, skin = skinned()
    skin.node_group[schema.MARK], skin.node_group[schema.MAKER] = schema.VERSION + 1, "9.8.7"
    told(skin, "Made by Two-Phase Skin 9.8.7: this is")


def native_problem(module):
    """What the door to the native module says where that is what one imports."""
    kept = sys.modules["two_phase_skinning"]
    sys.modules["two_phase_skinning"] = module
    try:
        spec = importlib.util.spec_from_file_location("again", native.__file__)
        again = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(again)
    finally:
        sys.modules["two_phase_skinning"] = kept
    return again.PROBLEM


def test_a_native_part_that_is_missing_or_old():
    obj, _armature, skin = skinned()
    for module, expected in (
        (None, "its native part is missing"),
        (SimpleNamespace(__version__="0.0.1"), "was installed, but 0.0.1 is still in memory; restart Blender"),
    ):
        native.PROBLEM = native_problem(module)
        try:
            assert expected in add()
            assert [expected in state.text for state in status.of(obj, skin)] == [True]
        finally:
            native.PROBLEM = ""


def library(*names):
    """A file with a tube, and these objects of it linked."""
    obj, _armature, _skin = skinned()
    path = scene.temporary("messages.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert obj is not None
    scene.empty()
    with bpy.data.libraries.load(path, link=True) as (_there, here):
        here.objects = list(names)
    for obj in here.objects:
        bpy.context.collection.objects.link(obj)
    return here.objects


def test_linked_objects():
    obj, _armature = library("Tube", "Rig")
    scene.activate(obj)
    assert '"Tube" is linked: make an editable library override of it first' in add()
    told(obj.modifiers["Two-Phase Skin"], "The object is linked: its settings are its library's")


def test_linked_armatures():
    (linked,) = library("Rig")
    obj, own = scene.tube()
    skin = scene.add_skin(obj, armature=own.name)
    inputs.write(skin, "Armature", linked)
    linked.data.pose_position = "REST"
    bpy.context.view_layer.update()
    assert '"Rig" is linked: its library says its position' in mend("POSE_POSITION")
    assert "Blender cannot override this object: select the collection" in mend("OVERRIDE")
    own.data = linked.data
    for selected, expected in (((own,), {"CANCELLED"}), ((own, scene.chain(2)), {"FINISHED"})):
        scene.activate(*selected)
        bpy.ops.object.mode_set(mode="POSE")
        for pose_bone in [bone for each in selected for bone in each.pose.bones]:
            (pose_bone if hasattr(pose_bone, "select") else pose_bone.bone).select = True
        with heard():
            assert bpy.ops.pose.two_phase_skin_set() == expected
        bpy.ops.object.mode_set(mode="OBJECT")


# ---- the texts of the extension


def literal(node):
    """The parts of a text between what is put into it, or None if it is no text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.split(r"\{\w+\}", node.value)
    if isinstance(node, ast.JoinedStr):
        parts = [each.value if isinstance(each, ast.Constant) else None for each in node.values]
        return "".join("\0" if part is None else part for part in parts).split("\0")
    return None


def spoken(node):
    """The texts in a statement or call by which the extension says something, and whether it is all that is said."""
    if isinstance(node, ast.Call):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in ("rpt_", "poll_message_set"):
            yield node.args[0], False
        elif name == "report":
            yield node.args[1], False
    elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        yield from ((argument, True) for argument in node.exc.args)
    elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "PROBLEM":
        yield node.value, False


def texts():
    """All texts that the extension can say: where, in parts, and whether it is all that is said."""
    addon = Path(scene.ROOT) / "addon"
    for path in sorted(addon.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for said, whole in spoken(node):
                parts = literal(said)
                if parts and re.search(r"\w\w", "".join(parts)):
                    yield f"{path.relative_to(addon)}:{node.lineno}", parts, whole


def was_said(parts, whole):
    pattern = re.compile(".*".join(map(re.escape, parts)))
    return any(pattern.fullmatch(each) if whole else pattern.search(each) for each in SAID)


def test_each_text_was_said():
    found = list(texts())
    silent = [
        f"{place}: {'...'.join(parts)}"
        for place, parts, whole in found
        if not was_said(parts, whole) and not any(parts == re.split(r"\{\w+\}", text) for text in DRAWN)
    ]
    assert found and not silent, "\n".join(silent)
