"""The Blenders of requirements/blenders.txt, each a Python module in a virtual environment of its own.

With WINDOW=1 in the environment there is one more: Debian's Blender 4.3 with a window, by tools/window.sh.
"""

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
STEPS = Path(__file__).with_name("steps.py")
TIME_LIMIT = 600  # seconds a step


def _table() -> dict[str, list[str]]:
    lines = (ROOT / "requirements" / "blenders.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return {version: rest for version, *rest in rows}


TABLE = _table()
OLDEST, NEWEST = min(TABLE), max(TABLE)
WINDOW = "4.3 with a window"
VERSIONS = [*TABLE, WINDOW] if os.environ.get("WINDOW") else list(TABLE)


def python_of(version: str) -> str:
    """The Python that has this Blender and nothing of ours; installed if it is not there."""
    python, *packages = TABLE[version]
    command = [ROOT / "tools" / "venv.sh", f"blender-{version}", python, *packages]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def run(version: str, folder: Path, step: str, **arguments: object) -> dict:
    """Run one step of steps.py in a new Blender whose user folder is folder/user; what it found out."""
    user, found = folder / "user", folder / f"{step}.json"
    user.mkdir(parents=True, exist_ok=True)
    words = [step, str(found), json.dumps(arguments, default=str)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if version == WINDOW:
        (folder / "step.json").write_text(json.dumps(words), encoding="utf-8")
        command = [ROOT / "tools" / "window.sh", "run", STEPS, folder, folder.parent]
    else:
        environment |= {"BLENDER_USER_RESOURCES": str(user), "PYTHONFAULTHANDLER": "1"}
        command = [python_of(version), STEPS, *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIME_LIMIT)
    assert found.exists(), f"Blender {version}, {step}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return json.loads(found.read_text(encoding="utf-8"))
