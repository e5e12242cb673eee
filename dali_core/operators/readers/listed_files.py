"""Finds the files of readers that read one array, or several, from each."""

from __future__ import annotations

import fnmatch
import os
import re
from dataclasses import dataclass
from typing import Any

from dali_core._spec import UNSET, Arg
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.operators.readers.folders import names_in


def file_args(pattern: str) -> tuple[Arg, ...]:
    """Return the arguments that say which files to read, with a pattern by default."""
    return (
        Arg(
            "file_root",
            str,
            "Folder to which paths relate; by itself, files in it and in its folders are read.",
            "",
        ),
        Arg(
            "file_list",
            str,
            "Text file with a path on each line; paths relate to `file_root`, or to the folder of "
            "this file.",
            UNSET,
            excludes=("files",),
        ),
        Arg("files", list[str], "Paths; relative ones relate to `file_root`.", UNSET),
        Arg(
            "file_filter",
            str,
            "Shell pattern of the names of files to read below `file_root`, which tells 'a' from "
            "'A'.",
            pattern,
        ),
    )


@dataclass(frozen=True)
class ListedFiles:
    """Files in their natural order.

    Attributes
    ----------
    root : str
        Folder that relative paths relate to.
    files : list of str
        Paths as they are shown to the user.
    """

    root: str
    files: list[str]

    def __len__(self) -> int:
        return len(self.files)

    def native_arguments(self) -> dict[str, Any]:
        """Return what the native code needs to read a file by its index."""
        return {"file_root": self.root, "files": self.files}


def list_files(arguments: dict[str, Any]) -> ListedFiles:
    """List the files that `file_args` ask for.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If no argument says which, or there are no files.
    """
    root, file_list = arguments["file_root"], arguments.get("file_list")
    if "files" in arguments:
        if not arguments["files"]:
            raise ArgumentValueError("files must name at least one file (got an empty list).")
        return ListedFiles(root, arguments["files"])
    if file_list is not None:
        return ListedFiles(root or os.path.dirname(file_list), _lines(file_list))
    if not root:
        raise ArgumentTypeError("file_root, file_list or files must be given (got none of them).")
    return ListedFiles(root, _below(root, arguments["file_filter"]))


def _lines(file_list: str) -> list[str]:
    try:
        with open(file_list, encoding="utf-8", errors="surrogateescape") as lines:
            files = [line.rstrip("\r\n") for line in lines if line.strip()]
    except OSError as error:
        raise ArgumentValueError(
            f"file_list must be a readable file (got {file_list!r}: {error.strerror})."
        ) from error
    if not files:
        raise ArgumentValueError(f"file_list {file_list!r} must name at least one file (got none).")
    if any("\0" in file for file in files):
        raise ArgumentValueError(
            f"file_list {file_list!r} must be a text with paths (got NUL characters). Pass another."
        )
    return files


def _below(root: str, pattern: str) -> list[str]:
    matches = re.compile(fnmatch.translate(pattern)).match
    files = []
    # The files of the folder itself are in one called ".", whose place is among the others.
    for folder in sorted([*names_in(root, folders=True), "."], key=os.fsencode):
        names = names_in(os.path.join(root, folder), folders=False)
        files += [os.path.join(folder, name) for name in names if matches(name)]
    if not files:
        raise ArgumentValueError(
            f"file_root {root!r} must have files that match file_filter, {pattern!r}, in it or in "
            "its folders (found none). Change one of them."
        )
    return files
