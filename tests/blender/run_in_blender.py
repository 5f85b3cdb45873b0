"""Runs tests of one module inside Blender: run_in_blender.py MODULE TEST...

Prints what the tests print and, after each test, one line that conftest.py reads: its name, its outcome, the traceback.
"""

import importlib.util
import json
import os
import sys
import traceback
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import scene  # noqa: E402  (it needs the path; it starts Blender with the extension in an empty user folder)


def main(path, names):
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    scene.empty()
    spec.loader.exec_module(module)
    for name in names:
        try:
            scene.empty()
            getattr(module, name)()
            outcome, text = "passed", ""
        except BaseException:
            outcome, text = "failed", traceback.format_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        print(f"\n@@@ {json.dumps([name, outcome, text])}", flush=True)


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2:])
    except BaseException:
        traceback.print_exc()
        code = 1
    else:
        code = 0
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # Blender as a module may not survive an ordinary end of Python
