"""Keeps parts of objects in a folder that several processes share.

An entry is a file that is named by its content: URL, version, offset and size. A changed object has
another version, so its old entries are never found, and go when they were not used for longest.
Files appear whole: each is written under another name first. The writer holds a lock on it; so
whoever finds one without a lock knows that its writer was killed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dali_core.errors import ArgumentValueError

_TOTAL = struct.Struct("<q")
_WRITING = "writing-"
_LOCK = "total.lock"
_KEPT_SHARE = 0.9  # of the limit, after entries were removed


class ObjectCache:
    """A folder with parts of objects. What is wrong with it never shows but in time.

    Parameters
    ----------
    folder : str
        The folder; it is made if there is none.
    max_bytes : int
        How many bytes all entries may have together.

    Raises
    ------
    ArgumentValueError
        If the folder cannot be written to.
    """

    def __init__(self, folder: str, max_bytes: int) -> None:
        self._folder = Path(os.path.abspath(os.path.expanduser(folder)), "objects-1")
        self._max_bytes = max_bytes
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with self._total():
                pass
        except OSError as error:
            raise ArgumentValueError(
                f"cache_dir must be a folder that can be written to (got {folder!r}: "
                f"{error.strerror}). Pass another."
            ) from error

    def entry(self, url: str, version: str, offset: int, size: int) -> Path:
        """Return the file of an entry, which need not exist."""
        key = "\0".join((url, version, str(offset), str(size)))
        name = hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()
        return self._folder / name[:2] / name

    def load(self, entry: Path) -> bytes | None:
        """Return the content of an entry, and note that it was used; None if there is none."""
        try:
            data = entry.read_bytes()
            os.utime(entry)
        except OSError:
            return None
        # The last bytes are the length of the others: a disk that was full, or a machine that lost
        # power, may leave a part.
        body = data[: -_TOTAL.size]
        return body if data[-_TOTAL.size :] == _TOTAL.pack(len(body)) else None

    def store(self, entry: Path, data: Any) -> None:
        """Keep an entry, unless it is larger than the limit or the disk is full."""
        size = memoryview(data).nbytes + _TOTAL.size
        if size > self._max_bytes:
            return
        with contextlib.suppress(OSError):
            self._reserve(size)
            entry.parent.mkdir(exist_ok=True)
            descriptor, name = tempfile.mkstemp(prefix=_WRITING, dir=entry.parent)
            with open(descriptor, "wb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                try:
                    file.write(data)
                    file.write(_TOTAL.pack(size - _TOTAL.size))
                    file.flush()
                    os.replace(name, entry)
                except BaseException:
                    with contextlib.suppress(OSError):
                        os.unlink(name)
                    raise

    @contextlib.contextmanager
    def _total(self) -> Iterator[int]:
        """Hold the lock of the folder; gives the descriptor of the file with the total size."""
        descriptor = os.open(self._folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield descriptor
        finally:
            os.close(descriptor)

    def _reserve(self, size: int) -> None:
        """Count bytes that are about to be written, and make room for them."""
        with self._total() as descriptor:
            found = os.pread(descriptor, _TOTAL.size, 0)
            total = _TOTAL.unpack(found)[0] if len(found) == _TOTAL.size else self._max_bytes
            if total + size > self._max_bytes:
                # Writers that were killed have counted what they never wrote: count again.
                total = self._make_room(size)
            os.pwrite(descriptor, _TOTAL.pack(total + size), 0)

    def _make_room(self, size: int) -> int:
        entries = []
        for path in self._folder.glob("??/*"):
            with contextlib.suppress(OSError):
                if path.name.startswith(_WRITING) and is_abandoned(path):
                    path.unlink()
                    continue
                status = path.stat()
                entries.append((status.st_mtime_ns, status.st_size, path))
        total = sum(entry[1] for entry in entries)
        if total + size <= self._max_bytes:
            return total
        for _, own, path in sorted(entries, key=lambda entry: entry[0]):
            if total + size <= self._max_bytes * _KEPT_SHARE or path.name.startswith(_WRITING):
                continue
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
            total -= own
        return total


def is_abandoned(path: Path) -> bool:
    """Return whether nobody holds a lock on a file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES)
    else:
        return True
    finally:
        os.close(descriptor)
