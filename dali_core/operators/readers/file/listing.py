"""Finds files and their labels."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from typing import Any

from dali_core._runtime.path_list import PathList
from dali_core._storage import Storage, is_url
from dali_core._storage.urls import folder_of
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.operators.readers.folders import checked_paths, files_below, names_in
from dali_core.operators.readers.listed_files import ListedFiles

KNOWN_EXTENSIONS = [
    f"*.{extension}"
    for extension in (
        *("jpg", "jpeg", "png", "bmp", "tif", "tiff", "pnm", "ppm", "pgm", "pbm", "jp2", "webp"),
        *("flac", "ogg", "wav"),
    )
]
"""Patterns of the files that are used by default."""

# Paths may contain spaces, even at their start.
_LIST_ENTRY = re.compile(r"(.*\S)[ \t]+([+-]?[0-9]{1,99})")


def open_files(arguments: dict[str, Any], storage: Storage) -> ListedFiles:
    """List what the arguments of `fn.readers.file` ask for.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If the arguments contradict each other, or there are no files.
    """
    root = storage.checked_path(arguments.get("file_root") or "")
    file_list = arguments.get("file_list")
    files = arguments.get("files")
    if file_list is not None and files is not None:
        raise ArgumentTypeError("file_list and files must not both be given. Remove one.")
    if files is None and arguments.get("labels") is not None:
        raise ArgumentTypeError("labels must come together with files (got labels only).")
    if files is None and file_list is None and not root:
        raise ArgumentTypeError("file_root, file_list or files must be given (got none of them).")
    if files is not None:
        listed = _from_files(files, arguments.get("labels"), storage)
        return ListedFiles(root, listed, has_labels=True)
    if file_list is not None:
        file_list = storage.checked_path(file_list)
        listed = _from_file_list(file_list, storage)
        return ListedFiles(root or folder_of(file_list), listed, has_labels=True)
    listed = _from_folders(
        root,
        arguments["file_filters"],
        arguments.get("dir_filters"),
        arguments["case_sensitive_filter"],
        storage,
    )
    return ListedFiles(root, listed, has_labels=True, has_classes=True)


def _from_files(files: list[str], labels: Sequence[int] | None, storage: Storage) -> PathList:
    if not files:
        raise ArgumentValueError("files must name at least one file (got an empty list).")
    if labels is None:
        labels = range(len(files))
    if len(labels) != len(files):
        raise ArgumentValueError(
            f"labels must have an entry for each of the {len(files)} files (got {len(labels)})."
        )
    if not (_fits(min(labels)) and _fits(max(labels))):
        number, label = next((i, label) for i, label in enumerate(labels) if not _fits(label))
        raise _too_large("labels", number, label)
    found = PathList()
    found.extend(files, labels)
    found.finish()
    return checked_paths(found, storage)


def _from_file_list(file_list: str, storage: Storage) -> PathList:
    found = PathList()
    too_large: list[ArgumentValueError] = []

    def judge(number: int, line: str) -> tuple[str, int] | None:
        if not line.strip():
            return None
        entry = _LIST_ENTRY.fullmatch(line.rstrip())
        if entry is None or "\0" in line:
            raise ArgumentValueError(
                f"file_list {file_list!r}, line {number}: must be a path, a space and an "
                f"integer label, without NUL characters (got {line.strip()!r}). Fix the "
                "line."
            )
        label = int(entry[2])
        if not _fits(label):
            too_large.append(_too_large(f"file_list {file_list!r}", len(found), label))
            label = 0
        return entry[1], label

    try:
        found.add_lines(storage.read_whole(file_list).removeprefix(codecs.BOM_UTF8), judge)
    except OSError as error:
        raise ArgumentValueError(
            f"file_list must be a readable file (got {file_list!r}: {error.strerror})."
        ) from error
    if not len(found):
        raise ArgumentValueError(f"file_list {file_list!r} must name at least one file (got none).")
    if too_large:
        raise too_large[0]
    return checked_paths(found, storage)


def _from_folders(
    root: str,
    file_filters: list[str],
    dir_filters: list[str] | None,
    case_sensitive: bool,
    storage: Storage,
) -> PathList:
    for name, filters in (("file_filters", file_filters), ("dir_filters", dir_filters)):
        if filters is not None and not filters:
            raise ArgumentValueError(
                f"{name} must have at least one pattern (got none). Leave it out to use all."
            )
    found = files_below(
        root,
        storage,
        file_filters,
        dir_filters,
        case_sensitive=case_sensitive,
        are_default=file_filters == KNOWN_EXTENSIONS,
    )
    if not len(found):
        if not found.folders and not is_url(root) and (files := names_in(root, folders=False)):
            raise ArgumentValueError(
                f"file_root {root!r} must have a folder for each class (got no folder, but "
                f"{len(files)} files, such as {files[0]!r}). For files without classes, pass "
                "their paths as files, and numbers as labels if there are any."
            )
        raise ArgumentValueError(
            f"file_root {root!r} must have folders with files that match file_filters (found "
            f"{len(found.folders)} folders and no such file). Known extensions are "
            f"{', '.join(file_filters)}."
        )
    return found


def _fits(label: int) -> bool:
    return -(2**31) <= label < 2**31


def _too_large(what: str, number: int, label: int) -> ArgumentValueError:
    return ArgumentValueError(f"{what}: entry {number} must fit into 32 bits (got {label}).")
