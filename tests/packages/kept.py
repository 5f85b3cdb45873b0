"""Makes the small file that is kept of each version of the extension: python tests/packages/kept.py

It installs the extension that `make extension` made into the oldest Blender, in an empty user folder, and leaves
tests/blender/kept/VERSION.blend: two skinned, animated tubes, in whose attributes stands where their points are to be.
"""

import sys
import tempfile
from pathlib import Path

import blenders
import versions

KEPT = blenders.ROOT / "tests" / "blender" / "kept"


def main() -> int:
    path = KEPT / f"{versions.NEW}.blend"
    if path.exists():
        print(f"{path}: is there already; what was kept is not made anew", file=sys.stderr)
        return 1
    KEPT.mkdir(exist_ok=True)
    archive = versions.Archives()[versions.NEW]
    with tempfile.TemporaryDirectory() as folder:
        blenders.run(blenders.OLDEST, Path(folder), "keep", archive=archive, path=path)
    print(f"{path.relative_to(blenders.ROOT)}  {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
