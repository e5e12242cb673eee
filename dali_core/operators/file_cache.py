"""Keeps what was found in files between runs, in one database for all programs of a user."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

_AT_ONCE = 500
_SECONDS = 5.0  # to wait for another program that writes

FileKey = tuple[str, int, int]
"""Absolute path, size in bytes, and time of the last change in nanoseconds."""


def key_of(path: str) -> FileKey:
    """Return what a file is known by. Raises `OSError`."""
    status = os.stat(path)
    return os.path.abspath(path), status.st_size, status.st_mtime_ns


def cache_folder(variable: str, name: str) -> str:
    """Return the folder for a cache, which may not exist; empty to keep none.

    Parameters
    ----------
    variable : str
        Environment variable that names it; an empty value turns the cache off.
    name : str
        Name below ``dali_core`` in ``XDG_CACHE_HOME``, or in ``~/.cache``, by default.
    """
    chosen = os.environ.get(variable)
    if chosen is not None:
        return os.path.abspath(os.path.expanduser(chosen)) if chosen else ""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(os.path.abspath(home), "dali_core", name)


class FileCache:
    """A database in a folder. What is wrong with it never shows but in time.

    Parameters
    ----------
    folder : str
        Where to keep it; nothing is kept if it is empty.
    name : str
        Name of the database's file; it changes with the table, and with what entries have.
    """

    def __init__(self, folder: str, name: str) -> None:
        self._folder = folder
        self._name = name

    def load_bytes(self, keys: Sequence[FileKey]) -> dict[str, bytes]:
        """Return the entries that are there, by path."""
        found: dict[str, bytes] = {}
        path = Path(self._folder, self._name)
        if not self._folder or not path.is_file():
            return found
        try:
            with self._connection(path) as database:
                for start in range(0, len(keys), _AT_ONCE):
                    self._load_some(database, keys[start : start + _AT_ONCE], found)
        except sqlite3.OperationalError:
            pass  # busy, or in a folder that cannot be used
        except sqlite3.DatabaseError:
            with contextlib.suppress(OSError):
                path.unlink()
        return found

    def store_bytes(self, entries: Iterable[tuple[FileKey, bytes]]) -> None:
        """Keep entries, where that is possible."""
        if not self._folder:
            return
        rows = [(*key, data) for key, data in entries]
        path = Path(self._folder, self._name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._connection(path) as database, database:
                database.execute(
                    "CREATE TABLE IF NOT EXISTS indices "
                    "(path TEXT PRIMARY KEY, size INTEGER, changed INTEGER, data BLOB)"
                )
                database.executemany("INSERT OR REPLACE INTO indices VALUES (?, ?, ?, ?)", rows)
        except sqlite3.OperationalError:
            pass
        except sqlite3.DatabaseError:
            with contextlib.suppress(OSError):
                path.unlink()
        except (OSError, UnicodeEncodeError):
            pass

    @contextlib.contextmanager
    def _connection(self, path: Path) -> Iterator[sqlite3.Connection]:
        database = sqlite3.connect(path, timeout=_SECONDS)
        try:
            yield database
        finally:
            database.close()

    def _load_some(
        self, database: sqlite3.Connection, keys: Sequence[FileKey], found: dict[str, bytes]
    ) -> None:
        wanted = {path: (size, changed) for path, size, changed in keys}
        marks = ",".join("?" * len(wanted))
        try:
            rows = database.execute(
                f"SELECT path, size, changed, data FROM indices WHERE path IN ({marks})",  # noqa: S608
                list(wanted),
            )
        except UnicodeEncodeError:  # a name that is no text
            return
        for path, size, changed, data in rows:
            if wanted.get(path) == (size, changed) and isinstance(data, bytes):
                found[path] = data
