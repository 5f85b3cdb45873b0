"""The checks in a real Blender window: python tools/test_gui.py ARCHIVES [OUT] [--figures]

ARCHIVES is the folder with the built extension. The pictures go to OUT, build/gui by default. What the checks found is
printed, and everything that Blender printed about errors in panels, menus and handlers: nothing there is expected.
--figures copies the pictures that the manual shows to docs/figures/ if all is well.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = {"WINDOW_LIMIT": "1800"}  # seconds; a quarter of that on a quiet machine
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


def copy_figures(out: Path) -> None:
    """The pictures that the manual's pages name: figures/manual_NAME.png is NAME.png of the run."""
    pages = "".join(page.read_text("utf-8") for page in (ROOT / "docs" / "manual").glob("*.md"))
    for name in sorted(set(re.findall(r"figures/manual_(\w+\.png)", pages))):
        shutil.copy(out / name, ROOT / "docs" / "figures" / f"manual_{name}")


if __name__ == "__main__":
    arguments = [Path(argument) for argument in sys.argv[1:] if not argument.startswith("--")]
    folder = arguments[1] if len(arguments) > 1 else ROOT / "build" / "gui"
    status = main(arguments[0], folder)
    if status == 0 and "--figures" in sys.argv:
        copy_figures(folder)
    sys.exit(status)
