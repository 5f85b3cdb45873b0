"""What the package says of itself, and what is in it."""

from __future__ import annotations

import importlib.metadata
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import two_phase_skinning as tps
from two_phase_skinning import _core

ROOT = Path(__file__).parents[2]


def test_one_version() -> None:
    manifest = tomllib.loads((ROOT / "addon/blender_manifest.toml").read_text(encoding="utf-8"))
    header = (ROOT / "csrc/core/tps.h").read_text(encoding="utf-8")
    parts = [re.search(rf"#define TPS_VERSION_{part} (\d+)", header) for part in ("MAJOR", "MINOR", "PATCH")]
    assert ".".join(part[1] for part in parts if part) == manifest["version"] == tps.__version__
    assert importlib.metadata.version("two-phase-skinning") == tps.__version__


def test_metadata_stands_alone() -> None:
    """On an index there is nothing of the sources: no relative link leads anywhere."""
    found = importlib.metadata.metadata("two-phase-skinning")
    text = found.get_payload() or found["Description"]  # type: ignore[attr-defined]  # which of them varies with Python
    assert found["Author"] and found["Summary"] and found["Requires-Python"] == ">=3.11"
    assert len(text) > 1000
    assert [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("http")] == []


def test_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    example, recipe = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text("utf-8"), flags=re.S)
    names: dict[str, np.ndarray] = {}
    exec(example, names)
    two_phase, linear = (names["skin"].deform(names["world"], method=m) for m in ("two_phase", "linear"))  # type: ignore[attr-defined]
    assert capsys.readouterr().out == f"{two_phase} {linear}\n"
    np.testing.assert_allclose(two_phase[[2, 4]], [[0.1414, 2.2828, 0], [-1, 2.4, 0]], atol=1e-4)
    pytest.importorskip("scipy", "1.16")
    exec(recipe, names)
    np.testing.assert_allclose(shaded(names, 2, [0.5, 0.5]), two_phase[2], atol=1e-6)


def shaded(names: dict[str, np.ndarray], vertex: int, weights: list[float]) -> np.ndarray:
    """What a shader makes of the recipe's arrays."""
    point = np.append(names["points"][vertex], 1)
    moved = np.append(np.tensordot(weights, names["nonrigid"], 1) @ point, 1)
    real, dual = names["rigid"][:, :4], names["rigid"][:, 4:]
    signs = np.where(real @ real[0] < 0, -1, 1) * weights
    r, d = signs @ real, signs @ dual
    r, d = r / np.linalg.norm(r), d / np.linalg.norm(r)
    w, u = r[0], r[1:]
    bent = moved[:3] + 2 * np.cross(u, np.cross(u, moved[:3]) + w * moved[:3])
    bent += 2 * (w * d[1:] - d[0] * u + np.cross(u, d[1:]))
    return np.asarray(np.tensordot(weights, names["inherited"], 1) @ np.append(bent, 1))


def test_docstrings_name_no_file_that_is_not_installed() -> None:
    texts = [tps.__doc__ or ""]
    for thing in [*(getattr(tps, name) for name in tps.__all__), *vars(_core).values()]:
        texts.append(inspect.getdoc(thing) or "")
        if inspect.isclass(thing):
            texts += [inspect.getdoc(member) or "" for member in vars(thing).values()]
    assert len(texts) > 50
    named = {path for text in texts for path in re.findall(r"[\w./]+\.(?:md|py|c|h)\b", text)}
    assert not named


def test_the_native_part_carries_no_debugging_information() -> None:
    module = Path(_core.__file__)
    assert b".debug_info" not in module.read_bytes() and module.stat().st_size < 2_000_000


def test_setup_needs_no_module_that_older_pythons_lack() -> None:
    """pip asks setup.py before it can say that the Python is too old."""
    assert "tomllib" not in (ROOT / "setup.py").read_text(encoding="utf-8")


def test_the_build_description_names_every_source() -> None:
    words = set((ROOT / "csrc/build.mk").read_text(encoding="utf-8").split())
    assert {path.name for path in (ROOT / "csrc").glob("*/*.c")} <= words


WRAPPER = """
import numpy as np
import two_phase_skinning as tps

def posed(skin: tps.Skin, method: tps.AnyMethod, inherited: tps.AnyInherited, **options: object) -> None:
    points = skin.deform(np.eye(4), method=method, inherited=inherited, blend=0.5, threads=2)
    reveal_type(points)
    build: tps.BuildInfo = tps.build_info()
    skin.deform(np.eye(4), method=tps.Method.LINEAR, inherited="before")

def wrong(skin: tps.Skin) -> None:
    skin.deform(np.eye(4), method="lbs")
    skin.matrices(np.eye(4), offsets=True)
"""


def test_a_callers_wrapper_is_typed(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    script = tmp_path / "wrapper.py"
    script.write_text(WRAPPER, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(script)]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    assert "_32Bit" in said or "float32" in said
    assert said.count("error:") == 2 and "[arg-type]" in said and "[call-arg]" in said, said
