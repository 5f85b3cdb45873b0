"""`make demo`: the whole way in real Blender, without a window. Everything it makes is in build/demo/."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# last: `import two_phase_skinning` finds what was built, not its sources
sys.path.append(str(HERE.parent))

import bpy  # noqa: E402
import numpy as np  # noqa: E402

import addon  # noqa: E402
from demo import measure, page, quiet, rig_scene, stage  # noqa: E402

OUT = HERE.parent / "build" / "demo"
METHODS = ("Linear", "Preserve Volume", "Two-Phase Skin")


def say(text: str) -> None:
    print(f"[{time.perf_counter() - START:5.1f} s] {text}", file=quiet.TERMINAL, flush=True)


START = time.perf_counter()


def character() -> tuple[bpy.types.Object, bpy.types.Object]:
    """Rig and weighted body: made, or taken from build/ where they were made before by the same code and Blender."""
    source = (HERE / "body.py").read_bytes() + (HERE / "rig_scene.py").read_bytes()
    key = hashlib.sha256(source).hexdigest()[:12]
    cache = OUT.parent / "cache" / f"character-{bpy.app.version_string.split()[0]}-{key}.blend"
    if cache.exists():
        say(f"Opening the character made before ({cache.relative_to(OUT.parent.parent)})")
        with quiet.blender():
            bpy.ops.wm.open_mainfile(filepath=str(cache))
        return bpy.data.objects["rig"], bpy.data.objects["Body"]
    with quiet.blender():
        bpy.ops.wm.read_factory_settings(use_empty=True)
        say("Generating the Rigify human")
        rig = rig_scene.generate_rig()
        say("Making a body around its deform bones")
        body = rig_scene.make_body(rig, minimum_vertices=20000)
        say(f"Weighting its {len(body.data.vertices):,} vertices, Blender's automatic weights")
        rig_scene.bind(body, rig)
        say(f"Animating {rig_scene.FRAMES} frames with the rig's controls")
        rig_scene.animate(rig)
        cache.parent.mkdir(parents=True, exist_ok=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(cache), compress=True)
    return rig, body


def add_skin(body: bpy.types.Object) -> None:
    """Add Modifier > Deform > Two-Phase Skin, with the body as the active object."""
    bpy.context.view_layer.objects.active = body
    body.select_set(True)
    with quiet.blender():
        result = bpy.ops.object.two_phase_skin_add()
    if result != {"FINISHED"} or "Two-Phase Skin" not in body.modifiers:
        raise RuntimeError(f"object.two_phase_skin_add returned {result}; the modifiers are {list(body.modifiers)}")


def play_all(body: bpy.types.Object) -> list[measure.Run]:
    """The three METHODS on the same body: its Armature modifier both ways, then the skin in its place."""
    runs = []
    armature = next(m for m in body.modifiers if m.type == "ARMATURE")
    for method in METHODS[:2]:
        say(f"Playing {rig_scene.FRAMES} frames: {method}")
        armature.use_deform_preserve_volume = method == "Preserve Volume"
        runs.append(measure.play(body, method, rig_scene.FRAMES))
    armature.use_deform_preserve_volume = False
    say("Adding a Two-Phase Skin, as the Add Modifier menu does")
    add_skin(body)
    say(f"Playing {rig_scene.FRAMES} frames: Two-Phase Skin")
    runs.append(measure.play(body, METHODS[2], rig_scene.FRAMES))
    return runs


def save_blend(rig: bpy.types.Object, body: bpy.types.Object, path: Path) -> None:
    """A file to open and play with: the skinned body and its rig, in pose mode's reach, at the shown frame."""
    scene = bpy.context.scene
    scene.frame_set(rig_scene.SHOWN_FRAME)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    camera.location, camera.rotation_euler = (1.6, -5.6, 1.5), (1.49, 0, 0.27)
    scene.camera, scene.render.engine = camera, "BLENDER_WORKBENCH"
    rig.show_in_front = True
    rig.data.collections_all["DEF"].is_visible = False
    body.select_set(True)
    bpy.context.view_layer.objects.active = body
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)


def table(runs: list[measure.Run], intermediate: np.ndarray, quads: np.ndarray, forearm: np.ndarray) -> str:
    """By method; volumes at the shown frame, distances over all frames."""
    ours = np.array(runs[-1].positions)
    limb = quads[forearm[quads].all(axis=1)]
    lines = [
        "                    ms a frame   volume, of the intermediate shape   distance from Two-Phase, mm",
        "method              (frame_set)  whole body          left forearm      largest      mean",
    ]
    for run in runs:
        shown = run.positions[rig_scene.SHOWN_FRAME - 1]
        whole, part = (measure.volume(shown, q) / measure.volume(intermediate, q) for q in (quads, limb))
        apart = 1000 * np.linalg.norm(np.array(run.positions) - ours, axis=2)
        numbers = f"{run.milliseconds:12.2f}  {whole:10.1%} {part:21.1%} {apart.max():12.2f} {apart.mean():9.3f}"
        lines.append(f"{run.method:<18} {numbers}")
    lines += [
        "",
        "ms a frame: median of scene.frame_set with rig and skin, one method after the other on this machine.",
        "volume: 100 % is the intermediate shape, the body with every scale of the pose and without its bends.",
        "distance: of the same vertex in the same frame, over all frames.",
    ]
    return "\n".join(lines)


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    say(f"Blender {bpy.app.version_string} as a module, Python {sys.version.split()[0]}")
    rig, body = character()
    addon.register()
    runs = play_all(body)
    joints = measure.shown_joints(rig, rig_scene.FRAMES)
    bpy.context.scene.frame_set(rig_scene.SHOWN_FRAME)
    intermediate = measure.intermediate_shape(measure.python_skin(body, rig), rig)
    rest, quads = measure.mesh_points(body.data), measure.mesh_quads(body.data)
    forearm = measure.group_vertices(body, measure.FOREARM)
    say("Saving two_phase_demo.blend")
    with quiet.blender():
        save_blend(rig, body, OUT / "two_phase_demo.blend")
        bpy.ops.wm.read_factory_settings(use_empty=True)
    limbs = {"forearm": rest[:, 0] > 0.20, "thigh": (rest[:, 2] < 1.45) & (abs(rest[:, 0]) < 0.3)}
    show = stage.Stage(METHODS, quads, limbs)

    def pose(frame: int) -> None:
        show.show([run.positions[frame - 1] for run in runs], joints[frame - 1])

    say("Rendering comparison.png")
    pose(rig_scene.SHOWN_FRAME)
    with quiet.blender():
        show.still(OUT / "comparison.png")
    say("Rendering animation.mp4")
    with quiet.blender():
        show.film(OUT / "animation.mp4", rig_scene.FRAMES, pose)
    text = table(runs, intermediate, quads, forearm)
    page.write(OUT / "index.html", text)
    say("Done\n")
    print(f"{len(rest):,} vertices, {rig_scene.FRAMES} frames; volumes at frame {rig_scene.SHOWN_FRAME}\n\n{text}\n")
    for name in ("comparison.png", "animation.mp4", "index.html", "two_phase_demo.blend"):
        print(f"  build/demo/{name}  ({(OUT / name).stat().st_size / 1e6:.2f} MB)")


if __name__ == "__main__":
    code = 1
    try:
        main()
        code = 0
    except Exception:
        sys.excepthook(*sys.exc_info())
    finally:
        # Blender 4.5 as a module can hang when the interpreter shuts down after a render
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
