"""Keeps objects as files of a folder that several processes share, for what opens files itself.

What is in use must stay: each user writes a list of its files, and holds a lock on it. Lists
without a lock are of users that have ended, and files in none of the others may be removed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

from dali_core._cache_files import (
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
from dali_core._runtime.finalizer import Finalizer
from dali_core._runtime.thread_start import map_in_threads
from dali_core._storage.checked_copies import CHECK, SummedFile, is_sound, keep_check, note_use
from dali_core._storage.failures import problem_of
from dali_core._storage.limited import PIECE_BYTES
from dali_core._storage.storage import Storage
from dali_core._storage.stores import ObjectInfo
from dali_core.errors import ArgumentValueError

_HELD, _WRITING, _LOCK = "held-", "writing-", "total.lock"
_LOCK_SECONDS = 60.0  # others hold it while they list and remove files
_MOST_LIST_BYTES = 1 << 28
_COPIES = re.compile(r"[0-9a-f]{64}(\.[A-Za-z0-9]{1,8})?")


class ObjectCopies:
    """Copies of objects, which stay for as long as this object lives.

    Parameters
    ----------
    storage : Storage
        What reads the objects.
    urls : sequence of str
        The objects.
    folder : str
        Where the copies are; it is made if there is none.
    max_bytes : int
        How many bytes all copies there may have together.

    Attributes
    ----------
    paths : dict of str to str
        The copy of each object.
    problems : dict of str to str
        What is wrong with objects that cannot be read, which have no copy.

    Raises
    ------
    ArgumentValueError
        If the folder cannot be written to, or the copies are too large.
    """

    def __init__(self, storage: Storage, urls: Sequence[str], folder: str, max_bytes: int) -> None:
        self._storage = storage
        self._warn = partial(warn_once, "cache_dir", folder)
        self._folder = Path(os.path.abspath(os.path.expanduser(folder)), "copies-1")
        self.paths: dict[str, str] = {}
        self.problems: dict[str, str] = {}
        options = storage.options
        found = map_in_threads(self._info, urls, options.max_in_flight)
        infos = [info for info in found if info is not None]
        sizes = {_name(url, info): info.size for url, info in infos}
        try:
            make_folder(self._folder.parent)
            with opened_folder(self._folder, make=True) as opened:
                self._hold(opened, sizes, max_bytes)
        except OSError as error:
            # A folder that is only for reading may have all that is needed.
            if not sizes or not self._has(sizes):
                raise ArgumentValueError(
                    f"cache_dir must be a folder that can be written to (got {folder!r}: "
                    f"{reason_of(error)}). Pass another."
                ) from error
        num_threads = max(1, min(options.max_in_flight, options.max_bytes_in_flight // PIECE_BYTES))
        list(map_in_threads(lambda found: self._copy(*found), infos, num_threads))

    def _info(self, url: str) -> tuple[str, ObjectInfo] | None:
        try:
            return url, self._storage.info(url)
        except ArgumentValueError as error:
            self.problems[url] = str(error)
            return None

    def _has(self, sizes: dict[str, int]) -> bool:
        with contextlib.suppress(OSError), opened_folder(self._folder) as folder:
            return all(is_sound(folder, name, size, self._warn) for name, size in sizes.items())
        return False

    def _copy(self, url: str, info: ObjectInfo) -> None:
        name = _name(url, info)
        try:
            with opened_folder(self._folder) as folder:
                if not is_sound(folder, name, info.size, self._warn):
                    with locked_file(f"{_WRITING}{name}", folder) as file:
                        # Another process may have been at it.
                        if not is_sound(folder, name, info.size, self._warn):
                            self._write(url, info, name, file, folder)
                note_use(folder, name)
            self.paths[url] = str(self._folder / name)
        except Exception as error:  # whatever a store raises
            self.problems[url] = problem_of(url, error)

    def _write(self, url: str, info: ObjectInfo, name: str, file: BinaryIO, folder: int) -> None:
        file.truncate()
        summed = SummedFile(file)
        self._storage.copy(url, info, summed)
        file.flush()
        os.replace(f"{_WRITING}{name}", name, src_dir_fd=folder, dst_dir_fd=folder)
        with contextlib.suppress(OSError):  # the copy is good, if only for this time
            keep_check(folder, name, os.fstat(file.fileno()), summed.checksum)

    def _hold(self, folder: int, sizes: dict[str, int], max_bytes: int) -> None:
        """Make room for files, and list them as in use."""
        with open(own_file(_LOCK, folder), "r+b") as lock:
            if not lock_within(lock.fileno(), _LOCK_SECONDS):
                raise OSError(errno.EWOULDBLOCK, f"another program holds the lock of {_LOCK}")
            held = _held(folder)
            needed = sum({**held, **sizes}.values())
            if needed > max_bytes:
                raise ArgumentValueError(
                    f"cache_size must be at least {needed} bytes, which the objects and those that "
                    f"other pipelines use now have together (got {max_bytes}). Raise it, or read "
                    "fewer."
                )
            _remove(folder, {**held, **sizes}, max_bytes - needed)
            descriptor, _ = new_file(_HELD, folder)
            Finalizer(self, os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            with open(descriptor, "w", closefd=False) as file:
                file.writelines(f"{size} {name}\n" for name, size in sizes.items())


@contextlib.contextmanager
def locked_file(name: str, folder: int) -> Iterator[BinaryIO]:
    """Open a file to write, once no other process does.

    Parameters
    ----------
    name : str
        The file, which is made if there is none.
    folder : int
        Descriptor of its folder.

    Raises
    ------
    OSError
        If it cannot be opened.
    """
    while True:
        with open(own_file(name, folder), "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            # The process that held the lock may have moved the file to its place.
            if _is_file(file.fileno(), name, folder):
                yield file
                return


def _is_file(descriptor: int, name: str, folder: int) -> bool:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(found, os.fstat(descriptor))


def _held(folder: int) -> dict[str, int]:
    """Return the sizes of the files that are in use; lists of pipelines that have ended go."""
    held = {}
    for name in os.listdir(folder):
        if not name.startswith(_HELD):
            continue
        if is_abandoned(name, folder):
            os.unlink(name, dir_fd=folder)
            continue
        with open(open_file(name, folder), encoding="ascii", errors="replace") as file:
            for line in file.read(_MOST_LIST_BYTES).splitlines():
                size, _, copy = line.partition(" ")
                if size.isdecimal() and len(size) < 19 and _COPIES.fullmatch(copy):
                    held[copy] = int(size)
    return held


def _remove(folder: int, kept: dict[str, int], max_bytes: int) -> None:
    """Remove files that no pipeline uses, first what was not used for longest."""
    names = set(os.listdir(folder))
    unused = []
    for name in names:
        copy = name.removeprefix(_WRITING).removeprefix(CHECK)
        if copy in kept or not _COPIES.fullmatch(copy):
            continue
        if name != copy:
            if name.startswith(_WRITING) or copy not in names:
                os.unlink(name, dir_fd=folder)
            continue
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        used = status
        with contextlib.suppress(FileNotFoundError):
            used = os.stat(f"{CHECK}{name}", dir_fd=folder, follow_symlinks=False)
        unused.append((used.st_mtime_ns, status.st_size, name))
    total = sum(entry[1] for entry in unused)
    for _, size, name in sorted(unused):
        if total <= max_bytes:
            break
        os.unlink(name, dir_fd=folder)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{CHECK}{name}", dir_fd=folder)
        total -= size


def _name(url: str, info: ObjectInfo) -> str:
    """Return the name of the copy, another one for each version, with the same suffix."""
    end = re.search(r"\.[A-Za-z0-9]{1,8}\Z", url)
    content = f"{url}\0{info.version}".encode(errors="surrogateescape")
    return hashlib.sha256(content).hexdigest() + (end[0] if end else "")
