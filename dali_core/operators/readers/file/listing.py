"""Finds files and their labels."""

from __future__ import annotations

import fnmatch
import os
import re
from dataclasses import dataclass
from typing import Any

from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.operators.readers.folders import names_in

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


@dataclass(frozen=True)
class FileListing:
    """Files in their natural order.

    Attributes
    ----------
    root : str
        Folder that relative paths relate to.
    files : list of str
        Paths as they are shown to the user.
    labels : list of int
        One label a file.
    """

    root: str
    files: list[str]
    labels: list[int]

    def __len__(self) -> int:
        return len(self.files)

    def native_arguments(self) -> dict[str, Any]:
        """Return what the native code needs to read a file by its index."""
        return {"file_root": self.root, "files": self.files, "labels": self.labels}


def open_files(arguments: dict[str, Any]) -> FileListing:
    """List what the arguments of `fn.readers.file` ask for.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If the arguments contradict each other, or there are no files.
    """
    root = arguments.get("file_root", "")
    file_list = arguments.get("file_list")
    files = arguments.get("files")
    if file_list is not None and files is not None:
        raise ArgumentTypeError("file_list and files must not both be given. Remove one.")
    if files is None and arguments.get("labels") is not None:
        raise ArgumentTypeError("labels must come together with files (got labels only).")
    if files is None and file_list is None and not root:
        raise ArgumentTypeError("file_root, file_list or files must be given (got none of them).")
    if files is not None:
        return _from_files(root, files, arguments.get("labels"))
    if file_list is not None:
        return _from_file_list(root, file_list)
    return _from_folders(
        root,
        arguments["file_filters"],
        arguments.get("dir_filters"),
        arguments["case_sensitive_filter"],
    )


def _from_files(root: str, files: list[str], labels: list[int] | None) -> FileListing:
    if not files:
        raise ArgumentValueError("files must name at least one file (got an empty list).")
    if labels is None:
        labels = list(range(len(files)))
    if len(labels) != len(files):
        raise ArgumentValueError(
            f"labels must have an entry for each of the {len(files)} files (got {len(labels)})."
        )
    _check_labels(labels, "labels")
    return FileListing(root, files, labels)


def _from_file_list(root: str, file_list: str) -> FileListing:
    files, labels = [], []
    try:
        with open(file_list, encoding="utf-8", errors="surrogateescape") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                entry = _LIST_ENTRY.fullmatch(line.rstrip())
                if entry is None or "\0" in line:
                    raise ArgumentValueError(
                        f"file_list {file_list!r}, line {number}: must be a path, a space and an "
                        f"integer label, without NUL characters (got {line.strip()!r}). Mend the "
                        "line."
                    )
                files.append(entry[1])
                labels.append(int(entry[2]))
    except OSError as error:
        raise ArgumentValueError(
            f"file_list must be a readable file (got {file_list!r}: {error.strerror})."
        ) from error
    if not files:
        raise ArgumentValueError(f"file_list {file_list!r} must name at least one file (got none).")
    _check_labels(labels, f"file_list {file_list!r}")
    return FileListing(root or os.path.dirname(file_list), files, labels)


def _from_folders(
    root: str, file_filters: list[str], dir_filters: list[str] | None, case_sensitive: bool
) -> FileListing:
    for name, filters in (("file_filters", file_filters), ("dir_filters", dir_filters)):
        if filters is not None and not filters:
            raise ArgumentValueError(
                f"{name} must have at least one pattern (got none). Leave it out to use all."
            )
    use_file = _matcher(file_filters, case_sensitive)
    use_folder = _matcher(dir_filters, case_sensitive) if dir_filters is not None else None
    files, labels = [], []
    label = 0
    for folder in names_in(root, folders=True):
        if use_folder is not None and not use_folder(folder):
            continue
        for name in names_in(os.path.join(root, folder), folders=False):
            if use_file(name):
                files.append(os.path.join(folder, name))
                labels.append(label)
        label += 1
    if not files:
        raise ArgumentValueError(
            f"file_root {root!r} must have folders with files that match file_filters (found "
            f"{label} folders and no such file). Known extensions are {', '.join(file_filters)}."
        )
    return FileListing(root, files, labels)


def _matcher(patterns: list[str], case_sensitive: bool) -> Any:
    expression = "|".join(fnmatch.translate(pattern) for pattern in patterns)
    return re.compile(expression, 0 if case_sensitive else re.IGNORECASE).match


def _check_labels(labels: list[int], what: str) -> None:
    for number, label in enumerate(labels):
        if not -(2**31) <= label < 2**31:
            raise ArgumentValueError(f"{what}: entry {number} must fit into 32 bits (got {label}).")
