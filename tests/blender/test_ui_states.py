"""What is off with a skin is said, and the button beside it mends it."""

import bpy
import scene

inputs = scene.extension("inputs")
fix, status = scene.extension("operators.fix"), scene.extension("operators.status")


def texts(tube, skin):
    return [state.text for state in status.of(tube, skin)]


def assert_mended_by(tube, skin, action, text, **options):
    """That text is what is off; after the action nothing is, and the mesh is deformed. One undo step brings it back."""
    found = status.of(tube, skin)
    assert [text in state.text for state in found] == [True], [state.text for state in found]
    assert action in found[0].fixes
    assert bpy.ops.object.two_phase_skin_mend(action=action, modifier=skin.name, **options) == {"FINISHED"}
    assert texts(tube, skin) == []
    scene.assert_differ(scene.points(tube), scene.rest(tube), tube)


def test_nothing_is_off():
    tube, _rig, skin = scene.skinned()
    assert status.of(tube, skin) == []


def test_no_armature():
    tube, rig, skin = scene.skinned()
    inputs.write(skin, "Armature", None)
    bpy.context.view_layer.update()
    scene.assert_same(scene.points(tube), scene.rest(tube), tube)
    assert_mended_by(tube, skin, "ARMATURE", "No armature", armature=rig.name)


def test_something_else_than_an_armature():
    tube, rig, skin = scene.skinned()
    inputs.write(skin, "Armature", tube.copy())
    bpy.context.view_layer.update()
    assert_mended_by(tube, skin, "ARMATURE", "is not an armature", armature=rig.name)


def test_no_weights():
    tube, _rig, skin = scene.skinned()
    expected = scene.points(tube)
    tube.vertex_groups.clear()
    parent, place, names = tube.parent, tube.matrix_world.copy(), [modifier.name for modifier in tube.modifiers]
    bpy.context.view_layer.update()
    assert_mended_by(tube, skin, "AUTOMATIC_WEIGHTS", "No vertex group is named like a deforming bone")
    assert tube.parent == parent and tube.matrix_world == place
    assert [modifier.name for modifier in tube.modifiers] == names and not tube.modifiers["Armature"].show_viewport
    assert scene.distance(scene.points(tube), expected) < 0.2 * scene.size(tube)


def test_no_weights_and_no_armature_modifier():
    tube, _rig, skin = scene.skinned()
    tube.vertex_groups.clear()
    tube.modifiers.remove(tube.modifiers["Armature"])
    bpy.context.view_layer.update()
    assert_mended_by(tube, skin, "AUTOMATIC_WEIGHTS", "No vertex group")
    assert not tube.modifiers["Armature"].show_viewport and not tube.modifiers["Armature"].show_render


def test_nothing_in_envelopes():
    tube, rig, skin = scene.skinned()
    for bone in rig.data.bones:
        bone.head_radius = bone.tail_radius = bone.envelope_distance = 0
    inputs.write(skin, "Bind To", "Bone Envelopes")
    bpy.context.view_layer.update()
    assert_mended_by(tube, skin, "VERTEX_GROUPS", "envelope")


def test_a_modifier_above_that_changes_the_number_of_points():
    tube, _rig, skin = scene.skinned()
    tube.modifiers.new("Subdivision", "SUBSURF")
    tube.modifiers.move(len(tube.modifiers) - 1, 0)
    bpy.context.view_layer.update()
    (state,) = status.of(tube, skin)
    assert "Subdivision" in state.text and state.fixes == ("MOVE_UP",)
    assert bpy.ops.object.two_phase_skin_mend(action="MOVE_UP") == {"FINISHED"}
    assert texts(tube, skin) == []
    assert tube.modifiers[0] == skin


def test_envelopes_below_a_modifier_that_moves_points():
    tube, _rig, skin = scene.skinned()
    inputs.write(skin, "Bind To", "Both")
    tube.modifiers.new("Cast", "CAST").factor = 0.1
    tube.modifiers.move(len(tube.modifiers) - 1, 0)
    bpy.context.view_layer.update()
    assert_mended_by(tube, skin, "MOVE_UP", "need the points")


def test_off_in_the_viewport():
    tube, _rig, skin = scene.skinned()
    skin.show_viewport = False
    assert_mended_by(tube, skin, "SHOW", "Off in the viewport")


def test_an_armature_modifier_deforms_it_again():
    tube, _rig, skin = scene.skinned()
    expected = scene.points(tube)
    tube.modifiers["Armature"].show_viewport = True
    assert_mended_by(tube, skin, "MUTE_ARMATURE", "An Armature modifier deforms the mesh as well")
    scene.assert_same(scene.points(tube), expected, tube)


def test_rest_position():
    tube, rig, skin = scene.skinned()
    rig.data.pose_position = "REST"
    assert_mended_by(tube, skin, "POSE_POSITION", "Rest Position")


def test_a_phase_is_shown():
    tube, _rig, skin = scene.skinned()
    inputs.write(skin, "Show", "After Phase 1")
    assert_mended_by(tube, skin, "SHOW_FINAL", "Not all of the deformation")


def test_a_vertex_group_that_is_not_there():
    tube, _rig, skin = scene.skinned()
    inputs.write_group(skin, "Vertex Group", "gone")
    inputs.write_group(skin, "Blend", "gone")
    assert texts(tube, skin) == [
        'Blend: there is no vertex group "gone"', 'Vertex Group: there is no vertex group "gone"',
    ]  # fmt: skip
    assert bpy.ops.object.two_phase_skin_mend(action="CLEAR_GROUPS") == {"FINISHED"}
    assert texts(tube, skin) == [] and inputs.read_group(skin, "Vertex Group") == ""


def test_what_is_fixed_elsewhere_is_seen_by_update_now():
    tube, rig, skin = scene.skinned()
    rig.pose.bones["bone1"].location.x = float("nan")
    bpy.context.view_layer.update()
    rig.pose.bones["bone1"].location.x = 0
    assert_mended_by(tube, skin, "UPDATE", "is not finite")


def test_the_number_of_vertices_changed():
    """Nothing is to be mended then: the skin is bound anew by itself."""
    tube, _rig, skin = scene.skinned()
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    assert texts(tube, skin) == [] and len(scene.points(tube)) == len(tube.data.vertices)
    tube.modifiers["Armature"].show_viewport, skin.show_viewport = True, False
    inputs.write(skin, "Method", "Linear")
    expected = scene.points(tube)
    tube.modifiers["Armature"].show_viewport, skin.show_viewport = False, True
    scene.assert_same(scene.points(tube), expected, tube)


def test_a_linked_object():
    tube, _rig, _skin = scene.skinned()
    path = scene.temporary("states_library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    scene.empty()
    with bpy.data.libraries.load(path, link=True) as (source, target):
        target.objects = source.objects
    for obj in target.objects:
        bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.update()
    tube = next(obj for obj in target.objects if obj.type == "MESH")
    (state,) = status.of(tube, tube.modifiers["Two-Phase Skin"])
    assert "linked" in state.text and state.fixes == ("OVERRIDE",)
    scene.activate(tube)
    assert bpy.ops.object.two_phase_skin_mend(action="OVERRIDE") == {"FINISHED"}
    own = bpy.context.object
    assert own.library is None and not own.override_library.is_system_override
    assert texts(own, own.modifiers["Two-Phase Skin"]) == []
    inputs.write(own.modifiers["Two-Phase Skin"], "Show", "Rest")
    scene.assert_same(scene.points(own), scene.rest(own), own)


def test_every_action_has_words():
    for name, tip, _icon in fix.ACTIONS.values():
        assert name and tip
    assert fix._DO.keys() == fix.ACTIONS.keys()


def test_one_undo_step():
    tube, _rig, _skin = scene.skinned()
    tube.modifiers["Armature"].show_viewport = True
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.object.two_phase_skin_mend("EXEC_DEFAULT", True, action="MUTE_ARMATURE")
    assert not bpy.data.objects["Tube"].modifiers["Armature"].show_viewport
    bpy.ops.ed.undo()
    assert bpy.data.objects["Tube"].modifiers["Armature"].show_viewport


def test_the_number_of_threads_changes_nothing():
    tube, rig, _skin = scene.skinned()
    preferences = bpy.context.preferences.addons[scene.EXTENSION].preferences
    expected = scene.points(tube)
    for threads in (1, 3, 64, 0):
        preferences.threads = threads
        assert scene.extension("preferences").threads() == threads
        scene.bend(rig, 0.2)
        scene.assert_differ(scene.points(tube), expected, tube)
        scene.bend(rig)
        assert (scene.points(tube) == expected).all()
