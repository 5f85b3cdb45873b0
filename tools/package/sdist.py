"""Make the source distribution, and hold it and the wheels to what an index asks for: python tools/package/sdist.py

It is made in a copy of what git tracks, so that nothing else gets into it, and has the same bytes whenever it is made.
"""

import gzip
import io
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from produce import WHEELS
from sources import ROOT

COPY = ROOT / "build" / "package" / "sdist"


def copy_tracked() -> None:
    """What git tracks, as it is now, as a repository of its own: check-manifest asks git."""
    shutil.rmtree(COPY, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        (COPY / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, COPY / name)
    for command in (["init", "-q"], ["add", "--all"]):
        subprocess.run(["git", *command], cwd=COPY, check=True)


def make() -> Path:
    """By the backend that pip asks too."""
    code = "from setuptools import build_meta; build_meta.build_sdist('dist')"
    subprocess.run([sys.executable, "-c", code], cwd=COPY, check=True, capture_output=True)
    (made,) = (COPY / "dist").iterdir()
    for old in WHEELS.glob("*.tar.gz"):
        old.unlink()
    return _normalised(made, WHEELS / made.name)


def _normalised(source: Path, target: Path) -> Path:
    """The same files without when and by whom they were made."""
    plain = io.BytesIO()
    with tarfile.open(source) as old, tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as new:
        for member in sorted(old.getmembers(), key=lambda member: member.name):
            entry = tarfile.TarInfo(member.name)
            entry.type, entry.size = member.type, member.size
            entry.mode = 0o755 if member.isdir() else 0o644
            new.addfile(entry, old.extractfile(member) if member.isfile() else None)
    with target.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(plain.getvalue())
    return target


def ask(module: str, *arguments: object) -> None:
    """Run a program that looks at what was made; what it says is of interest only if it refuses."""
    done = subprocess.run([sys.executable, "-m", module, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{done.stdout}{done.stderr}\n{module} refused")


def main() -> None:
    copy_tracked()
    ask("check_manifest", "--no-build-isolation", COPY)
    made = make()
    ask("twine", "--no-color", "check", "--strict", *sorted(WHEELS.iterdir()))
    print(f"{made.relative_to(ROOT)}  {made.stat().st_size // 1024} KB; twine and check-manifest find nothing wrong")


if __name__ == "__main__":
    main()
