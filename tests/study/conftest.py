"""The study's modules are scripts beside each other in study/: their folder goes on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "study"))
