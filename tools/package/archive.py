"""Zip files with the same bytes whenever they are made from the same contents."""

import zipfile
from pathlib import Path

TIME = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can say


def write(path: Path, contents: dict[str, bytes]) -> None:
    """In the order of `contents`; what is half written never has the final name."""
    unfinished = path.with_name(path.name + ".part")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in contents.items():
            entry = zipfile.ZipInfo(name, TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, wherever it is made
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, data)
    unfinished.replace(path)


def normalise(path: Path) -> None:
    """Make an archive that another program wrote independent of when and where it did."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in sorted(archive.namelist()) if not name.endswith("/")}
    write(path, contents)
