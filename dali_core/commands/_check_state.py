"""Results of `dali-core check`, kept in a file so that an interrupted run can be resumed."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from dali_core._atomic_files import write_whole
from dali_core.commands._checking import Checked
from dali_core.commands._media import MediaFile
from dali_core.errors import ArgumentValueError

SAVING_SECONDS = 5.0
"""Minimum seconds between two saves."""

PAUSE = 20
"""Minimum time between two saves, as a multiple of the time that a save takes."""

_VERSION = 1


class CheckState:
    """The results so far, which are written to the file when a ``with`` block exits.

    Parameters
    ----------
    path : Path, optional
        The file; without one, nothing is kept.

    Raises
    ------
    ArgumentValueError
        If the file exists, and this class has not written it.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._entries: dict[str, list[Any]] = {}
        self._saved_at = time.monotonic()
        self._interval = SAVING_SECONDS
        if path is not None and path.exists():
            self._entries = _loaded(path)

    def __enter__(self) -> CheckState:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.save()

    def get(self, file: MediaFile) -> Checked | None:
        """Return the result of a file that has not changed since."""
        entry = self._entries.get(file.identity())
        if entry is None or entry[:2] != file.key():
            return None
        return Checked(entry[2], tuple(entry[3]))

    def add(self, file: MediaFile, checked: Checked) -> None:
        """Keep a result."""
        self._entries[file.identity()] = [*file.key(), checked.reason, list(checked.shape)]
        if time.monotonic() >= self._saved_at + self._interval:
            self.save()

    def save(self) -> None:
        """Write the file."""
        if self._path is None:
            return
        begin = time.monotonic()
        write_whole(self._path, json.dumps({"version": _VERSION, "files": self._entries}))
        self._saved_at = time.monotonic()
        self._interval = max(SAVING_SECONDS, PAUSE * (self._saved_at - begin))


def _loaded(path: Path) -> dict[str, list[Any]]:
    try:
        state = json.loads(path.read_bytes())
        if state["version"] != _VERSION:
            raise ValueError(f"version {state['version']}")
        entries: dict[str, list[Any]] = state["files"]
        for size, changed, reason, shape in entries.values():
            Checked(str(reason), tuple(int(extent) for extent in (size, changed, *shape)))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ArgumentValueError(
            f"check: --state must be a file that this command has written, or none (got "
            f"{str(path)!r}: {error}). Choose another name, or remove it."
        ) from error
    return entries
