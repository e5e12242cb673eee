"""A file over ranges of an object, for libraries that read files of Python."""

from __future__ import annotations

import io
from typing import Any

from dali_core._storage import Storage
from dali_core._storage.failures import problem_of


class ObjectFile(io.RawIOBase):
    """An object in a bucket as a file, of which each read is a request.

    Parameters
    ----------
    storage : Storage
        What reads it.
    url : str
        The object.
    size : int
        The number of its bytes.
    """

    def __init__(self, storage: Storage, url: str, size: int) -> None:
        self._storage = storage
        self._url = url
        self._size = size
        self._place = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the number of the next byte."""
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to another byte, and return its number."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        self._place = start + offset
        return self._place

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, fewer at the end.

        Raises
        ------
        OSError
            If the object cannot be read.
        """
        left = max(self._size - self._place, 0)
        size = left if size < 0 else min(size, left)
        if size == 0:
            return b""
        try:
            data = bytes(self._storage.read(self._url, self._place, size))
        except Exception as error:
            raise OSError(problem_of(self._url, error)) from error
        self._place += len(data)
        return data

    def readinto(self, buffer: Any) -> int:
        """Write the next bytes into a buffer, and return how many; raises like `read`."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
