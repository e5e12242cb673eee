"""Atomic writes of files: a partly written file is neither visible nor left behind."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_PARTIAL = "partial"
_ABANDONED_SECONDS = 86_400.0  # since the last write


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
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    with whole_file(path) as file:
        file.write(data)


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that comes to its place when the block ends, unless that fails; see above."""
    target = Path(path)
    partial = target.with_name(f"{target.name}.{secrets.token_hex(8)}.{_PARTIAL}")
    try:
        with open(partial, "xb") as file:
            yield file
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def remove_abandoned(path: str | os.PathLike[str]) -> None:
    """Remove what writers of a file have left that were killed a day ago or earlier."""
    target = Path(path)
    for partial in target.parent.glob(f"{target.name}.*.{_PARTIAL}"):
        with contextlib.suppress(OSError):
            if time.time() - partial.stat().st_mtime > _ABANDONED_SECONDS:
                partial.unlink()
