"""One program doing one method's work, as each peer offers it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from clock import Entry, timed
from numpy.typing import NDArray

METHODS = ("linear", "dual_quaternion", "two_phase")


class Task(NamedTuple):
    """run(*prepare()) does the work, and result() gives what came out of it.

    computes: what that must be, for `expected.check`; "" means the method's own name. every: see clock.Entry.
    """

    who: str
    method: str
    run: Callable[..., Any]
    result: Callable[[], NDArray[Any]]
    prepare: Callable[[], tuple[Any, ...]] = tuple
    computes: str = ""
    every: int = 1

    @property
    def name(self) -> str:
        return f"{self.who} {self.method}"

    def entry(self) -> Entry:
        return Entry(self.name, timed(self.run, self.prepare), self.every)
