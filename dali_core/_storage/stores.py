"""Stores of objects: what obstore knows, and what else fsspec knows."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dali_core._extras import install_command
from dali_core._storage.limited import PIECE_BYTES, joined
from dali_core._storage.odd_names import can_list, is_odd_name, list_readable
from dali_core._storage.options import StorageOptions
from dali_core._storage.urls import ObjectUrl
from dali_core.errors import ArgumentValueError, MissingModuleError

if TYPE_CHECKING:  # it imports the modules of HTTP, which take long
    from dali_core._storage.unsized_answers import UnsizedAnswers

_OF_OBSTORE = {
    *("s3", "s3a", "gs", "az", "adl", "azure", "abfs", "abfss", "http", "https"),
}
_CHUNK_BYTES = 1 << 20


UNSIZED = -1


class ObjectInfo(NamedTuple):
    """An object that exists.

    Attributes
    ----------
    key : str
        Its name.
    size : int
        In bytes; `UNSIZED` if the server does not say.
    version : str
        What changes when the content does: the ETag, or else the time of the last change.
    """

    key: str
    size: int
    version: str


class ObjectStore(Protocol):
    """The objects of a bucket or a server. Many threads use it at a time."""

    def read(self, key: str, offset: int, size: int) -> Any:
        """Return bytes of an object, fewer where it ends; all for a size of -1."""
        ...

    def info(self, key: str) -> ObjectInfo:
        """Return size and version of an object."""
        ...

    def contents(self, prefix: str) -> tuple[list[str], list[ObjectInfo]]:
        """Return the names of the folders in a folder, and the objects in it.

        Both are empty if only `objects` can find them.
        """
        ...

    def objects(self, prefix: str) -> Iterator[ObjectInfo]:
        """Find all objects below a folder."""
        ...


def open_store(url: ObjectUrl, options: StorageOptions) -> ObjectStore:
    """Open the store of an object.

    Raises
    ------
    ArgumentValueError
        If the scheme is unknown, or an option is.
    MissingModuleError
        If what reads such URLs is not installed.
    """
    return _Obstore(url, options) if url.scheme in _OF_OBSTORE else _Fsspec(url, options)


class _Obstore:
    def __init__(self, url: ObjectUrl, options: StorageOptions) -> None:
        try:
            import obstore
            from obstore.store import from_url
        except ImportError as error:
            raise MissingModuleError(
                f"reading {url.root} needs obstore (got none: {error}). Install it: "
                f"{install_command('remote')}."
            ) from error
        config = dict(options.store)
        client = {
            "timeout": timedelta(seconds=options.timeout),
            "connect_timeout": timedelta(seconds=min(options.timeout, 10.0)),
            **config.pop("client_options", {}),
        }
        retries = {
            "max_retries": options.max_retries,
            "retry_timeout": timedelta(seconds=options.deadline),
            **config.pop("retry_config", {}),
        }
        is_web = url.scheme in ("http", "https")
        endpoints = [*map(str, config.values()), *_endpoints_in_environment()]
        if url.scheme == "http" or any(value.startswith("http://") for value in endpoints):
            client.setdefault("allow_http", True)
        self._module = obstore
        self._url = url
        self._unsized: UnsizedAnswers | None = None
        try:
            if is_web:
                from obstore.store import HTTPStore

                from dali_core._storage.unsized_answers import UnsizedAnswers

                self._unsized = UnsizedAnswers(url.root, options)
                self._store: Any = HTTPStore.from_url(
                    url.root, client_options=client, retry_config=retries
                )
            else:
                self._store = from_url(
                    url.root, config=config, client_options=client, retry_config=retries
                )
        except Exception as error:
            raise ArgumentValueError(
                f"storage_options must be those of obstore for {url.root} (got "
                f"{first_line(error)}). Change them."
            ) from error

    def read(self, key: str, offset: int, size: int) -> Any:
        if 0 <= size <= PIECE_BYTES:
            return self._module.get_range(self._store, key, start=offset, end=offset + size)
        part = None if size < 0 else {"range": (offset, offset + size)}
        try:
            answer = self._module.get(self._store, key, options=part)
        except Exception as error:
            if size < 0 and self._unsized is not None and self._unsized.may_be(error):
                return self._unsized.read(key)
            raise
        first, end = answer.range
        if end - first <= PIECE_BYTES:
            return answer.bytes()
        return joined(answer.stream(min_chunk_size=_CHUNK_BYTES), end - first)

    def info(self, key: str) -> ObjectInfo:
        try:
            return self._info(self._module.head(self._store, key))
        except Exception as error:
            if self._unsized is not None and self._unsized.may_be(error):
                return ObjectInfo(key, UNSIZED, self._unsized.version(key))
            raise

    def contents(self, prefix: str) -> tuple[list[str], list[ObjectInfo]]:
        try:
            found = self._module.list_with_delimiter(self._store, prefix or None)
        except Exception as error:
            if is_odd_name(error) and can_list(self._url):
                return [], []
            raise
        folders = [path.rstrip("/").rpartition("/")[2] for path in found["common_prefixes"]]
        return folders, list(map(self._info, found["objects"]))

    def objects(self, prefix: str) -> Iterator[ObjectInfo]:
        chunks = self._module.list(self._store, prefix or None)
        try:
            found = [self._info(one) for chunk in chunks for one in chunk]
        except Exception as error:
            if not is_odd_name(error) or not can_list(self._url):
                raise
            listed = list_readable(self._url, prefix, self._store.config)
            found = [ObjectInfo(*one) for one in listed]
        return iter(found)

    @staticmethod
    def _info(found: Any) -> ObjectInfo:
        return ObjectInfo(
            found["path"], found["size"], found["e_tag"] or str(found["last_modified"])
        )


class _Fsspec:
    def __init__(self, url: ObjectUrl, options: StorageOptions) -> None:
        try:
            import fsspec
        except ImportError as error:
            raise MissingModuleError(
                f"reading {url.root} needs fsspec (got none: {error}). Install it: "
                f"{install_command('remote')}."
            ) from error
        try:
            self._files: Any = fsspec.filesystem(url.scheme, **options.store)
        except ImportError as error:
            raise MissingModuleError(
                f"reading {url.root} with fsspec needs another package ({error}). Install it."
            ) from error
        except Exception as error:
            raise ArgumentValueError(
                f"URLs must have a scheme that obstore or fsspec knows, with its options (got "
                f"{url.root}: {first_line(error)}). Change the URL or storage_options."
            ) from error
        self._place = url.place

    def read(self, key: str, offset: int, size: int) -> Any:
        def part(start: int, end: int) -> Any:
            return self._files.cat_file(self._path(key), start=start, end=end)

        end = offset + (PIECE_BYTES if size < 0 else min(size, PIECE_BYTES))
        found = part(offset, end)
        if size == end - offset or len(found) != end - offset:
            return found
        last = self.info(key).size if size < 0 else offset + size
        starts = range(end, last, PIECE_BYTES)
        more = (part(start, min(start + PIECE_BYTES, last)) for start in starts)
        return joined(itertools.chain([found], more), last - offset)

    def info(self, key: str) -> ObjectInfo:
        return self._info(self._files.info(self._path(key)))

    def contents(self, prefix: str) -> tuple[list[str], list[ObjectInfo]]:
        found = self._files.ls(self._path(prefix), detail=True, refresh=True)
        folders = [entry["name"] for entry in found if entry["type"] == "directory"]
        files = [self._info(entry) for entry in found if entry["type"] == "file"]
        return [name.rstrip("/").rpartition("/")[2] for name in folders], files

    def objects(self, prefix: str) -> Iterator[ObjectInfo]:
        yield from map(self._info, self._files.find(self._path(prefix), detail=True).values())

    def _path(self, key: str) -> str:
        return f"{self._place}/{key}".strip("/")

    def _info(self, found: Any) -> ObjectInfo:
        name = found["name"].strip("/")
        key = name[len(self._place) :].strip("/") if name.startswith(self._place) else name
        version = next((found[name] for name in ("ETag", "etag", "created") if name in found), "")
        return ObjectInfo(key, found["size"], f"{version or found.get('mtime', '')}")


def _endpoints_in_environment() -> list[str]:
    clouds = ("AWS_", "AZURE_", "GOOGLE_")
    return [
        os.environ[name] for name in os.environ if name.startswith(clouds) and "ENDPOINT" in name
    ]


def first_line(error: BaseException) -> str:
    """Return what an error says, without the answer of the server."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].partition(": <?xml")[0].rstrip(" :")
