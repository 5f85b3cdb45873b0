# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake makes of the frames of one object: shape keys, a point cache with its modifier, or a mesh for each frame.

A target takes one frame after the other and changes nothing in the file until `finish`, before which
`complete` and `place` do all that can fail. Until then `abort` leaves nothing behind.
"""

import bpy
import numpy as np
from bpy.app.translations import pgettext_rpt as rpt_

from .. import compat
from ..modifier import replace
from . import cache_files
from .paths import CACHE_NAME


class Cache:
    """A point cache file, and a Mesh Cache modifier that reads it in the place of the skins, which are turned off."""

    def __init__(self, source, frames, path, kind, scene):
        replace.check_editable(source.object)
        self._source, self._frames, self._path, self._kind = source, frames, path, kind
        self._rate = scene.render.fps / scene.render.fps_base
        self._file = None

    def add(self, evaluated, depsgraph):
        points = points_of(evaluated)
        if self._file is None:
            path = bpy.path.abspath(self._path)
            self._file = cache_files.CacheFile(path, self._kind, self._frames, len(points), self._rate)
        self._file.add(points)

    def complete(self):
        self._file.complete()

    def place(self):
        self._file.place()

    def finish(self, _context):
        self._file.keep()
        obj = self._source.object
        modifier = obj.modifiers.get(CACHE_NAME) or obj.modifiers.new(CACHE_NAME, "MESH_CACHE")
        modifier.cache_format, modifier.filepath = self._kind, self._path
        modifier.deform_mode, modifier.interpolation = "OVERWRITE", "LINEAR"
        modifier.time_mode, modifier.play_mode = "FRAME", "SCENE"
        modifier.frame_start, modifier.frame_scale, modifier.factor = self._frames[0], 1, 1
        modifier.show_viewport = modifier.show_render = True
        last = self._source.skins[-1]
        place = obj.modifiers.find(last.name)
        now = obj.modifiers.find(modifier.name)
        obj.modifiers.move(now, place if now < place else place + 1)
        for skin in self._source.skins:
            skin.show_viewport = skin.show_render = False
        return obj

    def abort(self):
        if self._file is not None:
            self._file.abort()


class Keys:
    """A copy of the object, without the skins and what is above them, that shape keys animate."""

    def __init__(self, source, frames, scene):
        self._source, self._frames = source, frames
        self._mesh, self._shapes = None, []

    def add(self, evaluated, depsgraph):
        if self._mesh is None:
            self._mesh = _mesh_of(evaluated, depsgraph)
        points = points_of(evaluated)
        _check_count(points, self._mesh)
        self._shapes.append(points)

    def complete(self):
        """There is nothing to write."""

    place = complete

    def finish(self, context):
        obj = self._source.copy(self._mesh, context)
        obj.shape_key_add(name="Basis", from_mix=False)
        for frame, points in zip(self._frames, self._shapes, strict=True):
            key = obj.shape_key_add(name=f"Frame {frame}", from_mix=False)
            key.data.foreach_set("co", points.reshape(-1))
            key.slider_max = 1.0
        _animate(obj, self._frames)
        self._source.hide(context, obj)
        return obj

    def abort(self):
        if self._mesh is not None:
            bpy.data.meshes.remove(self._mesh)


class Meshes:
    """A collection with one object for each frame, shown at that frame alone."""

    def __init__(self, source, frames, scene):
        self._source, self._frames = source, frames
        self._meshes = []

    def add(self, evaluated, depsgraph):
        mesh = _mesh_of(evaluated, depsgraph)
        self._meshes.append((mesh, evaluated.matrix_world.copy()))

    def complete(self):
        """There is nothing to write."""

    place = complete

    def finish(self, context):
        name = self._source.object.name
        collection = bpy.data.collections.new(rpt_("{name} Baked").format(name=name))
        context.scene.collection.children.link(collection)
        for frame, (mesh, place) in zip(self._frames, self._meshes, strict=True):
            mesh.name = f"{name} {frame:04}"
            obj = bpy.data.objects.new(mesh.name, mesh)
            obj.matrix_world = place
            collection.objects.link(obj)
            for path in ("hide_viewport", "hide_render"):
                for at, hidden in ((frame - 1, True), (frame, False), (frame + 1, True)):
                    setattr(obj, path, hidden)
                    obj.keyframe_insert(path, frame=at)
        self._source.hide(context)
        return collection

    def abort(self):
        for mesh, _place in self._meshes:
            bpy.data.meshes.remove(mesh)


def points_of(evaluated):
    """The points of an evaluated object, (V, 3) float32, in its own space."""
    vertices = evaluated.data.vertices
    points = np.empty((len(vertices), 3), np.float32)
    vertices.foreach_get("co", points.reshape(-1))
    return points


def _mesh_of(evaluated, depsgraph):
    """A new mesh with all that an evaluated object's has."""
    return bpy.data.meshes.new_from_object(evaluated, preserve_all_data_layers=True, depsgraph=depsgraph)


def _check_count(points, mesh):
    if len(points) != len(mesh.vertices):
        raise ValueError(f"{len(points)} points; the frames before have {len(mesh.vertices)}")


def _animate(obj, frames):
    """Each key is 1 at its frame and 0 at the ones beside it, and in between on the way."""
    keys = obj.data.shape_keys
    for frame, key in zip(frames, keys.key_blocks[1:], strict=True):
        for at, value in ((frame - 1, 0.0), (frame, 1.0), (frame + 1, 0.0)):
            if frames[0] <= at <= frames[-1]:
                key.value = value
                key.keyframe_insert("value", frame=at)
    for curve in compat.curves_of(keys):
        curve.extrapolation = "CONSTANT"
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
