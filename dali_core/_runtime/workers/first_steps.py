"""The first steps of a process that is not forked, even before it imports the program.

`multiprocessing` sends the name of a process ahead of all else, and then has it import the main
module. Where that fails, the reason would be lost. So the name is an object that runs this file
when it is read: by its path, since the process does not know yet where to import from.
"""

from __future__ import annotations

import importlib
import operator
import pickle
import runpy
import socket
import sys
import traceback
from collections.abc import Callable
from multiprocessing import reduction
from types import TracebackType
from typing import Any

FAILED_TO_START = -1
"""Stands for the task in a message of a worker that could not begin."""

_TEXT_BYTES = 1 << 13
_RUN_NAME = "dali_core worker"

_functions: list[str] = []


def run_first(function: Callable[[], object]) -> None:
    """Have processes that are started from now on call a function of a module first."""
    _functions.append(f"{function.__module__}:{function.__name__}")


def forget_first(function: Callable[[], object]) -> None:
    """Undo `run_first`."""
    _functions.remove(f"{function.__module__}:{function.__name__}")


class WorkerName(str):
    """Name of a process, with which that begins.

    Parameters
    ----------
    name : str
        The name.
    descriptor : int
        Of the socket to which it says why it cannot start.
    """

    def __new__(cls, name: str, descriptor: int) -> WorkerName:
        """Make the name."""
        made = super().__new__(cls, name)
        made._descriptor = descriptor
        return made

    _descriptor: int | None

    def __reduce__(self) -> tuple[Any, ...]:
        if self._descriptor is None:  # the process itself, which is sent later, has a name, too
            return str, (str(self),)
        given = {
            "worker_name": str(self),
            "post": reduction.DupFd(self._descriptor),
            "path": list(sys.path),
            "functions": list(_functions),
        }
        self._descriptor = None
        return operator.getitem, (_Run(given), "worker_name")


class _Run:
    """Unpickles as the variables of this file, run by its path."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._given = given

    def __reduce__(self) -> tuple[Any, ...]:
        return runpy.run_path, (__file__, self._given, _RUN_NAME)


def failure_message(error: BaseException) -> bytes:
    """Return what a worker sends if it cannot start."""
    text = "".join(traceback.format_exception(error))
    return pickle.dumps((FAILED_TO_START, text[-_TEXT_BYTES:]))


def _begin(post: Any, path: list[str], functions: list[str]) -> None:
    def report(
        kind: type[BaseException], error: BaseException, frames: TracebackType | None
    ) -> None:
        sys.__excepthook__(kind, error, frames)
        with socket.socket(fileno=post.detach()) as end:
            end.send(failure_message(error))

    sys.excepthook = report
    sys.path += [entry for entry in path if entry not in sys.path]
    for function in functions:
        module, _, name = function.partition(":")
        getattr(importlib.import_module(module), name)()


if __name__ == _RUN_NAME:
    _begin(globals()["post"], globals()["path"], globals()["functions"])
