"""``dali-core top``: a live view of a running process, or of a pipeline of a script."""

from __future__ import annotations

import argparse
import math
import sys
import time
from contextlib import closing
from typing import Any

from dali_core._messages import print_lines
from dali_core.commands._options import positive


def add_parser(parsers: Any) -> None:
    """Add the arguments of the command."""
    from dali_core.commands._scripts import add_pipeline_options

    parser = parsers.add_parser(
        "top",
        help="watch a pipeline while it runs",
        description="Show rate, queue, operators and diagnosis of a pipeline, again and again: of "
        "a process that was started with DALI_CORE_MONITOR=1, or of a pipeline of a script, which "
        "is run. Without arguments, show the only such process, or list them.",
    )
    parser.add_argument(
        "target", metavar="PID|SCRIPT:NAME", nargs="?", help="number of a process, or a pipeline"
    )
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
    """Show a process or a script."""
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
    return _show_script(options)


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
    from dali_core.monitoring.screen import Screen
    from dali_core.monitoring.snapshot import Snapshot

    screen, states = Screen(sys.stdout), published_states(process)
    before: list[Snapshot] = []
    left = options.updates or math.inf
    while True:
        if [state.time for state in states] != [state.time for state in before]:
            earlier = before if len(before) == len(states) else [None] * len(states)
            screen.show(states, earlier)
            before = states
            left -= 1
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
