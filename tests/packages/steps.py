"""What is done in Blender by the tests of installation: steps.py STEP RESULT.json ARGUMENTS-AS-JSON

It needs nothing of this project but the extension that this step or one before it installed. It runs in
Blender as a Python module, and in one with a window.
"""

import hashlib
import importlib
import json
import os
import sys
import traceback
from pathlib import Path

import bpy  # before addon_utils, which it puts on the path

# isort: split
import addon_utils
import numpy as np

ID = "two_phase_skin"
NAME = f"bl_ext.user_default.{ID}"
METHODS = ("TWO_PHASE", "LINEAR", "DUAL_QUATERNION")
FRAMES = (9, 18, 38)


# ---- the steps; each returns what is written into the result


def make_character(path):
    """The Rigify human with its body, weights and animation, as a file. Needs no extension."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    sys.path.append(str(Path(__file__).parents[2] / "demo"))
    rig_scene = importlib.import_module("rig_scene")
    rig = rig_scene.generate_rig()
    rig_scene.bind(rig_scene.make_body(rig), rig)
    rig_scene.animate(rig)
    bpy.ops.wm.save_as_mainfile(filepath=path, compress=True)
    return {}


def keep(archive, path):
    """Install, and make the small file that is kept of this version."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if _install(archive) != ["FINISHED"] or not _is_loaded():
        raise RuntimeError("the extension could not be installed")
    sys.path.append(str(Path(__file__).parent))
    inputs = importlib.import_module(f"{NAME}.inputs")
    importlib.import_module("kept_scene").make(inputs, _add_skin, _points)
    bpy.ops.wm.save_as_mainfile(filepath=path, compress=True)
    return {}


def install(archive, character, saved):
    """Install, put a skin on the body, save it."""
    if bpy.app.background:
        bpy.ops.wm.read_factory_settings(use_empty=True)
    result = {"install": _install(archive), "loaded": _is_loaded()}
    bpy.ops.wm.save_userpref()
    bpy.ops.wm.open_mainfile(filepath=character, use_scripts=True)
    body = _body()
    _add_skin(body, "TWO_PHASE")
    result |= {"version": _version(), "module": _module(), "points": _points_at_frames(body)}
    bpy.ops.wm.save_as_mainfile(filepath=saved)
    return result


def update(archive, saved):
    """Install a newer version over the one that is running."""
    _start()
    result = {"before": _version(), "problem_before": _problem()}
    bpy.ops.wm.open_mainfile(filepath=saved, use_scripts=True)
    result["install"] = _install(archive)
    result |= {"loaded": _is_loaded(), "after": _version(), "problem_after": _problem()}
    return result


def use(character, saved):
    """After a new start: the file of the older version, disabling and enabling, all methods on a fresh body."""
    _start()
    bpy.ops.wm.open_mainfile(filepath=saved, use_scripts=True)
    result = {"version": _version(), "problem": _problem(), "module": _module(), "points": _points_at_frames(_body())}
    addon_utils.disable(NAME, default_set=True)
    result["loaded_when_disabled"] = _is_loaded()
    last = _points(_body())
    bpy.context.scene.frame_set(FRAMES[0])
    result["stays_when_disabled"] = bool(np.array_equal(_points(_body()), last))
    _enable()
    result["points_when_enabled_again"] = _points_at_frames(_body())
    bpy.ops.wm.open_mainfile(filepath=character, use_scripts=True)
    result["fresh"] = {method: _fresh(method) for method in METHODS}
    result["native"] = _native_digest()
    return result


def remove(saved):
    """Uninstall by Blender's own operator, then open the file that has a skin in it."""
    _start()
    repositories = [repository.module for repository in bpy.context.preferences.extensions.repos]
    outcome = bpy.ops.extensions.package_uninstall(repo_index=repositories.index("user_default"), pkg_id=ID)
    result = {"outcome": sorted(outcome), "loaded": _is_loaded()}
    result["known"] = any(module.__name__ == NAME for module in addon_utils.modules(refresh=True))
    bpy.ops.wm.open_mainfile(filepath=saved, use_scripts=True)
    result["points"] = _digest(_points(_body()))
    return result


# ---- what they have in common


def _start():
    """As a Python module Blender starts with the factory's preferences, with a window as the user left it."""
    if bpy.app.background:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        _enable()
    elif not _is_loaded():
        raise RuntimeError("the extension is not enabled after a new start")


def _install(archive):
    options = {"filepath": archive, "repo": "user_default", "enable_on_install": True}
    return sorted(bpy.ops.extensions.package_install_files(**options))


def _enable():
    if not _is_loaded() and addon_utils.enable(NAME, default_set=True) is None:
        raise RuntimeError(f"{NAME} could not be enabled")


def _is_loaded():
    return all(addon_utils.check(NAME))


def _native():
    return importlib.import_module(f"{NAME}.native")


def _version():
    return _native().VERSION


def _problem():
    return _native().PROBLEM


def _module():
    """Where the native part was loaded from, in the user's folder."""
    core = importlib.import_module("two_phase_skinning._core")
    return os.path.relpath(core.__file__, os.environ["BLENDER_USER_RESOURCES"])


def _body():
    return bpy.data.objects["Body"]


def _add_skin(obj, method):
    for other in bpy.context.view_layer.objects:
        other.select_set(other == obj)
    bpy.context.view_layer.objects.active = obj
    window = bpy.context.window_manager.windows[0]
    with bpy.context.temp_override(window=window):  # which a timer has not
        if bpy.ops.object.two_phase_skin_add(method=method) != {"FINISHED"}:
            raise RuntimeError("the skin could not be added")
    return next(modifier for modifier in obj.modifiers if modifier.type == "NODES")


def _points(obj):
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    result = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.vertices.foreach_get("co", result.reshape(-1))
    return result


def _points_at_frames(obj):
    """A file with the points at each of FRAMES; named by their digest."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        found.append(_points(obj))
    points = np.array(found)
    path = Path(os.environ["BLENDER_USER_RESOURCES"]) / f"{_digest(points)}.npy"
    np.save(path, points)
    return str(path)


def _fresh(method):
    body = _body()
    for modifier in [modifier for modifier in body.modifiers if modifier.type == "NODES"]:
        body.modifiers.remove(modifier)
    _add_skin(body, method)
    return _points_at_frames(body)


def _digest(array):
    return hashlib.sha256(np.ascontiguousarray(array)).hexdigest()


def _native_digest():
    """Of what the native module makes of the same numbers: quotients of small integers, so the same on every system."""
    import two_phase_skinning as tps

    def numbers(count, step):
        return ((np.arange(count) * step) % 1009) / 1009.0

    joints, vertices = 12, 5000
    parents = np.arange(joints) - 1
    bind = np.tile(np.eye(4), (joints, 1, 1))
    bind[:, :3, 3] = numbers(3 * joints, 421).reshape(joints, 3)
    world = bind.copy()
    world[:, :3] += 0.3 * (numbers(12 * joints, 733).reshape(joints, 3, 4) - 0.5)
    points = numbers(3 * vertices, 617).reshape(vertices, 3)
    weights = numbers(vertices * joints, 89).reshape(vertices, joints)
    weights[weights < 0.6] = 0
    weights[:, 0] += 0.125
    skin = tps.Skin(points, weights / weights.sum(1, keepdims=True), tps.Skeleton(parents, bind))
    return {method: _digest(skin.deform(world, method=method)) for method in ("two_phase", "linear", "dual_quaternion")}


def in_window():
    """From a timer, when the window is there; the words are in a file, and the file `done` ends the run."""
    out = Path(os.environ["WINDOW_OUT"])
    code = main(*json.loads((out / "step.json").read_text(encoding="utf-8")))
    (out / "done").write_text("FAIL\n" if code else "done\n", encoding="utf-8")


def main(step, result, arguments):
    try:
        found = globals()[step](**json.loads(arguments))
    except BaseException:
        traceback.print_exc()
        return 1
    Path(result).write_text(json.dumps(found), encoding="utf-8")
    return 0


if not bpy.app.background:
    bpy.app.timers.register(in_window, first_interval=1.0)
elif __name__ == "__main__":
    code = main(*sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # Blender as a module may not survive an ordinary end of Python
