"""Which pipeline is being defined, and where in the user's program."""

from __future__ import annotations

import sys
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dali_core.pipeline import Pipeline

_PACKAGE = str(Path(__file__).parents[1])


class _Stack(threading.local):
    def __init__(self) -> None:
        self.pipelines: list[Pipeline] = []


_stack = _Stack()


def current_pipeline() -> Pipeline | None:
    """Give the pipeline that is being defined in this thread."""
    return _stack.pipelines[-1] if _stack.pipelines else None


def push_pipeline(pipeline: Pipeline) -> None:
    """Start to define a pipeline."""
    _stack.pipelines.append(pipeline)


def pop_pipeline() -> None:
    """End what the last `push_pipeline` started."""
    _stack.pipelines.pop()


def user_location() -> str:
    """Give ``file:line`` of the innermost call that comes from outside this package."""
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
    warnings.warn(message, category, stacklevel=level)
