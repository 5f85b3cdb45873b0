"""The checks in a real Blender window: python tools/test_gui.py ARCHIVES [OUT]

ARCHIVES is the folder with the built extension. The pictures go to OUT, build/gui by default. What the checks found is
printed, and everything that Blender printed about errors in panels, menus and handlers: nothing there is expected.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = {"WINDOW_LIMIT": "900"}  # seconds; half of that on a quiet machine
ERRORS = re.compile(r"Traceback|\bError\b|rna_uiItem\w*:|unknown (operator|property)")


def main(archives: Path, out: Path) -> int:
    found = sorted(archives.glob("*linux*x64*.zip")) or sorted(archives.glob("*.zip"))
    if not found:
        print(f"{archives}: no archive of the extension; `make extension` makes it", file=sys.stderr)
        return 1
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    shutil.copy(found[-1], out / "extension.zip")
    script = ROOT / "tests" / "gui" / "run.py"
    status = subprocess.run([ROOT / "tools" / "window.sh", "run", script, out], env=os.environ | LIMIT).returncode
    results = (out / "results.txt").read_text("utf-8") if (out / "results.txt").exists() else ""
    print(results, end="")
    log = (out / "blender.log").read_text("utf-8", "replace").splitlines()
    errors = [line for line in log if ERRORS.search(line)]
    if errors or "FAILED" in results:
        print("\n".join(log))
    passed, failed = results.count("\nok") + results.startswith("ok"), results.count("FAILED")
    print(f"\n{passed} passed, {failed} failed")
    return int(bool(status or failed or errors or not passed))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "build" / "gui"))
