# SPDX-License-Identifier: GPL-3.0-or-later
"""The door to the native module. Everything else in the extension asks here, so that it loads even without it."""

try:
    import two_phase_skinning as tps
except ImportError as error:
    tps = None
    PROBLEM = f"Two-Phase Skin: its native part is missing ({error}); install the extension for this system again"
else:
    PROBLEM = ""
