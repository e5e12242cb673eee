"""Checksums of copies of objects: which copies are as they were written.

The checksum of a copy is in a file beside it, together with what the system notes of the copy: the
time of its last change, which no program can set, comes with every change. A copy of which that is
as it was need not be read to be known as sound; any other is compared with its checksum.
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO

from dali_core._cache_files import open_file, own_file, reason_of

CHECK = "check-"
"""With it begin the names of files with checksums."""

_CHECK = struct.Struct("<8sI4qI")
_MAGIC = b"dccopy01"
_PIECE_BYTES = 1 << 20


class SummedFile:
    """A file of which a checksum of all that is written is known.

    Attributes
    ----------
    checksum : int
        Of what was written so far.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.checksum = 0

    def write(self, data: Any) -> int:
        """Write bytes, and return how many."""
        self.checksum = zlib.crc32(data, self.checksum)
        return self._file.write(data)


def keep_check(folder: int, name: str, status: os.stat_result, checksum: int) -> None:
    """Keep the checksum of a copy, whose status is that after its last change.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    record = (_MAGIC, checksum, *_state_of(status))
    packed = _CHECK.pack(*record, zlib.crc32(repr((name, *record)).encode()))
    with open(own_file(f"{CHECK}{name}", folder), "r+b", buffering=0) as file:
        file.write(packed)
        file.truncate()


def is_sound(folder: int, name: str, size: int, warn: Callable[[str], None]) -> bool:
    """Return whether there is a copy of this size, with the content that was written.

    Parameters
    ----------
    folder : int
        Descriptor of the folder.
    name : str
        The copy.
    size : int
        How many bytes it must have.
    warn : callable
        Is called with what is wrong with a copy that was damaged.
    """
    try:
        with open(open_file(f"{CHECK}{name}", folder), "rb") as file:
            packed = file.read(_CHECK.size + 1)
        if len(packed) != _CHECK.size:
            return False
        *record, own = _CHECK.unpack(packed)
        if record[0] != _MAGIC or own != zlib.crc32(repr((name, *record)).encode()):
            return False
        with open(open_file(name, folder), "rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            if status.st_size != size:
                return False
            if _state_of(status) == tuple(record[2:]):
                return True
            checksum = 0
            while piece := file.read(_PIECE_BYTES):
                checksum = zlib.crc32(piece, checksum)
            if checksum != record[1]:
                warn(f"{name} is damaged")
                return False
        with contextlib.suppress(OSError):  # it is compared again next time
            keep_check(folder, name, status, checksum)
    except FileNotFoundError:
        return False
    except OSError as error:
        warn(reason_of(error))
        return False
    return True


def note_use(folder: int, name: str) -> None:
    """Note that a copy is used now."""
    with contextlib.suppress(OSError):  # the folder may be for reading only
        os.utime(f"{CHECK}{name}", dir_fd=folder, follow_symlinks=False)


def _state_of(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_size, status.st_ino & (1 << 63) - 1, status.st_mtime_ns, status.st_ctime_ns
