"""Keeps what was found in folders between runs, until one of them changes."""

from __future__ import annotations

import hashlib
import json
import os
import time
import zlib
from array import array
from collections.abc import Sequence
from typing import Any

from dali_core._runtime.path_list import PathList
from dali_core._storage import is_url
from dali_core.operators.file_cache import FileCache, FileKey, cache_folder
from dali_core.operators.readers.archive_index import CACHE_VARIABLE

_FILE = "folders-1.sqlite"  # the number changes with the format and with the rules of listing
_LEAST_FILES = 10_000  # below, listing is fast enough
_MOST_BYTES = 1 << 29  # SQLite takes up to 1e9
_SETTLED_NS = 2_000_000_000  # file systems may have clocks that tick every other second
_HEAD_BYTES = 12  # a checksum, and the length of what folders were like


class SavedFolders:
    """The files in the folders below a root, as found before with the same rules.

    Parameters
    ----------
    root : str
        Folder of this machine; nothing is kept of what URLs name.
    rules : list
        What decides which files count, as JSON has it.
    """

    def __init__(self, root: str, rules: list[Any]) -> None:
        self._root = root
        self._rules = hashlib.sha256(json.dumps(rules).encode()).digest()
        folder = "" if is_url(root) else cache_folder(CACHE_VARIABLE, "records")
        self._cache = FileCache(folder, _FILE) if folder else None
        self._states = b""

    def load(self) -> PathList | None:
        """Return what is there now, if that is known; otherwise the root is listed next."""
        root = self._states_of(["."])
        self._states = root
        if not root or self._cache is None:
            return None
        for data in self._cache.load_bytes([self._key()]).values():
            checksum = int.from_bytes(data[:4], "little")
            length = int.from_bytes(data[4:_HEAD_BYTES], "little")
            if zlib.crc32(memoryview(data)[4:]) != checksum or length > len(data):
                continue
            found = PathList.from_bytes(memoryview(data)[_HEAD_BYTES + length :])
            if found is None:
                continue
            folders = [prefix.removesuffix("/") for prefix in found.folders]
            states = root + self._states_of(folders)
            if states == data[_HEAD_BYTES : _HEAD_BYTES + length]:
                return found
        return None

    def watch(self, folders: Sequence[str]) -> None:
        """Remember what folders are like, which are listed next."""
        if self._states:
            self._states += self._states_of(folders)

    def store(self, found: PathList) -> None:
        """Keep what was found, if a later change of a folder will be seen."""
        expected = 1 + len(found.folders)
        if len(found) < _LEAST_FILES or len(self._states) != expected * _STATE_BYTES:
            return
        # A file that comes in the same tick of the clock would not change the time.
        newest = max(array("q", self._states)[:: _STATE_BYTES // 8])
        if newest > time.time_ns() - _SETTLED_NS:
            return
        paths = found.to_bytes()
        if self._cache is None or len(paths) > _MOST_BYTES:
            return
        head = len(self._states).to_bytes(_HEAD_BYTES - 4, "little") + self._states
        checksum = zlib.crc32(paths, zlib.crc32(head)).to_bytes(4, "little")
        self._cache.store_bytes([(self._key(), b"".join([checksum, head, paths]))])

    def _key(self) -> FileKey:
        return os.path.abspath(self._root), 0, int.from_bytes(self._rules[:7], "little")

    def _states_of(self, folders: Sequence[str]) -> bytes:
        """Return what changes with the names in each folder; nothing if one cannot be found."""
        states = array("q")
        if self._cache is None:
            return b""
        try:
            for folder in folders:
                status = os.stat(os.path.join(self._root, folder))
                states.extend((status.st_mtime_ns, status.st_ctime_ns))
                states.extend(_signed(number) for number in (status.st_ino, status.st_dev))
        except OSError:
            return b""
        return states.tobytes()


_STATE_BYTES = 4 * 8


def _signed(number: int) -> int:
    return number & (1 << 63) - 1
