"""What the extension does not do: seen by an audit hook of Python, which is told of every file that is opened, every
connection, every process and every piece of code that is compiled."""

import sys
from pathlib import Path

import bpy
import scene

inputs = scene.extension("inputs")

FORBIDDEN = (
    "socket.", "urllib.", "http.", "ftplib.", "smtplib.", "subprocess.", "os.system", "os.exec", "os.spawn",
    "os.posix_spawn", "os.fork", "webbrowser.", "pickle.", "marshal.", "compile", "exec", "code.", "import",
)  # fmt: skip
WRITING = ("w", "a", "x", "+")

_seen = []
_watching = False


def _hook(event, arguments):
    if _watching:
        _seen.append((event, arguments))


sys.addaudithook(_hook)


def watched(action):
    """The events while something is done. It is done once before, so that modules are imported that Blender needs."""
    global _watching
    action(0)
    _seen.clear()
    _watching = True
    try:
        action(1)
    finally:
        _watching = False
    return list(_seen)


def _used(k):
    tube, rig = scene.tube()
    skin = scene.add_skin(tube)
    scene.bend(rig, 0.5)
    scene.points(tube)
    inputs.write(skin, "Method", "Linear")
    scene.animate(rig)
    bpy.context.scene.frame_set(5 + k)
    bpy.ops.ed.undo_push(message="edited")
    scene.bend(rig, 0.2)
    bpy.ops.ed.undo_push(message="edited again")
    bpy.ops.ed.undo()
    bpy.ops.ed.redo()
    scene.activate(next(obj for obj in bpy.context.scene.objects if obj.type == "MESH"))
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.object.mode_set(mode="OBJECT")


def test_a_session_of_work_opens_runs_and_fetches_nothing():
    found = [(event, arguments) for event, arguments in watched(_used) if event.startswith(FORBIDDEN)]
    assert not found, found
    opened = [arguments for event, arguments in _seen if event == "open" and arguments[1] is not None]
    assert not [each for each in opened if any(letter in each[1] for letter in WRITING)], opened


def test_a_bake_writes_the_file_that_it_was_given():
    paths = [Path(scene.temporary(f"promised{k}.mdd")) for k in range(2)]
    tube, rig = scene.tube()
    scene.add_skin(tube)
    scene.animate(rig)

    def bake(k):
        scene.activate(tube)
        tube.modifiers["Two-Phase Skin"].show_viewport = True
        assert bpy.ops.object.two_phase_skin_bake(kind="MDD", frame_start=1, frame_end=3, filepath=str(paths[k])) == {
            "FINISHED"
        }

    events = watched(bake)
    assert not [event for event, _ in events if event.startswith(FORBIDDEN)]
    touched = {str(a) for event, arguments in events if event in ("open", "os.rename", "os.remove") for a in arguments}
    written = {path for path in touched if "/" in path and not path.endswith((".py", ".pyc"))}
    assert written == {str(paths[1]), f"{paths[1]}.part"}


def test_scripts_in_a_file_are_left_to_blender():
    """A driver or a text that a file brings runs by Blender's own switch alone."""
    tube, rig = scene.tube()
    skin = scene.add_skin(tube)
    scene.bend(rig)
    text = bpy.data.texts.new("evil.py")
    text.write("import bpy\nbpy.app.driver_namespace['evil'] = True")
    text.use_module = True
    for name in ("Message", "Identity"):
        inputs.write_own(skin, name, "__import__('bpy').app.driver_namespace.__setitem__('evil', True)")
    path = scene.temporary("evil.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path, use_scripts=False)
    scene.bend(bpy.data.objects["Rig"], 0.3)
    scene.points(bpy.data.objects["Tube"])
    assert "evil" not in bpy.app.driver_namespace
