"""Finds the media files of a data set: what kind each is, and which class it belongs to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dali_core.commands._options import existing
from dali_core.errors import ArgumentValueError
from dali_core.operators.readers.file.listing import KNOWN_EXTENSIONS
from dali_core.operators.video.clip_listing import VIDEO_EXTENSIONS

_AUDIO = (
    *("aif", "aifc", "aiff", "au", "caf", "flac", "mp2", "mp3", "mpga", "oga", "ogg", "opus"),
    *("rf64", "snd", "w64", "wav", "wave"),
)
_KINDS = {
    **{pattern.removeprefix("*."): "image" for pattern in KNOWN_EXTENSIONS},
    **dict.fromkeys(VIDEO_EXTENSIONS, "video"),
    **dict.fromkeys(_AUDIO, "audio"),
}

_SIGNATURES = (
    (0, b"\xff\xd8\xff", "JPEG"),
    (0, b"\x89PNG\r\n\x1a\n", "PNG"),
    (8, b"WEBP", "WebP"),
    (0, b"II*\0", "TIFF"),
    (0, b"MM\0*", "TIFF"),
    (0, b"BM", "BMP"),
    *((0, b"P%d" % number, "PNM") for number in range(1, 7)),
    (4, b"jP  \r\n\x87\n", "JPEG 2000"),
    (0, b"\xff\x4f\xff\x51", "JPEG 2000"),
    (8, b"WAVE", "WAVE"),
    (0, b"fLaC", "FLAC"),
    (0, b"OggS", "Ogg"),
    (0, b"ID3", "MP3"),
    *((0, bytes([0xFF, second]), "MP3") for second in (0xFA, 0xFB, 0xF2, 0xF3)),
    *((4, b"ftyp" + brand, "HEIF") for brand in (b"heic", b"heix", b"mif1", b"msf1")),
    *((4, b"ftyp" + brand, "AVIF") for brand in (b"avif", b"avis")),
    (4, b"ftyp", "MP4"),
    (0, b"\x1a\x45\xdf\xa3", "Matroska"),
    (8, b"AVI ", "AVI"),
    (8, b"AIFF", "AIFF"),
    (8, b"AIFC", "AIFF"),
    (0, b".snd", "AU"),
    (0, b"caff", "CAF"),
    (0, b"riff\x2e\x91\xcf\x11", "W64"),
)
# Kinds of files without a known extension, by their format. Signatures of two bytes are ignored
# there, since any text may begin with them.
_KINDS_OF_FORMATS = {
    **dict.fromkeys(("JPEG", "PNG", "WebP", "TIFF", "JPEG 2000"), "image"),
    **dict.fromkeys(("WAVE", "FLAC", "Ogg", "MP3", "AIFF", "AU", "CAF", "W64"), "audio"),
    **dict.fromkeys(("MP4", "Matroska", "AVI"), "video"),
}
_LEAST_SIGNATURE = 3
_LABEL = re.compile(r"[+-]?[0-9]{1,9}")
_HEAD = 8192  # bytes, in which a text has no NUL character
# Signatures of files that are neither media nor lists.
_BINARY_KINDS = (
    (0, b"GIF8", "a GIF image, which is not supported"),
    (0, b"\x1f\x8b", "a file compressed by gzip"),
    (0, b"BZh", "a file compressed by bzip2"),
    (0, b"\xfd7zXZ\0", "a file compressed by xz"),
    (0, b"\x28\xb5\x2f\xfd", "a file compressed by Zstandard"),
    (0, b"PK\x03\x04", "a ZIP archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"PAR1", "a Parquet file"),
    (0, b"ARROW1", "an Arrow file"),
    (0, b"\x93NUMPY", "a NumPy file"),
    (0, b"\x89HDF\r\n", "an HDF5 file"),
    (0, b"SQLite format 3\0", "an SQLite database"),
    (0, b"\x7fELF", "a program"),
    (0, b"%PDF", "a PDF document"),
)


@dataclass(frozen=True)
class MediaFile:
    """A file of a data set.

    Attributes
    ----------
    name : str
        Path as it is shown: below the folder, or as the list has it.
    path : str
        Path from the working directory.
    kind : {"image", "audio", "video"}
        What its name says that it is, or if that says nothing, its first bytes.
    label : str or None
        Folder of its class, or label in the list; None if there is neither.
    """

    name: str
    path: str
    kind: str
    label: str | None

    def key(self) -> list[int]:
        """Return what changes with the file: size in bytes, time in nanoseconds; -1 without it."""
        try:
            status = os.stat(self.path)
        except OSError:
            return [-1, -1]
        return [status.st_size, status.st_mtime_ns]

    def is_special(self) -> bool:
        """Return whether it is a pipe, a socket, a device or a folder, which need not end."""
        return os.path.exists(self.path) and not os.path.isfile(self.path)

    def format(self) -> str:
        """Return the name of the format that its first bytes have, or "unknown"."""
        if self.is_special():
            return "unreadable"
        return _format_of(self.path, 0)


def _format_of(path: str, least: int) -> str:
    """Return the format that a signature of at least so many bytes says."""
    try:
        with open(path, "rb") as file:
            head = file.read(16)
    except OSError:
        return "unreadable"
    found = (
        name
        for start, mark, name in _SIGNATURES
        if len(mark) >= least and head[start:].startswith(mark)
    )
    return next(found, "unknown")


def list_media(source: str) -> tuple[list[MediaFile], dict[str, int]]:
    """List the media files below a folder, or in a list.

    Parameters
    ----------
    source : str
        A folder, which is searched with all folders in it; a media file; or a text file with a
        path on each line, relative to its folder, and possibly a space and a label.

    Returns
    -------
    list of MediaFile
        Each file once, in the order of the list, or of the names.
    dict of str to int
        Numbers of other files by their extensions.

    Raises
    ------
    ArgumentValueError
        If there is no such folder or list, or no media file in it.
    """
    root = existing(source)
    found = list(_below(root) if root.is_dir() else _listed(root))
    files: dict[str, MediaFile] = {}
    others: dict[str, int] = {}
    for file in found:
        if file.kind:
            files[file.path] = file
        else:
            extension = os.path.splitext(file.name)[1].lower() or "(none)"
            others[extension] = others.get(extension, 0) + 1
    if not files:
        raise ArgumentValueError(
            f"check: there must be images, audio or videos in {source!r} (found {len(others)} "
            "other kinds of files). Known are the extensions "
            f"{', '.join(sorted(set(_KINDS)))}."
        )
    return list(files.values()), dict(sorted(others.items()))


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
    # Other files, such as pipes, may be endless, or block until another process writes.
    if not os.path.isfile(path):
        return ""
    return _KINDS_OF_FORMATS.get(_format_of(path, _LEAST_SIGNATURE), "")


def _fail(error: OSError) -> None:
    # A folder that is removed meanwhile has no files.
    if not isinstance(error, FileNotFoundError):
        raise error


def _listed(path: Path) -> Iterator[MediaFile]:
    if kind := kind_of(path.name) or _kind_of_content(str(path)):
        yield MediaFile(path.name, str(path), kind, None)
        return
    content = path.read_bytes()
    if b"\0" in content[:_HEAD]:
        raise ArgumentValueError(
            f"check: the path must be a folder, a media file or a text file with a path on each "
            f"line (got {str(path)!r}, {_binary_kind(content)}). Name the folder of the data."
        )
    lines = content.decode("utf-8-sig", "surrogateescape").splitlines()
    for line in map(str.strip, lines):
        if not line:
            continue
        name, _, label = line.rpartition(" ")
        if not name or not label.lstrip("+-").isdigit():
            name, label = line, ""
        name = name.rstrip()
        # Files of a list are checked whatever their extension.
        listed = os.path.join(path.parent, name)
        kind = kind_of(name) or _kind_of_content(listed) or "image"
        yield MediaFile(name, listed, kind, label or None)


def _binary_kind(content: bytes) -> str:
    found = (
        name for start, mark, name in _BINARY_KINDS if content[start : start + len(mark)] == mark
    )
    return next(found, "a binary file of an unknown kind")


def file_list(files: Sequence[MediaFile], target: Path) -> bytes:
    """Return the content of a list for `fn.readers.file`: a path and a label on each line.

    Labels are those of a list that the files come from, or else numbers of the classes in the order
    of their names, as the reader counts the folders of `file_root`; 0 without classes. Paths are
    relative to the folder of the list where they are below it.

    Raises
    ------
    ArgumentValueError
        If the name of a file cannot stand in a list.
    """
    names = sorted({file.label for file in files if file.label is not None}, key=os.fsencode)
    are_numbers = all(_LABEL.fullmatch(name) for name in names)
    numbers = {name: int(name) if are_numbers else number for number, name in enumerate(names)}
    folder = os.path.abspath(target.parent)
    lines = []
    for file in files:
        path = os.path.abspath(file.path)
        if "\n" in path or "\r" in path:
            raise ArgumentValueError(
                f"check: names of files in a list must have no line feeds (got {file.name!r}). "
                "Rename the file."
            )
        if path.startswith(os.path.join(folder, "")):
            path = os.path.relpath(path, folder)
        label = 0 if file.label is None else numbers[file.label]
        lines.append(os.fsencode(path) + b" %d\n" % label)
    return b"".join(lines)
