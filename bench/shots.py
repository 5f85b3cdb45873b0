"""How fast a shot is baked, by one process and by the workers of a Dask cluster, and what bounds it.

    build/venv-3.13/bin/python -P bench/shots.py [--frames 1000] [--vertices 50000] [--processes 1 2]

It makes a scene, bakes it, and prints frames a second; processor time tells how many of them a machine takes that has
nothing else to do. The last lines are where the time of one process goes, and how fast this disk takes the same bytes
without any work.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import tempfile
import time
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster
from pxr import Gf, Usd, UsdGeom, UsdSkel, Vt

from two_phase_skinning import usd

JOINTS = 40
PARTS = ("deform", "deform_normals", "pose", "usd_vectors", "extent", "save")


def make_scene(path: Path, frames: int, vertices: int) -> None:
    """A tail of 40 joints that waves and swells, under one mesh with four influences each, and normals."""
    stage = Usd.Stage.CreateNew(str(path))
    stage.SetStartTimeCode(1)
    stage.SetEndTimeCode(frames)
    UsdSkel.Root.Define(stage, "/Tail")
    skeleton = UsdSkel.Skeleton.Define(stage, "/Tail/Bones")
    names = ["/".join(f"j{n}" for n in range(count + 1)) for count in range(JOINTS)]
    skeleton.CreateJointsAttr(names)
    skeleton.CreateBindTransformsAttr(
        Vt.Matrix4dArray([Gf.Matrix4d().SetTranslate(Gf.Vec3d(0, n, 0)) for n in range(JOINTS)])
    )
    skeleton.CreateRestTransformsAttr(
        Vt.Matrix4dArray([Gf.Matrix4d().SetTranslate(Gf.Vec3d(0, min(n, 1), 0)) for n in range(JOINTS)])
    )
    animation = UsdSkel.Animation.Define(stage, "/Tail/Moves")
    animation.CreateJointsAttr(names)
    animation.CreateTranslationsAttr(Vt.Vec3fArray([Gf.Vec3f(0, min(n, 1), 0) for n in range(JOINTS)]))
    for frame in range(1, frames + 1):
        phase = 0.1 * frame + 0.3 * np.arange(JOINTS)
        turns = [Gf.Quatf(Gf.Rotation(Gf.Vec3d(0, 0, 1), 8 * float(np.sin(p))).GetQuat()) for p in phase]
        sizes = [Gf.Vec3h(1 + 0.05 * float(np.sin(p)), 1, 1) for p in phase]
        animation.CreateRotationsAttr().Set(Vt.QuatfArray(turns), frame)
        animation.CreateScalesAttr().Set(Vt.Vec3hArray(sizes), frame)
    add_mesh(stage, vertices)
    stage.Save()


def add_mesh(stage: Usd.Stage, vertices: int) -> None:
    rng = np.random.default_rng(1)
    points = rng.uniform((-0.5, 0, -0.5), (0.5, JOINTS, 0.5), (vertices, 3)).astype(np.float32)
    mesh = UsdGeom.Mesh.Define(stage, "/Tail/Skin")
    mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(points))
    mesh.CreateNormalsAttr(Vt.Vec3fArray.FromNumpy(points / np.linalg.norm(points, axis=1, keepdims=True)))
    mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
    joints = np.clip(points[:, 1:2].astype(np.int32) + np.arange(-1, 3, dtype=np.int32), 0, JOINTS - 1)
    weights = rng.dirichlet((2, 4, 2, 1), vertices).astype(np.float32)
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets(["/Tail/Bones"])
    UsdSkel.BindingAPI.Apply(stage.GetPrimAtPath("/Tail/Bones")).CreateAnimationSourceRel().SetTargets(["/Tail/Moves"])
    binding.CreateJointIndicesPrimvar(False, 4).Set(Vt.IntArray.FromNumpy(joints.ravel()))
    binding.CreateJointWeightsPrimvar(False, 4).Set(Vt.FloatArray.FromNumpy(weights.ravel()))


def timed(source: Path, target: Path, frames: int, cluster: LocalCluster | None, words: str) -> None:
    """Frames a second by the clock, and by the processor: what is to be had where nothing else runs."""
    before, start = busy(cluster), time.perf_counter()
    usd.bake(source, target, scheduler=cluster.scheduler_address if cluster else None)
    seconds, worked = time.perf_counter() - start, busy(cluster) - before
    per_frame = 1000 * worked / frames
    print(f"{words}: {frames / seconds:.1f} frames/s ({seconds:.1f} s), {per_frame:.1f} ms of processor time a frame")


def busy(cluster: LocalCluster | None) -> float:
    """Processor time so far, in seconds: of this process and the workers."""
    if not cluster:
        return time.process_time()
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        return time.process_time() + sum(client.run(time.process_time).values())


def where_it_goes(source: Path, target: Path, frames: int) -> None:
    profile = cProfile.Profile()
    profile.runcall(usd.bake, source, target, frames=range(1, min(frames, 200) + 1), threads=1)
    stats = pstats.Stats(profile)
    parts: dict[str, float] = {}
    for (file, _line, name), (_calls, _primitive, _own, seconds, _callers) in stats.stats.items():
        if name in PARTS and Path(file).parent.name == "usd":
            parts[name] = max(seconds, parts.get(name, 0))  # some call one of the same name
    for name, seconds in parts.items():
        print(f"  of one process with one thread, {name}: {100 * seconds / stats.total_tt:.0f} %")


def disk(folder: Path, size: int) -> None:
    data = os.urandom(64 << 20)
    start = time.perf_counter()
    with open(folder / "bytes", "wb") as file:
        for _part in range(size // len(data)):
            file.write(data)
        file.flush()
        os.fsync(file.fileno())
    seconds = time.perf_counter() - start
    print(f"  the disk alone: {size / seconds / 1e6:.0f} MB/s, {size / 1e6:.0f} MB in {seconds:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=1000)
    parser.add_argument("--vertices", type=int, default=50_000)
    parser.add_argument("--processes", type=int, nargs="*", default=[1, 2])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, target = folder / "scene.usdc", folder / "baked.usd"
        make_scene(source, options.frames, options.vertices)
        print(f"{options.frames} frames of {options.vertices} vertices with normals, two_phase, {os.cpu_count()} cores")
        timed(source, target, options.frames, None, "this process")
        for count in options.processes:
            with LocalCluster(n_workers=count, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
                timed(source, target, options.frames, cluster, f"{count} worker processes")
        where_it_goes(source, target, options.frames)
        disk(folder, 24 * options.vertices * options.frames)


if __name__ == "__main__":
    main()
