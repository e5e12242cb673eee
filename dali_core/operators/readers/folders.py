"""Lists folders in the order that readers promise."""

from __future__ import annotations

import contextlib
import fnmatch
import os
import re
from collections.abc import Iterator, Sequence

from dali_core._runtime.path_list import NamePatterns, PathList, list_names
from dali_core._storage import Storage, is_url, join_path
from dali_core.errors import ArgumentValueError
from dali_core.operators.readers.saved_folders import SavedFolders
from dali_core.operators.readers.skipped_files import SkippedFiles, warn_of_skipped_files


def names_in(folder: str, storage: Storage | None = None, *, folders: bool) -> list[str]:
    """Return the names of the folders, or of the files, in a folder, in the order of their bytes.

    Raises
    ------
    ArgumentValueError
        If it cannot be listed.
    """
    if storage is not None and is_url(folder):
        return storage.names_in(folder, folders=folders)
    with _listing(folder):
        return list_names(folder, folders=folders)


def files_below(
    root: str,
    storage: Storage,
    file_filters: Sequence[str],
    dir_filters: Sequence[str] | None = None,
    *,
    case_sensitive: bool = True,
    with_root: bool = False,
    are_default: bool = False,
) -> PathList:
    """List files in the folders of a folder; the number of a file's folder is its label.

    Parameters
    ----------
    root : str
        The folder.
    storage : Storage
        What lists URLs.
    file_filters, dir_filters : sequence of str
        Shell patterns of the names of files and of folders; by default all folders.
    case_sensitive : bool
        Whether patterns tell 'a' from 'A'.
    with_root : bool
        Whether files in the folder itself count, as if they were in a folder called ".", whose
        place is among the others.
    are_default : bool
        Whether the user did not choose `file_filters`. Files that do not match are then named in a
        warning. So are folders without a file in any case, unless `with_root`.

    Returns
    -------
    PathList
        The files, folder after folder, relative to `root`.

    Raises
    ------
    ArgumentValueError
        If a folder cannot be listed.
    """
    rules = [file_filters, dir_filters, case_sensitive, with_root, are_default]
    saved = SavedFolders(root, rules)
    known = saved.load()
    if known is not None:
        found, remark = known
        warn_of_skipped_files(remark)
        return found
    folders = names_in(root, storage, folders=True)
    if with_root:
        folders = sorted([*folders, "."], key=os.fsencode)
    if dir_filters is not None:
        folders = list(filter(_patterns(dir_filters, case_sensitive), folders))
    saved.watch(folders)
    patterns = _patterns(file_filters, case_sensitive)
    found = PathList()
    skipped = SkippedFiles()
    for label, name in enumerate(folders):
        num_before = len(found)
        folder = join_path(root, name)
        if is_url(folder):
            names = storage.names_in(folder, folders=False)
            others = found.add_folder(f"{name}/", names, label, patterns)
        else:
            with _listing(folder):
                others = found.add_local_folder(folder, f"{name}/", label, patterns)
        is_empty = len(found) == num_before and not with_root
        skipped.add(name if is_empty else None, others if are_default else {})
    found.finish()
    remark = skipped.remark(root, "file_filter" if with_root else "file_filters")
    if len(found):
        warn_of_skipped_files(remark)
    return saved.store(found, remark)


def _patterns(patterns: Sequence[str], case_sensitive: bool) -> NamePatterns:
    expression = "|".join(fnmatch.translate(pattern) for pattern in patterns)
    matches = re.compile(expression, 0 if case_sensitive else re.IGNORECASE).match
    return NamePatterns(patterns, case_sensitive, matches)


def checked_paths(paths: PathList, storage: Storage) -> PathList:
    """Return paths as they are read, see `Storage.checked`."""
    if not paths.may_contain("://"):
        return paths
    found = PathList()
    found.extend(storage.checked(list(paths)), paths.labels)
    found.finish()
    return found


@contextlib.contextmanager
def _listing(folder: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ArgumentValueError(
            f"file_root must be a folder that can be listed (got {error.filename or folder!r}: "
            f"{error.strerror}). Check the path, links and permissions."
        ) from error
