"""index.html beside the film and the picture: any browser plays it from the disk."""

from __future__ import annotations

import html
from pathlib import Path

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Two-Phase Skin</title>
<style>
  body {{ margin: 2rem auto; max-width: 60rem; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }}
  video, img {{ width: 100%; }}
  pre {{ overflow-x: auto; }}
</style>
<h1>Two-Phase Skin</h1>
<video src="animation.mp4" autoplay loop muted controls playsinline></video>
<pre>{table}</pre>
<img src="comparison.png" alt="The same frame by linear skinning, Preserve Volume and Two-Phase Skin">
</html>
"""


def write(path: Path, table: str) -> None:
    path.write_text(PAGE.format(table=html.escape(table)), encoding="utf-8")
