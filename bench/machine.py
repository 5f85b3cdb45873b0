"""The machine that was measured, what ran on it, and how much else it had to do meanwhile."""

import os
import platform
import time
from importlib.metadata import version
from pathlib import Path

import two_phase_skinning as tps

PEERS = ("numpy", "numba", "usd-core", "scipy", "bpy")


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def caches() -> str:
    """Like "L1d 48K, L2 2048K", as far as the system tells."""
    found = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind, level, size = ((index / name).read_text().strip() for name in ("type", "level", "size"))
        if kind != "Instruction":
            found.append(f"L{level}{'d' if kind == 'Data' and level == '1' else ''} {size}")
    return ", ".join(found)


def memory() -> str:
    try:
        return f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GiB"
    except (ValueError, OSError, AttributeError):
        return "unknown"


def description() -> dict[str, str]:
    build = tps.build_info()
    return {
        "Processor": f"{processor()}, {os.cpu_count()} cores" + (f" ({caches()})" if caches() else ""),
        "Memory": memory(),
        "System": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "Python": platform.python_version(),
        "two_phase_skinning": f"{build['version']}, kernel {build['kernel']} of {', '.join(build['kernels'])}; "
        f"compiler {build['compiler']}",
        "Others": ", ".join(f"{name} {version(name)}" for name in PEERS),
    }


class Load:
    """How busy the machine was since this was made, beside this process and the children that it has waited for."""

    def __init__(self) -> None:
        self.start = self.now()

    @staticmethod
    def now() -> tuple[float, float, float]:
        """Seconds: of the clock, of this process and its children, and of all processes on all cores."""
        own = os.times()
        fields = Path("/proc/stat").read_text().split()[1:9] if Path("/proc/stat").exists() else ["0"] * 8
        user, nice, system, _idle, _wait, interrupts, soft, stolen = (int(f) / 100 for f in fields)
        everything = user + nice + system + interrupts + soft + stolen
        return time.monotonic(), sum(own[:4]), everything

    def others(self) -> float | None:
        """The share of the cores' time that went to others, or None where the system does not tell."""
        clock, own, everything = (b - a for a, b in zip(self.start, self.now(), strict=True))
        return max(0.0, everything - own) / (clock * (os.cpu_count() or 1)) if everything else None
