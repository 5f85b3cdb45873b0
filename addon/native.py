# SPDX-License-Identifier: GPL-3.0-or-later
"""The door to the native module. Everything else in the extension asks here, so that it loads even without it."""

import tomllib
from pathlib import Path

VERSION = tomllib.loads(Path(__file__).with_name("blender_manifest.toml").read_text(encoding="utf-8"))["version"]
PROBLEM = ""

try:
    import two_phase_skinning as tps
except ImportError as error:
    tps = None
    PROBLEM = f"Two-Phase Skin: its native part is missing ({error}); install the extension for this system again"
else:
    # A native module cannot be replaced in a running program: after an update the old one is still there.
    if tps.__version__ != VERSION:
        PROBLEM = f"Two-Phase Skin {VERSION} was installed, but {tps.__version__} is still in memory; restart Blender"
        tps = None


def version():
    """What runs, for people: the extension's version, and what its native part makes of this machine."""
    if tps is None:
        return PROBLEM
    return f"Version {VERSION}, computing with {tps.build_info()['kernel'].upper()}"
