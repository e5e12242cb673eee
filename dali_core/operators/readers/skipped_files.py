"""Files that a reader finds in folders and does not read, because of their names."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping

from dali_core._messages import printable, user_stacklevel
from dali_core.errors import SkippedFilesWarning

_MOST_KINDS = 8
_MOST_FOLDERS = 5


class SkippedFiles:
    """Numbers of skipped files by their extensions, and the folders that are left empty."""

    def __init__(self) -> None:
        self._kinds: Counter[str] = Counter()
        self._empty: list[str] = []
        self._num_empty = 0

    def add(self, empty_folder: str | None, kinds: Mapping[str, int]) -> None:
        """Count the skipped files of a folder, and the folder if it has no others."""
        self._kinds.update(kinds)
        if empty_folder is not None:
            self._num_empty += 1
            if self._num_empty <= _MOST_FOLDERS:
                self._empty.append(empty_folder)

    def remark(self, root: str, argument: str) -> str:
        """Return the text of a warning; empty if there is nothing to say.

        Parameters
        ----------
        root : str
            The folder that was searched.
        argument : str
            Argument that has the patterns of names.
        """
        parts = []
        if self._kinds:
            kinds = sorted(self._kinds.items(), key=lambda kind: (-kind[1], kind[0] or "no"))
            shown = [f"{name or 'no extension'} {count}" for name, count in kinds[:_MOST_KINDS]]
            if len(kinds) > _MOST_KINDS:
                shown.append(f"others {sum(count for _, count in kinds[_MOST_KINDS:])}")
            parts.append(
                f"{self._kinds.total()} files are not read, since their names match no pattern of "
                f"{argument} ({', '.join(shown)})"
            )
        if self._num_empty:
            more = self._num_empty - len(self._empty)
            names = ", ".join(map(repr, self._empty)) + (f" and {more} more" if more else "")
            parts.append(f"classes without files: {names} (folders in a class are not searched)")
        if not parts:
            return ""
        return printable(
            f"file_root {root!r}: {'; '.join(parts)}. Pass {argument} to choose what is read; "
            "`dali-core check` says what the files are."
        )


def warn_of_skipped_files(remark: str) -> None:
    """Warn of skipped files where the user builds the pipeline, unless the remark is empty."""
    if remark:
        warnings.warn(printable(remark), SkippedFilesWarning, stacklevel=user_stacklevel())
