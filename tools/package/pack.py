"""Packs the package and its module for one target into a wheel."""

import base64
import hashlib
from email.parser import HeaderParser
from pathlib import Path

import archive
from sources import ROOT, Package
from targets import Target

PYTHON_TAG = "cp311-abi3"


def name(package: Package, target: Target) -> str:
    return f"{package.distribution}-{package.version}-{PYTHON_TAG}-{target.wheel_tag}.whl"


def pack(package: Package, target: Target, module: Path, folder: Path) -> Path:
    contents = {name: path.read_bytes() for name, path in package.python_files().items()}
    contents[f"{package.import_name}/{target.module}"] = module.read_bytes()
    information = f"{package.distribution}-{package.version}.dist-info"
    contents[f"{information}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    contents[f"{information}/METADATA"] = package.metadata.encode()
    contents[f"{information}/WHEEL"] = _wheel_file(target)
    contents[f"{information}/entry_points.txt"] = _entry_points(package).encode()
    contents[f"{information}/top_level.txt"] = f"{package.import_name}\n".encode()
    contents[f"{information}/RECORD"] = _record(contents, f"{information}/RECORD")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name(package, target)
    archive.write(path, contents)
    return path


def _wheel_file(target: Target) -> bytes:
    lines = ["Wheel-Version: 1.0", "Generator: two-phase-skinning", "Root-Is-Purelib: false"]
    return "\n".join([*lines, f"Tag: {PYTHON_TAG}-{target.wheel_tag}", ""]).encode()


def _entry_points(package: Package) -> str:
    groups = [[f"[{group}]", *lines, ""] for group, lines in sorted(package.entry_points.items())]
    return "\n".join(line for group in groups for line in group)


def _record(contents: dict[str, bytes], itself: str) -> bytes:
    lines = []
    for path, data in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(data)}\n")
    return "".join([*lines, f"{itself},,\n"]).encode()


def problems(contents: dict[str, bytes], version: str):
    """What is wrong with a wheel's files; the binary apart."""
    (information,) = {name.partition("/")[0] for name in contents if ".dist-info/" in name}
    metadata = HeaderParser().parsestr(contents[f"{information}/METADATA"].decode())
    if metadata["Version"] != version:
        yield f"its METADATA says version {metadata['Version']}"
    recorded = contents[f"{information}/RECORD"]
    others = {name: data for name, data in contents.items() if name != f"{information}/RECORD"}
    if recorded != _record(others, f"{information}/RECORD"):
        yield "its RECORD is not that of its files"
    if f"{information}/licenses/LICENSE" not in contents:
        yield "it has no LICENSE"
