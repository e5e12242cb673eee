"""Keeps indices of videos between runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dali_core._file_cache import FileCache
from dali_core._file_cache import FileKey as FileKey
from dali_core._file_cache import key_of as key_of
from dali_core.operators.video.worker.packed_index import DamagedIndexError, PackedIndex

_FILE = "indices-5.sqlite"  # the number changes with the table, and with what an index has


class IndexCache(FileCache):
    """A folder of indices.

    Parameters
    ----------
    folder
        Where to keep them; nothing is kept if it is empty.
    variable
        Environment variable that warnings name; without it there are none.
    """

    def __init__(self, folder: str, variable: str = "") -> None:
        super().__init__(folder, _FILE, variable)

    def load(self, keys: Sequence[FileKey]) -> dict[str, PackedIndex]:
        """Return the indices that are there, by path."""
        found: dict[str, PackedIndex] = {}
        for path, data in self.load_bytes(keys).items():
            try:
                found[path] = PackedIndex.from_bytes(data)
            except DamagedIndexError as error:
                self.warn(f"an entry is {error}")
        return found

    def store(self, entries: Iterable[tuple[FileKey, PackedIndex]]) -> None:
        """Keep indices, where that is possible."""
        self.store_bytes((key, index.to_bytes()) for key, index in entries)
