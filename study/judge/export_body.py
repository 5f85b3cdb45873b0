"""Writes the demo's body with Blender's automatic weights as arrays: python study/judge/export_body.py FILE.npz

In a process of its own, since it needs Blender. It takes half a minute.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from demo import rig_scene

VERTICES = 6000  # at least; the judge's tetrahedra are as large as the faces


def arrays(body: bpy.types.Object, rig: bpy.types.Object) -> dict[str, np.ndarray]:
    bones = [bone for bone in rig.data.bones if bone.use_deform]
    names = [bone.name for bone in bones]
    mesh = body.data
    mesh.calc_loop_triangles()
    points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", points)
    triangles = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    weights = np.zeros((len(mesh.vertices), len(names)))
    columns = {group.index: names.index(group.name) for group in body.vertex_groups if group.name in names}
    for vertex in mesh.vertices:
        for element in vertex.groups:
            if element.group in columns:
                weights[vertex.index, columns[element.group]] = element.weight
    return {
        "points": points.reshape(-1, 3),
        "triangles": triangles.reshape(-1, 3),
        "names": np.array(names),
        "bind": np.array([bone.matrix_local for bone in bones]),
        "lengths": np.array([bone.length for bone in bones]),
        "weights": weights,
    }


def main() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    rig = rig_scene.generate_rig()
    body = rig_scene.make_body(rig, VERTICES)
    rig_scene.bind(body, rig)
    np.savez_compressed(sys.argv[1], **arrays(body, rig))


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # Blender as a module may hang while the interpreter shuts down
