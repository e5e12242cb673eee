"""Keeps parts of objects in a folder that several processes share.

An entry is a file that is named by its content: URL, version, offset and size. A changed object has
another version, so its old entries are never found, and go when they were not used for longest.
Files appear whole: each is written under another name first. The writer holds a lock on it; so
one without a lock is of a writer that was killed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import stat
import struct
import threading
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any

from dali_core._cache_files import (
    LOCK_SECONDS,
    is_abandoned,
    lock_within,
    make_folder,
    new_file,
    open_file,
    opened_folder,
    own_file,
    reason_of,
    warn_once,
)
from dali_core._runtime.remote_reads import require_memory
from dali_core.errors import ArgumentValueError

_END = struct.Struct("<I4s")
_MAGIC = b"dcE1"
_TOTAL = struct.Struct("<qI")
_WRITING = "writing-"
_LOCK = "total.lock"
_KEPT_SHARE = 0.9  # of the limit, after entries were removed
_FOLDERS = re.compile(r"[0-9a-f]{2}")
_ENTRIES = re.compile(r"[0-9a-f]{64}")


class ObjectCache:
    """A folder with parts of objects. What is wrong with it never shows but in time.

    Entries of other users than this one and root are not used.

    Parameters
    ----------
    folder : str
        The folder; it is made if there is none.
    max_bytes : int
        How many bytes all entries may have together.

    Raises
    ------
    ArgumentValueError
        If there is a file in the place of the folder.
    """

    def __init__(self, folder: str, max_bytes: int) -> None:
        self._given = folder
        self._folder = Path(os.path.abspath(os.path.expanduser(folder)), "objects-1")
        self._max_bytes = max_bytes
        self._mutex = threading.Lock()
        self._patience = LOCK_SECONDS
        try:
            make_folder(self._folder.parent)
        except (FileExistsError, NotADirectoryError) as error:
            raise ArgumentValueError(
                f"cache_dir must be a folder that can be written to (got {folder!r}: "
                f"{error.strerror}). Pass another."
            ) from error
        except OSError:
            pass  # as it will be found when there is something to keep

    def entry(self, url: str, version: str, offset: int, size: int) -> Path:
        """Return the file of an entry, which need not exist."""
        key = "\0".join((url, version, str(offset), str(size)))
        name = hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()
        return self._folder / name[:2] / name

    def load(self, entry: Path, size: int | None = None) -> memoryview | None:
        """Return the content of an entry, and note that it was used; None if there is none.

        Parameters
        ----------
        entry : Path
            See above.
        size : int, optional
            How many bytes it must have, if that is known.
        """
        try:
            with self._opened(entry) as folder, _opened_file(entry.name, folder) as file:
                length = os.fstat(file.fileno()).st_size
                expected = length if size is None else size + _END.size
                if not _END.size <= length <= self._max_bytes or length != expected:
                    return None
                require_memory(length)
                data = bytearray(length)
                if file.readinto(data) != length:
                    return None
                with contextlib.suppress(OSError):  # the folder may be for reading only
                    os.utime(file.fileno())
        except FileNotFoundError:
            return None
        except OSError as error:
            self._warn(reason_of(error))
            return None
        body = memoryview(data)[: -_END.size]
        if data[-_END.size :] == _end(entry.name, body):
            return body
        # The end is written last: a disk that was full, or a machine that lost power, may leave a
        # part, and former versions wrote another end.
        if data.endswith(_MAGIC):
            self._warn("an entry is damaged")
        return None

    def store(self, entry: Path, data: Any) -> None:
        """Keep an entry, unless it is larger than the limit or that cannot be done."""
        data = memoryview(data).cast("B")
        size = data.nbytes + _END.size
        if size > self._max_bytes:
            return
        try:
            if not self._reserve(size):
                return
            with self._opened(entry, make=True) as folder:
                _write(entry.name, data, folder)
        except OSError as error:
            self._warn(reason_of(error))

    def _warn(self, reason: str) -> None:
        warn_once("cache_dir", self._given, reason)

    @contextlib.contextmanager
    def _opened(self, entry: Path, *, make: bool = False) -> Iterator[int]:
        """Open the folder of an entry, see `opened_folder`."""
        with (
            opened_folder(self._folder, make=make) as folder,
            opened_folder(entry.parent.name, folder, make=make) as inner,
        ):
            yield inner

    def _reserve(self, size: int) -> bool:
        """Count bytes that are about to be written, and make room; False if others prevent it."""
        if not self._mutex.acquire(timeout=self._patience):
            return False
        try:
            with (
                opened_folder(self._folder, make=True) as folder,
                open(own_file(_LOCK, folder), "r+b") as file,
            ):
                if not lock_within(file.fileno(), self._patience):
                    # Waiting every time would cost more than what is kept is worth.
                    self._patience = 0.0
                    raise OSError(errno.EWOULDBLOCK, f"another program holds the lock of {_LOCK}")
                self._patience = LOCK_SECONDS
                total = _total_in(os.pread(file.fileno(), _TOTAL.size, 0))
                if total is None or total + size > self._max_bytes:
                    # Writers that were killed have counted what they never wrote: count again.
                    total = self._make_room(folder, size)
                number = total + size
                os.pwrite(file.fileno(), _TOTAL.pack(number, _checksum_of(number)), 0)
                return True
        finally:
            self._mutex.release()

    def _make_room(self, folder: int, size: int) -> int:
        entries: list[tuple[int, int, str, str]] = []
        for name in filter(_FOLDERS.fullmatch, os.listdir(folder)):
            with contextlib.suppress(OSError), opened_folder(name, folder) as inner:
                entries += [(*found, name) for found in _entries_in(inner)]
        total = sum(entry[1] for entry in entries)
        if total + size <= self._max_bytes:
            return total
        for _, own, name, place in sorted(entries):
            if total + size <= self._max_bytes * _KEPT_SHARE:
                break
            if name.startswith(_WRITING):
                continue
            with contextlib.suppress(OSError):
                with opened_folder(place, folder) as inner, contextlib.suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=inner)
                total -= own
        return total


def _write(entry: str, data: memoryview, folder: int) -> None:
    descriptor, name = new_file(_WRITING, folder)
    with open(descriptor, "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            file.write(data)
            file.write(_end(entry, data))
            file.flush()
            # Another program may have taken the file for one that was abandoned.
            with contextlib.suppress(FileNotFoundError):
                os.replace(name, entry, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=folder)
            raise


def _entries_in(folder: int) -> Iterator[tuple[int, int, str]]:
    """Give time of use, size and name of each file; what killed writers have left is removed."""
    for name in os.listdir(folder):
        is_writing = name.startswith(_WRITING)
        if not is_writing and not _ENTRIES.fullmatch(name):
            continue
        with contextlib.suppress(OSError):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISREG(status.st_mode) or (is_writing and is_abandoned(name, folder)):
                os.unlink(name, dir_fd=folder)
                continue
            yield status.st_mtime_ns, status.st_size, name


def _opened_file(name: str, folder: int) -> BufferedReader:
    return open(open_file(name, folder), "rb")


def _end(name: str, body: memoryview) -> bytes:
    """Return what an entry ends with: a checksum of its name, its length and its content."""
    start = zlib.crc32(f"{name} {body.nbytes} ".encode())
    return _END.pack(zlib.crc32(body, start), _MAGIC)


def _checksum_of(total: int) -> int:
    return zlib.crc32(b"%d" % total)


def _total_in(found: bytes) -> int | None:
    if len(found) != _TOTAL.size:
        return None
    total, checksum = _TOTAL.unpack(found)
    return total if total >= 0 and checksum == _checksum_of(total) else None
