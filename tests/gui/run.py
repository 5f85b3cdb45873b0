"""What Blender runs in its window: all checks, in this order. See tools/test_gui.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import checks
import following
import window

window.run((*checks.ALL, *following.ALL))
