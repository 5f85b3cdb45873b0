# SPDX-License-Identifier: GPL-3.0-or-later
"""Point caches that Blender's Mesh Cache modifier and other programs read: MDD (LightWave) and PC2 (3ds Max).

MDD: big-endian; the numbers of frames and points as int32, the time of each frame in seconds as float32, then points.
PC2: little-endian; "POINTCACHE2" and a zero byte, then int32 version 1 and the number of points, float32 first frame
and frames a sample, int32 number of samples, then points. Points are float32 triples, in the object's space.
"""

import contextlib
import os
import struct

import numpy as np

KINDS = ("MDD", "PC2")


class CacheFile:
    """A cache that is written beside its place and put there when it is complete: there is never half of one."""

    def __init__(self, path, kind, frames, points, rate):
        """frames: their numbers, one apart; points: how many there are; rate: frames a second."""
        self._path, self._part = path, f"{path}.part"
        self._size = points
        self._left = len(frames)
        self._type = np.dtype(">f4" if kind == "MDD" else "<f4")
        self._before, self._placed = "", False
        self._file = open(self._part, "wb")  # noqa: SIM115 (it stays open from frame to frame)
        header = _mdd_header if kind == "MDD" else _pc2_header
        try:
            self._file.write(header(frames, points, rate))
        except BaseException:
            self.abort()
            raise

    def add(self, points):
        """The next frame's points, (V, 3)."""
        if len(points) != self._size:
            raise ValueError(f"{len(points)} points; the frames before have {self._size}")
        self._file.write(np.ascontiguousarray(points, self._type).tobytes())
        self._left -= 1

    def complete(self):
        """See that all of it is on the disk, and not yet in its place."""
        if self._left:
            raise ValueError(f"{self._left} frames are missing")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def place(self):
        """Put the complete file where it belongs, in place of one that may be there; `abort` still takes that back."""
        if os.path.isfile(self._path):
            before = f"{self._path}.before"
            _remove(before)  # of a process that was ended by force
            _name_also(self._path, before)
            self._before = before
        os.replace(self._part, self._path)
        self._placed = True

    def keep(self):
        """The file that was there before is not needed any more."""
        if self._before:
            with contextlib.suppress(OSError):
                os.remove(self._before)

    def abort(self):
        """Leave nothing behind; what was at its place stays, or comes back."""
        with contextlib.suppress(OSError):  # a full disk does not take what is left to be written either
            self._file.close()
        _remove(self._part)
        if self._before:
            os.replace(self._before, self._path)
            _remove(self._before)  # two names of one file are left as they are by that
        elif self._placed:
            _remove(self._path)


def _name_also(path, other):
    """Give a file another name. Where it cannot have two, it loses the first."""
    try:
        os.link(path, other)
    except OSError:
        os.rename(path, other)


def _remove(path):
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)


def _mdd_header(frames, points, rate):
    times = np.asarray(frames, ">f4") / np.float32(rate)
    return struct.pack(">ii", len(frames), points) + times.astype(">f4").tobytes()


def _pc2_header(frames, points, _rate):
    return struct.pack("<12siiffi", b"POINTCACHE2\0", 1, points, float(frames[0]), 1.0, len(frames))
