"""This package, called from Python as its users call it: joints go in as posed, the result comes out in `out`."""

import numpy as np
from scene import Mesh, Rig, Scene
from task import METHODS, Task

import two_phase_skinning as tps

NAME = "two_phase_skinning"


def skin_of(mesh: Mesh, rig: Rig, normals: bool = False) -> tps.Skin:
    return tps.Skin(mesh.points, (mesh.joints, mesh.weights), rig.skeleton, mesh.points if normals else None)


def task(skin: tps.Skin, rig: Rig, method: str, threads: int, who: str = NAME) -> Task:
    out = np.empty((len(skin), 3), np.float32)
    return Task(who, method, lambda: skin.deform(rig.world, method=method, out=out, threads=threads), lambda: out)


def tasks(scene: Scene, threads: int) -> list[Task]:
    skin = skin_of(scene.mesh, scene.scaled)  # both poses have the same bind pose and inherit nothing
    return [task(skin, scene.rig_of(method), method, threads) for method in METHODS]
