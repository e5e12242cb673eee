"""`Monitor`: a view of a pipeline in the terminal, which refreshes itself."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from dali_core._runtime.thread_start import start_new_thread
from dali_core.errors import ArgumentTypeError, ArgumentValueError, PipelineStateError
from dali_core.monitoring.screen import Screen
from dali_core.monitoring.snapshot import Snapshot
from dali_core.statistics import PipelineStatistics

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

_TERMINAL_SECONDS, _FILE_SECONDS = 1.0, 10.0


class Monitor:
    """Shows what a pipeline does while a training loop consumes it.

    On a terminal a few lines are redrawn: samples and batches per second, how many batches are
    ready, the share of each operator, and the diagnosis. Elsewhere a line is written each time.
    A thread of its own does it, which takes no lock of the pipeline.

    Parameters
    ----------
    read : callable
        Returns the statistics of the pipeline; None before its first batch, and after its end.
    interval : float, optional
        Seconds between two updates; by default 1 on a terminal, and 10 elsewhere.
    file : text file, optional
        Where to write; by default the standard error output.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If `interval` is not a positive number.
    """

    def __init__(
        self,
        read: Callable[[], PipelineStatistics | None],
        *,
        interval: float | None = None,
        file: TextIO | None = None,
    ) -> None:
        if interval is not None and (
            isinstance(interval, bool) or not isinstance(interval, (int, float))
        ):
            raise ArgumentTypeError(
                f"Pipeline.monitor: interval must be a number of seconds (got {interval!r})."
            )
        if interval is not None and not (interval > 0 and math.isfinite(interval)):
            raise ArgumentValueError(
                f"Pipeline.monitor: interval must be positive (got {interval}). Pass seconds."
            )
        self._read = read
        self._screen = Screen(sys.stderr if file is None else file)
        default = _TERMINAL_SECONDS if self._screen.is_terminal else _FILE_SECONDS
        self._interval = default if interval is None else float(interval)
        self._program = program_name()
        self._before: Snapshot | None = None
        self._turn = threading.Lock()
        self._ending: threading.Event | None = None

    def start(self) -> Self:
        """Begin to show the pipeline, until `stop` is called; ``with`` does both.

        Raises
        ------
        PipelineStateError
            If it has been started already.
        """
        if self._ending is not None:
            raise PipelineStateError(
                "Monitor.start: the monitor must not have been started (got one that shows its "
                "pipeline already). Call stop first."
            )
        ending = self._ending = threading.Event()
        start_new_thread(lambda: self._show(ending), "dali_core monitor", daemon=True)
        return self

    def stop(self) -> None:
        """Show the last state, and end."""
        ending, self._ending = self._ending, None
        if ending is None:
            return
        ending.set()
        with self._turn:
            self._update(since_start=True)
            self._screen.keep()

    def print(self, *values: object) -> None:
        """Print a line above the view, as `print` does; on a terminal, `print` would disturb it."""
        with self._turn:
            self._screen.print_above(" ".join(map(str, values)))

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _show(self, ending: threading.Event) -> None:
        while not ending.wait(self._interval):
            with self._turn:
                if ending.is_set():
                    return
                self._update()

    def _update(self, *, since_start: bool = False) -> None:
        statistics = self._read()
        if statistics is None:
            return
        now = Snapshot.of(statistics, self._program, time.time())
        # A terminal or file that was closed must not disturb the training.
        with contextlib.suppress(OSError, ValueError):
            self._screen.show([now], [None if since_start else self._before])
        self._before = now


def program_name() -> str:
    """Return the name of the program that runs, such as ``train.py``."""
    return os.path.basename(sys.argv[0] if sys.argv else "") or "python"
