"""Runs a program until one of its processes waits to be killed.

``python waits_to_be_killed.py STEPS -m MODULE ARGUMENTS``: of a job of two, the second process
waits when it asks its first iterator for another batch after so many, unless it was started again.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
from pathlib import Path
from typing import Any

from dali_core.plugin.base_iterator import BaseIterator

PROGRAM = Path(__file__)


def _wait_after(steps: int) -> None:
    following = BaseIterator.__next__
    iterators: list[BaseIterator] = []
    given = 0

    def following_or_wait(iterator: BaseIterator) -> Any:
        nonlocal given
        iterators.append(iterator)
        if iterator is not iterators[0]:
            return following(iterator)
        while given == steps:
            signal.pause()
        batch = following(iterator)
        given += 1
        return batch

    BaseIterator.__next__ = following_or_wait  # type: ignore[method-assign]


def _is_second(arguments: list[str]) -> bool:
    rank = os.environ.get("RANK")
    if rank is None:
        rank = arguments[arguments.index("--process") + 1]
    return rank == "1" and os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") == "0"


if __name__ == "__main__":
    _, count, _, module, *others = sys.argv
    sys.argv = [module, *others]
    if _is_second(sys.argv):
        _wait_after(int(count))
    sys.path[0] = str(PROGRAM.parents[2])
    runpy.run_module(module, run_name="__main__", alter_sys=True)
