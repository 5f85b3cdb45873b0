"""The examples run as they say, and give what they should."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*arguments: str | Path, cwd: Path, seconds: int = 120) -> str:
    """The output of a Python run in another folder, so that it sees the installed package and no other."""
    done = subprocess.run([sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_first_steps(tmp_path: Path) -> None:
    output = run(EXAMPLES / "first_steps.py", cwd=tmp_path)
    assert "tip: rest [ 0.18  2.   -0.08], stretched [ 0.18  2.5  -0.08]" in output
    assert "48 frames: (48, 656, 3)" in output


def test_first_steps_is_typed_strictly(tmp_path: Path) -> None:
    output = run("-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", EXAMPLES / "first_steps.py", cwd=tmp_path)
    assert output.startswith("Success")


def test_frames_spread_over_processes_are_those_of_one_call(tmp_path: Path) -> None:
    output = run(EXAMPLES / "skin_frames_with_dask.py", "--out", tmp_path / "frames.npy", cwd=tmp_path)
    assert "240 frames of 5760 vertices" in output
    module = example("skin_frames_with_dask")
    skin = module.tentacle()
    at_once = skin.deform(module.animation(skin.skeleton))
    assert at_once.shape == (240, 5760, 3)
    np.testing.assert_array_equal(np.load(tmp_path / "frames.npy"), at_once)
