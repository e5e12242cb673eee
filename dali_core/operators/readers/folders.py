"""Lists folders in the order that readers promise."""

from __future__ import annotations

import os

from dali_core.errors import ArgumentValueError


def names_in(folder: str, *, folders: bool) -> list[str]:
    """Return the names of the folders, or of the files, in a folder, in the order of their bytes.

    Raises
    ------
    ArgumentValueError
        If it cannot be listed.
    """
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_dir() == folders]
    except OSError as error:
        raise ArgumentValueError(
            f"file_root must be a folder that can be listed (got {error.filename or folder!r}: "
            f"{error.strerror}). Check the path, links and permissions."
        ) from error
    return sorted(names, key=os.fsencode)
