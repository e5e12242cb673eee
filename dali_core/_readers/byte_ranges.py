"""Ranges of bytes of files and of objects in buckets."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from typing import TypeVar

from dali_core._runtime.thread_start import map_in_threads
from dali_core._storage import Storage, is_url
from dali_core._storage.failures import problem_of
from dali_core.errors import ArgumentValueError

T = TypeVar("T")
R = TypeVar("R")


class ByteRanges:
    """Some files, of which parts are read.

    They are opened for each part: a mapped file that shrinks would end the process, and open ones
    are lost in a process that is spawned.

    Parameters
    ----------
    paths : sequence of str
        Paths or URLs.
    storage : Storage
        What reads URLs.
    name : str
        The argument that has the paths, for messages.

    Attributes
    ----------
    paths : list of str
        The paths.

    Raises
    ------
    ArgumentValueError
        If there is no path.
    MissingModuleError
        If what reads URLs is not installed.
    """

    def __init__(self, paths: Sequence[str], storage: Storage, name: str = "paths") -> None:
        if not paths:
            raise ArgumentValueError(f"{name} must name at least one file (got none). Pass paths.")
        self.paths = storage.checked(paths)
        self._storage = storage
        self._name = name
        self._sizes: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def sizes(self) -> list[int]:
        """The number of bytes of each file, as it was when it was asked for first.

        Raises
        ------
        ArgumentValueError
            If a file cannot be read.
        """
        return self.each(self.size, range(len(self)))

    def size(self, file: int) -> int:
        """Return the number of bytes of a file; raises like `sizes`."""
        if file not in self._sizes:
            self._sizes[file] = self._found_size(self.paths[file])
        return self._sizes[file]

    @property
    def names(self) -> list[str]:
        """The names of the files without their folders, for fingerprints."""
        return [os.path.basename(path) for path in self.paths]

    def read(self, file: int, offset: int = 0, size: int = -1) -> bytes:
        """Return a part of a file; all from `offset` on for a size of -1.

        Parameters
        ----------
        file : int
            The number of the file.
        offset, size : int
            Its first byte, and how many there are.

        Raises
        ------
        ValueError
            If the file has not so many bytes, or cannot be read. The message begins with its path.
        """
        if not size:
            return b""
        path = self.paths[file]
        size = self.size(file) - offset if size < 0 else size
        # Before memory is allocated: what a header claims may be anything.
        if offset < 0 or size < 0 or offset + size > self.size(file):
            raise ValueError(
                f"{path!r}: bytes {offset} to {offset + size} must be in the file (it has "
                f"{self.size(file)}). Check the file."
            )
        try:
            data = self._part(path, offset, size)
        except Exception as error:
            problem = problem_of(path, error) if is_url(path) else f"{path!r}: {error}"
            raise ValueError(problem) from error
        if len(data) != size:
            raise ValueError(
                f"{path!r}: the file must be as long as when the pipeline was built (got "
                f"{len(data)} of {size} bytes from byte {offset} on). Build it again."
            )
        return data

    def read_many(self, parts: Sequence[tuple[int, int, int]]) -> list[bytes]:
        """Return parts of files, each a tuple as `read` takes it; those of objects come together.

        Raises
        ------
        ValueError
            If one of them cannot be read.
        """
        return self.each(lambda part: self.read(*part), parts)

    def each(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """Call a function that reads for each item; of objects in threads, to hide latency.

        Parameters
        ----------
        function : callable
            What reads. Threads may call it at the same time.
        items : sequence
            What it is called with.

        Returns
        -------
        list
            The results in the order of the items.
        """
        if not self._storage.is_used or len(items) < 2:
            return [function(item) for item in items]
        num_threads = min(len(items), self._storage.options.max_in_flight)
        return list(map_in_threads(function, items, num_threads))

    def _part(self, path: str, offset: int, size: int) -> bytes:
        if is_url(path):
            return bytes(self._storage.read(path, offset, size))
        # Without O_NONBLOCK, opening a named pipe would hang.
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            data = os.pread(file, size, offset)
            while 0 < len(data) < size:  # Linux returns 2 GiB at most
                more = os.pread(file, size - len(data), offset + len(data))
                if not more:
                    break
                data += more
            return data
        finally:
            os.close(file)

    def _found_size(self, path: str) -> int:
        if is_url(path):
            return self._storage.info(path).size
        try:
            found = os.stat(path)
        except (OSError, ValueError) as error:
            raise ArgumentValueError(
                f"{self._name} must be files that can be read (got {path!r}: {error}). Check the "
                "path."
            ) from error
        if not stat.S_ISREG(found.st_mode):
            raise ArgumentValueError(
                f"{self._name} must be files (got {path!r}, which is none). Name the files in it."
            )
        return found.st_size
