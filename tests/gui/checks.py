"""The checks in a window: generators of waits that fail by an assertion. Some leave pictures for the manual."""

import contextlib
from itertools import pairwise

import bpy
import numpy as np
import scenes
import window

EXTENSION = "bl_ext.user_default.two_phase_skin"
TAB = "Two-Phase Skin"
VIEW = (62, 84, 1258, 810)  # of the screen, the 3D view without its headers and its tools


def extension(module):
    import importlib

    return importlib.import_module(f"{EXTENSION}.{module}")


def panel_of_modifier():
    """The Properties editor as high as it gets, with the modifiers, and the sidebar with our tab."""
    yield window.redraw()  # the Properties editor has the tabs of the active object only then
    yield window.show_properties("MODIFIER")
    yield window.show_sidebar()
    yield window.show_sidebar(TAB)
    yield window.redraw()


def add():
    with window.context():
        assert bpy.ops.object.two_phase_skin_add() == {"FINISHED"}


def points(obj):
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    found = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.vertices.foreach_get("co", found.reshape(-1))
    return found


def deformed(obj):
    rest = np.empty((len(obj.data.vertices), 3), np.float32)
    obj.data.vertices.foreach_get("co", rest.reshape(-1))
    return float(np.abs(points(obj) - rest).max()) > 0.05


def check_it_installs_from_disk():
    archive = str(window.OUT / "extension.zip")
    bpy.ops.extensions.package_install_files(filepath=archive, repo="user_default", enable_on_install=True)
    yield window.DRAWN
    assert EXTENSION in bpy.context.preferences.addons
    yield window.move(window.area("VIEW_3D"), 650, 500)
    bpy.ops.preferences.addon_show(module=EXTENSION)
    yield 1.5
    window.picture("preferences", (480, 480, 515, 180))
    preferences = bpy.context.window_manager.windows[-1]
    with bpy.context.temp_override(window=preferences):
        bpy.ops.wm.window_close()
    yield window.DRAWN


def check_the_menu_adds_it_by_a_click():
    scenes.empty()
    obj, rig = scenes.arm()
    scenes.pose(rig)
    scenes.look()
    yield from panel_of_modifier()
    window.picture("before", VIEW)
    with window.context():
        bpy.ops.ed.undo_push(message="Before")
    editor = window.area("PROPERTIES")
    with bpy.context.temp_override(window=window.window(), area=editor, region=window.region(editor)):
        bpy.ops.wm.call_menu(name="OBJECT_MT_modifier_add_deform")
    yield window.DRAWN
    window.picture("add_modifier", (480, 300, 1120, 600))
    yield window.type_text("two")  # the menu's own search
    yield window.key("Return")
    yield from window.until(lambda: len(obj.modifiers) == 2)
    assert [m.name for m in obj.modifiers] == ["Two-Phase Skin", "Armature"]
    assert not obj.modifiers["Armature"].show_viewport and deformed(obj)
    window.picture("added", (480, 30, 1120, 870))
    with window.context():
        bpy.ops.ed.undo()
    yield window.redraw()
    obj = bpy.data.objects["Arm"]
    assert [m.name for m in obj.modifiers] == ["Armature"] and obj.modifiers[0].show_viewport
    with window.context():
        bpy.ops.ed.redo()
    yield window.redraw()
    assert len(bpy.data.objects["Arm"].modifiers) == 2 and deformed(bpy.data.objects["Arm"])


def check_it_is_found_with_f3():
    scenes.empty()
    obj, _rig = scenes.arm()
    yield window.redraw()
    view = window.region(window.area("VIEW_3D"))
    yield window.move(view, view.width / 2, view.height / 2)
    yield window.key("F3")
    yield window.type_text("add two-phase")
    yield window.DRAWN
    window.picture("search")
    yield window.key("Return")
    yield from window.until(lambda: obj.modifiers[0].name == "Two-Phase Skin")


def check_a_new_pose_is_shown():
    scenes.empty()
    obj, rig = scenes.arm()
    add()
    before = points(obj)
    scenes.pose(rig)
    yield window.redraw()
    assert np.abs(points(obj) - before).max() > 0.3


def check_phases():
    scenes.empty()
    obj, rig = scenes.arm()
    scenes.pose(rig)
    rig.data.bones["lower"].inherit_scale = "NONE"
    rig.pose.bones["lower"].scale = (0.8, 1.0, 1.5)
    scenes.look(8)
    add()
    yield from panel_of_modifier()
    inputs = extension("inputs")
    skin = obj.modifiers["Two-Phase Skin"]
    shapes = []
    for name, item in (("rest", "Rest"), ("phase1", "After Phase 1"), ("phase2", "After Phase 2"), ("final", "Final")):
        inputs.write(skin, "Show", item)
        yield window.redraw()
        shapes.append(points(obj))
        window.picture(f"show_{name}", (560, 100, 480, 640))
    assert all(np.abs(a - b).max() > 0.02 for a, b in pairwise(shapes))


def check_bones():
    scenes.empty()
    _obj, rig = scenes.arm()
    scenes.pose(rig)
    scenes.look()
    add()
    scenes.activate(rig)
    with window.context():
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="SELECT")
    rig.data.bones.active = rig.data.bones["lower"]
    yield window.redraw()  # the Properties editor has the tab only then
    yield window.show_properties("BONE")
    yield window.show_sidebar(TAB)
    yield window.redraw()
    window.picture("bones", (560, 84, 1040, 700))
    with window.context():
        bpy.ops.ed.undo_push(message="Before")
        bpy.ops.pose.two_phase_skin_set(setting="two_phase_skin_rigid", value="OFF")
    yield window.redraw()
    assert [bone.two_phase_skin_rigid for bone in rig.data.bones] == ["OFF"] * 3
    with window.context():
        bpy.ops.ed.undo()
    yield window.redraw()
    assert [bone.two_phase_skin_rigid for bone in bpy.data.objects["Rig"].data.bones] == ["AUTO"] * 3
    with window.context():
        bpy.ops.object.mode_set(mode="OBJECT")


def _click_button(place, condition):
    """Press a button of the sidebar's panel; its place was looked up in a picture."""
    side = window.region(window.area("VIEW_3D"), "UI")
    return window.click_until(side, side.width * 0.45, place, condition)


def check_buttons_mend_what_is_off():
    scenes.empty()
    obj, rig = scenes.arm()
    scenes.pose(rig)
    scenes.look()
    add()
    obj.modifiers["Armature"].show_viewport = True
    yield from panel_of_modifier()
    window.picture("state_doubled")
    yield from _click_button(90, lambda: not obj.modifiers["Armature"].show_viewport)
    obj.vertex_groups.clear()
    yield window.redraw()
    yield window.redraw()
    window.picture("state_no_weights", (1035, 84, 255, 230))
    assert not deformed(obj)
    yield from _click_button(138, lambda: len(obj.vertex_groups) == 3)
    assert deformed(obj)
    extension("inputs").write(obj.modifiers[0], "Armature", None)
    yield window.redraw()
    yield window.redraw()
    window.picture("state_no_armature")
    side = window.region(window.area("VIEW_3D"), "UI")
    yield window.click(side, side.width * 0.45, 75)
    yield 1.0
    window.picture("choose_armature", VIEW)
    yield window.key("Return")
    yield from window.until(lambda: deformed(obj))


def check_compare():
    scenes.empty()
    obj, rig = scenes.arm()
    scenes.pose(rig)
    scenes.look(8)
    rig.hide_set(True)
    add()
    yield from panel_of_modifier()
    yield from _click_button(71, lambda: extension("ui.heat_map").current()[0] is not None)
    comparison, stale = extension("ui.heat_map").current()
    assert comparison.object == obj and not stale
    window.picture("compare", VIEW)
    rig.pose.bones["lower"].rotation_euler.x = 0.3
    yield window.redraw()
    assert extension("ui.heat_map").current()[1]
    window.picture("compare_stale")
    with window.context():
        bpy.ops.object.two_phase_skin_compare_hide()
    yield window.redraw()


def check_esc_stops_a_bake_and_undo_takes_one_back():
    scenes.empty()
    _obj, rig = scenes.arm(rings=300, around=200)
    scenes.animate(rig, 60)
    scenes.look(8)
    add()
    yield from panel_of_modifier()
    before = bpy.data.objects.keys(), bpy.data.meshes.keys(), bpy.context.scene.frame_current
    yield window.move(window.area("VIEW_3D"), 660, 450)
    with window.context():
        bpy.ops.object.two_phase_skin_bake("INVOKE_DEFAULT")
    yield window.DRAWN
    window.picture("bake", (360, 380, 500, 280))
    yield window.key("Return")
    yield from window.until(lambda: bpy.context.scene.frame_current > 2)
    window.picture("bake_progress", (0, 900, 700, 100))
    yield window.key("Escape")
    yield from window.until(
        lambda: (bpy.data.objects.keys(), bpy.data.meshes.keys(), bpy.context.scene.frame_current) == before
    )
    assert not window.window().modal_operators
    with window.context():
        bpy.ops.object.two_phase_skin_bake("INVOKE_DEFAULT", frame_end=4)
    yield window.DRAWN
    yield window.key("Return")
    yield from window.until(lambda: "Arm Baked" in bpy.data.objects)
    assert len(bpy.data.objects["Arm Baked"].data.shape_keys.key_blocks) == 5
    assert not bpy.data.objects["Arm"].visible_get()
    with window.context():
        bpy.ops.ed.undo()
    yield window.redraw()
    assert "Arm Baked" not in bpy.data.objects and bpy.data.objects["Arm"].visible_get()


def check_esc_stops_reading_the_weights_of_a_large_mesh():
    scenes.empty()
    obj, rig = scenes.arm(rings=1000, around=400)
    scenes.pose(rig)
    yield window.redraw()
    with window.context():
        assert bpy.ops.object.two_phase_skin_add("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
    yield 0.6
    window.picture("bind_progress", (0, 900, 700, 100))
    yield window.key("Escape")
    yield from window.until(lambda: not window.window().modal_operators)
    assert [m.type for m in obj.modifiers] == ["ARMATURE"]
    with window.context():
        bpy.ops.object.two_phase_skin_add("INVOKE_DEFAULT")
    yield from window.until(lambda: len(obj.modifiers) == 2)
    assert deformed(obj)


def check_overlay():
    scenes.empty()
    obj, rig = scenes.arm()
    scenes.pose(rig)
    scenes.look(8)
    rig.data.bones["end"].inherit_scale = "NONE"
    obj.vertex_groups.remove(obj.vertex_groups["upper"])
    add()
    settings = bpy.context.window_manager.two_phase_skin_overlay
    settings.support = settings.compensating = settings.intermediate = True
    yield window.redraw()
    yield window.move(window.area("VIEW_3D"), 1080, 430)
    with window.context():
        bpy.ops.wm.call_panel(name="VIEW3D_PT_overlay", keep_open=True)
    yield window.DRAWN
    window.picture("overlay", (480, 84, 840, 916))
    yield window.key("Escape")
    settings.support = settings.compensating = settings.intermediate = False


def check_panels_draw_in_every_state():
    """Whatever goes wrong in a panel is printed by Blender; tools/test_gui.py finds it in the log."""
    scenes.empty()
    obj, rig = scenes.arm()
    scenes.pose(rig)
    yield from panel_of_modifier()  # no skin at all
    add()
    yield window.redraw()
    other = obj.copy()
    bpy.context.collection.objects.link(other)
    scenes.activate(obj, other, rig)  # many objects
    yield window.redraw()
    scenes.activate(obj)
    for mode in ("EDIT", "WEIGHT_PAINT", "SCULPT", "VERTEX_PAINT", "OBJECT"):
        with window.context():
            bpy.ops.object.mode_set(mode=mode)
        yield window.redraw()
    scenes.activate(rig)
    for mode in ("EDIT", "POSE", "OBJECT"):
        with window.context():
            bpy.ops.object.mode_set(mode=mode)
        for tab in ("OBJECT", "DATA", "BONE"):
            yield window.redraw()
            with contextlib.suppress(TypeError):  # there is no such tab in this mode
                yield window.show_properties(tab)
    bpy.context.view_layer.objects.active = None  # nothing
    yield window.redraw()
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.collection.objects.link(empty)
    scenes.activate(empty)
    yield window.redraw()


def check_linked_data():
    scenes.empty()
    _obj, rig = scenes.arm()
    scenes.pose(rig)
    add()
    path = str(window.OUT / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    scenes.empty()
    with bpy.data.libraries.load(path, link=True) as (source, target):
        target.objects = [name for name in source.objects if name in ("Arm", "Rig")]
    for obj in target.objects:
        bpy.context.collection.objects.link(obj)
    arm = next(obj for obj in target.objects if obj.type == "MESH")
    scenes.activate(arm)
    yield from panel_of_modifier()
    window.picture("state_linked")
    assert deformed(arm)
    (window.OUT / "library.blend").unlink()


def check_recipes_on_the_rigify_human():
    """The pictures of docs/manual/recipes.md; tests/blender/test_ui_recipes.py checks what it says."""
    scenes.empty()
    with window.context():
        body, rig = scenes.human()
        scenes.activate(body)
        bpy.ops.object.two_phase_skin_add()
        bpy.context.scene.transform_orientation_slots[0].type = "LOCAL"
    rig.hide_set(True)
    scenes.activate(body)
    scenes.look(1.5, at=(0.52, 0, 1.45), front=True)
    yield window.show_sidebar()
    yield window.show_sidebar(TAB)
    rig.pose.bones["upper_arm_parent.L"]["IK_FK"] = 1.0
    rig.pose.bones["upper_arm_fk.L"].scale = (0.8, 1.4, 0.8)
    rig.pose.bones["forearm_fk.L"].rotation_mode = "XYZ"
    rig.pose.bones["forearm_fk.L"].rotation_euler = (1.6, 0.9, 0)
    yield window.redraw()
    with window.context():
        assert bpy.ops.object.two_phase_skin_compare() == {"FINISHED"}
    yield window.redraw()
    window.picture("recipe_stretch", VIEW)
    with window.context():
        bpy.ops.object.two_phase_skin_compare_hide()
    rig.pose.bones["upper_arm_fk.L"].scale = (1, 1, 1)
    rig.pose.bones["forearm_fk.L"].rotation_euler = (0, 0, 0)
    rig.hide_set(False)
    scenes.activate(rig)
    bpy.context.window_manager.two_phase_skin_overlay.support = True
    with window.context():
        bpy.ops.object.mode_set(mode="POSE")
    rig.data.bones.active = rig.data.bones["torso"]
    rig.pose.bones["torso"].scale = (1.4, 0.7, 1.4)
    scenes.look(3.6, at=(0, 0, 1.0), front=True)
    yield window.redraw()
    window.picture("recipe_support", VIEW)
    bpy.context.window_manager.two_phase_skin_overlay.support = False
    with window.context():
        bpy.ops.object.mode_set(mode="OBJECT")


ALL = [
    check_it_installs_from_disk,
    check_the_menu_adds_it_by_a_click,
    check_it_is_found_with_f3,
    check_a_new_pose_is_shown,
    check_phases,
    check_bones,
    check_buttons_mend_what_is_off,
    check_compare,
    check_esc_stops_a_bake_and_undo_takes_one_back,
    check_esc_stops_reading_the_weights_of_a_large_mesh,
    check_overlay,
    check_panels_draw_in_every_state,
    check_linked_data,
    check_recipes_on_the_rigify_human,
]
