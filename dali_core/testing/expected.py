"""Errors that are expected, without pytest, which is not needed to import the suites."""

from __future__ import annotations

from collections.abc import Callable


def expect(kind: type[Exception], action: Callable[[], object]) -> str:
    """Return the message of the exception that an action must raise."""
    try:
        action()
    except kind as error:
        return str(error)
    raise AssertionError(f"{kind.__name__} was not raised")
