"""Many skins at once, on many threads, while all around them changes: 40 characters, and 40 objects on one mesh.

    python tests/blender/stress.py ROUNDS [SEED]

Beside each skinned object stands a twin with the Armature modifier. In each round something random is done, and then
each skinned object must be where its twin is, in the viewport; a render engine asks for the same. Blender starts as
many threads as there are processors, so where a C compiler is found, this process starts itself anew and is told that
there are 16. A crash prints where each thread was.
"""

import faulthandler
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

THREADS = 16
CHARACTERS = SHARERS = 40
PRELOADED = "TWO_PHASE_STRESS_THREADS"
SHIM = """
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>
#include <unistd.h>
#include <dlfcn.h>
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set) {
    (void)pid;
    memset(set, 0, size);
    for (int cpu = 0; cpu < THREADS; cpu++) CPU_SET_S(cpu, size, set);
    return 0;
}
long sysconf(int name) {
    static long (*real)(int);
    if (!real) real = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    return name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF ? THREADS : real(name);
}
"""


def threaded():
    """The environment in which Blender starts its threads; the same as ours where there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    environment = {**os.environ, PRELOADED: "1", "PYTHONFAULTHANDLER": "1"}
    if compiler is None or not sys.platform.startswith("linux"):
        return environment
    folder = Path(tempfile.mkdtemp(prefix="two_phase_stress_"))
    (folder / "shim.c").write_text(SHIM, encoding="utf-8")
    shim = str(folder / "shim.so")
    options = ["-shared", "-fPIC", f"-DTHREADS={THREADS}", "-o", shim, str(folder / "shim.c"), "-ldl"]
    subprocess.run([compiler, *options], check=True)
    return {**environment, "LD_PRELOAD": shim}


def start(rounds, seed):
    """Run the rounds in a process of its own; (its exit code, what it printed)."""
    command = [sys.executable, "-P", str(Path(__file__)), str(rounds), str(seed)]
    process = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=threaded(), check=False, text=True
    )
    return process.returncode, process.stdout


class Stress:
    """The scene, and what is done to it. All is looked up by name: undo replaces everything."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.done = []
        scene.empty()
        self.pairs = []  # names: (skinned object, twin)
        self.rigs = []  # the name of the rig of each pair
        mesh, twins = self._mesh("Shared"), self._mesh("Shared twins")
        first = scene.chain(3)
        scene.animate(first)
        for number in range(CHARACTERS):
            rig = first if number == 0 else first.copy()
            if number:
                rig.data = first.data.copy()
                bpy.context.scene.collection.objects.link(rig)
            rig.name = f"Rig {number}"
            self._pair(f"Own {number}", self._mesh(f"Own {number}"), self._mesh(f"Own twin {number}"), rig)
        for number in range(SHARERS):
            self._pair(f"Sharer {number}", mesh, twins, bpy.data.objects[f"Rig {number % CHARACTERS}"])
        self._skin_all()
        bpy.context.preferences.edit.use_global_undo = True
        self._camera()
        bpy.ops.ed.undo_push(message="start")

    def _camera(self):
        here = bpy.context.scene
        here.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        here.collection.objects.link(here.camera)
        here.render.engine = Watcher.bl_idname
        here.render.resolution_x = here.render.resolution_y = 8
        here.render.threads_mode, here.render.threads = "FIXED", THREADS

    def _mesh(self, name):
        rings, around = 13, 6
        turns = [(r, 6.2832 * k / around) for r in range(rings) for k in range(around)]
        points = [(0.3 * np.cos(turn), 0.3 * np.sin(turn), 3 * r / (rings - 1)) for r, turn in turns]
        faces = [
            (r * around + k, r * around + (k + 1) % around, (r + 1) * around + (k + 1) % around, (r + 1) * around + k)
            for r in range(rings - 1)
            for k in range(around)
        ]
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(points, [], faces)
        return mesh

    def _pair(self, name, mesh, twin_mesh, rig):
        twin = self._object(f"{name} twin", twin_mesh)
        twin.modifiers.new("Armature", "ARMATURE").object = rig
        self._object(name, mesh)
        self.pairs.append((name, twin.name))
        self.rigs.append(rig.name)

    def _object(self, name, mesh):
        obj = bpy.data.objects.new(name, mesh)
        bpy.context.scene.collection.objects.link(obj)
        for joint in range(3):
            group = obj.vertex_groups.get(f"bone{joint}") or obj.vertex_groups.new(name=f"bone{joint}")
            for vertex in mesh.vertices if mesh.users == 1 else ():
                weight = max(0.0, 1.0 - abs(vertex.co.z - joint - 0.5) / 0.9)
                if weight > 0:
                    group.add([vertex.index], weight, "REPLACE")
        return obj

    def _skin_all(self):
        """One skin by the operator, which is copied to all the others."""
        first, *others = [bpy.data.objects[name] for name, _twin in self.pairs]
        first.modifiers.new("Armature", "ARMATURE").object = bpy.data.objects[self.rigs[0]]
        skin = scene.add_skin(first, method="LINEAR")
        first.modifiers.remove(first.modifiers["Armature"])
        scene.activate(first, *others)
        assert bpy.ops.object.modifier_copy_to_selected(modifier=skin.name) == {"FINISHED"}
        for obj, rig in zip((first, *others), self.rigs, strict=True):
            inputs.write(obj.modifiers[skin.name], "Armature", bpy.data.objects[rig])
        bpy.context.view_layer.update()

    def round(self):
        """One thing, or a few, and then a look."""
        for _ in range(self.random.randint(1, 3)):
            what = self.random.choice(EVENTS)
            self.done.append(what.__name__)
            what(self)
        self.compare()

    def compare(self):
        depsgraph = bpy.context.evaluated_depsgraph_get()
        self.hold({name: _points(name, depsgraph) for pair in self.pairs for name in pair}, "the viewport")

    def hold(self, seen, where):
        for name, twin in self.pairs:
            found = float(np.abs(seen[name] - seen[twin]).max())
            assert found <= 3e-5, f"{name} is off by {found:.2e} in {where}; done: {', '.join(self.done[-12:])}"


def _points(name, depsgraph):
    return scene.points_of(bpy.data.objects[name].evaluated_get(depsgraph).data)


# ---- what happens


def pose(stress):
    for _ in range(6):
        rig = bpy.data.objects[f"Rig {stress.random.randrange(CHARACTERS)}"]
        scene.bend(rig, stress.random.uniform(-1, 1))


def frame(stress):
    bpy.context.scene.frame_set(stress.random.randint(1, 20))


def play(stress):
    first = stress.random.randint(1, 14)
    for number in range(first, first + 6):
        bpy.context.scene.frame_set(number)


def render(stress):
    """Frames that the viewport does not show; what the engine is given must be right too."""
    here = bpy.context.scene
    here.frame_start = stress.random.randint(1, 18)
    here.frame_end = here.frame_start + 2
    here.render.use_persistent_data = stress.random.random() < 0.5
    here.render.filepath = scene.temporary("stress_")
    Watcher.seen, Watcher.steps = [], (0.0, 0.5) if stress.random.random() < 0.5 else (0.0,)
    assert bpy.ops.render.render(animation=True) == {"FINISHED"}
    for moment, shown in Watcher.seen:
        stress.hold({key[0]: points for key, points in shown.items()}, f"a render of {moment}")


def two_depsgraphs(stress):
    """A second view layer, evaluated at the same frame, for a while."""
    here = bpy.context.scene
    layer = here.view_layers.new("Second")
    frame(stress)
    layer.update()
    stress.hold({name: _points(name, layer.depsgraph) for pair in stress.pairs for name in pair}, "a second view layer")
    here.view_layers.remove(layer)


def undo(_stress):
    bpy.ops.ed.undo_push(message="round")
    scene.bend(bpy.data.objects["Rig 0"], 0.7)
    bpy.ops.ed.undo_push(message="bend")
    bpy.ops.ed.undo()


def redo(stress):
    undo(stress)
    bpy.ops.ed.redo()


def edit(stress):
    """Another shape for a mesh and its twin, the shared ones as well."""
    stem = stress.random.choice(("Shared", f"Own {stress.random.randrange(CHARACTERS)}"))
    twin = "Shared twins" if stem == "Shared" else stem.replace("Own", "Own twin")
    amount = stress.random.uniform(0.8, 1.25)
    for mesh in (bpy.data.meshes[stem], bpy.data.meshes[twin]):
        mesh.vertices[7].co.x *= amount
        mesh.vertices[30].co.y *= amount
        mesh.update()


def add_points(stress):
    """More points, which no bone moves, on a mesh and its twin."""
    number = stress.random.randrange(CHARACTERS)
    for name in (f"Own {number}", f"Own twin {number}"):
        mesh = bpy.data.meshes[name]
        mesh.vertices.add(1)
        mesh.vertices[-1].co = (0.1, 0.2, 0.3)
        mesh.update()


def weigh(stress):
    """Other weights."""
    number, weight = stress.random.randrange(CHARACTERS), stress.random.random()
    vertex = stress.random.randrange(70)
    for name in (f"Own {number}", f"Own {number} twin"):
        bpy.data.objects[name].vertex_groups["bone1"].add([vertex], weight, "REPLACE")


def toggle(_stress):
    """The extension is disabled, something moves, and it is enabled."""
    addon_utils.disable(scene.EXTENSION)
    bpy.context.scene.frame_set(3)
    addon_utils.enable(scene.EXTENSION)
    scene.extension("live.handlers")._take_up()  # what a timer does where there is a window
    bpy.context.view_layer.update()


def disable_in_a_render(stress):
    """The extension goes while a render is evaluated, and comes back."""

    def gone(*_):
        addon_utils.disable(scene.EXTENSION)

    bpy.app.handlers.render_pre.append(gone)
    here = bpy.context.scene
    here.frame_start = here.frame_end = stress.random.randint(1, 20)
    here.render.filepath = scene.temporary("stress_")
    Watcher.seen, Watcher.steps = [], (0.0, 0.5)
    try:
        assert bpy.ops.render.render(animation=True) == {"FINISHED"}
    finally:
        bpy.app.handlers.render_pre.remove(gone)
    toggle(stress)


def add_and_remove(stress):
    """One more object on the shared mesh, for a while."""
    extra = bpy.data.objects["Sharer 0"].copy()
    bpy.context.scene.collection.objects.link(extra)
    frame(stress)
    bpy.context.view_layer.update()
    extra_twin = _points("Sharer 0 twin", bpy.context.evaluated_depsgraph_get())
    found = scene.points_of(extra.evaluated_get(bpy.context.evaluated_depsgraph_get()).data)
    assert np.abs(found - extra_twin).max() <= 3e-5, "a copy on the shared mesh is off"
    bpy.data.objects.remove(extra)


EVENTS = (
    *(pose, pose, frame, frame, play, play, render, render, two_depsgraphs),
    *(undo, redo, edit, edit, add_points, weigh, toggle, disable_in_a_render, add_and_remove),
)


def run(rounds, seed):
    stress = Stress(seed)
    stress.compare()
    for number in range(rounds):
        try:
            stress.round()
        except Exception:
            print(f"round {number} of seed {seed}; done: {', '.join(stress.done[-20:])}")
            raise
        if number % 100 == 99:
            print(f"{number + 1} rounds", file=sys.__stderr__, flush=True)
    print(f"{rounds} rounds of seed {seed} are right, with {_threads()} threads", flush=True)


def _threads():
    """How many threads this process has."""
    return len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0


def main(rounds, seed="1"):
    bpy.utils.register_class(Watcher)
    run(int(rounds), int(seed))


if __name__ == "__main__" and PRELOADED not in os.environ:
    os.execve(sys.executable, [sys.executable, *sys.argv], threaded())

if __name__ == "__main__":
    faulthandler.enable()
    faulthandler.dump_traceback_later(60, repeat=True)  # where it hangs
    sys.path.insert(0, str(Path(__file__).parent))
    import numpy as np
    import scene
    from test_evaluation import Watcher, inputs

    import addon_utils  # isort: skip  (scene starts Blender, which brings it)
    import bpy  # isort: skip

    code = 1
    try:
        main(*sys.argv[1:])
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
