"""The end of a pipeline: what has to be stopped, and in which order."""

from __future__ import annotations

from collections.abc import Callable

from dali_core._runtime.finalizer import Finalizer


class Closing:
    """What is to be closed with a pipeline, or after its last reference is released.

    Parameters
    ----------
    pipeline : object
        The pipeline. A function of the user that is running keeps its runner alive, but not it.
    """

    def __init__(self, pipeline: object) -> None:
        self._closes: list[Callable[[], object]] = []
        Finalizer(pipeline, _close_all, self._closes)

    def add(self, close: Callable[[], object]) -> None:
        """Have something closed with the pipeline, before what came earlier."""
        self._closes.append(close)

    def close_all(self) -> None:
        """Close everything."""
        _close_all(self._closes)


def _close_all(closes: list[Callable[[], object]]) -> None:
    while closes:
        closes.pop()()
