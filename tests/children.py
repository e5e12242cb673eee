"""Processes: the children of this one, and whether one is running."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def children() -> dict[int, str]:
    """Return the command lines of child processes by process number; of zombies they are empty."""
    found = {}
    for task in os.listdir("/proc/self/task"):
        # Threads and processes may end meanwhile.
        with contextlib.suppress(OSError):
            for child in Path(f"/proc/self/task/{task}/children").read_text().split():
                with contextlib.suppress(OSError):
                    found[int(child)] = Path(f"/proc/{child}/cmdline").read_text("utf-8", "replace")
    return found


def is_running(process: int) -> bool:
    """Return whether a process is there, and is no zombie."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
