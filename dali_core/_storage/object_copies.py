"""Keeps objects as files of a folder that several processes share, for what opens files itself.

What is in use must stay: each user writes a list of its files, and holds a lock on it. Lists
without a lock are of users that have ended, and files in none of the others may be removed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dali_core._runtime.finalizer import Finalizer
from dali_core._storage.failures import problem_of
from dali_core._storage.object_cache import is_abandoned
from dali_core._storage.limited import PIECE_BYTES
from dali_core._storage.storage import Storage
from dali_core._storage.stores import ObjectInfo
from dali_core.errors import ArgumentValueError

_HELD, _WRITING, _LOCK = "held-", "writing-", "total.lock"


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
        self._folder = Path(os.path.abspath(os.path.expanduser(folder)), "copies-1")
        self.paths: dict[str, str] = {}
        self.problems: dict[str, str] = {}
        options = storage.options
        with ThreadPoolExecutor(options.max_in_flight) as pool:
            infos = [info for info in pool.map(self._info, urls) if info is not None]
        sizes = {_name(url, info): info.size for url, info in infos}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._hold(sizes, max_bytes)
        except OSError as error:
            raise ArgumentValueError(
                f"cache_dir must be a folder that can be written to (got {folder!r}: "
                f"{error.strerror}). Pass another."
            ) from error
        num_threads = max(1, min(options.max_in_flight, options.max_bytes_in_flight // PIECE_BYTES))
        with ThreadPoolExecutor(num_threads) as pool:
            list(pool.map(lambda found: self._copy(*found), infos))

    def _info(self, url: str) -> tuple[str, ObjectInfo] | None:
        try:
            return url, self._storage.info(url)
        except ArgumentValueError as error:
            self.problems[url] = str(error)
            return None

    def _copy(self, url: str, info: ObjectInfo) -> None:
        name = _name(url, info)
        path = self._folder / name
        try:
            if not _is_whole(path, info.size):
                descriptor = os.open(
                    self._folder / f"{_WRITING}{name}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666
                )
                with open(descriptor, "r+b") as file:
                    # Another process may be at it, and be done or killed before the lock is ours.
                    fcntl.flock(file, fcntl.LOCK_EX)
                    if not _is_whole(path, info.size):
                        file.truncate()
                        self._storage.copy(url, info, file)
                        file.flush()
                        os.replace(self._folder / f"{_WRITING}{name}", path)
            # When it was used. When it was written is part of the key of what is known of it.
            os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))
            self.paths[url] = str(path)
        except Exception as error:  # whatever a store raises
            self.problems[url] = problem_of(url, error)

    def _hold(self, sizes: dict[str, int], max_bytes: int) -> None:
        """Make room for files, and list them as in use."""
        with open(self._folder / _LOCK, "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            held = self._held()
            needed = sum({**held, **sizes}.values())
            if needed > max_bytes:
                raise ArgumentValueError(
                    f"cache_size must be at least {needed} bytes, which the objects and those that "
                    f"other pipelines use now have together (got {max_bytes}). Raise it, or read "
                    "fewer."
                )
            self._remove({**held, **sizes}, max_bytes - needed)
            descriptor, _ = tempfile.mkstemp(prefix=_HELD, dir=self._folder)
            Finalizer(self, os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            with open(descriptor, "w", closefd=False) as file:
                file.writelines(f"{size} {name}\n" for name, size in sizes.items())

    def _held(self) -> dict[str, int]:
        """Return the sizes of the files that are in use; lists of those who have ended go."""
        held = {}
        for path in self._folder.glob(f"{_HELD}*"):
            if is_abandoned(path):
                path.unlink()
                continue
            for line in path.read_text().splitlines():
                size, _, name = line.partition(" ")
                held[name] = int(size)
        return held

    def _remove(self, kept: dict[str, int], max_bytes: int) -> None:
        """Remove files that nobody uses, first what was not used for longest."""
        unused = []
        for path in self._folder.iterdir():
            name = path.name.removeprefix(_WRITING)
            if name in kept or name == _LOCK or name.startswith(_HELD):
                continue
            if name != path.name:
                path.unlink()
                continue
            status = path.stat()
            unused.append((status.st_atime_ns, status.st_size, path))
        total = sum(entry[1] for entry in unused)
        for _, size, path in sorted(unused, key=lambda entry: entry[0]):
            if total <= max_bytes:
                break
            path.unlink()
            total -= size


def _name(url: str, info: ObjectInfo) -> str:
    """Return the name of the copy, another one for each version, with the same suffix."""
    end = re.search(r"\.[A-Za-z0-9]{1,8}\Z", url)
    content = f"{url}\0{info.version}".encode(errors="surrogateescape")
    return hashlib.sha256(content).hexdigest() + (end[0] if end else "")


def _is_whole(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except FileNotFoundError:
        return False
