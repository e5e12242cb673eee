"""Finds videos, their labels, and the parts of them that are wanted."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from dali_core._storage import Storage, join_path
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.operators.readers.folders import names_in

VIDEO_EXTENSIONS = frozenset(
    (
        *("3gp", "asf", "avi", "f4v", "flv", "gif", "h264", "h265", "hevc", "ivf", "m2ts", "m4v"),
        *("mjpeg", "mkv", "mov", "mp4", "mpeg", "mpg", "mts", "mxf", "obu", "ogv", "ts", "vob"),
        *("webm", "wmv", "y4m"),
    )
)
"""What the names of videos end with."""

# A path, which may contain spaces, a label, and where the part begins and ends.
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_LIST_ENTRY = re.compile(
    rf"(\S(?:.*?\S)??)\s+([+-]?[0-9]{{1,99}})(?:\s+({_NUMBER})(?:\s+({_NUMBER}))?)?"
)


class ListedVideo(NamedTuple):
    """A video, or a part of one.

    Parameters
    ----------
    path : str
        The file.
    label : int
        Its label.
    start, end : float, optional
        Ends of the part, as the list says; None for those of the video.
    line : int
        Number of the line in the list; 0 without a list.
    is_optional : bool
        Whether the file was found in a folder, and its name does not look like a video's.
    """

    path: str
    label: int
    start: float | None = None
    end: float | None = None
    line: int = 0
    is_optional: bool = False


def list_videos(
    arguments: dict[str, Any], storage: Storage, *, numbers_labels: bool
) -> tuple[list[ListedVideo], bool]:
    """List what the arguments of a reader of videos ask for.

    Parameters
    ----------
    arguments : dict
        Checked arguments.
    storage : Storage
        What reads URLs among them.
    numbers_labels : bool
        Whether no labels in `labels` stand for the numbers of the files.

    Returns
    -------
    (list of ListedVideo, bool)
        The videos, and whether they have labels.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If the arguments contradict each other, or there are no files.
    """
    names = ("filenames", "file_root", "file_list")
    given = [name for name in names if arguments.get(name)]
    if len(given) != 1:
        raise ArgumentTypeError(
            "one of filenames, file_root and file_list must be given (got "
            f"{' and '.join(given) or 'none of them'}). Pass one."
        )
    labels = arguments.get("labels")
    if labels is not None and given != ["filenames"]:
        raise ArgumentTypeError(f"labels must come with filenames (got them with {given[0]}).")
    if given == ["file_root"]:
        return _from_folders(storage.checked_path(arguments["file_root"]), storage), True
    if given == ["file_list"]:
        return _from_file_list(storage.checked_path(arguments["file_list"]), storage), True
    found = storage.checked(arguments["filenames"])
    return _from_names(found, labels, numbers_labels), labels is not None


def _from_names(
    names: Sequence[str], labels: Sequence[int] | None, numbers_labels: bool
) -> list[ListedVideo]:
    if labels is None:
        return [ListedVideo(name, 0) for name in names]
    if numbers_labels and not labels:
        labels = range(len(names))
    if len(labels) != len(names):
        raise ArgumentValueError(
            f"labels must have an entry for each of the {len(names)} files (got {len(labels)}). "
            "Pass as many, or leave it out."
        )
    for number, label in enumerate(labels):
        _check_label(label, f"labels: entry {number}")
    return [ListedVideo(name, label) for name, label in zip(names, labels, strict=True)]


def _from_file_list(file_list: str, storage: Storage) -> list[ListedVideo]:
    videos = []
    try:
        with storage.open_text(file_list) as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    videos.append(_listed(line.strip(), number, file_list))
    except OSError as error:
        raise ArgumentValueError(
            f"file_list must be a readable file (got {file_list!r}: {error.strerror}). Check the "
            "path."
        ) from error
    if not videos:
        raise ArgumentValueError(
            f"file_list {file_list!r} must name at least one file (got none). Write a path "
            "and a label on each line."
        )
    paths = storage.checked([video.path for video in videos])
    return [video._replace(path=path) for video, path in zip(videos, paths, strict=True)]


def _listed(line: str, number: int, file_list: str) -> ListedVideo:
    where = f"file_list {file_list!r}, line {number}"
    entry = _LIST_ENTRY.fullmatch(line)
    if entry is None or "\0" in line:
        raise ArgumentValueError(
            f"{where}: must be a path, an integer label, and possibly a start and an end, with "
            f"spaces between them (got {line!r}). Fix the line."
        )
    label = int(entry[2])
    _check_label(label, where)
    start, end = (None if text is None else float(text) for text in entry.group(3, 4))
    if not all(math.isfinite(value) for value in (start or 0.0, end or 0.0)):
        raise ArgumentValueError(f"{where}: start and end must be finite (got {line!r}).")
    return ListedVideo(entry[1], label, start, end, number)


def _from_folders(root: str, storage: Storage) -> list[ListedVideo]:
    videos = [
        ListedVideo(
            join_path(join_path(root, folder), name),
            label,
            is_optional=name.rpartition(".")[2].lower() not in VIDEO_EXTENSIONS,
        )
        for label, folder in enumerate(names_in(root, storage, folders=True))
        for name in names_in(join_path(root, folder), storage, folders=False)
    ]
    if not videos:
        raise ArgumentValueError(
            f"file_root {root!r} must have folders with videos, one folder for each class (found "
            "no file in a folder). Move them there, or pass their paths as filenames."
        )
    return videos


def _check_label(label: int, what: str) -> None:
    if not -(2**31) <= label < 2**31:
        raise ArgumentValueError(f"{what}: a label must fit into 32 bits (got {label}).")
