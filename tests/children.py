"""Child processes of this process."""

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
