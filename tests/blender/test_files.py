"""Characters in other files: appended, linked, overridden; files without the extension; copies."""

import bpy
import scene

inputs = scene.extension("inputs")
SKIN = "Two-Phase Skin"


def library():
    """A file with an animated character in a collection "Character"; its path."""
    tube, rig = scene.tube()
    collection = bpy.data.collections.new("Character")
    bpy.context.scene.collection.children.link(collection)
    for obj in (tube, rig):
        collection.objects.link(obj)
        bpy.context.scene.collection.objects.unlink(obj)
    scene.add_skin(tube, method="LINEAR")
    scene.animate(rig)
    path = scene.temporary("library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    scene.empty()
    return path


def assert_follows(obj):
    """Against a local copy of the mesh with an Armature modifier: what is linked cannot be edited."""
    skin = next(modifier for modifier in obj.modifiers if modifier.type == "NODES")
    twin = bpy.data.objects.new("Twin", obj.data.copy())
    bpy.context.scene.collection.objects.link(twin)
    twin.matrix_world = obj.matrix_world
    twin.modifiers.new("Armature", "ARMATURE").object = inputs.read(skin, "Armature")
    found, expected = scene.points(obj), scene.points(twin)
    assert scene.distance(expected, scene.rest(obj)) > 0.01 * scene.size(obj)
    scene.assert_same(found, expected, obj)
    bpy.data.objects.remove(twin)


def test_append():
    path = library()
    with bpy.data.libraries.load(path) as (_there, here):
        here.collections = ["Character"]
    bpy.context.scene.collection.children.link(here.collections[0])
    for frame in (5, 12):
        bpy.context.scene.frame_set(frame)
        assert_follows(bpy.data.objects["Tube"])
    scene.bend(bpy.data.objects["Rig"], 0.4)
    assert_follows(bpy.data.objects["Tube"])


def test_append_twice():
    path = library()
    for _ in range(2):
        with bpy.data.libraries.load(path) as (_there, here):
            here.collections = ["Character"]
        bpy.context.scene.collection.children.link(here.collections[0])
    first, second = _tubes()
    rigs = [inputs.read(obj.modifiers[SKIN], "Armature") for obj in (first, second)]
    rigs[1].animation_data_clear()
    scene.bend(rigs[1], -0.8)
    bpy.context.scene.frame_set(7)
    assert_follows(first)
    assert_follows(second)
    scene.assert_differ(scene.points(first), scene.points(second), first)


def test_link():
    path = library()
    with bpy.data.libraries.load(path, link=True) as (_there, here):
        here.collections = ["Character"]
    bpy.context.scene.collection.children.link(here.collections[0])
    for frame in (5, 12, 9):
        bpy.context.scene.frame_set(frame)
        assert_follows(bpy.data.objects["Tube"])


def test_link_as_an_instance():
    _instance(library())
    for frame in (5, 12):
        bpy.context.scene.frame_set(frame)
        assert_follows(bpy.data.objects["Tube"])


def test_library_override_posed_here():
    path = library()
    overrides = _override(path)
    tube, rig = overrides["Tube"], overrides["Rig"]
    assert tube.override_library is not None and inputs.read(tube.modifiers[SKIN], "Armature") == rig
    rig.animation_data_clear()
    for amount in (0.3, -0.6):
        scene.bend(rig, amount)
        assert_follows(tube)
    saved = scene.temporary("shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=saved)
    scene.empty()
    bpy.ops.wm.open_mainfile(filepath=saved)
    (tube,) = _tubes()
    assert_follows(tube)
    rig = inputs.read(tube.modifiers[SKIN], "Armature")
    scene.bend(rig, 0.5)
    assert_follows(tube)


def test_an_instance_linked_at_one_frame_and_opened_at_another():
    _instance(library())
    assert_opens_as_saved()


def test_an_override_linked_at_one_frame_and_opened_at_another():
    _override(library())
    assert_opens_as_saved()


def assert_opens_as_saved():
    bpy.context.scene.frame_set(10)
    expected = [scene.points(tube) for tube in _shown_tubes()]
    assert expected
    saved = scene.temporary("shot10.blend")
    bpy.ops.wm.save_as_mainfile(filepath=saved)
    scene.empty()
    bpy.ops.wm.open_mainfile(filepath=saved)
    for tube, points in zip(_shown_tubes(), expected, strict=True):
        scene.assert_same(scene.points(tube), points, tube)


def test_skins_come_to_life_once_the_extension_is_there():
    """Where bpy.data is closed while it is enabled, a timer does it."""
    handlers, upkeep = scene.extension("live.handlers"), scene.extension("live.upkeep")
    tube, rig = scene.tube()
    scene.add_skin(tube, method="LINEAR")
    scene.bend(rig)
    expected = scene.points(tube)
    mesh = tube.data
    mesh.attributes.remove(next(a for a in mesh.attributes if a.name.startswith(".two_phase")))
    upkeep.forget_file()
    handlers._take_up()  # the timer
    scene.assert_same(scene.points(tube), expected, tube)


def test_enabled_again_after_the_frame_changed():
    import addon_utils

    bpy.ops.wm.open_mainfile(filepath=library())
    bpy.context.scene.frame_set(9)
    tube = bpy.data.objects["Tube"]
    expected = scene.points(tube)
    bpy.context.scene.frame_set(3)
    addon_utils.disable(scene.EXTENSION)
    bpy.context.scene.frame_set(9)
    scene.assert_differ(scene.points(tube), expected, tube)
    addon_utils.enable(scene.EXTENSION)
    scene.assert_same(scene.points(tube), expected, tube)


def test_two_overrides_of_one_character():
    path = library()
    first, second = _override(path), _override(path)
    for rig, amount in ((first["Rig"], 0.5), (second["Rig"], -0.5)):
        rig.animation_data_clear()
        scene.bend(rig, amount)
    assert first["Tube"] != second["Tube"] and first["Tube"].data == second["Tube"].data
    assert_follows(first["Tube"])
    assert_follows(second["Tube"])
    scene.bend(first["Rig"], 0.2)
    assert_follows(first["Tube"])
    assert_follows(second["Tube"])
    saved = scene.temporary("two.blend")
    bpy.ops.wm.save_as_mainfile(filepath=saved)
    scene.empty()
    bpy.ops.wm.open_mainfile(filepath=saved)
    tubes = _tubes()
    assert len(tubes) == 2
    for tube in tubes:
        assert_follows(tube)
    scene.assert_differ(scene.points(tubes[0]), scene.points(tubes[1]), tubes[0])


def test_a_setting_overridden():
    tube = _override(library())["Tube"]
    bpy.context.scene.frame_set(9)
    full = scene.points(tube)
    rest = scene.rest(tube)
    inputs.write(tube.modifiers[SKIN], "Factor", 0.5)
    scene.assert_same(scene.points(tube), rest + 0.5 * (full - rest), tube)


def test_the_operator_on_linked_data():
    path = library()
    with bpy.data.libraries.load(path, link=True) as (_there, here):
        here.collections = ["Character"]
    bpy.context.scene.collection.children.link(here.collections[0])
    scene.activate(bpy.data.objects["Tube"])
    try:
        bpy.ops.object.two_phase_skin_add()
    except RuntimeError as error:
        assert "make an editable library override" in str(error)
    else:
        raise AssertionError("it was added to linked data")


def test_a_file_opened_without_the_extension_shows_the_last_frame():
    import addon_utils

    path = library()
    bpy.ops.wm.open_mainfile(filepath=path)
    bpy.context.scene.frame_set(9)
    expected = scene.points(bpy.data.objects["Tube"])
    bpy.ops.wm.save_mainfile()
    addon_utils.disable(scene.EXTENSION)
    try:
        bpy.ops.wm.open_mainfile(filepath=path)
        tube = bpy.data.objects["Tube"]
        scene.assert_same(scene.points(tube), expected, tube)
        bpy.context.scene.frame_set(3)
        scene.assert_same(scene.points(tube), expected, tube)
        tube.data.vertices.add(1)
        tube.data.update()
        assert len(scene.points(tube)) == len(expected) + 1
    finally:
        addon_utils.enable(scene.EXTENSION)


def test_copied_objects_and_modifiers():
    path = library()
    bpy.ops.wm.open_mainfile(filepath=path)
    tube = bpy.data.objects["Tube"]
    scene.activate(tube)
    for linked in (False, True):
        bpy.ops.object.duplicate(linked=linked)
        bpy.context.scene.frame_set(7)
        assert_follows(bpy.context.object)
    plain = bpy.data.objects.new("Plain", tube.data.copy())
    bpy.context.scene.collection.objects.link(plain)
    scene.activate(tube, plain)
    bpy.ops.object.modifier_copy_to_selected(modifier=SKIN)
    bpy.context.scene.frame_set(11)
    assert_follows(plain)
    scene.bend(bpy.data.objects["Rig"], 0.3)
    for obj in (plain, tube):
        assert_follows(obj)


def test_a_duplicated_modifier_deforms_what_the_first_deformed():
    tube, rig = scene.tube()
    skin = scene.add_skin(tube, method="LINEAR")
    scene.bend(rig, 0.4)
    scene.activate(tube)
    bpy.ops.object.modifier_copy(modifier=skin.name)
    second = next(m for m in tube.modifiers if m.type == "NODES" and m.name != skin.name)
    armature = tube.modifiers.new("Again", "ARMATURE")
    armature.object, armature.show_viewport = rig, False
    scene.assert_same(scene.points(tube), scene.yardstick(tube), tube)
    assert inputs.read(skin, "Identity") != inputs.read(second, "Identity")


def test_deleted_and_brought_back_by_undo():
    tube, rig = scene.tube()
    scene.add_skin(tube, method="LINEAR")
    scene.bend(rig)
    expected = scene.points(tube)
    bpy.ops.ed.undo_push(message="here")
    bpy.data.objects.remove(tube)
    bpy.ops.ed.undo_push(message="gone")
    bpy.context.scene.frame_set(2)
    bpy.ops.ed.undo()
    tube = bpy.data.objects["Tube"]
    scene.assert_same(scene.points(tube), expected, tube)


def _tubes():
    """The skinned objects of this file."""
    return [obj for obj in bpy.data.objects if obj.name.startswith("Tube") and obj.library is None]


def _shown_tubes():
    """The skinned objects that are shown, linked or not."""
    shown = bpy.context.evaluated_depsgraph_get().object_instances
    names = {item.object.original.name_full for item in shown if item.object.type == "MESH"}
    return [obj for obj in sorted(bpy.data.objects, key=lambda obj: obj.name_full) if obj.name_full in names]


def _instance(path):
    """Link the character and show an instance of it."""
    with bpy.data.libraries.load(path, link=True) as (_there, here):
        here.collections = ["Character"]
    instance = bpy.data.objects.new("Instance", None)
    instance.instance_type, instance.instance_collection = "COLLECTION", here.collections[0]
    bpy.context.scene.collection.objects.link(instance)


def _override(path):
    """A new override of the whole character: its objects by name."""
    with bpy.data.libraries.load(path, link=True) as (_there, here):
        here.collections = ["Character"]
    linked = here.collections[0]
    if linked not in set(bpy.context.scene.collection.children):
        bpy.context.scene.collection.children.link(linked)
    root = linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    return {obj.override_library.reference.name: obj for obj in root.all_objects}
