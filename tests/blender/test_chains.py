"""Skins in chains: what simulates below them, and what follows a skinned mesh and moves another one.

Each is compared with the Armature modifier in the same place, as in `test_evaluation`.
"""

from functools import partial

import bpy
import numpy as np
import scene
from test_evaluation import (
    FRAMES,
    assert_as_armature,
    character,
    observed,
    shown,
    viewport,
)

VERTEX = 84  # of a tube: half way up
TUBE = ("Tube", (0,) * 8)  # its key in what `shown` gives
from_the_start = partial(observed, starts=(1,))  # simulations go forward, frame by frame


def pinned(tube):
    group = tube.vertex_groups.new(name="pin")
    group.add(range(len(tube.data.vertices)), 1.0, "REPLACE")
    return group.name


def test_pinned_cloth():
    def make(skinned):
        tube, _rig, _modifier = character(skinned, keyed=True)
        cloth = tube.modifiers.new("Cloth", "CLOTH")
        cloth.settings.vertex_group_mass = pinned(tube)
        cloth.point_cache.frame_end = FRAMES[-1]

    assert_as_armature("cloth", make, from_the_start)


def test_soft_body():
    def make(skinned):
        tube, _rig, _modifier = character(skinned, keyed=True)
        soft = tube.modifiers.new("Soft", "SOFT_BODY")
        settings = soft.settings
        settings.use_goal, settings.vertex_group_goal, settings.use_edges = True, pinned(tube), False
        settings.goal_min = settings.goal_max = settings.goal_default = 1
        soft.point_cache.frame_end = FRAMES[-1]

    assert_as_armature("soft body", make, from_the_start)


def test_simulation_nodes():
    """A zone whose points are half way between where they were and where the modifiers above put them."""

    def make(skinned):
        tube, _rig, _modifier = character(skinned, keyed=True)
        tube.modifiers.new("Sim", "NODES").node_group = _trailing()

    assert_as_armature("simulation zone", make, from_the_start)


def _trailing():
    tree = bpy.data.node_groups.new("Trailing", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    into, out = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    start, end = tree.nodes.new("GeometryNodeSimulationInput"), tree.nodes.new("GeometryNodeSimulationOutput")
    start.pair_with_output(end)
    place, sample = tree.nodes.new("GeometryNodeSetPosition"), tree.nodes.new("GeometryNodeSampleIndex")
    position, index = tree.nodes.new("GeometryNodeInputPosition"), tree.nodes.new("GeometryNodeInputIndex")
    mix = tree.nodes.new("ShaderNodeMix")
    sample.data_type, mix.data_type = "FLOAT_VECTOR", "VECTOR"

    def named(sockets, name):
        return next(socket for socket in sockets if socket.enabled and socket.name == name)

    for source, target in (
        (into.outputs[0], start.inputs[0]),
        (into.outputs[0], named(sample.inputs, "Geometry")),
        (position.outputs[0], named(sample.inputs, "Value")),
        (index.outputs[0], named(sample.inputs, "Index")),
        (position.outputs[0], named(mix.inputs, "A")),
        (named(sample.outputs, "Value"), named(mix.inputs, "B")),
        (named(start.outputs, "Geometry"), place.inputs[0]),
        (named(mix.outputs, "Result"), place.inputs["Position"]),
        (place.outputs[0], named(end.inputs, "Geometry")),
        (named(end.outputs, "Geometry"), out.inputs[0]),
    ):
        tree.links.new(source, target)
    return tree


def test_particles_are_born_on_the_skin():
    def make(skinned):
        tube, _rig, _modifier = character(skinned, keyed=True)
        mark = bpy.data.objects.new("Mark", bpy.data.meshes.new("Mark"))
        mark.data.from_pydata([(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0)], [], [(0, 1, 2)])
        bpy.context.collection.objects.link(mark)
        tube.modifiers.new("Particles", "PARTICLE_SYSTEM")
        settings = tube.particle_systems[0].settings
        settings.count, settings.frame_start, settings.frame_end, settings.lifetime = 40, 1, 4, 50
        settings.physics_type, settings.emit_from, settings.use_emit_random = "NO", "VERT", False
        settings.render_type, settings.instance_object = "OBJECT", mark

    assert_as_armature("particles", make, from_the_start)


def test_hair_stands_on_the_skin():
    def make(skinned):
        tube, _rig, _modifier = character(skinned, keyed=True)
        tube.modifiers.new("Particles", "PARTICLE_SYSTEM")
        settings = tube.particle_systems[0].settings
        settings.type, settings.count, settings.emit_from, settings.use_emit_random = "HAIR", 40, "VERT", False
        mark = bpy.data.objects.new("Mark", bpy.data.meshes.new("Mark"))
        mark.data.from_pydata([(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0)], [], [(0, 1, 2)])
        bpy.context.collection.objects.link(mark)
        settings.render_type, settings.instance_object = "OBJECT", mark

    assert_as_armature("hair", make)


def _with_groups(name, count):
    mesh = bpy.data.meshes.new(name)
    points = [(0.4 * np.cos(k), 0.4 * np.sin(k), 3 * k / count) for k in range(count)]
    mesh.from_pydata(points, [], [(k, k + 1, k + 2) for k in range(count - 2)])
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(obj)
    return obj


def test_weights_transferred_from_a_skinned_mesh():
    """What another mesh takes from the nearest points of the skinned one moves it."""

    def make(skinned):
        tube, _rig, _modifier = character(skinned, keyed=True)
        taker = _with_groups("Taker", 60)
        taker.vertex_groups.new(name="bone1")
        transfer = taker.modifiers.new("Transfer", "DATA_TRANSFER")
        transfer.object, transfer.use_vert_data, transfer.data_types_verts = tube, True, {"VGROUP_WEIGHTS"}
        transfer.vert_mapping = "POLYINTERP_NEAREST"
        stretch = taker.modifiers.new("Displace", "DISPLACE")
        stretch.direction, stretch.vertex_group, stretch.strength = "X", "bone1", 1.0

    assert_as_armature("Data Transfer from", make)


def test_weights_transferred_to_a_skinned_mesh_below_the_skin():
    def make(skinned):
        tube, _rig, _modifier = character(skinned, keyed=True)
        giver = _with_groups("Giver", 60)
        giver.vertex_groups.new(name="push").add(range(0, 30), 1.0, "REPLACE")
        tube.vertex_groups.new(name="push")
        transfer = tube.modifiers.new("Transfer", "DATA_TRANSFER")
        transfer.object, transfer.use_vert_data, transfer.data_types_verts = giver, True, {"VGROUP_WEIGHTS"}
        transfer.vert_mapping = "POLYINTERP_NEAREST"
        push = tube.modifiers.new("Displace", "DISPLACE")
        push.direction, push.vertex_group, push.strength = "X", "push", 0.5

    assert_as_armature("Data Transfer to", make)


def followers(link, skinned, depth=3):
    """A row of characters; `link(rig, tube before)` lets each but the first follow the skin of the one before."""
    tube, _rig, _modifier = character(skinned, keyed=True)
    for _ in range(depth - 1):
        following, rig, _modifier = character(skinned)
        link(rig, tube)
        tube = following


def _empty(parent, kind):
    empty = bpy.data.objects.new("Rider", None)
    bpy.context.collection.objects.link(empty)
    empty.parent, empty.parent_type = parent, kind
    empty.parent_vertices[0] = VERTEX
    if kind == "VERTEX_3":
        empty.parent_vertices[1], empty.parent_vertices[2] = VERTEX + 1, VERTEX + 9
    return empty


def _constrain(rig, kind, **settings):
    constraint = rig.pose.bones["bone1"].constraints.new(kind)
    for name, value in settings.items():
        setattr(constraint, name, value)


def _copy_location_of_a_vertex(rig, tube):
    tube.vertex_groups.new(name="spot").add([VERTEX], 1.0, "REPLACE")
    _constrain(rig, "COPY_LOCATION", target=tube, subtarget="spot")


def _copy_location_of_a_rider(rig, tube):
    _constrain(rig, "COPY_LOCATION", target=_empty(tube, "VERTEX"))


def _shrinkwrap(rig, tube):
    _constrain(rig, "SHRINKWRAP", target=tube)


def _ride_on_a_vertex(rig, tube):
    rig.parent = _empty(tube, "VERTEX")


def _ride_on_a_triangle(rig, tube):
    rig.parent = _empty(tube, "VERTEX_3")


LINKS = {
    "Copy Location of a vertex group": _copy_location_of_a_vertex,
    "Copy Location of a vertex child": _copy_location_of_a_rider,
    "Shrinkwrap": _shrinkwrap,
    "child of a vertex": _ride_on_a_vertex,
    "child of a triangle": _ride_on_a_triangle,
}


def test_rigs_that_follow_skins_three_deep():
    for name, link in LINKS.items():
        assert_as_armature(name, partial(followers, link))


def test_rigs_that_follow_a_posed_skin_without_keys():
    def look():
        found = []
        for amount in (0.3, -0.7, 0.9):
            scene.bend(bpy.data.objects["Rig"], amount)
            bpy.context.view_layer.update()
            found.append((f"pose {amount}", shown(bpy.context.evaluated_depsgraph_get())))
        return found

    def make(link, skinned):
        followers(link, skinned)
        bpy.data.objects["Rig"].animation_data_clear()

    for name, link in LINKS.items():
        assert_as_armature(f"{name}, posed", partial(make, link), look)


def test_hooks_on_a_follower_of_a_skin():
    def make(skinned):
        tube, _rig, _modifier = character(skinned, keyed=True)
        hooked = _with_groups("Hooked", 40)
        hook = hooked.modifiers.new("Hook", "HOOK")
        hook.object = _empty(tube, "VERTEX")
        hook.vertex_indices_set(range(0, 20))

    assert_as_armature("hook", make)


def test_a_hook_above_a_skin_that_follows_another():
    def make(skinned):
        tube, _rig, _modifier = character(skinned, keyed=True)
        second, _rig, _modifier = character(skinned)
        hook = second.modifiers.new("Hook", "HOOK")
        hook.object = _empty(tube, "VERTEX")
        hook.vertex_indices_set(range(0, 60))
        second.modifiers.move(len(second.modifiers) - 1, 0)

    assert_as_armature("hook above", make)


def _driven_shape(skinned, target, path):
    """A second character whose shape key is driven by a property of the first."""
    tube, _rig, _modifier = character(skinned, keyed=True)
    second, _rig, _modifier = character(skinned)
    second.shape_key_add(name="Basis")
    shape = second.shape_key_add(name="Wide")
    for point in shape.data:
        point.co.x += 1
    driver = shape.driver_add("value").driver
    variable = driver.variables.new()
    variable.name, variable.type = "x", "SINGLE_PROP"
    variable.targets[0].id, variable.targets[0].data_path = target(tube), path
    driver.expression = "0.2 * x"


def test_shape_keys_driven_by_a_skin():
    cases = {
        "a vertex child's place": (lambda tube: _empty(tube, "VERTEX"), "matrix_world[0][3]"),
        "a vertex child's height": (lambda tube: _empty(tube, "VERTEX"), "matrix_world[2][3]"),
        "the skinned object's dimensions": (lambda tube: tube, "dimensions[0]"),
    }
    for name, (target, path) in cases.items():
        assert_as_armature(name, lambda skinned: _driven_shape(skinned, target, path))  # noqa: B023


def test_an_input_driven_by_a_skin():
    """The strength of a modifier above the second skin follows a vertex of the first."""

    def make(skinned):
        tube, _rig, _modifier = character(skinned, keyed=True)
        second, _rig, _modifier = character(skinned)
        stretch = second.modifiers.new("Stretch", "SIMPLE_DEFORM")
        stretch.deform_method = "STRETCH"
        second.modifiers.move(len(second.modifiers) - 1, 0)
        driver = stretch.driver_add("factor").driver
        variable = driver.variables.new()
        variable.name, variable.type = "x", "TRANSFORMS"
        variable.targets[0].id, variable.targets[0].transform_type = _empty(tube, "VERTEX"), "LOC_X"
        driver.expression = "0.3 * x"

    assert_as_armature("driven by a vertex", make)


def test_surface_deform_bound_to_a_skin():
    def make(skinned):
        tube, _rig, _modifier = character(skinned, keyed=True)
        scene.bend(bpy.data.objects["Rig"], 0.0)
        bpy.data.objects["Rig"].data.pose_position = "REST"
        bpy.context.view_layer.update()
        cloth = _with_groups("Bound", 40)
        deform = cloth.modifiers.new("Deform", "SURFACE_DEFORM")
        deform.target = tube
        scene.activate(cloth)
        assert bpy.ops.object.surfacedeform_bind(modifier="Deform") == {"FINISHED"} and deform.is_bound
        bpy.data.objects["Rig"].data.pose_position = "POSE"

    assert_as_armature("Surface Deform", make)


def test_shrinkwrap_modifier_onto_a_skin():
    def make(skinned):
        tube, _rig, _modifier = character(skinned, keyed=True)
        _with_groups("Wrapped", 40).modifiers.new("Wrap", "SHRINKWRAP").target = tube

    assert_as_armature("Shrinkwrap modifier", make)


# ---- exporters


def _after(export, at=3):
    """What an exporter wrote, as `export` reads it, and what the viewport shows afterwards."""
    here = bpy.context.scene
    here.frame_start, here.frame_end = FRAMES[0], FRAMES[-1]
    here.frame_set(at)
    scene.activate(bpy.data.objects["Tube"])
    written = export()
    after = [(f"viewport after it, frame {here.frame_current}", shown(bpy.context.evaluated_depsgraph_get()))]
    bpy.context.view_layer.update()
    after.append(("and updated", shown(bpy.context.evaluated_depsgraph_get())))
    return after + viewport() + written()


def _as_keyed(skinned):
    character(skinned, keyed=True)


def _obj(mode):
    path = scene.temporary(f"chain_{mode}.obj")
    bpy.ops.wm.obj_export(
        filepath=path,
        export_animation=True,
        start_frame=FRAMES[0],
        end_frame=FRAMES[-1],
        export_eval_mode=mode,
        export_selected_objects=True,
    )

    def read():
        found = []
        for frame in FRAMES:
            with open(f"{path[:-4]}{frame:04d}.obj", encoding="utf-8") as lines:
                points = [[float(each) for each in line.split()[1:4]] for line in lines if line.startswith("v ")]
            found.append((f"OBJ, frame {frame}", {TUBE: np.array(points)}))
        return found

    return read


def test_obj_animation():
    for mode in ("DAG_EVAL_RENDER", "DAG_EVAL_VIEWPORT"):
        assert_as_armature(f"OBJ, {mode}", _as_keyed, lambda: _after(lambda: _obj(mode)))  # noqa: B023


def _imported(open_file, frames=FRAMES):
    """A reader of a file by opening it in an empty scene."""

    def read():
        scene.empty()
        open_file()
        return [(f"file: {where}", seen) for where, seen in viewport(frames)]

    return read


def _usd(mode):
    path = scene.temporary(f"chain_{mode}.usdc")
    options = {"export_animation": True, "evaluation_mode": mode, "export_armatures": False}
    bpy.ops.wm.usd_export(filepath=path, selected_objects_only=True, **options)
    return _imported(lambda: bpy.ops.wm.usd_import(filepath=path))


def _alembic(mode):
    path = scene.temporary(f"chain_{mode}.abc")
    bpy.ops.wm.alembic_export(
        filepath=path, start=FRAMES[0], end=FRAMES[-1], evaluation_mode=mode, selected=True, as_background_job=False
    )
    return _imported(lambda: bpy.ops.wm.alembic_import(filepath=path, as_background_job=False))


def test_usd_and_alembic():
    for name, export in {"USD": _usd, "Alembic": _alembic}.items():
        for mode in ("RENDER", "VIEWPORT"):
            assert_as_armature(f"{name}, {mode}", _as_keyed, lambda: _after(lambda: export(mode)))  # noqa: B023


def test_gltf_with_modifiers_applied():
    """Its exporter makes no mesh of an Armature modifier, so the file is held to the pose that was shown."""
    for at in (2, 4):
        character(True, keyed=True)
        path = scene.temporary("chain.glb")
        here = bpy.context.scene
        here.frame_set(at)
        tube = bpy.data.objects["Tube"]
        expected = scene.yardstick(tube)
        scene.activate(tube)
        bpy.ops.export_scene.gltf(
            filepath=path,
            export_format="GLB",
            use_selection=True,
            export_apply=True,
            export_current_frame=True,
            export_animations=False,
        )
        bpy.context.view_layer.update()
        assert here.frame_current == at
        scene.assert_same(scene.points(tube), expected, tube)
        scene.empty()
        bpy.ops.import_scene.gltf(filepath=path, merge_vertices=True)
        imported = next(obj for obj in bpy.data.objects if obj.type == "MESH" and len(obj.data.vertices) > 100)
        found = scene.points(imported)
        near = np.linalg.norm(found[:, None] - expected[None], axis=2)
        assert near.min(0).max() < 1e-5 and near.min(1).max() < 1e-5, f"glTF at frame {at}: {near.min(0).max()}"


def test_the_viewport_after_gltf_with_its_animation():
    def export():
        path = scene.temporary("chain.glb")
        bpy.ops.export_scene.gltf(filepath=path, export_format="GLB", export_apply=True, export_current_frame=True)
        return list

    assert_as_armature("glTF", _as_keyed, lambda: _after(export))
