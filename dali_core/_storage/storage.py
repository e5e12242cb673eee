"""Lists and reads objects by their URLs, and files by their paths."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TextIO

from dali_core._runtime.remote_reads import RemoteReads, require_memory
from dali_core._runtime.thread_start import map_in_threads
from dali_core._storage.access import Access, check_place
from dali_core._storage.failures import problem_of
from dali_core._storage.limited import PIECE_BYTES
from dali_core._storage.object_cache import ObjectCache
from dali_core._storage.options import StorageOptions
from dali_core._storage.serving import ReadThreads
from dali_core._storage.stores import UNSIZED, ObjectInfo, ObjectStore, open_store
from dali_core._storage.urls import ObjectUrl, is_url, split_url, without_file_scheme
from dali_core.errors import ArgumentValueError, OutOfMemoryError


class Writable(Protocol):
    """What an object is copied to."""

    def write(self, data: Any, /) -> int:
        """Write bytes, and return how many."""
        ...


@dataclass
class _Folder:
    folders: set[str] = field(default_factory=set)
    files: list[str] = field(default_factory=list)


class Storage:
    """Everything that one reader reads. Nothing happens before a URL comes.

    Parameters
    ----------
    options : StorageOptions
        How to read.
    cache : ObjectCache, optional
        Where to keep what was read.
    access : Access
        What may be read.

    Attributes
    ----------
    is_used : bool
        Whether a path that was checked is a URL.
    is_of_program : bool
        Whether what is read was chosen by a program, and not by a document.
    """

    def __init__(
        self,
        options: StorageOptions,
        cache: ObjectCache | None = None,
        access: Access = Access.PROGRAM,
    ) -> None:
        self.options = options
        self.is_used = False
        self.is_of_program = access is Access.PROGRAM
        self._access = access
        self._cache = cache
        self._stores: dict[str, ObjectStore] = {}
        self._lock = threading.Lock()
        self._folders: dict[str, _Folder] = {}
        self._infos: dict[str, ObjectInfo] = {}
        self._threads: ReadThreads | None = None
        self._reads: RemoteReads | None = None

    def checked(self, paths: Sequence[str]) -> list[str]:
        """Return paths as they are read, after checking that URLs among them can be read.

        Raises
        ------
        ArgumentValueError, MissingModuleError
            If a URL cannot be one of an object, or what reads it is not installed.
        """
        found, roots = [], set()
        for given in paths:
            path = without_file_scheme(given) if "://" in given else given
            if "://" in path and is_url(path):
                roots.add(split_url(path).root)
            found.append(path)
        for root in roots:
            self.is_used = True
            self._store(split_url(root))
        return found

    def checked_path(self, path: str) -> str:
        """Return one path, see `checked`; that of a folder is without a slash at its end."""
        (found,) = self.checked([path])
        return found.rstrip("/") if is_url(found) else found

    @property
    def reads(self) -> RemoteReads:
        """The reads of native threads."""
        if self._reads is None:
            # An entry of the cache is one part, whatever else was read with it.
            joins = self._cache is None
            self._reads = RemoteReads(self.options.max_bytes_in_flight, joins)
            self._threads = ReadThreads(self._reads, self.read, self.options.max_in_flight)
        return self._reads

    def start(self) -> None:
        """Begin to answer the reads of native threads."""
        if self.reads and self._threads is not None:
            self._threads.start()

    def stop(self) -> None:
        """Fail the reads of native threads at once."""
        if self._threads is not None:
            self._threads.stop()

    @contextlib.contextmanager
    def started(self) -> Iterator[RemoteReads]:
        """Answer the reads of native threads for a while."""
        self.start()
        try:
            yield self.reads
        finally:
            self.stop()

    def read(self, path: str, offset: int = 0, size: int = -1) -> Any:
        """Return bytes of an object, fewer where it ends; all for a size of -1.

        Raises
        ------
        Exception
            Whatever the store raises.
        """
        url = split_url(path)
        if url.scheme == "file":
            return _read_file(without_file_scheme(path), offset, size)
        store = self._store(url)
        if self._cache is None:
            return store.read(url.key, offset, size)
        found = self._described(path)
        if not found.version:  # its changes would not be seen
            return store.read(url.key, offset, size)
        entry = self._cache.entry(path, found.version, offset, size)
        data = self._cache.load(entry, _length_of(found, offset, size))
        if data is None:
            data = store.read(url.key, offset, size)
            self._cache.store(entry, data)
        return data

    def info(self, url: str) -> ObjectInfo:
        """Return size and version of an object.

        Raises
        ------
        ArgumentValueError
            If it cannot be read.
        """
        parts = split_url(url)
        try:
            found = self._store(parts).info(parts.key)
        except Exception as error:
            raise ArgumentValueError(problem_of(url, error)) from error
        if found.size == UNSIZED:
            raise ArgumentValueError(
                f"the server must say how many bytes the object has (got {url!r}, without). Read "
                "it with fn.readers.file, or copy it to this machine."
            )
        if self._cache is not None:
            self._infos[url] = found
        return found

    def copy(self, url: str, info: ObjectInfo, file: Writable) -> None:
        """Write an object into a file, piece after piece.

        Raises
        ------
        Exception
            Whatever the store raises.
        ArgumentValueError
            If the object is not the one that was described, by now.
        """
        parts = split_url(url)
        store = self._store(parts)
        copied = 0
        for offset in range(0, info.size, PIECE_BYTES):
            size = min(PIECE_BYTES, info.size - offset)
            copied += file.write(store.read(parts.key, offset, size))
        if copied != info.size or store.info(parts.key) != info:
            raise ArgumentValueError(
                f"the object must not change while it is copied (got {copied} of {info.size} bytes "
                f"of {url!r}). Build the pipeline again."
            )

    def open_text(self, path: str, errors: str = "surrogateescape") -> TextIO:
        """Open a text in UTF-8, of a file or of an object; a mark in front is not part of it.

        Raises
        ------
        OSError
            If a file cannot be read.
        ArgumentValueError
            If an object cannot be read.
        OutOfMemoryError
            If it is larger than what may be in memory.
        """
        if not is_url(path):
            require_memory(os.stat(path).st_size)
            return open(path, encoding="utf-8-sig", errors=errors)
        data = self.read_whole(path)
        return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", errors=errors)

    def read_whole(self, path: str) -> bytes:
        """Return the bytes of a file or of an object; raises like `open_text`."""
        if not is_url(path):
            require_memory(os.stat(path).st_size)
            with open(path, "rb") as file:
                return file.read()
        try:
            return bytes(self.read(path))
        except OutOfMemoryError as error:
            raise OutOfMemoryError(f"{path!r}: {error}") from error
        except Exception as error:
            raise ArgumentValueError(problem_of(path, error)) from error

    def names_in(self, folder: str, *, folders: bool) -> list[str]:
        """Return the names of the folders, or of the files, in a folder of a store.

        They come in the order of their bytes. The first call lists everything below the folder.

        Raises
        ------
        ArgumentValueError
            If it cannot be listed, or nothing is in it.
        """
        folder = folder.removesuffix("/.").rstrip("/")
        if folder not in self._folders:
            self._list(folder)
        found = self._folders[folder]
        return sorted(found.folders if folders else found.files, key=os.fsencode)

    def _list(self, folder: str) -> None:
        url = split_url(folder)
        if url.scheme in ("http", "https"):
            raise ArgumentValueError(
                f"file_root must be a folder that can be listed (got {folder!r}: web servers give "
                "no list of their files). Pass files or file_list."
            )
        try:
            objects = self._objects_below(url)
        except Exception as error:
            raise ArgumentValueError(
                f"file_root must be a folder that can be listed (got: {problem_of(folder, error)})"
            ) from error
        if not objects:
            raise ArgumentValueError(
                f"file_root must be a folder with objects (got {folder!r}, below which there is "
                "none). Check bucket and path."
            )
        self._folders[folder] = _Folder()
        start = len(url.key) + 1 if url.key else 0
        for found in objects:
            parts = found.key[start:].split("/")
            above = folder
            for name in parts[:-1]:
                self._folders[above].folders.add(name)
                above = f"{above}/{name}"
                self._folders.setdefault(above, _Folder())
            if parts[-1]:
                self._folders[above].files.append(parts[-1])
            if self._cache is not None:
                self._infos[f"{url.root}/{found.key}"] = found

    def _objects_below(self, url: ObjectUrl) -> list[ObjectInfo]:
        """List folders at the same time: servers give some thousand names at a time."""
        store = self._store(url)
        try:
            names, direct = store.contents(url.key)
        except FileNotFoundError:
            return []
        if len(names) < 2:
            return list(store.objects(url.key))
        prefixes = [f"{url.key}/{name}".lstrip("/") for name in names]
        num_threads = min(len(names), self.options.max_in_flight)
        listed = map_in_threads(lambda prefix: list(store.objects(prefix)), prefixes, num_threads)
        return [*direct, *itertools.chain.from_iterable(listed)]

    def _store(self, url: ObjectUrl) -> ObjectStore:
        with self._lock:
            if url.root not in self._stores:
                check_place(self._access, url, self.options)
                self._stores[url.root] = open_store(url, self.options)
            return self._stores[url.root]

    def _described(self, url: str) -> ObjectInfo:
        # Asked for once: what changes later is found when the data set is opened again.
        if url not in self._infos:
            parts = split_url(url)
            self._infos[url] = self._store(parts).info(parts.key)
        return self._infos[url]


def _length_of(found: ObjectInfo, offset: int, size: int) -> int | None:
    """Return how many bytes of a part there are, if that is known."""
    if found.size == UNSIZED:
        return None
    left = max(0, found.size - offset)
    return left if size < 0 else min(size, left)


def _read_file(path: str, offset: int, size: int) -> bytes:
    # Without O_NONBLOCK a named pipe would hang the thread here; it cannot seek.
    with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
        file.seek(offset)
        return file.read(size)


@contextlib.contextmanager
def stopped(storages: Sequence[Storage]) -> Iterator[None]:
    """Fail the reads of native threads at once, and answer later ones again."""
    for storage in storages:
        storage.stop()
    try:
        yield
    finally:
        for storage in storages:
            storage.start()


def most_in_flight(storages: Sequence[Storage]) -> int:
    """Return how many reads ahead the storages may make at once, the one that may make most."""
    # What is not used yet gets its paths as data, which are not known ahead.
    used = [storage for storage in storages if storage.is_used]
    return max((storage.options.max_in_flight for storage in used), default=0)


def make_storage(arguments: dict[str, Any]) -> Storage:
    """Make the storage of a reader from its checked arguments.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If the arguments cannot be used.
    """
    options = StorageOptions.from_argument(arguments.get("storage_options"))
    folder = arguments.get("cache_dir")
    if folder and is_url(folder):
        raise ArgumentValueError(
            f"cache_dir must be a local folder (got the URL {folder!r}). Pass a path."
        )
    access: Access = arguments.get("access", Access.PROGRAM)
    cache = None
    if folder and access is not Access.LOCAL:
        cache = ObjectCache(folder, arguments["cache_size"])
    return Storage(options, cache, access)
