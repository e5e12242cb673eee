"""Decompresses texts, piece by piece."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dali_core._extras import install_command
from dali_core.errors import MissingModuleError

HEAD_BYTES = 4
"""At the beginning of a file, which say how it is compressed."""

PIECE_BYTES = 4 << 20
"""About what is in memory of a text at a time."""

_MOST_AT_ONCE = 1 << 11  # given to zstd, of which 64 MiB may come
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPED = b"\x2a\x4d\x18"  # after a byte of 0x50 to 0x5f


def compression_of(head: bytes) -> str:
    """Return how a file is compressed, by its first bytes: ``"gzip"``, ``"zstd"`` or not at all.

    No text in UTF-8 begins with these bytes.
    """
    if head.startswith(_GZIP):
        return "gzip"
    is_skipped = head[1:4] == _ZSTD_SKIPPED and head[0] >> 4 == 5
    return "zstd" if is_skipped or head.startswith(_ZSTD) else ""


def decompressed(pieces: Iterable[Any], compression: str) -> Iterator[bytes]:
    """Decompress a file; it may consist of several that are compressed each.

    Parameters
    ----------
    pieces : iterable of buffer
        The file.
    compression : str
        What `compression_of` has returned.

    Raises
    ------
    ValueError
        If the file is damaged, or ends too early.
    MissingModuleError
        If zstandard is needed and not installed.
    """
    parts = _gzip(pieces) if compression == "gzip" else _zstd(pieces)
    try:
        yield from parts
    except zlib.error as error:
        raise ValueError(f"it is damaged, {error}") from error


def _gzip(pieces: Iterable[Any]) -> Iterator[bytes]:
    member = zlib.decompressobj(wbits=31)
    is_within = False
    for piece in pieces:
        data = bytes(piece)
        while data:
            if member.eof:
                # Padding with zeros may follow, as on tapes.
                data = data if is_within else data.lstrip(b"\0")
                if not data:
                    break
                member = zlib.decompressobj(wbits=31)
            is_within = True
            part = member.decompress(data, PIECE_BYTES)
            data = member.unused_data if member.eof else member.unconsumed_tail
            is_within = not member.eof
            if part:
                yield part
        # What is left in the decompressor comes without further input.
        while is_within and (part := member.decompress(b"", PIECE_BYTES)):
            yield part
    if is_within:
        raise ValueError("it ends in the middle of compressed data")


def _zstd(pieces: Iterable[Any]) -> Iterator[bytes]:
    zstandard = _zstandard()
    new: Callable[[], Any] = zstandard.ZstdDecompressor().decompressobj
    frame = new()
    is_within = False
    try:
        for piece in pieces:
            whole = memoryview(piece)
            for start in range(0, len(whole), _MOST_AT_ONCE):
                data = bytes(whole[start : start + _MOST_AT_ONCE])
                while data:
                    if frame.eof:
                        frame = new()
                    part = frame.decompress(data)
                    is_within = not frame.eof
                    data = frame.unused_data if frame.eof else b""
                    if part:
                        yield part
    except zstandard.ZstdError as error:
        raise ValueError(f"it is damaged, {error}") from error
    if is_within:
        raise ValueError("it ends in the middle of compressed data")


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError as error:
        raise MissingModuleError(
            f"reading texts compressed by Zstandard needs zstandard (got none: {error}). Install "
            f"it: {install_command('text')}."
        ) from error
    return zstandard
