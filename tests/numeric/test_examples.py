"""The examples run as they say, and give what they should."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*arguments: str | Path, cwd: Path, seconds: int = 120) -> str:
    """The output of a Python run in another folder, so that it sees the installed package and no other."""
    done = subprocess.run([sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec and spec.loader
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


def test_arm_sweeps(tmp_path: Path) -> None:
    output = run(EXAMPLES / "arm_sweeps.py", cwd=tmp_path)
    found = re.findall(r"^ +(\w+) +([\d.]+)$", output, re.MULTILINE)
    assert [method for method, _ in found] == ["two_phase", "linear", "dual_quaternion"] * 3
    for method, ratio in found:
        assert float(ratio) < 0.9 if method == "linear" else abs(float(ratio) - 1) < 0.01, output


def test_arm_sweeps_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    run(EXAMPLES / "arm_sweeps.py", "--plot", tmp_path / "arm.png", cwd=tmp_path)
    assert (tmp_path / "arm.png").stat().st_size > 10_000


def test_frames_spread_over_processes_are_those_of_one_call(tmp_path: Path) -> None:
    output = run(EXAMPLES / "skin_frames_with_dask.py", "--out", tmp_path / "frames.npy", cwd=tmp_path)
    assert "240 frames of 5760 vertices" in output
    module = example("skin_frames_with_dask")
    skin = module.tentacle()
    at_once = skin.deform(module.animation(skin.skeleton))
    assert at_once.shape == (240, 5760, 3)
    np.testing.assert_array_equal(np.load(tmp_path / "frames.npy"), at_once)


def test_what_the_page_on_the_method_links_to_is_there() -> None:
    page = EXAMPLES.parent / "docs" / "method.md"
    links = re.findall(r"\[`?([^\]`]*)`?\]\(([^)#]+)\)", page.read_text())
    assert len(links) > 20
    for words, target in links:
        if target.startswith("http"):
            continue
        file = page.parent / target
        assert file.is_file(), target
        if file.suffix in (".c", ".inl"):
            assert re.search(rf"^[a-zA-Z].*\b{words}\(", file.read_text(), re.MULTILINE), f"{words} in {target}"
