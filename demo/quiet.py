"""Keep the chatter of Blender and its add-ons, much of it written past Python, off the terminal."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator

TERMINAL = os.fdopen(os.dup(1), "w")  # where the demo itself speaks, also while Blender must not


@contextlib.contextmanager
def blender() -> Iterator[None]:
    """Hide all output of the block; if it fails, show it."""
    sys.stdout.flush()
    sys.stderr.flush()
    saved = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        try:
            yield
        except BaseException:
            sys.stdout.flush()
            sys.stderr.flush()
            log.seek(0)
            os.write(saved[1], log.read())
            raise
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, stream in enumerate(saved, start=1):
                os.dup2(stream, number)
                os.close(stream)
