"""Every wrong input in Blender has its message: each text of the extension is said once here, by what it is for, or is
listed below as no refusal. A text that is new, and that nothing here makes it say, fails the last test."""

import ast
import re
from pathlib import Path

import bpy
import scene

inputs = scene.extension("inputs")
live = scene.extension("live")
node_group = scene.extension("node_group")
states = scene.extension("states")

SAID = set()

# What is said of what was done, what is under way, and the names of things.
NO_REFUSALS = {
    "Baked {count} frames to {names}", "Baking: {done} of {count} frames", "{name} Baked", "Changed {count} bones",
    ". Hidden: {names}",
    '"{object}": Two-Phase Skin against Armature', 'Reading the weights of "{object}"', "{count} objects",
    "Two-Phase Skin added to {objects}", "{objects} had Two-Phase Skin already: the method is now {method}",
    ": {vertices} vertices on {bones} bones and {support} support joints, {unweighted} without weights",
    "Converted {objects}", "The pose has changed: compare again", "Compared with Armature",
}  # fmt: skip
# Said only where there is a window, or on another machine; with the test that makes them be said there.
ELSEWHERE = {
    "Stopped: nothing was baked": "tests/blender/test_ui_bake.py: test_a_bake_that_is_stopped_leaves_nothing",
    "Stopped: no skin was added": "tests/blender/test_ui_bind.py",
    "Made by Two-Phase Skin {newer}": "tests/blender/test_versions.py",
    "Too many vertices to be skinned in Edit Mode": "tests/blender/test_edit_mode.py",
    "Blender cannot override this object": "tests/blender/test_ui_states.py",
    '"{name}" is linked: its library says its position': "tests/blender/test_ui_states.py",
    "The object is linked": "tests/blender/test_ui_states.py",
    "Bones of linked armatures were left": "tests/blender/test_ui_bones.py",
    "This pose cannot be computed": "the errors that nobody foresees",
}


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
    texts = [state.text for state in states.of(skin.id_data, skin)] + [live.problem_of(skin)]
    if inputs.has(skin, "Message"):
        texts.append(inputs.read(skin, "Message"))
    SAID.update(texts)
    for each in expected:
        assert any(each in text for text in texts), f"{each!r} is not in {texts}"


def add(**options):
    return refused(bpy.ops.object.two_phase_skin_add, **options)


def mend(action, **options):
    return refused(bpy.ops.object.two_phase_skin_mend, action=action, **options)


def skinned(**options):
    obj, armature = scene.tube(**options)
    return obj, armature, scene.add_skin(obj)


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
    assert not live.problem_of(skin)


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
    preferences = scene.extension("preferences").get()
    preferences.live = False
    told(skin, "Live Update is off")
    preferences.live = True
    items = skin.node_group.interface.items_tree
    skin.node_group.interface.remove(next(i for i in items if i.name == "Multi Modifier"))
    told(skin, 'The node group was edited: its input "Multi Modifier" is missing')
    assert armature.name == "Rig"


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


def test_linked_objects():
    scene.tube()
    path = scene.temporary("messages.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    scene.empty()
    with bpy.data.libraries.load(path, link=True) as (_there, here):
        here.objects = ["Tube", "Rig"]
    for obj in here.objects:
        bpy.context.collection.objects.link(obj)
    scene.activate(bpy.data.objects["Tube"])
    assert '"Tube" is linked: make an editable library override of it first' in add()


def texts():
    """All texts that the extension can say."""
    for path in sorted((Path(scene.ROOT) / "addon").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
            if name in ("rpt_", "poll_message_set") and isinstance(node.args[0], ast.Constant):
                yield path.name, node.args[0].value


def test_each_text_was_said():
    said = "\n".join(SAID)
    silent = [
        (module, text)
        for module, text in texts()
        if text not in NO_REFUSALS
        and not any(text.startswith(start) for start in ELSEWHERE)
        and not re.search(".*".join(map(re.escape, re.split(r"\{\w+\}", text))), said)
    ]
    assert not silent, "\n".join(map(str, silent))
