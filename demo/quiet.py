"""Keep Blender's own chatter, which it writes straight to the process's output, out of the demo's."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator


@contextlib.contextmanager
def blender() -> Iterator[None]:
    """Hide what the process writes; what Python's print writes passes, and if the block fails everything is shown."""
    sys.stdout.flush()
    sys.stderr.flush()
    terminal, errors = os.dup(1), os.dup(2)
    shown = sys.stdout
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        sys.stdout = os.fdopen(os.dup(terminal), "w")
        try:
            yield
        except BaseException:
            log.seek(0)
            os.write(errors, log.read())
            raise
        finally:
            sys.stdout.flush()
            sys.stdout.close()
            sys.stdout = shown
            os.dup2(terminal, 1)
            os.dup2(errors, 2)
            os.close(terminal)
            os.close(errors)
