"""Files that were edited by hand or by something broken: each either works or says why, and nothing is raised."""

import io
import sys
from contextlib import contextmanager

import bpy
import numpy as np
import scene

inputs = scene.extension("inputs")
upkeep = scene.extension("live.upkeep")
schema = scene.extension("modifier.schema")

NAN, INF = float("nan"), float("inf")
NAMES = [
    "", " ", "ä", "骨格", "кость", "עצם", "عظم", "हड्डी", "🦴", "'", '"', "\\", "\\\\", "%s%n", "{0}", "{}", "a/b", "//",
    "..", "\n", "\t", "'];x='", "x" * 63, "骨" * 21, "a.001", "None", "Armature",
]  # fmt: skip


@contextmanager
def nothing_raised():
    """Blender prints what a handler raises, and goes on."""
    printed, before = io.StringIO(), sys.stderr
    sys.stderr = printed
    try:
        yield
    finally:
        sys.stderr = before
    assert "Error" not in printed.getvalue(), printed.getvalue()


def refreshed():
    """Everything is evaluated as after an edit, at another frame and in Edit Mode."""
    with nothing_raised():
        bpy.context.view_layer.update()
        bpy.context.scene.frame_set(bpy.context.scene.frame_current + 1)
        upkeep.refresh(bpy.context, anew=True)
        for obj in bpy.context.scene.objects:
            scene.points(obj) if obj.type == "MESH" else None


def assert_works_or_says_why(obj, skin):
    """The mesh is as Blender's own modifier has it, or at rest with a message, and finite."""
    refreshed()
    if not schema.is_skin(skin):
        scene.assert_same(scene.points(obj), scene.rest(obj), obj)
        return "is no skin any more"
    problem = upkeep.problem_of(skin)
    if problem is None:
        scene.assert_same(scene.points(obj), scene.yardstick(obj), obj)
        return "works"
    scene.assert_same(scene.points(obj), scene.rest(obj), obj)
    return problem.text


def bent():
    obj, armature = scene.tube()
    skin = scene.add_skin(obj, method="LINEAR")
    scene.bend(armature)
    refreshed()
    return obj, armature, skin


def own_name(skin):
    return schema.PREFIX + inputs.read(skin, schema.IDENTITY)


# ---- attributes


def test_attributes_of_other_types_and_domains():
    obj, armature, skin = bent()
    kinds = [item.identifier for item in bpy.types.Attribute.bl_rna.properties["data_type"].enum_items]
    amount = 0.3
    for kind in kinds:
        for domain in ("POINT", "EDGE", "FACE", "CORNER"):
            names = [own_name(skin)] + [own_name(skin) + column for column in schema.COLUMNS]
            for name in names:
                if name in obj.data.attributes:
                    obj.data.attributes.remove(obj.data.attributes[name])
                obj.data.attributes.new(name, kind, domain)
            scene.bend(armature, amount := -amount * 1.01)
            assert assert_works_or_says_why(obj, skin) == "works", (kind, domain)


def test_attributes_full_of_what_is_no_number():
    obj, armature, skin = bent()
    attribute = obj.data.attributes[own_name(skin)]
    for value in (NAN, INF, 3e38):
        attribute = obj.data.attributes[own_name(skin)]
        attribute.data.foreach_set("vector", np.full(3 * len(attribute.data), value, np.float32))
        scene.bend(armature, 0.5)
        scene.bend(armature, 0.7)
        assert assert_works_or_says_why(obj, skin) == "works"


def test_hundreds_of_attributes_that_look_like_ours():
    obj, _armature, skin = bent()
    for k in range(300):
        obj.data.attributes.new(f"{schema.PREFIX}{k:08x}", "FLOAT_VECTOR", "POINT")
    assert assert_works_or_says_why(obj, skin) == "works"


def test_a_mesh_of_another_size_with_the_same_attributes():
    obj, _armature, skin = bent()
    few = bpy.data.meshes.new("few")
    few.from_pydata([(0, 0, 0.5), (0, 0, 1.5), (1, 0, 2.5)], [], [(0, 1, 2)])
    few.attributes.new(own_name(skin), "FLOAT_VECTOR", "POINT")
    obj.data = few
    assert assert_works_or_says_why(obj, skin)  # it has lost its weights
    many = bpy.data.meshes.new("many")
    many.from_pydata(np.random.default_rng(0).random((70000, 3)).tolist(), [], [])
    obj.data = many
    assert assert_works_or_says_why(obj, skin)


# ---- inputs of the group


def raw_set(skin, name, value):
    """As the modifier's own property, past all that the extension checks. Whether Blender takes it."""
    identifier = schema.sockets(skin.node_group)[name][0]
    try:
        if bpy.app.version >= (5, 2, 0):
            skin.properties.inputs[identifier]["value"] = value
        else:
            skin[identifier] = value
    except (TypeError, ValueError, KeyError, OverflowError):
        return False
    skin.id_data.update_tag()
    return True


def test_inputs_of_wrong_values_and_types():
    values = [
        NAN,
        INF,
        -INF,
        1e30,
        -1,
        99,
        2**31 - 1,
        -(2**31),
        True,
        "",
        "Linear",
        "x" * 10000,
        "\udcff",
        b"\xff\0",
        [],
        [1, 2],
        {},
    ]
    for name, _kind, _tip in schema.INPUTS:
        _obj, _armature, skin = bent()
        taken = 0
        for value in values:
            taken += raw_set(skin, name, value)
            with nothing_raised():
                refreshed()
                bpy.context.view_layer.update()
        for k, strange in enumerate(NAMES):
            raw_set(skin, name, strange + str(k))
            refreshed()
        scene.empty()


def test_an_armature_that_is_none():
    for other in ("itself", "mesh", "empty", "camera", "armature without bones", "removed"):
        obj, _armature, skin = bent()
        objects = {
            "itself": lambda obj=obj: obj,
            "mesh": lambda: bpy.data.objects.new("m", bpy.data.meshes.new("m")),
            "empty": lambda: bpy.data.objects.new("e", None),
            "camera": lambda: bpy.data.objects.new("c", bpy.data.cameras.new("c")),
            "armature without bones": lambda: bpy.data.objects.new("a", bpy.data.armatures.new("a")),
            "removed": lambda: bpy.data.objects.new("r", bpy.data.armatures.new("r")),
        }
        chosen = objects[other]()
        if other != "itself":
            bpy.context.collection.objects.link(chosen)
        inputs.write(skin, schema.ARMATURE, chosen)
        refreshed()
        if other == "removed":
            bpy.data.objects.remove(chosen)
        said = assert_works_or_says_why(obj, skin)
        assert said not in ("works", "is no skin any more"), f"{other}: {said}"
        assert not any(word in said for word in ("Error", "error", "None", "cannot be computed")), f"{other}: {said}"
        scene.empty()


def test_identities_that_are_names_of_others():
    obj, armature, skin = bent()
    other = obj.copy()
    other.data = obj.data
    bpy.context.collection.objects.link(other)
    refreshed()
    for identity in ["", inputs.read(other.modifiers[skin.name], schema.IDENTITY), "position", *NAMES, "é" * 5000]:
        inputs.write_own(skin, schema.IDENTITY, identity)
        scene.bend(armature, 0.6)
        refreshed()
        scene.bend(armature, 0.4)
        refreshed()
    assert "position" in obj.data.attributes and len(obj.data.attributes) < 60


# ---- the same, read from a file


def reopened():
    """The tube and its skin, saved as they are and opened again."""
    path = scene.temporary("hostile.blend")
    with nothing_raised():
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Tube"]
    return obj, next(modifier for modifier in obj.modifiers if modifier.type == "NODES")


def test_files_with_attributes_of_other_types():
    obj, _armature, skin = bent()
    for kind in [item.identifier for item in bpy.types.Attribute.bl_rna.properties["data_type"].enum_items]:
        for domain in ("POINT", "CORNER"):
            for name in [own_name(skin)] + [own_name(skin) + column for column in schema.COLUMNS]:
                if name in obj.data.attributes:
                    obj.data.attributes.remove(obj.data.attributes[name])
                obj.data.attributes.new(name, kind, domain)
            obj, skin = reopened()
            scene.bend(bpy.data.objects["Rig"], 0.5)
            assert assert_works_or_says_why(obj, skin) == "works", (kind, domain)


def test_files_with_inputs_of_wrong_values_and_types():
    for value in (NAN, INF, -1, 2**31 - 1, "", "x" * 10000, "\udcff", [1, 2], {}):
        _obj, _armature, skin = bent()
        for name, _kind, _tip in schema.INPUTS:
            raw_set(skin, name, value)
        reopened()
        refreshed()
        scene.empty()


# ---- node groups


def test_each_input_removed_from_the_group():
    for name, _kind, _tip in schema.INPUTS:
        obj, _armature, skin = bent()
        items = skin.node_group.interface.items_tree
        skin.node_group.interface.remove(next(i for i in items if i.item_type == "SOCKET" and i.name == name))
        refreshed()
        assert_works_or_says_why(obj, skin)
        scene.empty()


def test_each_input_renamed_and_of_another_type():
    for name, kind, _tip in schema.INPUTS:
        _obj, _armature, skin = bent()
        tree = skin.node_group
        item = next(i for i in tree.interface.items_tree if i.item_type == "SOCKET" and i.name == name)
        item.name = "Strange"
        refreshed()
        item.name = name
        refreshed()
        if hasattr(item, "socket_type"):
            item.socket_type = "NodeSocketVector" if kind != "NodeSocketVector" else "NodeSocketFloat"
        refreshed()
        scene.bend(bpy.data.objects["Rig"], 0.4)
        refreshed()
        scene.empty()


def test_a_group_without_nodes_or_sockets():
    for damage in ("nodes", "links", "outputs", "interface"):
        obj, armature, skin = bent()
        tree = skin.node_group
        if damage == "nodes":
            tree.nodes.clear()
        elif damage == "links":
            tree.links.clear()
        elif damage == "outputs":
            tree.interface.remove(next(i for i in tree.interface.items_tree if getattr(i, "in_out", "") == "OUTPUT"))
        else:
            tree.interface.clear()
        refreshed()
        scene.bend(armature, 0.4)
        refreshed()
        scene.activate(obj)
        with nothing_raised():
            bpy.ops.object.mode_set(mode="EDIT")
            bpy.ops.object.mode_set(mode="OBJECT")
        scene.empty()


def test_marks_on_what_is_no_group_of_ours():
    _obj, armature, skin = bent()
    mark, maker = schema.MARK, schema.MAKER
    for kind in ("GeometryNodeTree", "ShaderNodeTree", "CompositorNodeTree", "TextureNodeTree"):
        try:
            tree = bpy.data.node_groups.new("Ours?", kind)
        except RuntimeError:
            continue  # this Blender has no such trees
        tree[mark] = 1
        tree[maker] = "999.0.0"
        if kind == "GeometryNodeTree":
            other = scene.tube()[0]
            other.modifiers.new("Nodes", "NODES").node_group = tree
        refreshed()
    for value in (0, -1, 10**6, 1.5, NAN, "two", "", [1, 2], {"a": 1}):
        skin.node_group[mark] = value
        refreshed()
        scene.bend(armature, 0.6)
        refreshed()
    del skin.node_group[mark]
    refreshed()


def test_the_group_used_elsewhere_and_nested_in_itself():
    obj, _armature, skin = bent()
    outer = bpy.data.node_groups.new("Outer", "GeometryNodeTree")
    outer.nodes.new("GeometryNodeGroup").node_tree = skin.node_group
    obj.modifiers.new("Outer", "NODES").node_group = outer
    obj.modifiers.move(1, 0)
    refreshed()
    outer.nodes.new("GeometryNodeGroup").node_tree = outer
    refreshed()


# ---- names, sizes, numbers


def test_names_of_every_script_and_quote():
    obj, armature, skin = bent()
    for name in NAMES:
        for each in (obj, armature, obj.data, armature.data, skin, skin.node_group, obj.vertex_groups[1]):
            each.name = name
        armature.data.bones[2].name = name + "x"
        obj.vertex_groups[2].name = armature.data.bones[2].name
        obj.vertex_groups[1].name = armature.data.bones[1].name
        assert assert_works_or_says_why(obj, skin) == "works", repr(name)
        path = scene.temporary("names.blend")
        with nothing_raised():
            bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
            inputs.write_group(skin, schema.GROUP, name)
            bpy.context.view_layer.update()
            inputs.write_group(skin, schema.GROUP, "")


def test_ten_thousand_bones_and_groups():
    count = 10000
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(armature)
    scene.activate(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = [armature.data.edit_bones.new(f"bone{k}") for k in range(count)]
    for k, bone in enumerate(bones):
        bone.head, bone.tail = (0, 0, k), (0, 0, k + 1)
        bone.parent = bones[k // 2] if k % 2 else None
    bpy.ops.object.mode_set(mode="OBJECT")
    mesh = bpy.data.meshes.new("Long")
    mesh.from_pydata([(0.2, 0, k + 0.5) for k in range(count)], [], [])
    obj = bpy.data.objects.new("Long", mesh)
    bpy.context.collection.objects.link(obj)
    for k in range(count):
        obj.vertex_groups.new(name=f"bone{k}").add([k], 1, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = armature
    skin = scene.add_skin(obj, method="LINEAR")
    armature.pose.bones[3].scale = 1.2, 0.9, 1.1
    assert assert_works_or_says_why(obj, skin) == "works"


def test_poses_and_points_that_are_no_numbers():
    for value in (NAN, INF, 1e30, 1e-30, 3e38, 0):
        obj, armature, skin = bent()
        for path in ("location", "scale", "rotation_euler"):
            setattr(armature.pose.bones[1], path, (value, 1, value))
            refreshed()
            scene.bend(armature)
        armature.scale = value, value, value
        refreshed()
        armature.scale = 1, 1, 1
        obj.data.vertices[3].co = value, 0, 0
        refreshed()
        obj.data.vertices[3].co = 0.3, 0, 0
        assert assert_works_or_says_why(obj, skin) == "works", f"{value}: it does not recover"
        scene.empty()


def test_an_object_whose_matrix_is_flat():
    obj, armature, skin = bent()
    for each in (obj, armature):
        each.scale = 0, 1, 1
        refreshed()
        each.scale = 1, 1, 1
    assert assert_works_or_says_why(obj, skin) == "works"
