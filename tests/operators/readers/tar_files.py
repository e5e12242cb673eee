"""Writes tar archives of samples."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable
from pathlib import Path

Entry = tuple[str, bytes] | tarfile.TarInfo


def write_tar(path: Path, entries: Iterable[Entry], form: int = tarfile.GNU_FORMAT) -> Path:
    """Write an archive of files, and of entries without data."""
    with tarfile.open(path, "w", format=form) as archive:
        for entry in entries:
            if isinstance(entry, tarfile.TarInfo):
                archive.addfile(entry)
                continue
            name, data = entry
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    """Return an entry of another type."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def sample_entries(first: int, count: int) -> list[tuple[str, bytes]]:
    """Return files of samples: an image of a size of its own, and a number."""
    entries = []
    for number in range(first, first + count):
        name = f"part/{number:03}"
        entries += [
            (f"{name}.jpg", bytes([number % 256]) * (number * 97 % 1500)),
            (f"{name}.cls", b"%03d" % number),
        ]
    return entries


UNUSUAL: list[Entry] = [
    special("d/", tarfile.DIRTYPE),
    ("d/a.left.jpg", b"aj"),
    ("d/a.cls", b"1"),
    ("e/a.jpg", b"x"),
    (".hid.jpg", b"h"),
    special("e/b.cls", tarfile.LNKTYPE, "d/a.cls"),
    ("c.JPG", b"cj"),
    special("c.cls", tarfile.SYMTYPE, "d/a.cls"),
    ("noext", b"n"),
    ("a.b/c.jpg", b"q"),
    ("a.jpg", b"a1"),
    ("a.jpg", b"a2"),
    ("empty.jpg", b""),
    ("empty.cls", b"3"),
    ("é.jpg", b"e"),
]
"""Names with several dots, folders with dots, links, an empty file, and one twice."""
