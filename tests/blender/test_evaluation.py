"""Skins are part of Blender's evaluation: whatever evaluates a scene sees what it would see of the Armature modifier.

Each situation is made twice, once with the Armature modifier and once with the skin; both are looked at frame by frame,
in the viewport and as a render engine is given them. `test_chains` looks at more of them in the same way.
"""

from contextlib import contextmanager
from functools import partial

import bpy
import numpy as np
import scene

inputs = scene.extension("inputs")
FRAMES = (1, 2, 3, 4)
SWAP = (1, 0, 1, 0)  # by frame
LEAST = 1e-5  # of the size: how exactly the two must be the same


class Watcher(bpy.types.RenderEngine):
    """A render engine that paints nothing and keeps all that is shown to it."""

    bl_idname = "TWO_PHASE_WATCHER"
    bl_label = "Watcher"
    steps = (0.0,)  # of the frame, as an engine with motion blur asks for them
    seen: list = []  # noqa: RUF012 (shared on purpose: Blender makes the instances)

    def render(self, depsgraph):
        frame = depsgraph.scene.frame_current
        for step in self.steps:
            if len(self.steps) > 1:
                self.frame_set(frame + int(step), step % 1)
            self.seen.append(((frame, step), shown(depsgraph)))


@contextmanager
def watching():
    bpy.utils.register_class(Watcher)
    try:
        yield
    finally:
        bpy.utils.unregister_class(Watcher)


def shown(depsgraph):
    """Where the points of meshes and empties are, in the world: (name, instance) -> (V, 3)."""
    found = {}
    for item in depsgraph.object_instances:
        obj, matrix = item.object, np.array(item.matrix_world)
        if obj.type not in {"MESH", "EMPTY"}:
            continue
        points = scene.points_of(obj.data) if obj.type == "MESH" else np.zeros((1, 3), np.float32)
        found[obj.name, tuple(item.persistent_id)] = points @ matrix[:3, :3].T + matrix[:3, 3]
    return found


def viewport(frames=FRAMES):
    """What the viewport shows in these frames, one after another."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found.append((f"viewport, frame {frame}", shown(bpy.context.evaluated_depsgraph_get())))
    return found


def rendered(start=1, steps=(0.0,)):
    """What a render engine is given of the scene's frames, if the viewport is at another one."""
    here = bpy.context.scene
    here.frame_set(start)
    if here.camera is None:
        here.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        here.collection.objects.link(here.camera)
    here.render.engine = Watcher.bl_idname
    here.render.resolution_x = here.render.resolution_y = 8
    here.render.filepath = scene.temporary("watched_")
    Watcher.seen, Watcher.steps = [], steps
    assert bpy.ops.render.render(animation=True) == {"FINISHED"}
    return [(f"render from {start}, frame {frame} + {step}", seen) for (frame, step), seen in Watcher.seen]


def observed(frames=FRAMES, starts=(1, 2, 4), steps=(0.0,)):
    """All that can be seen of the open scene: (where, what `shown` gives), ..."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = min(frames), max(frames)
    found = viewport(frames)
    for start in starts:
        found += rendered(start, steps)
    return found + viewport(frames[::-1])


def assert_as_armature(name, make, look=observed, moves=True):
    """make(skinned): the situation with the Armature modifier or with the skin. look: what is seen of it."""
    with watching():
        both = []
        for skinned in (False, True):
            scene.empty()
            make(skinned)
            bpy.context.view_layer.update()
            both.append(look())
    expected, found = both
    assert [where for where, _seen in expected] == [where for where, _seen in found] != []
    for (where, one), (_where, other) in zip(expected, found, strict=True):
        assert set(one) == set(other), f"{name}: {where}: {sorted(one)} and {sorted(other)}"
        for key, points in one.items():
            assert points.shape == other[key].shape, f"{name}: {where}: {key}: {points.shape}, {other[key].shape}"
            off = _far(points, other[key])
            assert off <= LEAST, f"{name}: {where}: {key[0]} is off by {off:.2e} of the size"
    if moves:
        _assert_moves(name, [seen for _where, seen in expected])


def _assert_moves(name, seen):
    """A situation in which nothing happens shows nothing."""
    first = {key: points for each in reversed(seen) for key, points in each.items()}
    pairs = [(first[key], each[key]) for each in seen for key in each]
    most = max(_far(one, other) for one, other in pairs if one.shape == other.shape)
    assert most > 100 * LEAST, f"{name}: nothing moves"


def _far(first, second):
    size = np.linalg.norm(np.ptp(first, axis=0)) if len(first) > 1 else 1.0
    return float(np.linalg.norm(first - second, axis=1).max() / max(size, 0.1)) if len(first) else 0.0


def character(skinned, method="LINEAR", pose=True, keyed=False, scale=True):
    """A tube with its rig, with the Armature modifier or a skin in its place: (tube, rig, the modifier)."""
    tube, rig = scene.tube(joints=3, rings=21, around=8)
    modifier = scene.add_skin(tube, method=method) if skinned else tube.modifiers["Armature"]
    if keyed:
        for frame, amount in ((1, 0.1), (2, 0.7), (3, -0.5), (4, 0.9), (6, -0.2)):
            scene.bend(rig, amount, scale)
            for bone in rig.pose.bones:
                for channel in ("location", "rotation_euler", "scale"):
                    bone.keyframe_insert(channel, frame=frame)
    elif pose:
        scene.bend(rig, scale=scale)
    return tube, rig, modifier


def key(owner, path, values):
    """Keys for a property in the frames 1, 2, 3, 4."""
    where, _dot, name = path.rpartition(".")
    target = owner.path_resolve(where) if where else owner
    for frame, value in zip(FRAMES, values, strict=True):
        setattr(target, name, value)
        target.keyframe_insert(name, frame=frame)


def key_input(modifier, name, values):
    for frame, value in zip(FRAMES, values, strict=True):
        inputs.write(modifier, name, value)
        modifier.id_data.keyframe_insert(inputs.data_path(modifier, name), frame=frame)


def driver_by_empty(owner, path, values, expression="x"):
    """A driver whose value follows the place of an object that has keys: values of the frames 1, 2, 3, 4."""
    empty = bpy.data.objects.new("Control", None)
    bpy.context.collection.objects.link(empty)
    for frame, value in zip(FRAMES, values, strict=True):
        empty.location.x = value
        empty.keyframe_insert("location", frame=frame)
    driver = owner.driver_add(path).driver
    variable = driver.variables.new()
    variable.name, variable.type = "x", "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].transform_type = empty, "LOC_X"
    driver.type, driver.expression = "SCRIPTED", expression


def test_playback_and_renders_from_any_frame():
    assert_as_armature("keyed bones", lambda skinned: character(skinned, keyed=True))


def test_subframes_of_motion_blur():
    steps = (0.0, 0.25, 0.5, 0.75, 1.0)
    assert_as_armature("keyed bones", lambda skinned: character(skinned, keyed=True), lambda: rendered(2, steps))


def test_posing_without_keys():
    def look():
        found = []
        for amount in (0.2, -0.6, 0.9):
            scene.bend(bpy.data.objects["Rig"], amount)
            bpy.context.view_layer.update()
            found.append((f"pose {amount}", shown(bpy.context.evaluated_depsgraph_get())))
            bpy.context.scene.frame_end = 1
            found += rendered()
        return found

    assert_as_armature("posing", character, look)


def test_several_depsgraphs_at_different_frames():
    """Two scenes, each with two view layers: every depsgraph has the pose of its own frame."""

    def make(skinned):
        tube, rig, _modifier = character(skinned, keyed=True)
        other = bpy.data.scenes.new("Other")
        for obj in (tube, rig):
            other.collection.objects.link(obj)
        for each in (bpy.context.scene, other):
            each.view_layers.new("Second")

    def look():
        found, scenes = [], list(bpy.data.scenes)
        for frames in ((1, 3), (4, 2), (2, 2), (3, 4)):
            for each, frame in zip(scenes, frames, strict=True):
                each.frame_set(frame)
            for each in scenes:
                for layer in each.view_layers:
                    layer.update()
                    tube = bpy.data.objects["Tube"].evaluated_get(layer.depsgraph)
                    found.append((f"{each.name}, {layer.name}: {frames}", {("Tube", ()): scene.points_of(tube.data)}))
        return found

    assert_as_armature("two scenes", make, look)


def library(skinned):
    """A file with a keyed character in a collection; its path. Nothing of it is left in the scene."""
    tube, rig, _modifier = character(skinned, keyed=True)
    collection = bpy.data.collections.new("Character")
    bpy.context.scene.collection.children.link(collection)
    for obj in (tube, rig):
        bpy.context.scene.collection.objects.unlink(obj)
        collection.objects.link(obj)
    path = scene.temporary("evaluated_library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, check_existing=False)
    scene.empty()
    return path


def linked_collection(path):
    with bpy.data.libraries.load(path, link=True) as (_there, here):
        here.collections = ["Character"]
    return here.collections[0]


def test_linked_without_override():
    def make(skinned):
        linked = linked_collection(library(skinned))
        bpy.context.scene.collection.children.link(linked)

    assert_as_armature("linked", make)


def test_library_override():
    def make(skinned):
        linked = linked_collection(library(skinned))
        bpy.context.scene.collection.children.link(linked)
        linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)

    assert_as_armature("overridden", make)


def test_instances_of_a_collection():
    def make(skinned):
        linked = linked_collection(library(skinned))
        for place in (0, 3):
            instance = bpy.data.objects.new(f"Instance {place}", None)
            instance.instance_type, instance.instance_collection = "COLLECTION", linked
            instance.location.x = place
            bpy.context.scene.collection.objects.link(instance)

    assert_as_armature("instances", make)


def shown_in_turn(tube, first, second, which):
    """Keys that show one or the other of two modifiers: most properties of an Armature modifier can have none."""
    for modifier, wanted in ((first, False), (second, True)):
        for attribute in ("show_viewport", "show_render"):
            key(tube, f'modifiers["{modifier.name}"].{attribute}', [bool(each) is wanted for each in which])


def another(tube, name, after):
    """One more Armature modifier as the one of that name, right below it."""
    scene.activate(tube)
    assert bpy.ops.object.modifier_copy(modifier=after) == {"FINISHED"}
    copied = tube.modifiers[tube.modifiers.find(after) + 1]
    copied.name = name
    return copied


def test_keyed_bind_to():
    def make(skinned):
        tube, rig, modifier = character(skinned)
        rig.data.bones["bone1"].head_radius = 0.6
        if skinned:
            key_input(modifier, "Bind To", [("Vertex Groups", "Bone Envelopes")[each] for each in SWAP])
        else:
            envelopes = another(tube, "Envelopes", "Armature")
            envelopes.use_vertex_groups, envelopes.use_bone_envelopes = False, True
            shown_in_turn(tube, modifier, envelopes, SWAP)

    assert_as_armature("Bind To", make)


def test_keyed_multi_modifier():
    """Two modifiers, the second one masked by half."""

    def make(skinned):
        tube, _rig, _modifier = character(False)
        other = scene.chain(3)
        scene.bend(other, -0.6)
        half = tube.vertex_groups.new(name="half")
        half.add(range(len(tube.data.vertices)), 0.5, "REPLACE")
        second = tube.modifiers.new("Second", "ARMATURE")
        second.object, second.vertex_group = other, "half"
        if skinned:
            scene.add_skin(tube, method="LINEAR")
            assert len(inputs.skins(tube)) == 2
            key_input(inputs.skins(tube)[-1], "Multi Modifier", [bool(each) for each in SWAP])
        else:
            second.use_multi_modifier = True
            plain = another(tube, "Plain", "Second")
            plain.use_multi_modifier = False
            shown_in_turn(tube, plain, second, SWAP)

    assert_as_armature("Multi Modifier", make)


def _preserve_volume_in_turn(tube, which):
    volume = another(tube, "Volume", "Armature")
    volume.use_deform_preserve_volume = True
    shown_in_turn(tube, tube.modifiers["Armature"], volume, which)


def _hide_in_turn(tube, which):
    for attribute in ("show_viewport", "show_render"):
        key(tube, f'modifiers["Armature"].{attribute}', [bool(each) for each in which])


# Inputs whose ends are what the Armature modifier does: (the skin's method, other inputs, values of the ends, the same
# for a driver, which gives the number of a menu's item, and what to do with the Armature modifier).
ENDS = {
    "Method": ("LINEAR", {}, ("Linear", "Dual Quaternion"), "1 + x", _preserve_volume_in_turn),
    "Show": ("LINEAR", {}, ("Rest", "Final"), "1 - x", _hide_in_turn),
    "Stage": ("LINEAR", {"Show": "By Stage"}, (0.0, 3.0), "3 * x", _hide_in_turn),
    "Blend": ("DUAL_QUATERNION", {}, (0.0, 1.0), "x", _preserve_volume_in_turn),
    "Factor": ("LINEAR", {}, (0.0, 1.0), "x", _hide_in_turn),
}


def at_its_ends(name, driven, skinned):
    """The input is keyed, or driven, to its ends in turn; what drives it is there in both situations."""
    method, others, ends, expression, as_armature = ENDS[name]
    tube, _rig, modifier = character(skinned, method=method, scale=False)
    if skinned:
        for other, value in others.items():
            inputs.write(modifier, other, value)
    if not skinned:
        as_armature(tube, SWAP)
    if skinned and not driven:
        key_input(modifier, name, [ends[each] for each in SWAP])
    elif driven:
        driver_by_empty(tube, inputs.data_path(modifier, name) if skinned else "empty_display_size", SWAP, expression)


def test_keyed_method_show_stage_blend_and_factor():
    for name in ENDS:
        assert_as_armature(name, partial(at_its_ends, name, False))


def test_driven_method_show_stage_blend_and_factor():
    for name in ENDS:
        assert_as_armature(name, partial(at_its_ends, name, True))


def test_a_driven_factor_between_its_ends():
    tube, _rig, skin = character(True)
    full, rest = scene.points(tube), scene.rest(tube)
    factors = (0.25, 1.0, 0.0, 0.75)
    driver_by_empty(tube, inputs.data_path(skin, "Factor"), factors)
    for frame, factor in zip(FRAMES, factors, strict=True):
        bpy.context.scene.frame_set(frame)
        scene.assert_same(scene.points(tube), rest + factor * (full - rest), tube)


def with_shape(skinned):
    tube, _rig, modifier = character(skinned)
    tube.shape_key_add(name="Basis")
    shape = tube.shape_key_add(name="Wide")
    for point in shape.data:
        point.co.x *= 2
    shape.value = 1
    return tube, modifier


def test_shape_keys():
    def value(skinned):
        tube, _modifier = with_shape(skinned)
        key(tube.data.shape_keys, 'key_blocks["Wide"].value', (0.2, 1.0, 0.0, 0.6))

    def mute(skinned):
        tube, _modifier = with_shape(skinned)
        key(tube.data.shape_keys, 'key_blocks["Wide"].mute', (True, False, True, False))

    def driven(skinned):
        tube, _modifier = with_shape(skinned)
        driver_by_empty(tube.data.shape_keys, 'key_blocks["Wide"].value', (0.2, 1.0, 0.0, 0.6))

    for name, make in {"keyed value": value, "keyed mute": mute, "driven value": driven}.items():
        assert_as_armature(name, make)


def test_keyed_bone_settings():
    swap = (True, False, True, False)
    cases = {
        'bones["bone1"].use_deform': (swap, {}),
        'bones["bone1"].envelope_distance': ((0.25, 2.0, 0.1, 1.0), {"envelopes": True}),
        'bones["bone1"].head_radius': ((0.1, 2.0, 0.3, 1.0), {"envelopes": True}),
        'bones["bone1"].use_envelope_multiply': (swap, {"both": True}),
        'bones["bone1"].inherit_scale': (("FULL", "NONE", "FULL", "NONE"), {}),
        'bones["bone1"].bbone_segments': ((1, 4, 1, 6), {"curved": True}),
        'bones["bone1"].bbone_curveinx': ((0.0, 0.4, -0.2, 0.1), {"segments": 4}),
    }
    for path, (values, options) in cases.items():

        def make(skinned):
            tube, rig, modifier = character(False)
            modifier.use_bone_envelopes = bool(options.get("envelopes") or options.get("both"))  # noqa: B023
            modifier.use_vertex_groups = not options.get("envelopes")  # noqa: B023
            bone = rig.data.bones["bone1"]
            bone.bbone_segments = options.get("segments", 1)  # noqa: B023
            bone.bbone_curveinz = 0.3 if options.get("curved") else 0.0  # noqa: B023
            if skinned:
                scene.add_skin(tube, method="LINEAR")
            key(rig.data, path, values)  # noqa: B023

        assert_as_armature(path, make)


def test_keyed_pose_position():
    """Beside a twin with the Armature modifier and the same rig. Blender itself puts no order between the keys of an
    armature's pose position and its bones: two renders of one file can differ, with the Armature modifier too."""
    with watching():
        for _ in range(4):
            scene.empty()
            tube, rig, _skin = character(True)
            twin = bpy.data.objects.new("Twin", tube.data.copy())
            bpy.context.collection.objects.link(twin)
            twin.modifiers.new("Armature", "ARMATURE").object = rig
            key(rig.data, "pose_position", ("POSE", "REST", "POSE", "REST"))
            bpy.context.view_layer.update()
            seen = [(where, *(each[name, (0,) * 8] for name in ("Tube", "Twin"))) for where, each in observed()]
            for where, found, expected in seen:
                assert _far(expected, found) <= LEAST, f"pose position: {where}: off by {_far(expected, found):.2e}"
            _assert_moves("pose position", [{"Twin": expected} for _where, _found, expected in seen])


def test_keyed_b_bone_handles_of_the_pose():
    def make(skinned):
        _tube, rig, _modifier = character(skinned)
        rig.data.bones["bone1"].bbone_segments = 5
        key(rig, 'pose.bones["bone1"].bbone_curveoutz', (0.0, 0.4, -0.2, 0.1))
        key(rig, 'pose.bones["bone1"].bbone_rollout', (0.0, 1.0, -0.5, 0.2))

    assert_as_armature("bbone handles", make)


def test_a_modifier_above():
    def above(skinned):
        tube, _rig, _modifier = character(skinned)
        stretch = tube.modifiers.new("Stretch", "SIMPLE_DEFORM")
        stretch.deform_method, stretch.factor = "STRETCH", 0.7
        tube.modifiers.move(len(tube.modifiers) - 1, 0)
        return tube

    swap = (True, False, True, False)
    makers = {
        "show_viewport": lambda skinned: key(above(skinned), 'modifiers["Stretch"].show_viewport', swap),
        "show_render": lambda skinned: key(above(skinned), 'modifiers["Stretch"].show_render', swap),
        "keyed factor": lambda skinned: key(above(skinned), 'modifiers["Stretch"].factor', (0.1, 0.9, 0.0, 0.4)),
        "driven factor": lambda skinned: driver_by_empty(above(skinned), 'modifiers["Stretch"].factor', (0, 1, 0.3, 0)),
        "driven show_viewport": lambda skinned: driver_by_empty(
            above(skinned), 'modifiers["Stretch"].show_viewport', (0, 1, 0, 1)
        ),
    }
    for name, make in makers.items():
        assert_as_armature(f"above: {name}", make)


def test_keyed_visibility_of_the_skin():
    for attribute in ("show_viewport", "show_render"):

        def make(skinned):
            tube, _rig, modifier = character(skinned)
            key(tube, f'modifiers["{modifier.name}"].{attribute}', (True, False, True, False))  # noqa: B023

        assert_as_armature(attribute, make)


def test_handlers_of_other_scripts_see_the_new_pose():
    """Whether they were registered before the extension's or after them."""

    def look():
        found, handlers = [], bpy.app.handlers.frame_change_post

        def before(_scene, depsgraph):
            found.append(("before", shown(depsgraph)))

        def after(_scene, depsgraph):
            found.append(("after", shown(depsgraph)))

        handlers.insert(0, before)
        handlers.append(after)
        try:
            for frame in (2, 4, 1, 3):
                bpy.context.scene.frame_set(frame)
        finally:
            handlers.remove(before)
            handlers.remove(after)
        assert [who for who, _seen in found] == ["before", "after"] * 4
        return found

    assert_as_armature("handlers", lambda skinned: character(skinned, keyed=True), look)


def test_a_neighbour_on_a_shared_mesh_is_removed():
    """By a script, which then goes to other frames or renders, without an update in between."""

    def make(skinned):
        first, _rig, _modifier = character(skinned, keyed=True)
        for name in ("Tube 1", "Tube 2"):
            other = first.copy()
            other.name = name
            bpy.context.collection.objects.link(other)
        bpy.context.view_layer.update()

    def look():
        bpy.data.objects.remove(bpy.data.objects["Tube 1"])
        return observed()

    assert_as_armature("neighbour removed", make, look)
