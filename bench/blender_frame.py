"""Times a frame in Blender, from a change of the pose to the evaluated mesh, beside the Armature modifier.

    python bench/blender_frame.py [VERTICES...] [--rounds N] [--profile]

In the Python of the bpy to measure, with this project installed. One process, one mesh and one rig a row; the modifiers
take turns on it, a short sample each, round after round (see clock.py). While it is the Armature modifier's turn, the
extension's handlers are away. Without VERTICES: the sizes of the targets and Rigify's character.
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
live = scene.extension("live")
inputs = scene.extension("inputs")

BONES = 100
ARMATURE = "Armature, Preserve Volume"
METHODS = ("Two-Phase", "Dual Quaternion", "Linear")
EVENTS = ("depsgraph_update_post", "frame_change_post")
TARGETS = {1_000_000: 0.25, 100_000: 0.4, 10_000: 1.0}  # of the Armature modifier's time


def strip(vertices):
    """A grid of that many vertices along a chain of bones, with four influences a vertex; (object, rig)."""
    rig = scene.chain(BONES)
    side = int(vertices**0.5)
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=side - 1, y_subdivisions=side - 1, size=2)
    obj = bpy.context.object
    points = scene.rest(obj)
    along = (points[:, 1] + 1) / 2 * BONES
    points = np.ascontiguousarray(np.stack([points[:, 0], 0 * along, along], axis=1), np.float32)
    obj.data.vertices.foreach_set("co", points.ravel())
    groups = [obj.vertex_groups.new(name=f"bone{k}") for k in range(BONES)]
    first = np.clip(along.astype(int) - 1, 0, BONES - 4)
    for k in range(BONES):
        mine = np.flatnonzero(first == k).tolist()
        for group, weight in zip(groups[k : k + 4], (0.2, 0.4, 0.3, 0.1), strict=False):
            group.add(mine, weight, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    scene.bend(rig, 0.02)
    return obj, rig


class Contest:
    """The modifiers of one object; change() changes the pose, and what it calls makes Blender evaluate it."""

    def __init__(self, obj, change):
        self.obj = obj
        self.change = change
        self.armature = obj.modifiers["Armature"]
        start = time.perf_counter()
        self.skin = scene.add_skin(obj)
        self.bind_seconds = time.perf_counter() - start
        self.armature.use_deform_preserve_volume = True
        self.chosen = None

    def choose(self, name):
        if name != self.chosen:
            self.chosen = name
            ours = name != ARMATURE
            _handle(ours)
            self.skin.show_viewport, self.armature.show_viewport = ours, not ours
            if ours:
                inputs.write(self.skin, "Method", name)
            bpy.context.view_layer.update()

    def sample(self, name):
        self.choose(name)
        self.change()
        start = time.perf_counter()
        self.change()
        self.obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data  # noqa: B018 (evaluates)
        return time.perf_counter() - start

    def times(self, rounds):
        names = (ARMATURE, *METHODS)
        return take_turns([Entry(name, lambda name=name: self.sample(name)) for name in names], rounds)

    def parts(self, repeats=30):
        """Where the time of an update goes: the seconds before the extension's handler, in it, and after it."""
        self.choose(METHODS[0])
        marks, found = [], []
        first, last = (lambda *_: marks.append(time.perf_counter()) for _ in range(2))
        lists = [getattr(bpy.app.handlers, event) for event in EVENTS]
        for handlers in lists:
            handlers.insert(0, first)
            handlers.append(last)
        for _ in range(repeats):
            marks.clear()
            start = time.perf_counter()
            self.change()
            end = time.perf_counter()
            found.append((marks[0] - start, marks[-1] - marks[0], end - marks[-1]))
        for handlers in lists:
            handlers.remove(first)
            handlers.remove(last)
        return np.median(found, axis=0)

    def profile(self, repeats=50):
        self.choose(METHODS[0])
        with cProfile.Profile() as profile:
            for _ in range(repeats):
                self.change()
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)


def _handle(ours):
    """Let the extension's handlers be called, or not."""
    for event in EVENTS:
        handlers, handler = getattr(bpy.app.handlers, event), live._HANDLERS[event]
        if ours != (handler in handlers):
            (handlers.append if ours else handlers.remove)(handler)


def strip_contest(vertices):
    scene.empty()
    obj, rig = strip(vertices)
    bone = rig.pose.bones[f"bone{BONES // 2}"]
    ticks = iter(range(10**9))

    def change():
        tick = next(ticks)
        bone.rotation_euler = (0, 0.002 * tick, 0.001 * tick)
        bone.scale = (1, 1 + 0.002 * (tick % 100), 1)
        bpy.context.view_layer.update()

    return Contest(obj, change)


def character_contest(segments):
    scene.empty()
    body, _rig = scene.character(segments)
    ticks = iter(range(10**9))
    return Contest(body, lambda: bpy.context.scene.frame_set(1 + next(ticks) % 48))


def report(name, contest, rounds, target):
    times = contest.times(rounds)
    print(f"{name} (bound in {contest.bind_seconds:.2f} s)")
    for method in (ARMATURE, *METHODS):
        ratio = times.ratio(method, ARMATURE)
        goal = f"  target {target:.2f}" if method == METHODS[0] else ""
        print(f"  {method:26s} {1e3 * times.seconds(method):8.2f} ms   {ratio:5.2f} of Armature{goal}", flush=True)

    parts = " + ".join(f"{1e3 * part:.2f}" for part in contest.parts())
    print(f"  Two-Phase: {parts} ms: posed, and skinned as at the frame before; the handler; evaluated once more")


def without_skins(repeats=2000):
    """The seconds that the handlers take at an update of a scene without a skin."""
    scene.empty()
    scene.tube()
    bpy.context.view_layer.update()
    handler = live._HANDLERS["depsgraph_update_post"]
    depsgraph = bpy.context.evaluated_depsgraph_get()
    start = time.perf_counter()
    for _ in range(repeats):
        handler(bpy.context.scene, depsgraph)
    return (time.perf_counter() - start) / repeats


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("vertices", nargs="*", type=int)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--character", action="store_true", help="Rigify's character too, if VERTICES are given")
    parser.add_argument("--profile", action="store_true", help="where the time goes, instead of a contest")
    options = parser.parse_args()
    print(f"Blender {bpy.app.version_string}, {os.cpu_count()} cores, medians of {options.rounds} rounds")
    print(f"Handlers in a scene without a skin: {1e6 * without_skins():.2f} us an update  target 50")
    rows = [(f"{n:,} vertices", lambda n=n: strip_contest(n), TARGETS.get(n, 1.0)) for n in options.vertices or TARGETS]
    if options.character or not options.vertices:
        for kind in ("plain bones", "B-bones"):
            rows.append((f"Rigify, {kind}", lambda k=kind: character_contest(k == "B-bones"), 1.0))
    for name, make, target in rows:
        contest = make()
        if options.profile:
            print(name)
            contest.profile()
        else:
            report(name, contest, options.rounds, target)


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(0)  # Blender as a module may not survive an ordinary end of Python
