"""A process that forks one for each program of a test, which need not import the library again.

It has no threads, and has not loaded the driver. Run as ``python -m`` with the driver's variables;
`programs.py` has the other end.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import sys
import types
from typing import Any

import numpy  # noqa: F401
import pytest  # noqa: F401
from cuda.bindings import driver  # noqa: F401

import dali_core.fn
import dali_core.tensors  # noqa: F401


def next_program() -> dict[str, Any]:
    """Return the request of a child, in it; this process answers requests until there are none."""
    gc.freeze()  # a child that collects garbage would copy all that it shares with this process
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        child = os.fork()
        if not child:
            return request
        print(json.dumps(_exit_status(child, request["timeout"])), flush=True)
    sys.exit()


def _exit_status(child: int, timeout: float) -> int | None:
    """Return the exit status of a child, or None if it had to be killed."""
    descriptor = os.pidfd_open(child)
    try:
        ended, _, _ = select.select([descriptor], [], [], timeout)
    finally:
        os.close(descriptor)
    if not ended:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if ended else None


def prepare(request: dict[str, Any]) -> dict[str, Any]:
    """Set up this process as that of a program; return the names of its module."""
    files = [os.open(os.devnull, os.O_RDONLY)]
    files += [os.open(path, os.O_WRONLY | os.O_APPEND) for path in request["output"]]
    for target, file in enumerate(files):
        os.dup2(file, target)
        os.close(file)
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = request["command"]
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    return vars(main)


if __name__ == "__main__":
    assert len(os.listdir("/proc/self/task")) == 1, "threads do not exist in a child"
    request = next_program()
    exec(compile(request["program"], request["command"][0], "exec"), prepare(request))
