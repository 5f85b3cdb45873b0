"""Measure the package beside its peers: python bench/run.py [--quick]

Prints the tables. The whole run (less than 10 minutes) also writes docs/performance.md and its plots; the quick one
(less than 2) leaves them in build/bench/.
"""

import argparse
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
QUIET = 0.05  # the share of the cores' time that others may take


def free_numpy() -> None:
    """NumPy's linear algebra chooses for this processor by itself, and stays on one thread."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        os.environ.pop(name, None)


def run(quick: bool) -> None:
    # only now: NumPy reads the environment when it is loaded
    import machine
    import measured
    import plots
    from page import page, targets_table
    from targets import rows

    load, start = machine.Load(), time.monotonic()

    def say(what: str) -> None:
        print(f"[{time.monotonic() - start:3.0f} s] {what}", file=sys.stderr, flush=True)

    m = measured.measure(measured.QUICK if quick else measured.FULL, say)
    found, others = rows(m), load.others()
    folder = ROOT / "build" / "bench" if quick else ROOT / "docs"
    plots.draw(m, folder / "figures")
    text = page(m, found, machine.description(), others)
    (folder / "performance.md").write_text(text, encoding="utf-8")
    print(text[text.index("## Machine") :])
    print(targets_table(found))
    say(f"written: {(folder / 'performance.md').relative_to(ROOT)}")
    if others and others > QUIET:
        say(f"Other work took {100 * others:.0f} % of the cores' time: measure again when the machine is quiet.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer sizes and rounds; docs/ is left alone")
    arguments = parser.parse_args()
    free_numpy()
    run(arguments.quick)


if __name__ == "__main__":
    main()
