"""Files of readers, and the arguments of those that read arrays from them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dali_core._readers.record_table import Record, RecordSource
from dali_core._runtime.path_list import PathList
from dali_core._spec import UNSET, Arg
from dali_core._storage import STORAGE_ARGS, Storage
from dali_core._storage.urls import folder_of, join_path
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.operators.readers.folders import checked_paths, files_below
from dali_core.operators.readers.label_rows import LabelRows

_PATTERNS = ("*.npy", "*.fits", "*.nii*", "*.safetensors", "*.dcm")  # by default, see `file_args`


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
        *STORAGE_ARGS,
    )


@dataclass(frozen=True)
class ListedFiles(RecordSource):
    """Files in their natural order.

    Attributes
    ----------
    root : str
        Folder that relative paths relate to.
    files : PathList
        Paths as they are shown to the user, with a label each.
    has_labels : bool
        Whether the labels mean something.
    has_classes : bool
        Whether the label of a file is the number of its folder.
    label_rows : LabelRows, optional
        Labels of several numbers or of floats; what `files` has is the index of each file then.
    names : sequence of str, optional
        Names of the labels, where they are not folders.
    """

    root: str
    files: PathList
    has_labels: bool = False
    has_classes: bool = False
    label_rows: LabelRows | None = None
    names: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.files)

    @property
    def labels(self) -> Sequence[int] | None:
        """The label of each file, if files have labels."""
        if self.label_rows is not None:
            values = self.label_rows.values
            is_one = values.shape[1] == 1 and values.dtype == np.int32
            return values[:, 0].tolist() if is_one else None
        return self.files.labels if self.has_labels else None

    @property
    def class_names(self) -> Sequence[str] | None:
        """The folders, if they are classes."""
        if not self.has_classes:
            return self.names
        return [folder.removesuffix("/") for folder in self.files.folders]

    def records(self, index: int) -> list[Record | None]:
        """Return the whole file, whose size is known only when it is opened."""
        return [Record(join_path(self.root, self.files[index]))]

    def native_arguments(self) -> dict[str, Any]:
        """Return what the native code needs to read a file by its index."""
        listed = {"file_root": self.root, "paths": self.files.address, "files": None}
        if self.label_rows is not None:
            listed |= self.label_rows.arguments()
        return {**listed, "labels": None} if self.has_labels else listed


def list_files(arguments: dict[str, Any], storage: Storage) -> ListedFiles:
    """List the files that `file_args` ask for.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If no argument says which, or there are no files.
    """
    root, file_list = storage.checked_path(arguments["file_root"]), arguments.get("file_list")
    if "files" in arguments:
        if not arguments["files"]:
            raise ArgumentValueError("files must name at least one file (got an empty list).")
        return ListedFiles(root, _listed(arguments["files"], storage))
    if file_list is not None:
        path = storage.checked_path(file_list)
        return ListedFiles(root or folder_of(path), _listed(_lines(path, storage), storage))
    if not root:
        raise ArgumentTypeError("file_root, file_list or files must be given (got none of them).")
    return ListedFiles(root, _below(root, arguments["file_filter"], storage))


def _lines(file_list: str, storage: Storage) -> list[str]:
    try:
        with storage.open_text(file_list) as lines:
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


def _listed(files: list[str], storage: Storage) -> PathList:
    paths = PathList()
    paths.extend(files, itertools.repeat(0, len(files)))
    paths.finish()
    return checked_paths(paths, storage)


def _below(root: str, pattern: str, storage: Storage) -> PathList:
    is_default = pattern in _PATTERNS
    files = files_below(root, storage, [pattern], with_root=True, are_default=is_default)
    if not len(files):
        raise ArgumentValueError(
            f"file_root {root!r} must have files that match file_filter, {pattern!r}, in it or in "
            "its folders (found none). Change one of them."
        )
    return files
