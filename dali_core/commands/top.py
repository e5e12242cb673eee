"""``dali-core top``: a live view of a running process, of a program, or of a pipeline."""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TextIO

from dali_core._messages import print_lines
from dali_core._runtime.thread_start import start_new_thread
from dali_core.commands._options import positive
from dali_core.errors import ArgumentValueError

if TYPE_CHECKING:
    from dali_core.monitoring.snapshot import Snapshot


def add_parser(parsers: Any) -> None:
    """Add the arguments of the command."""
    from dali_core.commands._scripts import add_pipeline_options

    parser = parsers.add_parser(
        "top",
        help="watch a pipeline while it runs",
        description="Show rate, queue, operators and diagnosis of a pipeline, again and again: of "
        "a process that was started with DALI_CORE_MONITOR=1, of a program, or of a pipeline of a "
        "script, which are run. Without arguments, show the only such process, or list them.",
    )
    parser.add_argument("target", metavar="PID|PROGRAM|SCRIPT:NAME", nargs="?")
    parser.add_argument("arguments", metavar="ARGUMENT", nargs="*", help="of a program, after --")
    add_pipeline_options(parser)
    parser.add_argument(
        "--batches", type=positive, metavar="N", help="of a script (by default until Ctrl-C)"
    )
    parser.add_argument("--interval", type=_seconds, default=1.0, metavar="S", help="(%(default)s)")
    parser.add_argument(
        "--updates", type=positive, metavar="N", help="of a process (by default until it ends)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Show a process, a program or a pipeline."""
    from dali_core.monitoring.publication import published_processes

    target: str | None = options.target
    if target is None:
        running = published_processes()
        if len(running) != 1:
            print_lines(*(map(str, running) if running else ["No process publishes pipelines."]))
            return 0
        target = str(running[0])
    if target.isascii() and target.isdecimal():
        return _show_process(int(target), options)
    if target.endswith(".py") and ":" not in target:
        return _show_program(options)
    return _show_script(options)


def _show_program(options: argparse.Namespace) -> int:
    """Run a program, and show its pipelines below what it prints."""
    from dali_core.commands._options import existing
    from dali_core.monitoring.publication import VARIABLE, published_processes, published_states

    existing(options.target)
    process = subprocess.Popen(  # noqa: S603 (a program of the user, who named it)
        [sys.executable, options.target, *options.arguments],
        env={**os.environ, VARIABLE: "1", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="backslashreplace",
    )
    assert isinstance(process.stdout, io.TextIOWrapper)
    printed: SimpleQueue[str | None] = SimpleQueue()
    start_new_thread(partial(_pass_on, process.stdout, printed), "dali_core top", daemon=True)
    view = _View()
    try:
        while (line := _next_of(printed, options.interval)) is not None:
            if line:
                view.screen.print_above(line.rstrip("\n"))
            elif process.pid in published_processes():
                with contextlib.suppress(ArgumentValueError):  # they have just been closed
                    view.update(published_states(process.pid))
        return process.wait()
    finally:
        process.kill()
        process.wait()


def _pass_on(lines: TextIO, queue: SimpleQueue[str | None]) -> None:
    with lines:
        for line in lines:
            queue.put(line)
    queue.put(None)


def _next_of(queue: SimpleQueue[str | None], seconds: float) -> str | None:
    """Return the next line; an empty text if there is none for some time, None at the end."""
    try:
        return queue.get(timeout=seconds)
    except Empty:
        return ""


class _View:
    """States of a process on the screen."""

    def __init__(self) -> None:
        from dali_core.monitoring.screen import Screen

        self.screen = Screen(sys.stdout)
        self._before: Sequence[Snapshot] = []

    def update(self, states: Sequence[Snapshot]) -> bool:
        """Show states if they are newer than those before; return whether they are."""
        before = self._before
        if [state.time for state in states] == [state.time for state in before]:
            return False
        self.screen.show(states, before if len(before) == len(states) else [None] * len(states))
        self._before = states
        return True


def _show_script(options: argparse.Namespace) -> int:
    from dali_core.commands._scripts import load_pipeline

    with closing(load_pipeline(options)) as pipeline:
        left = options.batches or math.inf
        with pipeline.monitor(interval=options.interval, file=sys.stdout):
            while left > 0:
                try:
                    pipeline.run()
                except StopIteration:  # a source had no more
                    break
                left -= 1
    return 0


def _show_process(process: int, options: argparse.Namespace) -> int:
    from dali_core.monitoring.publication import published_processes, published_states

    view, states = _View(), published_states(process)
    left = options.updates or math.inf
    while True:
        left -= view.update(states)
        if left <= 0:
            return 0
        time.sleep(options.interval)
        if process not in published_processes():
            return 0
        states = published_states(process)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a positive number of seconds (got {text!r})")
    return value
