"""Processes: the children of this one, and whether one is running."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

CODEC_SERVER = "/decoders/codec_process.py"


def children_of(process: int) -> dict[int, str]:
    """Return the command lines of child processes by process number; of zombies they are empty."""
    found = {}
    # Threads and processes may end meanwhile.
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{process}/task"):
            with contextlib.suppress(OSError):
                for child in Path(f"/proc/{process}/task/{task}/children").read_text().split():
                    with contextlib.suppress(OSError):
                        line = Path(f"/proc/{child}/cmdline").read_text("utf-8", "replace")
                        found[int(child)] = line
    return found


def codec_servers() -> list[int]:
    """Return the children that fork decoders of images; they stay until this process ends."""
    found = children_of(os.getpid())
    return [child for child, command in found.items() if CODEC_SERVER in command]


def children() -> dict[int, str]:
    """Return the children of this process, and those of codec servers in the place of these."""
    found = children_of(os.getpid())
    for server in codec_servers():
        found.pop(server, None)
        found |= children_of(server)
    return found


def is_running(process: int) -> bool:
    """Return whether a process is there, and is no zombie."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
