"""Keeps what was found in folders between runs, until one of them changes.

There is a file for each root, which processes read in parts: none has it in its own memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dali_core._atomic_files import remove_abandoned, whole_file
from dali_core._cache_files import make_folder, open_file, reason_of, warn_once
from dali_core._file_cache import cache_folder
from dali_core._runtime.path_list import PathList
from dali_core._storage import is_url
from dali_core.operators.readers.archive_index import CACHE_VARIABLE

_FOLDER = "folders-3"  # the number changes with the format and with the rules of listing
_LEAST_FILES = 10_000  # below, listing is fast enough
_SETTLED_NS = 2_000_000_000  # file systems may have clocks that tick every other second


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
        key = hashlib.sha256(os.fsencode(os.path.abspath(root))).hexdigest()
        self._file = Path(folder, _FOLDER, key) if folder else None
        self._states = b""

    def load(self) -> tuple[PathList, str] | None:
        """Return saved paths and their remark if no folder has changed.

        Otherwise the root is listed next.
        """
        self._states = self._states_of(["."])
        saved = self._open() if self._states else None
        if saved is None:
            return None
        found, note = saved
        folders = [prefix.removesuffix("/") for prefix in found.folders]
        states = self._rules + self._states + self._states_of(folders)
        if not note.startswith(states):
            return None
        return found, note[len(states) :].decode("utf-8", "backslashreplace")

    def watch(self, folders: Sequence[str]) -> None:
        """Remember what folders are like, which are listed next."""
        if self._states:
            self._states += self._states_of(folders)

    def store(self, found: PathList, remark: str) -> PathList:
        """Keep what was found, and a remark about it, if a later change of a folder will be seen.

        Returns
        -------
        PathList
            The same paths, which are no longer in memory if they are kept.
        """
        if self._file is None or not self._may_keep(found):
            return found
        note = self._rules + self._states + remark.encode("utf-8", "backslashreplace")
        saved = self._open()
        # Other processes may have listed the same just now.
        if saved is None or saved[1] != note:
            self._write(self._file, found, note)
            saved = self._open()
        if saved is None or saved[1] != note:
            return found
        found.clear()
        return saved[0]

    def _may_keep(self, found: PathList) -> bool:
        expected = (1 + len(found.folders)) * _STATE_BYTES
        if len(found) < _LEAST_FILES or len(self._states) != expected:
            return False
        # A file that comes in the same tick of the clock would not change the time.
        newest = max(array("q", self._states)[:: _STATE_BYTES // 8])
        return newest <= time.time_ns() - _SETTLED_NS

    def _open(self) -> tuple[PathList, bytes] | None:
        """Return what is kept, and for which rules and states of folders."""
        if self._file is None:
            return None
        try:
            os.close(open_file(self._file))
            found = PathList.open(str(self._file))
        except FileNotFoundError:
            return None
        except OSError as error:
            self._warn(reason_of(error))
            return None
        if found is None:
            self._warn(f"{self._file.name} is damaged")
        return found

    def _warn(self, reason: str) -> None:
        if self._file is not None:
            warn_once(CACHE_VARIABLE, self._file.parents[1], reason)

    def _write(self, file: Path, found: PathList, note: bytes) -> None:
        try:
            make_folder(file.parent)
            remove_abandoned(file)
            with whole_file(file) as target:
                found.write_to(target.write, note)
        except OSError as error:  # the disk is full, or the folder cannot be used
            self._warn(reason_of(error))

    def _states_of(self, folders: Sequence[str]) -> bytes:
        """Return what changes with the names in each folder; nothing if one cannot be found."""
        states = array("q")
        if self._file is None:
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
