"""A line on the standard error that says how far it is and how long it will take."""

from __future__ import annotations

import sys
import time
from typing import TextIO

WIDTH = 30
SECONDS_BETWEEN = 0.1


class Progress:
    """Called with (frames done, frames in all); draws only if it is asked to, or on a terminal."""

    def __init__(self, wanted: bool, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._wanted = wanted or self._stream.isatty()
        self._start = self._last = time.monotonic()
        self._drawn = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if not self._wanted or (done < total and now - self._last < SECONDS_BETWEEN):
            return
        self._last = now
        left = (now - self._start) / done * (total - done) if done else 0.0
        filled = WIDTH * done // total
        bar = "#" * filled + "." * (WIDTH - filled)
        self._stream.write(f"\r[{bar}] {done}/{total} frames, {clock(left)} left ")
        self._stream.flush()
        self._drawn = True

    def end(self) -> None:
        """Leaves the line, so that what is said next begins on its own."""
        if self._drawn:
            self._stream.write("\n")
            self._stream.flush()


def clock(seconds: float) -> str:
    """As 0:07, 12:34 or 1:23:45."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
