"""The end of a pipeline: what has to be stopped, and in which order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from dali_core._execution.runner import Runner
from dali_core._runtime.finalizer import Finalizer


class PipelineClosing:
    """The part of `Pipeline` that ends its threads and processes."""

    _in_flight: deque[Any]
    _runner: Runner | None

    def __init__(self) -> None:
        self._closes: list[Callable[[], object]] = []
        # A function of the user that is running keeps the runner alive, but not the pipeline.
        Finalizer(self, _close_all, self._closes)

    def close(self) -> None:
        """End all threads. Outputs that were given out stay valid; running again raises."""
        self._in_flight.clear()
        self._close_all()
        if self._runner is not None:
            self._runner.forget_failures()

    def _finish_with(self, close: Callable[[], object]) -> None:
        """Have something closed with the pipeline, before what came earlier."""
        self._closes.append(close)

    def _close_all(self) -> None:
        _close_all(self._closes)


def _close_all(closes: list[Callable[[], object]]) -> None:
    while closes:
        closes.pop()()
