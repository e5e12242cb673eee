"""Keeps what was found in files between runs, in one database for all programs of a user."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dali_core._cache_files import (
    LOCK_SECONDS,
    has_private_file,
    make_folder,
    opened_folder,
    reason_of,
    warn_once,
)

CACHE_VARIABLE = "DALI_CORE_INDEX_CACHE"
"""Environment variable: folder where indices of archives, texts and record files are kept; empty to
keep none. By default ``dali_core/records`` in ``XDG_CACHE_HOME``, or in ``~/.cache``."""

_AT_ONCE = 500
_LOCKED = "database is locked"
_OUTSIDE = (_LOCKED, "readonly", "disk", "unable to open")
"""In the messages of SQLite that are not about the content of the file."""

_given_up: set[str] = set()
"""Databases that other programs have locked for too long: this process does without."""

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
    if home.startswith("~"):  # a user without a home
        return ""
    return os.path.join(os.path.abspath(home), "dali_core", name)


class _NoDatabaseError(Exception):
    """There is no database, or it is not used."""


class FileCache:
    """A database in a folder. What is wrong with it never shows but in time, and once in a warning.

    It is not used in a folder to which every user may write, or which belongs to another one.

    Parameters
    ----------
    folder : str
        Where to keep it; nothing is kept if it is empty.
    name : str
        Name of the database's file; it changes with the table, and with what entries have.
    variable : str
        Environment variable that warnings name; without it there are none.
    """

    def __init__(self, folder: str, name: str, variable: str = "") -> None:
        self._folder = folder
        self._path = Path(os.path.realpath(folder), name)
        self._variable = variable

    def load_bytes(self, keys: Sequence[FileKey]) -> dict[str, bytes]:
        """Return the entries that are there, by path."""
        found: dict[str, bytes] = {}
        with self._unless_faulty(), self._database() as database:
            for start in range(0, len(keys), _AT_ONCE):
                _load_some(database, keys[start : start + _AT_ONCE], found)
        return found

    def store_bytes(self, entries: Iterable[tuple[FileKey, bytes]]) -> None:
        """Keep entries, where that is possible."""
        rows = [(*key, data) for key, data in entries if _is_text(key[0])]
        with self._unless_faulty(is_new=True), self._database(make=True) as database, database:
            database.execute(
                "CREATE TABLE IF NOT EXISTS indices "
                "(path TEXT PRIMARY KEY, size INTEGER, changed INTEGER, data BLOB)"
            )
            database.executemany("INSERT OR REPLACE INTO indices VALUES (?, ?, ?, ?)", rows)

    def warn(self, reason: str) -> None:
        """Warn about a fault, unless that was done before."""
        if self._variable:
            warn_once(self._variable, self._folder, reason)

    @contextlib.contextmanager
    def _database(self, *, make: bool = False) -> Iterator[sqlite3.Connection]:
        if not self._folder or str(self._path) in _given_up:
            raise _NoDatabaseError
        if make:
            make_folder(self._path.parent)
        with opened_folder(self._path.parent) as folder:
            if not has_private_file(folder, self._path.name) and not make:
                raise _NoDatabaseError
            connection = sqlite3.connect(self._path, timeout=LOCK_SECONDS)
            with contextlib.closing(connection) as database:
                database.text_factory = bytes
                yield database

    @contextlib.contextmanager
    def _unless_faulty(self, *, is_new: bool = False) -> Iterator[None]:
        try:
            yield
        except _NoDatabaseError:
            pass
        except FileNotFoundError as error:
            if is_new:
                self.warn(reason_of(error))
        except sqlite3.OperationalError as error:
            reason = str(error)
            if _LOCKED in reason:
                _given_up.add(str(self._path))
                if is_new:
                    return  # others are writing: they may keep the same
            if any(text in reason for text in _OUTSIDE):
                self.warn(reason)
            elif is_new or "no such table" not in reason:
                self._remove(reason)
        except sqlite3.DatabaseError as error:
            self._remove(str(error))
        except (OSError, sqlite3.Error, ValueError, OverflowError, MemoryError) as error:
            self.warn(reason_of(error))

    def _remove(self, reason: str) -> None:
        self.warn(f"{self._path.name} is damaged, {reason}")
        with contextlib.suppress(OSError):
            self._path.unlink()


def _load_some(
    database: sqlite3.Connection, keys: Sequence[FileKey], found: dict[str, bytes]
) -> None:
    wanted = {path: (size, changed) for path, size, changed in keys if _is_text(path)}
    marks = ",".join("?" * len(wanted))
    rows = database.execute(
        "SELECT path, size, changed, data, typeof(data) FROM indices "  # noqa: S608
        f"WHERE path IN ({marks})",
        list(wanted),
    )
    for path, size, changed, data, kind in rows:
        name = path.decode("utf-8", "replace")
        if wanted.get(name) == (size, changed) and kind == b"blob":
            found[name] = data


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
