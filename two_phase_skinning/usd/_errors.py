"""What is wrong with a scene or a file, in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pxr import Tf


class SceneError(ValueError):
    """Something in the scene that cannot be skinned or written; the message names the prim or the file."""

    @classmethod
    def at(cls, prim: Any, words: object) -> SceneError:
        """The error of one prim, which the message begins with."""
        return cls(f"prim <{prim.GetPath()}>: {words}")


@contextmanager
def errors_at(prim: Any) -> Iterator[None]:
    """Errors of the core, which name its arguments, become SceneErrors that name the prim too."""
    try:
        yield
    except SceneError:
        raise
    except ValueError as error:
        raise SceneError.at(prim, error) from None


@contextmanager
def refusals(words: str) -> Iterator[None]:
    """Errors that OpenUSD raises become SceneErrors: words, and OpenUSD's first reason."""
    try:
        yield
    except (Tf.ErrorException, Tf.CppException) as error:
        raise SceneError(f"{words} ({_reason(str(error))})") from None


def _reason(text: str) -> str:
    """The first message of OpenUSD's list of them, without where in its sources it comes from."""
    quoted = re.search(r" : '(.*)'", text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return quoted[1] if quoted else lines[0] if lines else "no reason given"
