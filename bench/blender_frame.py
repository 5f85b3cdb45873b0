"""Times a frame in Blender, from a change of the pose to the evaluated mesh, beside the Armature modifier.

    python bench/blender_frame.py [VERTICES...] [--rounds N] [--profile]

In the Python of the bpy to measure, with this project installed. One process, one scene a row; the modifiers take turns
on it, a short sample each, round after round (see clock.py). While it is the Armature modifier's turn, the skin is
hidden and its driver muted. Without VERTICES: the sizes of the targets, many characters, Subdivision Surface, and
Rigify's character, each in a plain pose and with one scaled bone.
"""

import argparse
import cProfile
import os
import pstats
import sys
import time
import traceback
from pathlib import Path

from clock import Entry, take_turns

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "blender"))  # has a `scene` of its own
import scene  # noqa: I001  (before Blender: it puts the extension where Blender finds it)
import bpy
import numpy as np

scene.empty()
handlers = scene.extension("live.handlers")
inputs = scene.extension("inputs")

BONES = 100
ARMATURE = "Armature, Preserve Volume"
METHODS = ("Two-Phase", "Dual Quaternion", "Linear")
TARGETS = {1_000_000: 0.25, 100_000: 0.4, 10_000: 0.65}  # of the Armature modifier's time


def strip(vertices, bones=BONES):
    """A grid of that many vertices along a chain of bones, with four influences a vertex; (object, rig)."""
    rig = scene.chain(bones)
    side = int(vertices**0.5)
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=side - 1, y_subdivisions=side - 1, size=2)
    obj = bpy.context.object
    points = scene.rest(obj)
    along = (points[:, 1] + 1) / 2 * bones
    points = np.ascontiguousarray(np.stack([points[:, 0], 0 * along, along], axis=1), np.float32)
    obj.data.vertices.foreach_set("co", points.ravel())
    groups = [obj.vertex_groups.new(name=f"bone{k}") for k in range(bones)]
    first = np.clip(along.astype(int) - 1, 0, bones - 4)
    for k in range(bones):
        mine = np.flatnonzero(first == k).tolist()
        for group, weight in zip(groups[k : k + 4], (0.2, 0.4, 0.3, 0.1), strict=False):
            group.add(mine, weight, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = (0.002, 0.005, -0.004)
    return obj, rig


class Contest:
    """The modifiers of some objects; change() changes the pose, and what it calls makes Blender evaluate it."""

    def __init__(self, objects, change):
        self.objects = objects
        self.change = change
        start = time.perf_counter()
        self.skins = [scene.add_skin(obj) for obj in objects]
        self.bind_seconds = time.perf_counter() - start
        for obj in objects:
            obj.modifiers["Armature"].use_deform_preserve_volume = True
        self.chosen = None

    def choose(self, name):
        if name != self.chosen:
            self.chosen = name
            ours = name != ARMATURE
            for obj, skin in zip(self.objects, self.skins, strict=True):
                skin.show_viewport, obj.modifiers["Armature"].show_viewport = ours, not ours
                for curve in obj.animation_data.drivers:
                    curve.mute = not ours
                if ours:
                    inputs.write(skin, "Method", name)
            bpy.context.view_layer.update()

    def sample(self, name):
        self.choose(name)
        self.change()
        start = time.perf_counter()
        self.change()
        for obj in self.objects:
            obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data  # noqa: B018 (evaluates)
        return time.perf_counter() - start

    def times(self, rounds):
        names = (ARMATURE, *METHODS)
        return take_turns([Entry(name, lambda name=name: self.sample(name)) for name in names], rounds)

    def profile(self, repeats=50):
        """Of what Python does in the evaluation; Blender must call it on the main thread, so with one thread alone."""
        self.choose(METHODS[0])
        with cProfile.Profile() as profile:
            for _ in range(repeats):
                self.change()
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)


def poser(rigs, scaled):
    """A function that bends each rig in the middle, a little more each time; scaled: the bone is also stretched."""
    ticks = iter(range(10**9))

    def change():
        tick = next(ticks)
        for rig in rigs:
            bone = rig.pose.bones[f"bone{len(rig.pose.bones) // 2}"]
            bone.rotation_euler = (0, 0.002 * tick, 0.001 * tick)
            bone.scale = (1, 1.2 + 0.002 * (tick % 100), 1) if scaled else (1, 1, 1)
        bpy.context.view_layer.update()

    return change


def strip_contest(vertices, scaled, below=False):
    scene.empty()
    obj, rig = strip(vertices)
    contest = Contest([obj], poser([rig], scaled))
    if below:
        obj.modifiers.new("Subdivision", "SUBSURF").levels = 1
    return contest


def crowd_contest(count, vertices, scaled):
    scene.empty()
    pairs = [strip(vertices, bones=20) for _ in range(count)]
    return Contest([obj for obj, _rig in pairs], poser([rig for _obj, rig in pairs], scaled))


def character_contest(segments, scaled):
    scene.empty()
    body, rig = scene.character(segments)
    if scaled:
        rig.pose.bones["chest"].scale = (1.2, 1, 1.1)
    ticks = iter(range(10**9))
    return Contest([body], lambda: bpy.context.scene.frame_set(1 + next(ticks) % 48))


def report(name, contest, rounds, target):
    """Print the row; returns it as a line of the page."""
    times = contest.times(rounds)
    print(f"{name} (bound in {contest.bind_seconds:.2f} s)")
    for method in (ARMATURE, *METHODS):
        ratio = times.ratio(method, ARMATURE)
        goal = f"  target {target:.2f}" if method == METHODS[0] else ""
        print(f"  {method:26s} {1e3 * times.seconds(method):8.2f} ms   {ratio:5.2f} of Armature{goal}", flush=True)
    cells = [f"{1e3 * times.seconds(each):.2f}" for each in (ARMATURE, METHODS[0])]
    ratios = [f"{times.ratio(method, ARMATURE):.2f}" for method in METHODS]
    return " | ".join(["", name, *cells, *ratios, f"{target:.2f}", ""]).strip()


def write_page(lines, rounds, handler_seconds):
    """docs/results/blender_frames_5.3.md, or of the Blender that this is."""
    version = ".".join(map(str, bpy.app.version[:2]))
    columns = ("", "Armature, ms", "Two-Phase, ms", *METHODS, "goal")
    head = (
        f"<!-- made by bench/blender_frame.py; do not edit -->\n\n# What a frame costs in Blender {version}\n\n"
        f"From a change of the pose to the evaluated mesh, in ms and as a ratio to the Armature modifier with Preserve "
        f"Volume, which takes turns with ours: medians of {rounds} rounds, {os.cpu_count()} cores. Rigify's character "
        f"is timed from one frame to the next. Made by `make bench-blender`.\n\n"
        f"| {' | '.join(columns)} |\n|---|{'--:|' * (len(columns) - 1)}\n"
    )
    tail = f"\n\nThe extension's handlers, at an update of a scene without a skin: {1e6 * handler_seconds:.2f} µs.\n"
    path = Path(__file__).parents[1] / "docs" / "results" / f"blender_frames_{version}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(head + "\n".join(lines) + tail, encoding="utf-8")


def without_skins(repeats=2000):
    """The seconds that the handlers take at an update of a scene without a skin."""
    scene.empty()
    scene.tube()
    bpy.context.view_layer.update()
    handler = handlers._HANDLERS["depsgraph_update_post"]
    depsgraph = bpy.context.evaluated_depsgraph_get()
    start = time.perf_counter()
    for _ in range(repeats):
        handler(bpy.context.scene, depsgraph)
    return (time.perf_counter() - start) / repeats


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("vertices", nargs="*", type=int)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--character", action="store_true", help="the other rows too, if VERTICES are given")
    parser.add_argument("--page", action="store_true", help="write docs/results/blender_frames_….md")
    parser.add_argument("--profile", action="store_true", help="where the time goes, instead of a contest")
    options = parser.parse_args()
    print(f"Blender {bpy.app.version_string}, {os.cpu_count()} cores, medians of {options.rounds} rounds")
    handler_seconds = without_skins()
    print(f"Handlers in a scene without a skin: {1e6 * handler_seconds:.2f} us an update  target 1")
    lines = []
    rows = []
    for scaled in (False, True):
        pose = "one scaled bone" if scaled else "plain pose"
        for n in options.vertices or TARGETS:
            rows.append((f"{n:,} vertices, {pose}", lambda n=n, s=scaled: strip_contest(n, s), TARGETS.get(n, 1.0)))
        if options.character or not options.vertices:
            rows += [
                (f"20 characters of 4,000 vertices, {pose}", lambda s=scaled: crowd_contest(20, 4000, s), 0.8),
                (f"10,000 vertices, Subdivision Surface, {pose}", lambda s=scaled: strip_contest(10_000, s, True), 1.0),
                (f"Rigify, {pose}", lambda s=scaled: character_contest(False, s), 0.75),
                (f"Rigify, B-bones, {pose}", lambda s=scaled: character_contest(True, s), 1.0),
            ]
    for name, make, target in rows:
        contest = make()
        if options.profile:
            print(name)
            contest.profile()
        else:
            lines.append(report(name, contest, options.rounds, target))
    if options.page:
        write_page(lines, options.rounds, handler_seconds)


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(0)  # Blender as a module may not survive an ordinary end of Python
