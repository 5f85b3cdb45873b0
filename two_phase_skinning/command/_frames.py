"""Frames as they are written on the command line."""

from __future__ import annotations

import argparse
import math

MOST = 10_000_000


def frames(text: str) -> list[float]:
    """ "12", "1:48" (both included), "1:48:0.5" (a step), or several of them with commas, as time codes."""
    times: list[float] = []
    for part in text.split(","):
        times += _part(part, text)
    return times


def _part(part: str, text: str) -> list[float]:
    try:
        numbers = [float(number) for number in part.split(":")]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 3 or not all(math.isfinite(number) for number in numbers):
        raise _wrong(text)
    first, last, step = (*numbers, numbers[0], 1.0)[:3] if len(numbers) == 1 else (*numbers, 1.0)[:3]
    if step <= 0 or last < first or (last - first) / step > MOST:
        raise _wrong(text)
    # a rounding error of the division does not cost the last frame
    return [first + step * number for number in range(math.floor((last - first) / step + 1e-9) + 1)]


def _wrong(text: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f'"{text}"; expected frames as 12, 1:48, 1:48:0.5 or 1:10,20:30')
