"""The pipeline that is being defined, and the location in the user's program."""

from __future__ import annotations

import sys
import threading
import warnings
from pathlib import Path
from typing import Any

from dali_core._messages import printable

_PACKAGE = str(Path(__file__).parents[1])


class _Stack(threading.local):
    def __init__(self) -> None:
        self.definitions: list[tuple[Any, Any]] = []


_stack = _Stack()


def current_definition() -> tuple[Any, Any]:
    """Return the pipeline that is being defined in this thread and its graph; None for both."""
    return _stack.definitions[-1] if _stack.definitions else (None, None)


def push_definition(pipeline: Any, graph: Any) -> None:
    """Start to define a pipeline, which has this graph."""
    _stack.definitions.append((pipeline, graph))


def pop_definition() -> None:
    """End what the last `push_definition` started."""
    _stack.definitions.pop()


def user_location() -> str:
    """Return ``file:line`` of the innermost call that comes from outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def warn_user(message: str, category: type[Warning] = DeprecationWarning) -> None:
    """Warn at the place that `user_location` gives; by default that something is deprecated."""
    frame = sys._getframe()
    level = 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(printable(message), category, stacklevel=level)
