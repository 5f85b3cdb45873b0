"""Times things that are to be compared, side by side.

Machines change their speed within a second, by other work on them and by their own clock. So what is compared takes
turns, one short sample each, round after round; a time is the median over the rounds, and a ratio is the median of the
rounds' own ratios.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LONG_ENOUGH = 4e-3  # seconds; shorter calls are repeated within a sample
PAUSE = 2e-3  # lets the threads of the one before fall asleep: some pools spin for a while
SLOW = 0.25  # seconds; nothing is gained by a call before the timed one


class Entry(NamedTuple):
    """sample() takes one and returns the seconds of a call; every: takes part in every n-th round only."""

    name: str
    sample: Callable[[], float]
    every: int = 1


def timed(run: Callable[..., Any], prepare: Callable[[], tuple[Any, ...]] = tuple) -> Callable[[], float]:
    """A sample of `run(*prepare())`; each call has its own prepare(), which is not timed."""
    once = [0.0]

    def seconds_of(repeats: int) -> float:
        arguments = [prepare() for _ in range(repeats)]
        start = time.perf_counter()
        for a in arguments:
            run(*a)
        return (time.perf_counter() - start) / repeats

    def sample() -> float:
        if once[0] < SLOW:
            seconds_of(1)  # caches and branch predictors are now its own
        once[0] = once[0] or seconds_of(1)
        # Prepared arguments may be as large as the mesh, so those calls are not repeated.
        repeats = 1 if prepare is not tuple else int(np.clip(LONG_ENOUGH / once[0], 1, 1000))
        once[0] = seconds_of(repeats)
        return once[0]

    return sample


class Times:
    """Seconds by name and round; NaN where an entry did not take part."""

    def __init__(self, samples: dict[str, NDArray[np.float64]]) -> None:
        self.samples = samples

    def __contains__(self, name: str) -> bool:
        return name in self.samples

    def seconds(self, name: str) -> float:
        return float(np.nanmedian(self.samples[name]))

    def ratio(self, name: str, to: str) -> float:
        """How many times as long `name` takes as `to`."""
        return float(np.nanmedian(self.samples[name] / self.samples[to]))

    def spread(self, name: str, to: str | None = None) -> float:
        """How noisy it was: the upper quartile over the lower one, of the times or of the ratios."""
        samples = self.samples[name] / (self.samples[to] if to else 1.0)
        low, high = np.nanpercentile(samples, [25, 75])
        return float(high / low)


def take_turns(entries: Sequence[Entry], rounds: int) -> Times:
    samples = {entry.name: np.full(rounds, np.nan) for entry in entries}
    for entry in entries:
        entry.sample()  # compiles, allocates, and learns how long a call is
    for r in range(rounds):
        first = r % len(entries)
        for entry in [*entries[first:], *entries[:first]]:
            if r % entry.every == 0:
                time.sleep(PAUSE)
                samples[entry.name][r] = entry.sample()
    return Times(samples)
