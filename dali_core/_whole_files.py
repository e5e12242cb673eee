"""Writes files as a whole: nobody ever sees, or is left with, half of one."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file next to its place, and move it there at once.

    Parameters
    ----------
    path : path
        The file, which is replaced if it exists. Its folder must exist.
    content : str or bytes
        All of it; a str is written as UTF-8, with undecodable bytes of file names as they were.

    Raises
    ------
    OSError
        If it cannot be written. What was there before is unchanged.
    """
    target = Path(path)
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(data)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
