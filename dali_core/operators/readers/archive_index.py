"""Finds where things are in archives and files of records: read once, then kept in a cache."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import zlib
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dali_core._file_cache import CACHE_VARIABLE as CACHE_VARIABLE
from dali_core._file_cache import FileCache, FileKey, cache_folder, key_of
from dali_core._progress_bar import with_progress
from dali_core._runtime.remote_reads import RemoteReads
from dali_core._runtime.thread_start import map_in_threads
from dali_core._storage import Storage, is_url
from dali_core._storage.options import StorageOptions
from dali_core.errors import ArgumentValueError

BEHIND_THE_END = -1
"""Number of the problem that something follows the end of an archive."""

_NUM_REQUESTS = 32  # at a time, for what is remote
Scan = Callable[..., list[Any]]
"""Lists the records of a file, as `dali_core._runtime.record_index.walk_tar` does."""

_FILE = "records-2.sqlite"  # the number changes with the format and with the rules of the walks


@dataclass(frozen=True)
class ArchiveIndex:
    """The files in an archive, or the records in a file, in their order.

    Attributes
    ----------
    offsets, sizes : sequence of int
        Where each begins, and how many bytes it has.
    names : list of str
        Names of files in an archive, or keys of a database; empty texts where it is damaged.
        Records have none.
    problems : dict of int to str
        What is wrong with those that cannot be read, by their numbers; by `BEHIND_THE_END`, that
        something follows the end of the archive, which is not read.
    """

    offsets: Sequence[int]
    sizes: Sequence[int]
    names: list[str] = field(default_factory=list)
    problems: dict[int, str] = field(default_factory=dict)

    def sound_places(self) -> list[tuple[int, int]]:
        """Return offset and size of each record without a problem."""
        return [
            place
            for number, place in enumerate(zip(self.offsets, self.sizes, strict=True))
            if number not in self.problems
        ]

    def to_bytes(self, kind: str) -> bytes:
        """Return the index as bytes with a checksum."""
        head = {"kind": kind, "names": self.names, "problems": list(self.problems.items())}
        text = json.dumps(head).encode()
        numbers = array("q", [len(text), *self.offsets, *self.sizes]).tobytes()
        body = zlib.compress(numbers + text, 1)
        return zlib.crc32(body).to_bytes(4, "little") + body

    @classmethod
    def from_bytes(cls, data: bytes, kind: str) -> ArchiveIndex | None:
        """Return an index that `to_bytes` has written; None if it is of another kind.

        Raises
        ------
        ValueError
            If the bytes are anything else.
        """
        if len(data) < 4 or zlib.crc32(data[4:]) != int.from_bytes(data[:4], "little"):
            raise ValueError("with a wrong checksum")
        try:
            body = zlib.decompress(data[4:])
            length = int.from_bytes(body[:8], "little")
            head = json.loads(body[-length:])
            if head["kind"] != kind:
                return None
            return cls._from_parts(head["names"], head["problems"], array("q", body[8:-length]))
        except (TypeError, KeyError, RecursionError, MemoryError, zlib.error) as error:
            raise ValueError("with other content") from error

    @classmethod
    def _from_parts(cls, names: Any, problems: Any, numbers: array[int]) -> ArchiveIndex:
        half = len(numbers) // 2
        found = dict(problems)
        is_sound = (
            len(numbers) == 2 * half
            and isinstance(names, list)
            and len(names) in (0, half)
            and all(isinstance(name, str) for name in names)
            and all(isinstance(number, int) and 0 <= number < half for number in found)
            and all(isinstance(reason, str) for reason in found.values())
        )
        if not is_sound:
            raise ValueError("with other content")
        return cls(numbers[:half], numbers[half:], names, found)


@dataclass(frozen=True)
class RecordFormat:
    """Format of archives or record files: the only description of one.

    Attributes
    ----------
    name : str
        Name in entries of the cache, and the unit of progress.
    scan : callable
        Lists the records of a file.
    suffixes : tuple of str
        Usual suffixes of files, which names of index files do not have.
    write_index : callable or None
        Returns the text of the index file of an index, and the problems of records that it leaves
        out; None if the format has no index files.
    """

    name: str
    scan: Scan
    suffixes: tuple[str, ...] = ()
    write_index: Callable[[ArchiveIndex], tuple[str, list[str]]] | None = None


def open_indices(
    paths: Sequence[str],
    record_format: RecordFormat,
    storage: Storage | None = None,
    *,
    progress: bool | None = None,
) -> list[ArchiveIndex]:
    """Return the index of each file, from the cache or by walking through the file.

    Parameters
    ----------
    paths : sequence of str
        Files.
    record_format : RecordFormat
        Their format.
    storage : Storage, optional
        What reads those that are URLs; by default as environment variables say.
    progress : bool, optional
        Whether to show how many files have been read; by default on terminals, if tqdm is
        installed.

    Raises
    ------
    ArgumentValueError
        If a file cannot be read. Damage inside of files is no error, but stands in the indices.
    """
    storage = storage or Storage(StorageOptions())
    paths = storage.checked(paths)
    keys = list(map_in_threads(lambda path: version_of(path, storage), paths, _NUM_REQUESTS))
    cache = FileCache(cache_folder(CACHE_VARIABLE, "records"), _FILE, CACHE_VARIABLE)
    found: dict[str, ArchiveIndex | None] = {}
    for path, data in cache.load_bytes(keys).items():
        try:
            found[path] = ArchiveIndex.from_bytes(data, record_format.name)
        except ValueError as error:
            cache.warn(f"an entry is damaged, {error}")
    missing = [key for key in dict.fromkeys(keys) if found.get(key[0]) is None]
    if missing:
        most = _NUM_REQUESTS if storage.is_used else len(os.sched_getaffinity(0))
        num_workers = max(1, min(len(missing), most))
        with storage.started() if storage.is_used else contextlib.nullcontext() as reads:
            results = map_in_threads(
                lambda key: _scanned(record_format.scan, key, reads), missing, num_workers
            )
            built = list(with_progress(results, len(missing), progress, unit=record_format.name))
        found |= {key[0]: index for key, index in zip(missing, built, strict=True)}
        cache.store_bytes(
            (key, index.to_bytes(record_format.name))
            for key, index in zip(missing, built, strict=True)
        )
    return [index for key in keys if (index := found[key[0]]) is not None]


def version_of(path: str, storage: Storage) -> FileKey:
    """Return what a file or an object is known by, which changes with its content.

    Raises
    ------
    ArgumentValueError
        If it cannot be read.
    """
    if is_url(path):
        found = storage.info(path)
        version = hashlib.sha256(found.version.encode()).digest()
        return path, found.size, int.from_bytes(version[:7], "little")
    try:
        return key_of(path)
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error


def _unreadable(path: str, reason: str) -> ArgumentValueError:
    return ArgumentValueError(
        f"each path must be a readable file (got {path!r}: {reason}). Check path and permissions."
    )


def _scanned(scan: Scan, key: FileKey, reads: RemoteReads | None) -> ArchiveIndex:
    path, size, _ = key
    try:
        if reads is not None and is_url(path):
            entries = scan(os.fsencode(path), reads.address, size)
        else:
            entries = scan(os.fsencode(path))
    except RuntimeError as error:
        raise _unreadable(path, str(error)) from error
    behind = entries.pop()[-1] if entries and entries[-1][-2] < 0 else ""
    problems = {number: entry[-1] for number, entry in enumerate(entries) if entry[-1]}
    offsets = array("q", [entry[-3] for entry in entries])
    sizes = array("q", [entry[-2] for entry in entries])
    names = [os.fsdecode(entry[0]) for entry in entries if len(entry) > 3]
    if behind:
        problems[BEHIND_THE_END] = behind
    return ArchiveIndex(offsets, sizes, names, problems)
