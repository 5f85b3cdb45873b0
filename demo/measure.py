"""Numbers for the table: what each method makes of every frame, and how long a frame takes."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field

import bpy
import numpy as np

import two_phase_skinning as tps

SHOWN_JOINTS = ("DEF-forearm.L", "DEF-hand.L", "DEF-thigh.L", "DEF-shin.L")  # what the close-ups follow
FOREARM = ("DEF-forearm.L", "DEF-forearm.L.001")


@dataclass
class Run:
    """One method over the whole animation."""

    method: str
    milliseconds: float = 0.0  # median of scene.frame_set: rig, skin and all
    positions: list[np.ndarray] = field(default_factory=list)  # a frame: (V, 3)


def mesh_points(mesh: bpy.types.Mesh) -> np.ndarray:
    points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", points)
    return points.reshape(-1, 3)


def mesh_quads(mesh: bpy.types.Mesh) -> np.ndarray:
    """(F, 4): the remeshed body has quads only."""
    corners = np.empty(len(mesh.loops), dtype=np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    return corners.reshape(-1, 4)


def play(body: bpy.types.Object, method: str, frames: int) -> Run:
    """Play the animation twice: timed, then to keep what each frame looks like."""
    scene = bpy.context.scene
    run, times = Run(method), []
    scene.frame_set(frames)  # the first evaluation after a change of modifiers is not a frame of playback
    for frame in range(1, frames + 1):
        start = time.perf_counter()
        scene.frame_set(frame)
        times.append(time.perf_counter() - start)
    run.milliseconds = 1000 * statistics.median(times)
    for frame in range(1, frames + 1):
        scene.frame_set(frame)
        run.positions.append(mesh_points(body.evaluated_get(bpy.context.evaluated_depsgraph_get()).data))
    return run


def shown_joints(rig: bpy.types.Object, frames: int) -> list[np.ndarray]:
    """For each frame the heads of SHOWN_JOINTS, (4, 3)."""
    joints = []
    for frame in range(1, frames + 1):
        bpy.context.scene.frame_set(frame)
        joints.append(np.array([rig.pose.bones[name].head for name in SHOWN_JOINTS]))
    return joints


def python_skin(body: bpy.types.Object, rig: bpy.types.Object) -> tps.Skin:
    """The body as the Python module sees it, for what the modifier does not show: the intermediate shape."""
    bones = rig.data.bones
    number = {bone.name: j for j, bone in enumerate(bones)}
    skeleton = tps.Skeleton(
        [number[bone.parent.name] if bone.parent else -1 for bone in bones],
        [np.array(bone.matrix_local) for bone in bones],
        inherits=[bone.inherit_scale not in {"NONE", "NONE_LEGACY"} for bone in bones],
        names=[bone.name for bone in bones],
    )
    joint_of = {g.index: number[g.name] for g in body.vertex_groups if g.name in number and bones[g.name].use_deform}
    rows = [[(joint_of[g.group], g.weight) for g in v.groups if g.group in joint_of] for v in body.data.vertices]
    start = np.cumsum([0, *map(len, rows)])
    joints, weights = zip(*(pair for row in rows for pair in row), strict=True)
    return tps.Skin(mesh_points(body.data), (start, np.array(joints), np.array(weights)), skeleton)


def intermediate_shape(skin: tps.Skin, rig: bpy.types.Object) -> np.ndarray:
    """The body with every scale of the current pose and none of its bends."""
    world = np.array([rig.pose.bones[bone.name].matrix for bone in rig.data.bones])
    return skin.deform(world, inherited="before", phase=1)


def group_vertices(body: bpy.types.Object, names: tuple[str, ...]) -> np.ndarray:
    """bool (V,): the vertices that hang on these bones by more than half."""
    wanted = {body.vertex_groups[name].index for name in names}
    share = [sum(g.weight for g in v.groups if g.group in wanted) for v in body.data.vertices]
    return np.array(share) > 0.5


def volume(points: np.ndarray, quads: np.ndarray) -> float:
    """The volume that the faces enclose; where a limb is cut off, each opening is closed to its middle."""
    points = points.astype(float)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    lids = [np.column_stack([ring[:, ::-1], np.full(len(ring), len(points) + i)]) for i, ring in enumerate(rims(quads))]
    middles = [points[ring[:, 0]].mean(axis=0) for ring in rims(quads)]
    a, b, c = np.vstack([points, *middles])[np.concatenate([triangles, *lids]).T]
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def rims(quads: np.ndarray) -> list[np.ndarray]:
    """The openings: for each its directed edges, (n, 2), as its faces have them."""
    edges = {(int(a), int(b)) for k in range(4) for a, b in zip(quads[:, k], quads[:, (k + 1) % 4], strict=True)}
    after = {a: b for a, b in edges if (b, a) not in edges}
    found = []
    while after:
        start, ring = next(iter(after)), []
        at = start
        while at in after:
            ring.append((at, after.pop(at)))
            at = ring[-1][1]
        found.append(np.array(ring))
    return found
