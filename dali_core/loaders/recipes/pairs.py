"""Files of two folders that belong together."""

from __future__ import annotations

import os
from pathlib import Path

from dali_core.errors import ArgumentValueError

_MOST_NAMED = 5


def paired_files(
    first: str | os.PathLike[str], second: str | os.PathLike[str]
) -> tuple[list[str], list[str]]:
    """Return the files below two folders in pairs: those whose paths differ in the extension only.

    Parameters
    ----------
    first, second : path
        The folders. Hidden files are left out.

    Returns
    -------
    list of str, list of str
        Paths below each folder, sorted by their names, pair by pair.

    Raises
    ------
    ArgumentValueError
        If a folder has no files, a file is without its other one, or two have the same name; they
        are named.
    """
    found = [_by_stem(Path(folder)) for folder in (first, second)]
    for folder, one, other in ((first, found[0], found[1]), (second, found[1], found[0])):
        alone = sorted(set(one) - set(other))
        if alone:
            names = ", ".join(repr(one[stem]) for stem in alone[:_MOST_NAMED])
            raise ArgumentValueError(
                f"{os.fspath(folder)!r}: every file must have another one of the same name, but "
                f"for the extension (got {len(alone)} without: {names}"
                f"{', ...' if len(alone) > _MOST_NAMED else ''}). Add or remove files."
            )
    stems = sorted(found[0])
    return [found[0][stem] for stem in stems], [found[1][stem] for stem in stems]


def _by_stem(folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for place, folders, names in os.walk(folder, followlinks=True):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.startswith("."):
                continue
            path = os.path.join(place, name)
            stem = os.path.splitext(os.path.relpath(path, folder))[0]
            if stem in found:
                raise ArgumentValueError(
                    f"{os.fspath(folder)!r}: names must differ in more than the extension (got "
                    f"{found[stem]!r} and {path!r})."
                )
            found[stem] = path
    if not found:
        raise ArgumentValueError(f"{os.fspath(folder)!r}: must be a folder with files (got none).")
    return found
