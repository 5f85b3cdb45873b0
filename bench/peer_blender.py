"""Blender's Armature modifier: talks with blender_worker.py."""

import os
import subprocess
import sys
from pathlib import Path

from clock import Entry

# Preserve Volume with scaled bones is left out: it moves vertices by neither of the methods that have two blends.
METHODS = ("linear", "dual_quaternion")
AVAILABLE = hasattr(os, "sched_setaffinity")  # nothing else limits its threads


class Worker:
    def __init__(self, threads: int) -> None:
        command = [sys.executable, str(Path(__file__).with_name("blender_worker.py"))]
        cores = os.sched_getaffinity(0)
        # A process starts on the cores of its parent, and Blender makes a thread for each.
        os.sched_setaffinity(0, sorted(cores)[:threads])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        os.sched_setaffinity(0, cores)

    def ask(self, command: str, argument: object) -> float:
        self.process.stdin.write(f"{command} {argument}\n")
        self.process.stdin.flush()
        for line in self.process.stdout:  # Blender writes there too
            if line.startswith("@"):
                try:
                    return float(line[1:])
                except ValueError:
                    raise SystemExit(f"Blender: {line[1:].strip()}") from None
        raise SystemExit(f"Blender ended, {command} {argument}: exit status {self.process.wait()}")

    def entries(self, vertices: int) -> list[Entry]:
        """A mesh of that size, checked; one entry a method, and "Blender pose": an update without the modifier."""
        self.ask("build", vertices)
        for method in METHODS:
            self.ask("check", method)
        every = 3  # it is slow, and no target rests on it
        return [Entry(f"Blender {m}", lambda m=m: self.ask("sample", m), every) for m in [*METHODS, "pose"]]

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=60)
