"""The picture: one scene in which the three methods stand side by side, whole and in two close-ups.

One orthographic camera looks along +y at a sheet with windows, a mat as around a print, and the meshes stand behind it:
whole bodies, and enlarged limbs whose vertices are held within their window. So a frame is a single Workbench render.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector

BODY_COLOUR = (0.80, 0.52, 0.36, 1)
MAT_COLOUR = (0.93, 0.93, 0.92, 1)
BACKDROP_COLOUR = (0.74, 0.77, 0.80, 1)
TEXT_COLOUR = (0.02, 0.02, 0.03, 1)

COLUMN, GAP = 2.50, 0.10  # width of a column, space between windows
ROWS = {"body": 2.20, "forearm": 0.95, "thigh": 1.45}  # heights of the windows
TITLE, CAPTION = 0.36, 0.20
WIDTH = 3 * COLUMN + GAP
HEIGHT = TITLE + sum(ROWS.values()) + len(ROWS) * (CAPTION + GAP)

# depths along the view: the camera is at -20
TEXT_AT, MAT_AT, MESHES_AT, BACKDROP_AT = -9.0, -5.0, 2.0, 9.0

View = Callable[[np.ndarray], Matrix]  # joints of a frame -> from the rig's space to the centre of a window


def view_body(joints: np.ndarray) -> Matrix:
    return Matrix.Scale(0.92, 4) @ Matrix.Rotation(math.radians(-14), 4, "Z") @ Matrix.Translation((-0.04, 0, -1.14))


def view_forearm(joints: np.ndarray) -> Matrix:
    """The forearm laid along x, wrist to the right, seen from the front and a little from above."""
    elbow, wrist = Vector(joints[0]), Vector(joints[1])
    along = (wrist - elbow).normalized()
    up = (Vector((0, -0.25, 1)) - along * along.dot(Vector((0, -0.25, 1)))).normalized()
    turn = Matrix((along, up.cross(along), up)).to_4x4()
    return Matrix.Scale(3.4, 4) @ turn @ Matrix.Translation(-(elbow * 0.5 + wrist * 0.5))


def view_thigh(joints: np.ndarray) -> Matrix:
    """Hip and knee, seen from the front left and a little from above."""
    hip, knee = Vector(joints[2]), Vector(joints[3])
    turn = Matrix.Rotation(math.radians(18), 4, "X") @ Matrix.Rotation(math.radians(-42), 4, "Z")
    return Matrix.Scale(2.2, 4) @ turn @ Matrix.Translation(-(hip * 0.5 + knee * 0.5))


VIEWS: dict[str, View] = {"body": view_body, "forearm": view_forearm, "thigh": view_thigh}
CAPTIONS = {
    "body": "one frame, one rig, one set of weights: torso stretched, forearm stretched, thigh widened",
    "forearm": "forearm: stretched to 1.6, flattened, twisted by 120\N{DEGREE SIGN}",
    "thigh": "thigh: scaled 1.6 one way and 0.6 the other, turned out, above a bent knee",
}


def window(column: int, row: str) -> tuple[float, float, float, float]:
    """Left, right, bottom, top of a window; the picture's centre is the origin."""
    left = -WIDTH / 2 + GAP + column * COLUMN
    top = HEIGHT / 2 - TITLE
    for name, height in ROWS.items():
        if name == row:
            return left, left + COLUMN - GAP, top - height, top
        top -= height + CAPTION + GAP
    raise KeyError(row)


class Stage:
    """The scene with all that is shown in it; `show` poses it, `still` and `film` render it."""

    def __init__(self, methods: Sequence[str], faces: np.ndarray, limbs: dict[str, np.ndarray]) -> None:
        """`methods`: the columns' titles; `faces`: (F,4) quads; `limbs`: the vertices that are in each close-up."""
        self.scene = bpy.context.scene
        self.meshes: list[tuple[int, str, np.ndarray, bpy.types.Object]] = []
        for column, method in enumerate(methods):
            for row in ROWS:
                chosen = limbs.get(row, np.ones(faces.max() + 1, dtype=bool))
                self.meshes.append((column, row, np.flatnonzero(chosen), self._mesh(f"{method} {row}", faces, chosen)))
        self._mat()
        self._text(methods)
        self._camera_and_look()

    def _add(self, name: str, data: bpy.types.ID, colour: Sequence[float]) -> bpy.types.Object:
        obj = bpy.data.objects.new(name, data)
        obj.color = colour
        self.scene.collection.objects.link(obj)
        return obj

    def _mesh(self, name: str, faces: np.ndarray, chosen: np.ndarray) -> bpy.types.Object:
        number = np.cumsum(chosen) - 1
        mesh = bpy.data.meshes.new(name)
        kept = number[faces[chosen[faces].all(axis=1)]]
        mesh.from_pydata(np.zeros((int(chosen.sum()), 3)).tolist(), [], kept.tolist())
        mesh.polygons.foreach_set("use_smooth", np.ones(len(kept), dtype=bool))
        return self._add(name, mesh, BODY_COLOUR)

    def _mat(self) -> None:
        edge = 4.0
        xs = [-WIDTH / 2 - edge, *(x for c in range(3) for x in window(c, "body")[:2]), WIDTH / 2 + edge]
        zs = [HEIGHT / 2 + edge, *(z for r in ROWS for z in window(0, r)[:1:-1]), -HEIGHT / 2 - edge]
        corners = [(x, 0, z) for z in zs for x in xs]
        quads, holes = [], []
        for i in range(len(zs) - 1):
            for j in range(len(xs) - 1):
                at = i * len(xs) + j
                (holes if i % 2 and j % 2 else quads).append((at, at + len(xs), at + len(xs) + 1, at + 1))
        for name, faces, depth, colour in (
            ("Mat", quads, MAT_AT, MAT_COLOUR),
            ("Backdrop", holes, BACKDROP_AT, BACKDROP_COLOUR),
        ):
            mesh = bpy.data.meshes.new(name)
            mesh.from_pydata(corners, [], faces)
            self._add(name, mesh, colour).location = (0, depth, 0)

    def _text(self, methods: Sequence[str]) -> None:
        for column, method in enumerate(methods):
            left, right, _, top = window(column, "body")
            self._line(method, ((left + right) / 2, top + 0.10), 0.21)
        for row, caption in CAPTIONS.items():
            self._line(caption, (0, window(1, row)[2] - 0.15), 0.125)

    def _line(self, words: str, place: tuple[float, float], size: float) -> None:
        curve = bpy.data.curves.new(words, "FONT")
        curve.body, curve.size, curve.align_x = words, size, "CENTER"
        line = self._add(words, curve, TEXT_COLOUR)
        line.rotation_euler = (math.pi / 2, 0, 0)
        line.location = (place[0], TEXT_AT, place[1])

    def _camera_and_look(self) -> None:
        camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        self.scene.collection.objects.link(camera)
        camera.location, camera.rotation_euler = (0, -20, 0), (math.pi / 2, 0, 0)
        camera.data.type, camera.data.ortho_scale = "ORTHO", WIDTH
        self.scene.camera = camera
        self.scene.render.engine = "BLENDER_WORKBENCH"
        self.scene.view_settings.view_transform = "Standard"
        self.scene.view_settings.exposure = 0.75
        self.scene.render.dither_intensity = 0  # noise is most of a PNG's size
        shading = self.scene.display.shading
        shading.light, shading.color_type = "STUDIO", "OBJECT"
        shading.cavity_type = "WORLD"
        shading.show_specular_highlight = True

    def show(self, positions: Sequence[np.ndarray], joints: np.ndarray) -> None:
        """Pose everything: for each method the (V,3) positions, and the joints that the close-ups follow."""
        hidden = 0.4 * GAP  # what lies outside a window is gathered behind the mat, so that it enters no other window
        for column, row, vertices, obj in self.meshes:
            left, right, bottom, top = window(column, row)
            place = Matrix.Translation(((left + right) / 2, MESHES_AT, (bottom + top) / 2)) @ VIEWS[row](joints)
            points = positions[column][vertices] @ np.array(place.to_3x3()).T + np.array(place.translation)
            points[:, 0] = points[:, 0].clip(left - hidden, right + hidden)
            points[:, 2] = points[:, 2].clip(bottom - hidden, top + hidden)
            obj.data.vertices.foreach_set("co", points.astype(np.float32).ravel())
            obj.data.update()

    def _size(self, width: int, smoothing: str) -> None:
        render = self.scene.render
        render.resolution_x, render.resolution_percentage = width, 100
        render.resolution_y = 2 * round(width * HEIGHT / WIDTH / 2)  # even: video wants it
        self.scene.display.render_aa = smoothing

    def still(self, path: Path, width: int = 1600) -> None:
        """Render what is shown into a PNG."""
        self._size(width, "8")
        self.scene.display.shading.show_cavity = True
        _image_settings(self.scene, "IMAGE", "PNG")
        self.scene.render.filepath = str(path)
        bpy.ops.render.render(write_still=True)

    def film(self, path: Path, frames: int, show_frame: Callable[[int], None], width: int = 800) -> None:
        """Render frames 1 to `frames` into an H.264 film that browsers play; `show_frame` poses each."""
        # where the CPU draws, these two take a third of the time of five samples a pixel and cavities
        self._size(width, "FXAA")
        self.scene.display.shading.show_cavity = False
        _image_settings(self.scene, "VIDEO", "FFMPEG")
        render = self.scene.render
        render.ffmpeg.format, render.ffmpeg.codec = "MPEG4", "H264"
        render.ffmpeg.constant_rate_factor, render.ffmpeg.ffmpeg_preset = "HIGH", "GOOD"
        render.ffmpeg.gopsize = 12
        render.fps, render.filepath, render.use_file_extension = 24, str(path), False
        self.scene.frame_start, self.scene.frame_end = 1, frames

        def pose(scene: bpy.types.Scene, *_: object) -> None:
            show_frame(scene.frame_current)

        bpy.app.handlers.frame_change_post.append(pose)
        try:
            bpy.ops.render.render(animation=True)
        finally:
            bpy.app.handlers.frame_change_post.remove(pose)


def _image_settings(scene: bpy.types.Scene, media: str, file_format: str) -> None:
    settings = scene.render.image_settings
    if hasattr(settings, "media_type"):  # Blender 5.0 and newer ask for the kind first
        settings.media_type = media
    settings.file_format = file_format
    if file_format == "PNG":
        settings.color_mode, settings.compression = "RGB", 90
