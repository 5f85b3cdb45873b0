"""Random edits of the Rigify character, one after another: after each, a skin whose method is Linear must look as
Blender's own Armature modifier does, and nothing may have been raised or printed as an error.

    python tests/blender/soak.py STEPS [SEED]     (`make soak`)

The seed is printed; the same seed makes the same edits. Every edit looks its objects up by name: undo, files and
libraries replace them all.
"""

import ctypes
import gc
import io
import os
import random
import resource
import statistics
import sys
import time

import scene

import bpy  # isort: skip  (scene starts it)

inputs, schema = scene.extension("inputs"), scene.extension("modifier.schema")

MEASURED = 250  # steps from one measurement of the memory to the next
WARM = 0.4  # the part of the steps after which memory must not grow any more
LONG = 8  # measurements after that; of fewer, nothing can be said
GROWTH = 0.015  # of the memory: what the scene itself comes and goes by


class Soak:
    def __init__(self, seed):
        self.seed = seed
        self.random = random.Random(seed)
        self.made = 0  # numbers what is added
        self.done = []  # the edits so far
        self.worst = 0.0
        scene.character()
        body().name, rig().name = "Body", "Rig"
        scene.add_skin(body(), method="LINEAR")
        make_library()
        save()
        bpy.context.preferences.edit.undo_steps = 16

    def step(self):
        edit = self.random.choices(EDITS, [weight for _, weight in WEIGHTED])[0]
        self.done.append(edit.__name__)
        printed = io.StringIO()
        stderr, sys.stderr = sys.stderr, printed
        try:
            edit(self)
            bpy.ops.ed.undo_push(message=edit.__name__)
            bpy.context.view_layer.update()
            self.compare()
        finally:
            sys.stderr = stderr
        assert "Traceback" not in printed.getvalue(), printed.getvalue()

    def compare(self):
        shown = scene.points(body())
        expected = scene.yardstick(body())
        found = scene.distance(shown, expected) / scene.size(body())
        self.worst = max(self.worst, found)
        assert found <= 1e-5, f"off by {found:.2e} of the size"
        assert not left_behind(), left_behind()

    def new_name(self, stem):
        self.made += 1
        return f"{stem} {self.made} {self.random.choice(STRANGE)}"

    def bone(self):
        return self.random.choice(rig().pose.bones)

    def number(self, most=1.0):
        return self.random.uniform(-most, most)


STRANGE = ["", "ä", "骨", "кость", "עצם", "🦴", '"', "'", "\\", "%s", "{0}", "a.001", "\t"]


def body():
    return next(obj for obj in bpy.data.objects if obj.get("soak") == "body") if _marked("body") else _first("MESH")


def rig():
    return next(obj for obj in bpy.data.objects if obj.get("soak") == "rig") if _marked("rig") else _first("ARMATURE")


def _marked(role):
    return any(obj.get("soak") == role for obj in bpy.data.objects)


def _first(kind):
    """The character's own object, marked so that it is found whatever it is called."""
    armature = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE" and obj.library is None)
    obj = armature if kind == "ARMATURE" else next(o for o in bpy.data.objects if o.find_armature() == armature)
    obj["soak"] = "rig" if kind == "ARMATURE" else "body"
    return obj


def skin():
    return next(m for m in body().modifiers if m.type == "NODES" and m.node_group.name.startswith("Two-Phase Skin"))


def path():
    return scene.temporary("soak.blend")


def library_path():
    return scene.temporary("soak_library.blend")


def make_library():
    """A small character in a file of its own, to be linked."""
    collection = bpy.data.collections.new("Linked")
    armature = bpy.data.armatures.new("Linked")
    mesh = bpy.data.meshes.new("Linked")
    mesh.from_pydata([(0, 0, 0), (0, 0, 1), (1, 0, 0)], [], [(0, 1, 2)])
    for data in (armature, mesh):
        collection.objects.link(bpy.data.objects.new(f"Linked {type(data).__name__}", data))
    bpy.data.libraries.write(library_path(), {collection})
    for obj in list(collection.objects):
        bpy.data.objects.remove(obj)
    bpy.data.collections.remove(collection)
    bpy.data.armatures.remove(armature)
    bpy.data.meshes.remove(mesh)


def save():
    bpy.ops.wm.save_as_mainfile(filepath=path(), check_existing=False)


def in_mode(obj, mode, action):
    scene.activate(obj)
    bpy.ops.object.mode_set(mode=mode)
    try:
        action()
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")


# ---- the edits


def pose(soak):
    for _ in range(soak.random.randint(1, 6)):
        bone = soak.bone()
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = [soak.number() for _ in range(3)]
        bone.scale = [1 + soak.number(0.4) for _ in range(3)]
        bone.location = [soak.number(0.05) for _ in range(3)]


def reset_pose(soak):
    for bone in rig().pose.bones:
        bone.matrix_basis.identity()


def key(soak):
    bone = soak.bone()
    bone.keyframe_insert(soak.random.choice(["location", "scale"]), frame=soak.random.randint(1, 48))


def frame(soak):
    bpy.context.scene.frame_set(soak.random.randint(-3, 60), subframe=soak.random.choice([0.0, 0.5]))


def undo(soak):
    for _ in range(soak.random.randint(1, 3)):
        if bpy.ops.ed.undo.poll():
            bpy.ops.ed.undo()


def undo_and_redo(soak):
    if bpy.ops.ed.undo.poll():
        bpy.ops.ed.undo()
    if bpy.ops.ed.redo.poll():
        bpy.ops.ed.redo()


def rename(soak):
    named = [rig(), body(), rig().data, body().data, soak.random.choice(rig().data.bones)]
    named += [soak.random.choice(body().vertex_groups), skin()]
    soak.random.choice(named).name = soak.new_name("Renamed")


def rename_back(soak):
    bone = soak.random.choice(rig().data.bones)
    name, bone.name = bone.name, "swap"
    bpy.context.view_layer.update()
    rig().data.bones["swap"].name = name


def transform(soak):
    for obj in (rig(), body()):
        obj.location = [soak.number() for _ in range(3)]
        obj.rotation_euler = [soak.number() for _ in range(3)]


def add_object(soak):
    mesh = bpy.data.meshes.new("Extra")
    mesh.from_pydata([(0, 0, 0), (0, 0, 1), (1, 0, 0)], [], [(0, 1, 2)])
    obj = bpy.data.objects.new(soak.new_name("Extra"), mesh)
    bpy.context.collection.objects.link(obj)
    obj.vertex_groups.new(name=soak.bone().name).add([0, 1, 2], 1, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = rig()
    scene.add_skin(obj)


def duplicate(soak):
    copy = body().copy()
    copy["soak"] = "copy"
    copy.name = soak.new_name("Extra")
    if soak.random.random() < 0.5:
        copy.data = copy.data.copy()
    bpy.context.collection.objects.link(copy)
    bpy.context.view_layer.update()
    bpy.data.objects.remove(copy)


def delete_object(soak):
    extra = [obj for obj in bpy.data.objects if obj.name.startswith("Extra") and obj.get("soak") != "body"]
    if extra:
        bpy.data.objects.remove(soak.random.choice(extra))


def delete_group(soak):
    """A group without much weight: the character is to stay one."""
    groups = body().vertex_groups
    if len(groups) > 100:
        groups.remove(groups[-1])


def add_group(soak):
    group = body().vertex_groups.new(name=soak.random.choice([soak.bone().name, soak.new_name("Group")]))
    vertices = soak.random.sample(range(len(body().data.vertices)), 20)
    group.add(vertices, soak.random.random(), "REPLACE")


def weights(soak):
    group = soak.random.choice(body().vertex_groups)
    vertices = soak.random.sample(range(len(body().data.vertices)), 50)
    if soak.random.random() < 0.7:
        group.add(vertices, soak.random.random(), soak.random.choice(["ADD", "SUBTRACT", "REPLACE"]))
    else:
        group.remove(vertices)


def bone_flags(soak):
    bone = soak.bone().bone
    if soak.random.random() < 0.5:
        bone.inherit_scale = soak.random.choice(["FULL", "ALIGNED", "NONE", "FIX_SHEAR"])
    else:
        bone.use_deform = not bone.use_deform


def add_bone(soak):
    parent = soak.bone().name

    def add():
        bones = rig().data.edit_bones
        bone = bones.new(soak.new_name("Bone"))
        bone.parent = bones[parent]
        bone.head, bone.tail = bones[parent].tail, bones[parent].tail + bones[parent].vector

    in_mode(rig(), "EDIT", add)


def delete_bone(soak):
    added = [bone.name for bone in rig().data.bones if bone.name.startswith("Bone ")]

    def remove():
        for name in added[:2]:
            rig().data.edit_bones.remove(rig().data.edit_bones[name])

    in_mode(rig(), "EDIT", remove)


def move_bone(soak):
    name = soak.bone().name

    def move():
        rig().data.edit_bones[name].roll += soak.number(0.3)

    in_mode(rig(), "EDIT", move)


def modes(soak):
    for mode in soak.random.sample(["EDIT", "SCULPT", "WEIGHT_PAINT", "VERTEX_PAINT"], 2):
        in_mode(body(), mode, bpy.context.view_layer.update)
    in_mode(rig(), "POSE", bpy.context.view_layer.update)


def edit_mesh(soak):
    vertex = soak.random.randrange(len(body().data.vertices))

    def move():
        import bmesh

        edited = bmesh.from_edit_mesh(body().data)
        edited.verts.ensure_lookup_table()
        edited.verts[vertex].co.x += soak.number(0.01)
        bmesh.update_edit_mesh(body().data)

    in_mode(body(), "EDIT", move)


def modifier_above(soak):
    obj = body()
    found = obj.modifiers.get("Above")
    if found:
        obj.modifiers.remove(found)
        return
    above = obj.modifiers.new("Above", soak.random.choice(["CAST", "SMOOTH", "DISPLACE", "WAVE"]))
    if hasattr(above, "strength"):
        above.strength = 0.01
    obj.modifiers.move(len(obj.modifiers) - 1, 0)


def mute(soak):
    skin().show_viewport = False
    bpy.context.view_layer.update()
    skin().show_viewport = True


def again(soak):
    """The skin removed, and added again in its place."""
    obj = body()
    obj.modifiers.remove(skin())
    bpy.context.view_layer.update()
    for modifier in obj.modifiers:
        if modifier.type == "ARMATURE":
            modifier.show_viewport = modifier.show_render = True
    scene.add_skin(obj, method="LINEAR")


def save_file(soak):
    save()


def open_file(soak):
    save()
    bpy.ops.wm.open_mainfile(filepath=path())


def link(soak):
    if not bpy.data.libraries:
        with bpy.data.libraries.load(library_path(), link=True) as (there, here):
            here.collections = there.collections
    else:
        bpy.data.libraries[0].reload()


def unlink(soak):
    if bpy.data.libraries:
        bpy.data.libraries.remove(bpy.data.libraries[0])


def render(soak):
    """What a render engine is given at any frame."""
    frame(soak)
    found = scene.rendered(body())
    off = scene.distance(found, scene.yardstick(body())) / scene.size(body())
    assert off <= 1e-5, f"rendered, off by {off:.2e} of the size"


def disable_and_enable(soak):
    import addon_utils

    addon_utils.disable(scene.EXTENSION)
    assert not handlers_left(), handlers_left()
    bpy.context.view_layer.update()
    assert addon_utils.enable(scene.EXTENSION) is not None


def purge(soak):
    bpy.ops.outliner.orphans_purge(do_recursive=True)


WEIGHTED = [
    (pose, 20), (reset_pose, 3), (key, 8), (frame, 12), (undo, 8), (undo_and_redo, 6), (rename, 6), (rename_back, 3),
    (transform, 3), (add_object, 3), (duplicate, 2), (delete_object, 4), (delete_group, 1), (add_group, 3),
    (weights, 6), (bone_flags, 4), (add_bone, 2), (delete_bone, 2), (move_bone, 2), (modes, 3), (edit_mesh, 3),
    (modifier_above, 4), (mute, 3), (again, 3), (save_file, 2), (open_file, 2), (link, 2), (unlink, 1), (render, 1),
    (disable_and_enable, 2), (purge, 1),
]  # fmt: skip
EDITS = [edit for edit, _ in WEIGHTED]


def handlers_left():
    """What of the extension is still called by Blender."""
    lists = {name: getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)}
    return [
        f"{name}: {handler.__module__}.{handler.__name__}"
        for name, handlers in lists.items()
        if isinstance(handlers, list)
        for handler in handlers
        if "two_phase_skin" in handler.__module__
    ]


def left_behind():
    """Attributes of skins that are no more."""
    used = {(obj.data, identity_of(m)) for obj in bpy.data.objects for m in obj.modifiers if schema.is_skin(m)}
    return [
        (mesh.name, attribute.name)
        for mesh in bpy.data.meshes
        for attribute in mesh.attributes
        if attribute.name.startswith(schema.PREFIX) and (mesh, attribute.name[len(schema.PREFIX) :][:8]) not in used
    ]


def identity_of(modifier):
    return inputs.read(modifier, schema.IDENTITY)


def megabytes():
    """What this process uses for the scene as it is, without undo steps, orphans and what was freed."""
    open_file(None)
    bpy.context.view_layer.update()
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def growth(memory):
    """By how much the later half of the measurements after warming up is above the earlier half."""
    after = memory[int(len(memory) * WARM) :]
    half = len(after) // 2
    return 0.0 if half < LONG // 2 else statistics.median(after[half:]) - statistics.median(after[:half])


def run(steps, seed):
    """Raises AssertionError with the seed and the step, or prints what was done."""
    print(f"soak: seed {seed}, {steps} steps", flush=True)
    soak, begun, memory = Soak(seed), time.monotonic(), []
    for number in range(steps):
        try:
            soak.step()
        except BaseException as error:
            last = ", ".join(soak.done[-8:])
            raise AssertionError(f"seed {seed}, step {number}, after {last}: {error}") from error
        if (number + 1) % MEASURED == 0:
            memory.append(megabytes())
            print(f"{number + 1} steps, {memory[-1]:.1f} MB, {time.monotonic() - begun:.0f} s", flush=True)
    import addon_utils

    addon_utils.disable(scene.EXTENSION)
    assert not handlers_left(), handlers_left()
    grown = growth(memory)
    print(f"largest distance {soak.worst:.1e} of the size; memory after warming up {grown:+.1f} MB", flush=True)
    assert grown <= GROWTH * max(memory, default=0), f"seed {seed}: memory grew by {grown:.0f} MB"


if __name__ == "__main__":
    code = 1
    try:
        scene.empty()
        run(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(2**32))
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # Blender as a module may not survive an ordinary end of Python
