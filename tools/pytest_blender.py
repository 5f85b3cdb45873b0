"""pytest in a process that has imported bpy: python tools/pytest_blender.py PYTEST-ARGUMENTS

Blender 4.5 as a module can hang or crash while the interpreter shuts down after a render, when pytest has long given
its verdict. So the process ends here, at once, with that verdict.
"""

import os
import sys

import pytest

status = pytest.main(sys.argv[1:])
sys.stdout.flush()
sys.stderr.flush()
os._exit(int(status))
