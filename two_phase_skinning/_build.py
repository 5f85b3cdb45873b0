"""What this build is, for reports and benchmarks."""

from typing import TypedDict

from two_phase_skinning import _core


class BuildInfo(TypedDict):
    """The version; the kernel that new skins use; all that this machine can run, best first; and the C compiler."""

    version: str
    kernel: str
    kernels: list[str]
    compiler: str


def build_info() -> BuildInfo:
    """What runs: a dict with ``version``, ``kernel``, ``kernels`` and ``compiler``; see BuildInfo."""
    kernels = _core.kernels()
    return {"version": _core.version, "kernel": kernels[0], "kernels": kernels, "compiler": _core.compiler}
