"""The Blenders of requirements/blenders.txt, each a Python module in a virtual environment of its own."""

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
STEPS = Path(__file__).with_name("steps.py")
TIME_LIMIT = 300  # seconds a step


def _table() -> dict[str, list[str]]:
    lines = (ROOT / "requirements" / "blenders.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return {version: rest for version, *rest in rows}


TABLE = _table()


def python_of(version: str) -> str:
    """The Python that has this Blender and nothing of ours; installed if it is not there."""
    python, *packages = TABLE[version]
    command = [ROOT / "tools" / "venv.sh", f"blender-{version}", python, *packages]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def run(version: str, user_folder: Path, step: str, **arguments: object) -> dict:
    """Run one step of steps.py in a new Blender with that user folder; what it found out."""
    user_folder.mkdir(exist_ok=True)
    found = user_folder / f"{step}.json"
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(user_folder), "PYTHONFAULTHANDLER": "1"}
    environment.pop("PYTHONPATH", None)
    command = [python_of(version), STEPS, step, found, json.dumps(arguments, default=str)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIME_LIMIT)
    assert found.exists(), f"Blender {version}, {step}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return json.loads(found.read_text(encoding="utf-8"))
