"""Finds the media files of a data set: what kind each is, and which class it belongs to."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from dali_core.commands._contents import (
    HEAD_BYTES,
    PARQUET,
    TAR,
    content_of,
    format_of,
    media_kind,
)
from dali_core.commands._options import existing
from dali_core.errors import ArgumentValueError
from dali_core.operators.readers.file.listing import KNOWN_EXTENSIONS
from dali_core.operators.readers.folders import names_in
from dali_core.operators.video.clip_listing import VIDEO_EXTENSIONS

_AUDIO = (
    *("aif", "aifc", "aiff", "au", "caf", "flac", "mp2", "mp3", "mpga", "oga", "ogg", "opus"),
    *("rf64", "snd", "w64", "wav", "wave"),
)
_ARCHIVES = {".tar": TAR, ".parquet": PARQUET}
_KINDS = {
    **{pattern.removeprefix("*."): "image" for pattern in KNOWN_EXTENSIONS},
    **dict.fromkeys(VIDEO_EXTENSIONS, "video"),
    **dict.fromkeys(_AUDIO, "audio"),
}

_LABEL = re.compile(r"[+-]?[0-9]{1,9}")
_HEAD = 8192  # bytes, in which a text has no NUL character
_MOST_NAMED = 8
_UNKNOWN = ("binary file", "text", "empty file")  # contents without a signature


class TarMember(NamedTuple):
    """The place of a file in a tar archive, in bytes."""

    offset: int
    size: int


class TableCell(NamedTuple):
    """The place of a value in a Parquet file."""

    column: str
    row: int


@dataclass(frozen=True)
class MediaFile:
    """A file of a data set, or a member of an archive in it.

    Attributes
    ----------
    name : str
        Path as it is shown: below the folder, or as the list has it, and of members what they are
        called in the archive.
    path : str
        Path from the working directory, of members that of the archive.
    kind : {"image", "audio", "video", ""}
        What its name says that it is, or if that says nothing, its first bytes; an empty text for
        files that are none of these.
    label : str or None
        Folder of its class, or label in the list; None if there is neither.
    place : TarMember or TableCell, optional
        Of members.
    problem : str
        Why it cannot be decoded, if that is known without trying.
    """

    name: str
    path: str
    kind: str
    label: str | None
    place: TarMember | TableCell | None = None
    problem: str = ""

    def key(self) -> list[int]:
        """Return what changes with the file: size in bytes, time in nanoseconds; -1 without it."""
        try:
            status = os.stat(self.path)
        except OSError:
            return [-1, -1]
        return [status.st_size, status.st_mtime_ns]

    def size(self) -> int | None:
        """Return the size of the file or member of a tar archive in bytes; None in Parquet."""
        match self.place:
            case TarMember(size=size):
                return size
            case TableCell():
                return None
        return max(0, self.key()[0])

    def identity(self) -> str:
        """Return a text that no other file has."""
        if self.place is None:
            return self.path
        return "\0".join([self.path, *map(str, self.place)])

    def is_special(self) -> bool:
        """Return whether it is a pipe, a socket, a device or a folder, which need not end."""
        return os.path.exists(self.path) and not os.path.isfile(self.path)

    def head(self) -> bytes | None:
        """Return its first bytes, of a file or a member of a tar archive; None if unreadable."""
        if self.is_special():
            return None
        start, size = self.place if isinstance(self.place, TarMember) else (0, HEAD_BYTES)
        try:
            with open(self.path, "rb") as file:
                file.seek(start)
                return file.read(min(size, HEAD_BYTES))
        except OSError:
            return None

    def format(self) -> str:
        """Return the name of the format that its first bytes have, or "unknown"."""
        if isinstance(self.place, TableCell):
            return "in Parquet"
        head = self.head()
        return "unreadable" if head is None else format_of(head)

    def content(self) -> str:
        """Return what it is, where that is none of the kinds, such as "GIF image"."""
        head = self.head()
        return "unreadable file" if head is None else content_of(head)

    def archive(self) -> str:
        """Return which archive it is that is looked into: "tar archive", "Parquet file", or ""."""
        if self.kind or self.is_special():
            return ""
        content = self.content()
        known = _ARCHIVES.get(self.extension(), "")
        # The oldest archives have no signature. What its content contradicts is no archive.
        return content if content in (TAR, PARQUET) else known if content in _UNKNOWN else ""

    def extension(self) -> str:
        """Return the extension of its name in lower case, or "(none)"."""
        return os.path.splitext(self.name)[1].lower() or "(none)"


def list_media(source: str) -> tuple[list[MediaFile], list[MediaFile]]:
    """List the media files below a folder, or in a list.

    Parameters
    ----------
    source : str
        A folder, which is searched with all folders in it; a media file; an archive; or a text file
        with a path on each line, relative to its folder, and possibly a space and a label.

    Returns
    -------
    list of MediaFile
        Each file once, in the order of the list, or of the names.
    list of MediaFile
        Other files, whose `kind` is empty.

    Raises
    ------
    ArgumentValueError
        If there is no such folder or list.
    """
    root = existing(source)
    files: dict[str, MediaFile] = {}
    others: dict[str, MediaFile] = {}
    for file in _below(root) if root.is_dir() else _listed(root):
        (files if file.kind else others)[file.path] = file
    return list(files.values()), list(others.values())


def without_gifs(
    files: Sequence[MediaFile], others: Sequence[MediaFile]
) -> tuple[list[MediaFile], list[MediaFile]]:
    """Move GIF images to the other files if there are images.

    Decoders of videos take them, and those of images, whose files these are among, do not.
    """
    if not any(file.kind == "image" for file in files):
        return list(files), list(others)
    gifs = [replace(file, kind="") for file in files if file.extension() == ".gif"]
    return [file for file in files if file.extension() != ".gif"], [*others, *gifs]


def check_found(source: str, files: Sequence[MediaFile], others: Sequence[MediaFile]) -> None:
    """Raise an error if there are no media files.

    Raises
    ------
    ArgumentValueError
        It names what there is instead.
    """
    if files:
        return
    counts = Counter(file.content() for file in others).most_common(_MOST_NAMED)
    shown = ", ".join(f"{content} {count}" for content, count in counts)
    raise ArgumentValueError(
        f"there must be images, audio or videos in {source!r} (got {len(others)} other files"
        f"{f': {shown}' if shown else ''}). Known are the extensions {', '.join(sorted(_KINDS))}."
    )


def kind_of(name: str) -> str:
    """Return whether a file name is that of an "image", "audio", "video" or of neither ("")."""
    return _KINDS.get(os.path.splitext(name)[1].lower().removeprefix("."), "")


def _below(root: Path) -> Iterator[MediaFile]:
    for folder, folders, names in os.walk(root, onerror=_fail):
        folders.sort(key=os.fsencode)
        for name in sorted(names, key=os.fsencode):
            path = os.path.join(folder, name)
            shown = os.path.relpath(path, root)
            label = shown.partition(os.sep)[0] if os.sep in shown else None
            yield MediaFile(shown, path, kind_of(name) or _kind_of_content(path), label)


def _kind_of_content(path: str) -> str:
    return media_kind(MediaFile("", path, "", None).head() or b"")


def _fail(error: OSError) -> None:
    # A folder that is removed meanwhile has no files.
    if not isinstance(error, FileNotFoundError):
        raise error


def _listed(path: Path) -> Iterator[MediaFile]:
    alone = MediaFile(path.name, str(path), kind_of(path.name) or _kind_of_content(str(path)), None)
    if alone.kind or alone.archive():
        yield alone
        return
    content = path.read_bytes()
    if b"\0" in content[:_HEAD]:
        raise ArgumentValueError(
            "check: the path must be a folder, a media file, an archive or a text file with a path "
            f"on each line (got {str(path)!r}: {alone.content()}). Name the folder of the data."
        )
    lines = content.decode("utf-8-sig", "surrogateescape").splitlines()
    for line in map(str.strip, lines):
        if not line:
            continue
        name, _, label = line.rpartition(" ")
        if not name or not label.lstrip("+-").isdigit():
            name, label = line, ""
        name = name.rstrip()
        listed = os.path.join(path.parent, name)
        file = MediaFile(name, listed, kind_of(name) or _kind_of_content(listed), label or None)
        # Files of a list are checked whatever their extension.
        yield file if file.kind or file.archive() else replace(file, kind="image")


def class_folders(source: str) -> list[str]:
    """Return the names of the folders in a folder, whose places are labels; none for a list."""
    return names_in(source, folders=True) if os.path.isdir(source) else []


def file_list(files: Sequence[MediaFile], classes: Sequence[str], target: Path) -> bytes:
    """Return the content of a list for `fn.readers.file`: a path and a label on each line.

    Paths are relative to the folder of the list where they are below it.

    Parameters
    ----------
    files : sequence of MediaFile
        The files.
    classes : sequence of str
        Folders of the classes, whose labels are their places, as the reader counts the folders of
        `file_root`; without them, labels are those of a list that the files come from, or 0.
    target : Path
        Where the list is to be.

    Raises
    ------
    ArgumentValueError
        If the name of a file cannot stand in a list.
    """
    numbers = {name: str(number) for number, name in enumerate(classes)}
    folder = os.path.join(os.path.abspath(target.parent), "")
    lines = []
    for file in files:
        path = os.path.abspath(file.path)
        if "\n" in path or "\r" in path or path != path.rstrip():
            raise ArgumentValueError(
                f"check: names of files in a list must have no line feeds (got {file.name!r}) and "
                "no space at their end. Rename the file."
            )
        label = numbers.get(file.label or "") or file.label or ""
        number = label if _LABEL.fullmatch(label) else "0"
        lines.append(os.fsencode(f"{path.removeprefix(folder)} {number}\n"))
    return b"".join(lines)
