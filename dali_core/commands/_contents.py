"""Detection of the kinds of files by their first bytes."""

from __future__ import annotations

from typing import NamedTuple

HEAD_BYTES = 512
"""First bytes of a file that tell its content."""

UNKNOWN = "unknown"
TAR, PARQUET = "tar archive", "Parquet file"

_IMAGES = ("JPEG", "PNG", "WebP", "TIFF", "BMP", "PNM", "JPEG 2000")
_SOUNDS = ("WAVE", "FLAC", "Ogg", "MP3", "AIFF", "AU", "CAF", "W64")
_VIDEOS = ("MP4", "Matroska", "AVI")
_MEDIA = {
    **dict.fromkeys(_IMAGES, "image"),
    **dict.fromkeys(_SOUNDS, "audio"),
    **dict.fromkeys(_VIDEOS, "video"),
}
"""Kinds of the formats that are decoded."""


class _Signature(NamedTuple):
    start: int
    mark: bytes
    name: str


_SIGNATURES = tuple(
    _Signature(*entry)
    for entry in (
        (0, b"\xff\xd8\xff", "JPEG"),
        (0, b"\x89PNG\r\n\x1a\n", "PNG"),
        (8, b"WEBP", "WebP"),
        *((0, mark, "TIFF") for mark in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")),
        (0, b"BM", "BMP"),
        *((0, b"P%d" % number, "PNM") for number in range(1, 7)),
        (4, b"jP  \r\n\x87\n", "JPEG 2000"),
        (0, b"\xff\x4f\xff\x51", "JPEG 2000"),
        (8, b"WAVE", "WAVE"),
        (0, b"fLaC", "FLAC"),
        (0, b"OggS", "Ogg"),
        (0, b"ID3", "MP3"),
        *((0, bytes([0xFF, second]), "MP3") for second in (0xFA, 0xFB, 0xF2, 0xF3)),
        *((4, b"ftyp" + brand, "HEIC image") for brand in (b"hei", b"hev", b"mif1", b"msf1")),
        *((4, b"ftyp" + brand, "AVIF image") for brand in (b"avif", b"avis")),
        (4, b"ftyp", "MP4"),
        (0, b"\x1a\x45\xdf\xa3", "Matroska"),
        (8, b"AVI ", "AVI"),
        (8, b"AIFF", "AIFF"),
        (8, b"AIFC", "AIFF"),
        (0, b".snd", "AU"),
        (0, b"caff", "CAF"),
        (0, b"riff\x2e\x91\xcf\x11", "W64"),
        # No decoder takes what follows.
        (0, b"GIF8", "GIF image"),
        (0, b"\0\0\0\x0cJXL ", "JPEG XL image"),
        (0, b"\xff\x0a", "JPEG XL image"),
        (0, b"8BPS", "Photoshop image"),
        (0, b"\x1f\x8b", "gzip file"),
        (0, b"BZh", "bzip2 file"),
        (0, b"\xfd7zXZ\0", "xz file"),
        (0, b"\x28\xb5\x2f\xfd", "Zstandard file"),
        (0, b"PK\x03\x04", "ZIP archive"),
        (257, b"ustar", TAR),
        (0, b"PAR1", PARQUET),
        (0, b"ARROW1", "Arrow file"),
        (0, b"\x93NUMPY", "NumPy file"),
        (0, b"\x89HDF\r\n", "HDF5 file"),
        (0, b"SQLite format 3\0", "SQLite database"),
        (0, b"\x7fELF", "program"),
        (0, b"%PDF", "PDF document"),
    )
)
# Signatures of so few bytes are ignored where a name says nothing, since any text may begin with
# them.
_LEAST_SIGNATURE = 3

_ADVICE = {
    **dict.fromkeys(
        ("HEIC image", "AVIF image", "JPEG XL image", "Photoshop image"),
        "Convert them to JPEG or PNG.",
    ),
    "GIF image": "Convert them to PNG, or read them as videos by fn.readers.video.",
    **dict.fromkeys(
        ("gzip file", "bzip2 file", "xz file", "Zstandard file"),
        "Decompress them.",
    ),
    "ZIP archive": "Unpack them, or pack their files into tar archives.",
    "NumPy file": "fn.readers.numpy reads them.",
    "Arrow file": "dali_core.arrow.ArrowSource reads their tables.",
}


def format_of(head: bytes) -> str:
    """Return the name of the format that the first bytes have, or "unknown"."""
    return _named(head, 1)


def media_kind(head: bytes) -> str:
    """Return "image", "audio" or "video" for first bytes that are clearly so; else an empty text.

    Formats whose signature has two bytes are left to the names of files.
    """
    return _MEDIA.get(_named(head, _LEAST_SIGNATURE), "")


def content_of(head: bytes) -> str:
    """Return the content of a file that is known by no name, such as "GIF image" or "text"."""
    if not head:
        return "empty file"
    # The signature of gzip has two bytes, of which the first is in no text.
    found = _named(head, 1 if head[0] < ord(" ") or head[0] >= 0x7F else _LEAST_SIGNATURE)
    if found != UNKNOWN:
        return found
    return "binary file" if b"\0" in head else "text"


def advice_for(content: str) -> str:
    """Return the sentence that says what to do about files of this content; possibly empty."""
    return _ADVICE.get(content, "")


def _named(head: bytes, least: int) -> str:
    found = (
        one.name
        for one in _SIGNATURES
        if len(one.mark) >= least and head.startswith(one.mark, one.start)
    )
    return next(found, UNKNOWN)
