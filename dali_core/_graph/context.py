"""The pipeline that is being defined."""

from __future__ import annotations

import threading
from typing import Any


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
