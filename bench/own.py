"""Ours against ourselves: what normals, matrices, inherited scale, threads, and uneven weights cost."""

import floor
import numpy as np
import ours
from clock import Entry, Times, take_turns, timed
from ours import skin_of
from scene import Mesh, mesh, rig, scene
from task import METHODS

import two_phase_skinning as tps


def results(vertices: int, rounds: int) -> Times:
    """Called "METHOD points", "METHOD normals" (points and normals) and "METHOD matrices", on one thread."""
    work = scene(vertices)
    skin = skin_of(work.mesh, work.scaled, normals=True)
    out, normals = np.empty((vertices, 3), np.float32), np.empty((vertices, 3), np.float32)
    matrices = np.empty((vertices, 3, 4), np.float32)
    entries = []
    for method in METHODS:
        world = work.rig_of(method).world

        def points_only(world=world, method=method) -> None:
            skin.deform(world, method=method, out=out, threads=1)

        def with_normals(world=world, method=method) -> None:
            skin.deform_with_normals(world, method=method, out=out, normals_out=normals, threads=1)

        def as_matrices(world=world, method=method) -> None:
            skin.matrices(world, method=method, out=matrices, threads=1)

        entries.append(Entry(f"{method} points", timed(points_only)))
        entries.append(Entry(f"{method} normals", timed(with_normals)))
        entries.append(Entry(f"{method} matrices", timed(as_matrices)))
    return take_turns(entries, rounds)


def inherited_scale(vertices: int, rounds: int) -> Times:
    """Two-phase: "scaled", two blends, and "inherited", three, on one thread."""
    work, out = mesh(vertices, 100), np.empty((vertices, 3), np.float32)

    def sample(pose: str) -> Entry:
        posed = rig(100, pose)
        skin = skin_of(work, posed)
        return Entry(pose, timed(lambda: skin.deform(posed.world, out=out, threads=1)))

    return take_turns([sample("scaled"), sample("inherited")], rounds)


def uneven(vertices: int, few: int, many: int) -> Mesh:
    """Half the vertices, at random, have `few` influences and the others `many`."""
    work = mesh(vertices, 100, many)
    weights = work.weights.copy()
    weights[np.random.default_rng(0).random(vertices) < 0.5, few:] = 0
    return Mesh(work.points, work.joints, weights / weights.sum(axis=1, keepdims=True))


def mixed_influences(vertices: int, rounds: int) -> Times:
    """Two-phase: "1", "8" and "mixed" influences a vertex, on one thread."""
    posed, out = rig(100, "scaled"), np.empty((vertices, 3), np.float32)

    def sample(name: str, work: Mesh) -> Entry:
        skin = skin_of(work, posed)
        return Entry(name, timed(lambda: skin.deform(posed.world, out=out, threads=1)))

    meshes = {"1": mesh(vertices, 100, 1), "8": mesh(vertices, 100, 8), "mixed": uneven(vertices, 1, 8)}
    return take_turns([sample(name, work) for name, work in meshes.items()], rounds)


def frames(count: int, vertices: int, rounds: int) -> Times:
    """Two-phase: "one", a frame in a call, on one thread; "1" and "2", all frames in a call, on so many."""
    work = scene(vertices)
    skin = skin_of(work.mesh, work.scaled)
    world = np.repeat(work.scaled.world[None], count, axis=0)
    out = np.empty((count, vertices, 3), np.float32)
    entries = [Entry("one", timed(lambda: skin.deform(world[0], out=out[0], threads=1)))]
    for threads in (1, 2):
        entries.append(Entry(f"{threads}", timed(lambda n=threads: skin.deform(world, out=out, threads=n))))
    return take_turns(entries, rounds)


def threads(vertices: int, rounds: int) -> Times:
    """Called "METHOD 1", "METHOD 2", and the memory floor in the same way."""
    work = scene(vertices)
    entries = []
    for count in (1, 2):
        entries.append(Entry(f"{floor.NAME} {count}", floor.timed_copy(work, count)))
        for task in ours.tasks(work, count):
            entries.append(Entry(f"{task.method} {count}", timed(task.run)))
    return take_turns(entries, rounds)


def many_meshes(count: int, vertices: int, rounds: int) -> Times:
    """Many characters of one frame: in one call, on "1" and "2" threads; and a "loop" of calls."""
    work = scene(vertices)
    skins = [skin_of(work.mesh, work.scaled) for _ in range(count)]
    worlds = [work.scaled.world] * count
    outs = [np.empty((vertices, 3), np.float32) for _ in range(count)]

    def together(threads: int) -> Entry:
        return Entry(f"{threads}", timed(lambda: tps.deform_many(skins, worlds, out=outs, threads=threads)))

    def one_by_one() -> None:
        for skin, world, out in zip(skins, worlds, outs, strict=True):
            skin.deform(world, out=out)

    return take_turns([together(1), together(2), Entry("loop", timed(one_by_one))], rounds)


def joint_stage(joints: int, rounds: int) -> Times:
    """The separation of a pose: "separate", without inherited scale; "inherited", with it."""
    entries = []
    for name, pose in (("separate", "scaled"), ("inherited", "inherited")):
        posed = rig(joints, pose)
        entries.append(Entry(name, timed(lambda p=posed: p.skeleton.separate(p.world))))
    return take_turns(entries, rounds)


def calls(rounds: int) -> Times:
    """Whole calls on small meshes, two-phase, 100 joints, threads as the package chooses; "1000/16": with 16 joints."""
    entries = []
    for name, vertices, joints in (("20000", 20_000, 100), ("1000", 1_000, 100), ("1000/16", 1_000, 16)):
        work = scene(vertices, joints)
        skin, out = skin_of(work.mesh, work.scaled), np.empty((vertices, 3), np.float32)

        def run(skin: tps.Skin = skin, world=work.scaled.world, out=out) -> None:
            skin.deform(world, out=out)

        entries.append(Entry(name, timed(run)))
    return take_turns(entries, rounds)
