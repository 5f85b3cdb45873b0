"""Signals and forks: a process that is interrupted, or that has forked, goes on as before."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

if os.name != "posix":
    pytest.skip("signals and forks as POSIX has them", allow_module_level=True)

HERE = Path(__file__).parent

# A process that was started in the background, by a shell or nohup, ignores SIGINT, and its children do too.
COMMON = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from rigs import make_rig
from subjects import skin_of

rig = make_rig(31, count=12, vertices=20011, influences=5)
skin = skin_of(rig)
expected = skin.deform(rig.world, threads=1)
"""

# Ctrl-C while the core works on many frames: the call ends, then the interrupt is raised; nothing is half done.
INTERRUPT = """
frames = np.array([rig.world] * 400)
out = np.zeros((len(frames), *expected.shape), np.float32)
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    skin.deform(frames, out=out, threads={threads})
    time.sleep(30)
    sys.exit("no interrupt came")
except KeyboardInterrupt:
    pass
assert all((frame == expected).all() for frame in out), "the result is half done"
assert (skin.deform(rig.world, threads={threads}) == expected).all()
"""

# A child of a process that has used threads, and that uses them while it forks.
FORK = """
skin.deform(rig.world, threads=4)
stop = threading.Event()

def work():
    while not stop.is_set():
        skin.deform(rig.world, threads=2)

workers = [threading.Thread(target=work) for _ in range(3)]
for worker in workers:
    worker.start()
for _ in range(20):
    child = os.fork()
    if child == 0:
        same = all((skin.deform(rig.world, threads=n) == expected).all() for n in (1, 4, 0))
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0, "the child deformed wrongly"
stop.set()
for worker in workers:
    worker.join()
assert (skin.deform(rig.world) == expected).all()
"""


def ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def run(script: str, in_background: bool = False) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path]), "PYTHONFAULTHANDLER": "1"}
    command = [sys.executable, "-P", "-W", "ignore::DeprecationWarning", "-c", COMMON + script]
    ended = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=ignore_interrupts if in_background else None,
    )
    assert ended.returncode == 0, f"{signal_name(ended.returncode)}\n{ended.stderr}"


def signal_name(code: int) -> str:
    return f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"


@pytest.mark.parametrize("in_background", [False, True])
@pytest.mark.parametrize("threads", [1, 4])
def test_interrupt_during_a_long_call(threads: int, in_background: bool) -> None:
    run(INTERRUPT.replace("{threads}", str(threads)), in_background)


def test_fork_while_threads_are_at_work() -> None:
    run(FORK)
