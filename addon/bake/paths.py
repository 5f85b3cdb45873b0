# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the point caches of a bake go: a file for each object that no other object reads, in a folder that is there."""

import os
import stat

import bpy
from bpy.app.translations import pgettext_rpt as rpt_

from ..errors import UserError

CACHE_NAME = "Two-Phase Skin Cache"


def of(path, kind, objects):
    """The cache's path for each object, by the object; UserError where one cannot be.

    path: the file that was named; empty: one beside the .blend file, with its name and the object's. The names of
    several objects are added to it.
    """
    if not bpy.data.filepath and (not path or path.startswith("//")):
        raise UserError(rpt_("Save the .blend file first, or name the file to write"))
    named = len(objects) > 1 or not path
    found, taken = {}, set()
    for obj in sorted(objects, key=lambda each: each.name_full):
        found[obj] = _free(path or _beside(kind), obj if named else None, taken)
    for obj, each in found.items():
        _check_place(each)
        _check_readers(each, obj, objects)
    return found


def default(kind, obj):
    """Where the cache of an object goes if nothing is named; nothing while the .blend file is not saved."""
    return _free(_beside(kind), obj, set()) if bpy.data.filepath else ""


def _beside(kind):
    stem = os.path.splitext(os.path.basename(bpy.data.filepath))[0]
    return f"//{stem}.{kind.lower()}"


def _free(path, obj, taken):
    """The path with the object's name, and with a number where another has it; in some folders "A" and "a" are one."""
    stem, extension = os.path.splitext(path)
    if obj is not None:
        stem = f"{stem}_{bpy.path.clean_name(obj.name)}"
    found, number = stem + extension, 1
    while found.casefold() in taken:
        number += 1
        found = f"{stem}_{number}{extension}"
    taken.add(found.casefold())
    return found


def _check_place(path):
    place = bpy.path.abspath(path)
    folder = os.path.dirname(place)
    if _is_missing(folder or "."):
        raise UserError(rpt_('There is no folder "{path}": make it first').format(path=folder))
    if os.path.isdir(place):
        raise UserError(rpt_('"{path}" is a folder: name the file to write').format(path=place))


def _is_missing(folder):
    try:
        return not stat.S_ISDIR(os.stat(folder).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # one that may not be looked into: writing says why
        return False


def _check_readers(path, obj, baked):
    """No other object may read what is to be written, but for what this bake itself makes another object read anew."""
    place = _whole(path, None)
    for other in bpy.data.objects:
        for modifier in other.modifiers if other != obj else ():
            renewed = other in baked and modifier.name == CACHE_NAME
            if modifier.type == "MESH_CACHE" and not renewed and _whole(modifier.filepath, other.library) == place:
                text = rpt_('"{path}" is the cache that "{object}" reads: name another file')
                raise UserError(text.format(path=bpy.path.abspath(path), object=other.name))


def _whole(path, library):
    return os.path.normcase(os.path.realpath(bpy.path.abspath(path, library=library)))
