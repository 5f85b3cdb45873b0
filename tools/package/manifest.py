"""The manifest of the archives: addon/blender_manifest.toml with the platforms and the wheels."""

import re


def completed(manifest: str, platforms: list[str], wheels: list[str]) -> str:
    """Names both, where the manifest has neither. Before its tables: what follows a table belongs to it."""
    for key in ("wheels", "platforms"):
        if re.search(rf"(?m)^{key}\b", manifest):
            raise SystemExit(f"addon/blender_manifest.toml has {key}: they are written by tools/package")
    keys, table, tables = manifest.partition("\n[")
    quoted = ", ".join(f'"{platform}"' for platform in platforms)
    lines = "".join(f'  "./wheels/{wheel}",\n' for wheel in wheels)
    return f"{keys.rstrip()}\nplatforms = [{quoted}]\nwheels = [\n{lines}]\n" + table + tables
