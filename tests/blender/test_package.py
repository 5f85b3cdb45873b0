"""The extension's folder is what Blender's own tools accept."""

import subprocess
import sys
import tomllib
from pathlib import Path

import bpy
import scene


def test_the_manifest_is_valid():
    scripts = Path(bpy.utils.resource_path("LOCAL")) / "scripts"
    tool = scripts / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
    command = [sys.executable, str(tool), "validate", str(scene.ROOT / "addon")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert found.returncode == 0, found.stdout + found.stderr


def test_the_archives_manifest_adds_platforms_and_wheels_alone():
    sys.path.insert(0, str(scene.ROOT / "tools" / "package"))
    import manifest

    text = (scene.ROOT / "addon" / "blender_manifest.toml").read_text(encoding="utf-8")
    made = tomllib.loads(manifest.completed(text, ["linux-x64", "macos-arm64"], ["a.whl", "b.whl"]))
    added = {"platforms": ["linux-x64", "macos-arm64"], "wheels": ["./wheels/a.whl", "./wheels/b.whl"]}
    assert made == tomllib.loads(text) | added


def test_every_module_says_its_licence_and_what_it_is_for():
    found = [path for path in (scene.ROOT / "addon").rglob("*.py") if path.stat().st_size]
    assert {path.parent.name for path in found} >= {"addon", "live", "modifier", "operators", "read", "ui", "write"}
    for path in found:
        lines = path.read_text(encoding="utf-8").splitlines()
        assert lines[0] == "# SPDX-License-Identifier: GPL-3.0-or-later", path
        assert lines[1].startswith('"""'), path


def test_the_version_is_the_manifests_everywhere():
    import two_phase_skinning as tps

    native = scene.extension("native")
    manifest = tomllib.loads((scene.ROOT / "addon" / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert native.PROBLEM == ""
    assert native.VERSION == tps.__version__ == manifest["version"]
    assert manifest["version"] in native.version()
