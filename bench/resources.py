"""What is not time: the memory that a skin keeps, and what a call allocates and starts.

Each is measured in a process of its own: python resources.py kept | calls (with count_allocations.c preloaded).
"""

import ctypes
import gc
import json
import os
import platform
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
from compiled import library
from ours import skin_of
from scene import mesh, rig

VERTICES = 2_000_000
CALLS = 200
AVAILABLE = platform.system() == "Linux" and platform.libc_ver()[0] == "glibc"


def resident() -> int:
    """Bytes of this process in memory, after what is free went back to the system."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def kept() -> dict[str, float]:
    """Bytes a vertex that a skin of 4 influences keeps, once made and used."""
    posed, work = rig(100, "scaled"), mesh(VERTICES, 100)
    out = np.zeros_like(work.points)
    skin_of(mesh(1000, 100), posed).deform(posed.world, out=out[:1000])
    before = resident()
    skin = skin_of(work, posed)
    made = resident()
    skin.deform(posed.world, out=out)
    return {"made": (made - before) / VERTICES, "used": (resident() - before) / VERTICES}


def calls() -> dict[str, dict[str, float]]:
    """Allocations, their bytes, and started threads of one call with `out`."""
    counts = ctypes.CDLL(None).counts
    now = (ctypes.c_long * 3)()

    def per_call(run: Any) -> np.ndarray:
        run()
        counts(now)
        before = np.array(now)
        for _ in range(CALLS):
            run()
        counts(now)
        return (np.array(now) - before) / CALLS

    result, posed = {}, rig(100, "scaled")
    for vertices in (1_000, 20_000, 200_000):
        skin, out = skin_of(mesh(vertices, 100), posed), np.empty((vertices, 3), np.float32)
        for name, threads in (("one thread", 1), ("chosen", 0)):
            run = partial(skin.deform, posed.world, out=out, threads=threads)
            cost = per_call(run) - per_call(lambda: None)
            result[f"{vertices} {name}"] = dict(zip(("allocations", "bytes", "threads"), cost, strict=True))
    return result


def measure(what: str) -> Any:
    environment = dict(os.environ)
    if what == "calls":
        environment["LD_PRELOAD"] = str(library("count_allocations"))
    done = subprocess.run([sys.executable, __file__, what], env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


if __name__ == "__main__":
    print(json.dumps({"kept": kept, "calls": calls}[sys.argv[1]]()))
