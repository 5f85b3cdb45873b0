"""Speed, measured where clocks cannot: the instructions that a vertex costs, against a ceiling.

To measure anew, after a change that is meant to cost or to save: `python tests/numeric/test_instructions.py` prints
the counts of the installed package; write them into MEASURED. Fewer instructions are not always faster: that is for
`make bench` to decide.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import two_phase_skinning as tps

METHODS = ("linear", "dual_quaternion", "two_phase")
SIZES = (1024, 3072)  # the difference of the two is free of what a call costs

# Instructions a vertex with 4 influences, by the kernel that callgrind sees (Valgrind 3.19 knows no AVX-512).
# Built by GCC 12.2 for x86-64.
MEASURED = {"avx2": {"linear": 51.6, "dual_quaternion": 67.9, "two_phase": 88.0}}
ALLOWANCE = 1.10  # for other versions of the compiler

PROGRAM = """
import json, sys
import numpy as np
import two_phase_skinning as tps

methods, sizes = json.loads(sys.argv[1])
rng = np.random.default_rng(5)
joints, influences = 16, 4
bind = np.tile(np.eye(4), (joints, 1, 1))
skeleton = tps.Skeleton(np.full(joints, -1), bind)
turn = rng.uniform(-0.5, 0.5, joints)
rigid = bind.copy()
rigid[:, 0, 0] = rigid[:, 1, 1] = np.cos(turn)
rigid[:, 1, 0], rigid[:, 0, 1] = np.sin(turn), -np.sin(turn)
rigid[:, :3, 3] = rng.normal(size=(joints, 3))
scaled = rigid @ np.diag([1.2, 0.9, 1.1, 1.0])
for vertices in sizes:
    chosen = np.argsort(rng.random((vertices, joints)), axis=1)[:, :influences]
    weights = rng.uniform(0.1, 1.0, (vertices, influences))
    skin = tps.Skin(rng.normal(size=(vertices, 3)), (chosen, weights), skeleton)
    for method in methods:
        skin.deform(rigid if method == "dual_quaternion" else scaled, method=method, threads=1)
print(json.dumps(tps.build_info()))
"""


@cache
def measure() -> tuple[dict[str, str], dict[str, float]]:
    """What ran, and the instructions a vertex by method. Every call of tps_deform leaves a profile of its own."""
    with TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/profile"]
        command += ["--toggle-collect=tps_deform", "--dump-after=tps_deform"]
        command += [sys.executable, "-P", "-c", PROGRAM, json.dumps([METHODS, SIZES])]
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        calls = range(1, len(METHODS) * len(SIZES) + 1)
        profiles = [Path(f"{folder}/profile.{call}").read_text() for call in calls]
    counts = [int(match[1]) for profile in profiles if (match := re.search(r"^totals: (\d+)", profile, re.M))]
    small, large = counts[: len(METHODS)], counts[len(METHODS) :]
    vertices = SIZES[1] - SIZES[0]
    costs = [(b - a) / vertices for a, b in zip(small, large, strict=True)]
    return json.loads(done.stdout), dict(zip(METHODS, costs, strict=True))


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
@pytest.mark.skipif("clang" in tps.build_info()["compiler"].lower(), reason="the ceilings are GCC's")
@pytest.mark.parametrize("method", METHODS)
def test_instructions_a_vertex(method: tps.AnyMethod) -> None:
    build, costs = measure()
    if build["kernel"] not in MEASURED:
        pytest.skip(f"no ceiling for the kernel {build['kernel']}")
    ceiling = ALLOWANCE * MEASURED[build["kernel"]][method]
    found = f"{build}: {costs[method]:.1f} instructions a vertex"
    assert costs[method] <= ceiling, f"{found}; expected at most {ceiling:.1f}"
    assert costs[method] > 0.1 * ceiling, f"{found}: was it counted at all?"


if __name__ == "__main__":
    print(*measure(), sep="\n")
