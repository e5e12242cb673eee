"""Errors that are expected, without pytest, which is not needed to import the suites."""

from __future__ import annotations

from collections.abc import Callable


def expect(
    kind: type[Exception] | tuple[type[Exception], ...], action: Callable[[], object]
) -> str:
    """Return the message of the exception that an action must raise."""
    try:
        action()
    except kind as error:
        return str(error)
    kinds = kind if isinstance(kind, tuple) else (kind,)
    raise AssertionError(f"{' or '.join(one.__name__ for one in kinds)} was not raised")
