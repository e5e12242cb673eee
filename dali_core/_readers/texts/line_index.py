"""Finds where lines are in texts: read once, then kept in a cache."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._file_cache import CACHE_VARIABLE, FileCache, FileKey, cache_folder
from dali_core._progress_bar import with_progress
from dali_core._readers.texts.compression import (
    HEAD_BYTES,
    PIECE_BYTES,
    compression_of,
    decompressed,
)
from dali_core._readers.texts.copies import TextCopies
from dali_core._runtime.text_lines import LineScanner
from dali_core._runtime.thread_start import map_in_threads
from dali_core._storage import Storage, is_url
from dali_core._storage.failures import problem_of
from dali_core.errors import ArgumentValueError, MissingModuleError
from dali_core.operators.readers.archive_index import version_of

_NUM_REQUESTS = 32  # at a time, for what is remote
_NUM_AHEAD = 4  # pieces of one object that are requested at a time
_MOST_KEPT_BYTES = 900_000_000  # an entry of the database has at most 1e9
_HEAD = struct.Struct("<4sI8sqqq")
_MAGIC = b"dctl"


@dataclass(frozen=True)
class LineIndex:
    """The lines of a text, in their order.

    Attributes
    ----------
    compression : str
        How the file is compressed; empty if it is not.
    num_bytes : int
        Of the text.
    starts : array of int64
        The first byte of each line.
    sizes : array of uint32
        Its number of bytes, without its end; the largest number stands for more, too.
    blanks : array of int64
        For each line that was left out, how many came before that were not.
    """

    compression: str
    num_bytes: int
    starts: NDArray[np.int64]
    sizes: NDArray[np.uint32]
    blanks: NDArray[np.int64]

    def line_number(self, place: int) -> int:
        """Return the number that editors show for a line, of those that were not left out."""
        return place + 1 + int(np.searchsorted(self.blanks, place, side="right"))

    def to_bytes(self) -> bytes:
        """Return the index as bytes with a checksum."""
        arrays = (self.starts, self.sizes, self.blanks)
        body = b"".join(array.astype(array.dtype.newbyteorder("<")).tobytes() for array in arrays)
        kind = self.compression.encode()
        head = (_MAGIC, zlib.crc32(body), kind, self.num_bytes, len(self.starts), len(self.blanks))
        return _HEAD.pack(*head) + body

    @classmethod
    def from_bytes(cls, data: bytes) -> LineIndex:
        """Return an index that `to_bytes` has written.

        Raises
        ------
        ValueError
            If the bytes are anything else.
        """
        if len(data) < _HEAD.size:
            raise ValueError("with other content")
        magic, checksum, kind, num_bytes, count, num_blanks = _HEAD.unpack_from(data)
        body = memoryview(data)[_HEAD.size :]
        if magic != _MAGIC or zlib.crc32(body) != checksum:
            raise ValueError("with a wrong checksum")
        is_sound = min(count, num_blanks, num_bytes) >= 0
        if not is_sound or len(body) != 12 * count + 8 * num_blanks:
            raise ValueError("with other content")
        starts = np.frombuffer(body, "<i8", count)
        sizes = np.frombuffer(body, "<u4", count, 8 * count)
        blanks = np.frombuffer(body, "<i8", num_blanks, 12 * count)
        if count and (starts.min() < 0 or (starts + sizes.astype(np.int64)).max() > num_bytes):
            raise ValueError("with other content")
        return cls(kind.rstrip(b"\0").decode("ascii", "replace"), num_bytes, starts, sizes, blanks)


class TextFiles:
    """Files of text, which may be compressed, and objects.

    Parameters
    ----------
    paths : sequence of str
        Paths and URLs.
    storage : Storage
        What reads URLs.

    Attributes
    ----------
    paths : list of str
        Those that were passed.

    Raises
    ------
    ArgumentValueError
        If a file cannot be read.
    """

    def __init__(self, paths: Sequence[str], storage: Storage) -> None:
        self.paths = storage.checked(paths)
        self._storage = storage
        find = partial(version_of, storage=storage)
        self._keys = list(map_in_threads(find, self.paths, self.num_requests))
        self._copies = TextCopies(cache_folder(CACHE_VARIABLE, "records"), CACHE_VARIABLE)

    @property
    def num_requests(self) -> int:
        """How many files are read at a time."""
        most = _NUM_REQUESTS if self._storage.is_used else len(os.sched_getaffinity(0))
        return max(1, min(len(self.paths), most))

    def find_lines(self, *, skips_blank: bool, progress: bool | None = None) -> list[LineIndex]:
        """Return the lines of each file, from the cache or by reading it.

        Parameters
        ----------
        skips_blank : bool
            Whether lines without anything but spaces, tabs and carriage returns are left out.
        progress : bool, optional
            Whether to show how many files have been read; by default on terminals.

        Raises
        ------
        ArgumentValueError
            If a file cannot be read, or what is compressed is damaged.
        MissingModuleError
            If what decompresses a file is not installed.
        """
        # The number changes with what an index has.
        name = "filled-lines-1.sqlite" if skips_blank else "lines-1.sqlite"
        cache = FileCache(cache_folder(CACHE_VARIABLE, "records"), name, CACHE_VARIABLE)
        found: dict[str, LineIndex] = {}
        for path, data in cache.load_bytes(self._keys).items():
            try:
                found[path] = LineIndex.from_bytes(data)
            except ValueError as error:
                cache.warn(f"an entry is damaged, {error}")
        missing = [key for key in dict.fromkeys(self._keys) if key[0] not in found]
        results = map_in_threads(
            partial(self._scanned, skips_blank=skips_blank), missing, self.num_requests
        )
        built = list(with_progress(results, len(missing), progress, unit="file"))
        pairs = list(zip(missing, built, strict=True))
        cache.store_bytes(
            (key, index.to_bytes())
            for key, index in pairs
            if 12 * len(index.starts) + 8 * len(index.blanks) < _MOST_KEPT_BYTES
        )
        found |= {key[0]: index for key, index in pairs}
        return [found[key[0]] for key in self._keys]

    def open(self, number: int, compression: str) -> int:
        """Return the descriptor of a text, that of a file or of a copy; the caller closes it.

        Raises
        ------
        ValueError
            If the file has changed since it was listed, or its copy cannot be made.
        OSError
            If it cannot be opened.
        """
        key = self._keys[number]
        if compression:
            return self._open_copy(key, compression)
        descriptor = os.open(key[0], os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        status = os.fstat(descriptor)
        if (status.st_size, status.st_mtime_ns) != key[1:]:
            os.close(descriptor)
            raise ValueError("it has changed since it was listed. Build the pipeline again")
        return descriptor

    def head(self, number: int) -> bytes:
        """Return the first bytes of a file.

        Raises
        ------
        Exception
            Whatever reading raises.
        """
        return bytes(next(self._raw(self._keys[number], HEAD_BYTES), b""))

    def pieces(self, number: int) -> Iterator[Any]:
        """Return a text piece by piece, decompressed.

        Raises
        ------
        Exception
            Whatever reading raises.
        """
        compression = compression_of(self.head(number))
        pieces = self._raw(self._keys[number])
        return decompressed(pieces, compression) if compression else pieces

    def sizes(self) -> list[int]:
        """Return the number of bytes of each file, as it is stored."""
        return [size for _, size, _ in self._keys]

    def _open_copy(self, key: FileKey, compression: str) -> int:
        return self._copies.open(key, lambda: decompressed(self._raw(key), compression))

    def _raw(self, key: FileKey, most: int = -1) -> Iterator[Any]:
        path, size, _ = key
        size = size if most < 0 else min(size, most)
        if is_url(path):
            yield from _pieces_of_object(self._storage, path, size)
            return
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb", 0) as file:
            yield from _pieces_of_file(file, size)

    def _scanned(self, key: FileKey, skips_blank: bool) -> LineIndex:
        path = key[0]
        scanner = LineScanner(skips_blank=skips_blank)
        num_bytes = 0
        try:
            compression = compression_of(bytes(next(self._raw(key, HEAD_BYTES), b"")))
            pieces = self._raw(key)
            if compression:
                copy = open(self._open_copy(key, compression), "rb", 0)  # noqa: SIM115
                pieces = _pieces_of_copy(copy)
            for piece in pieces:
                scanner.scan(piece)
                num_bytes += len(piece)
        except MissingModuleError:
            raise
        except Exception as error:
            if is_url(path) and not isinstance(error, ValueError):
                raise ArgumentValueError(problem_of(path, error)) from error
            reason = getattr(error, "strerror", None) or error
            raise ArgumentValueError(
                f"paths must be readable files (got {path!r}: {reason}). Check the file."
            ) from error
        if not compression and num_bytes != key[1]:
            raise ArgumentValueError(
                f"paths must not change while they are read (got {num_bytes} of {key[1]} bytes of "
                f"{path!r}). Build the pipeline again."
            )
        return LineIndex(compression, num_bytes, *scanner.finish())


def _pieces_of_file(file: Any, size: int) -> Iterator[Any]:
    buffer = bytearray(max(min(size, PIECE_BYTES), 1))
    while size > 0:
        # The beginning comes as a whole: marks and magic numbers are in it.
        count = file.readinto(memoryview(buffer)[: min(size, PIECE_BYTES)])
        if not count:
            return
        size -= count
        yield memoryview(buffer)[:count]


def _pieces_of_copy(file: Any) -> Iterator[Any]:
    with file:
        file.seek(0)  # nameless files have one position for all of their descriptors
        yield from _pieces_of_file(file, os.fstat(file.fileno()).st_size)


def _pieces_of_object(storage: Storage, url: str, size: int) -> Iterator[Any]:
    starts = range(0, size, PIECE_BYTES)

    def read(start: int) -> Any:
        return storage.read(url, start, min(PIECE_BYTES, size - start))

    for first in range(0, len(starts), _NUM_AHEAD):
        some = starts[first : first + _NUM_AHEAD]
        yield from map_in_threads(read, some, len(some))
