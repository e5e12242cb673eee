"""Compressed files, of which no more is decoded than they are said to have."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
from collections.abc import Callable
from typing import Any

from dali_core._extras import install_command
from dali_core.errors import MissingModuleError

_PIECE = 1 << 24
# Modules that are not part of Python, and what is to be installed for them.
_MODULES = {"zstd": "zstandard", "br": "brotli", "snappy": "snappy"}
_COMMANDS = {
    "zstd": install_command("mds"),
    "br": "pip install brotli",
    "snappy": "pip install python-snappy",
}


def open_gzip(data: bytes) -> Any:
    """Open compressed bytes as a file, with the fast library if it is installed."""
    try:
        from isal import igzip
    except ImportError:
        return gzip.GzipFile(fileobj=io.BytesIO(data))
    made: Any = igzip.IGzipFile
    return made(fileobj=io.BytesIO(data))


def check_compression(name: str) -> None:
    """Check that a compression can be decoded.

    Raises
    ------
    MissingModuleError
        If what decodes it is not installed.
    ValueError
        If there is none of this name.
    """
    if name in ("gz", "bz2"):
        return
    if name not in _MODULES:
        raise ValueError(f"there is no compression {name[:40]!r}")
    try:
        importlib.import_module(_MODULES[name])
    except ImportError as error:
        raise MissingModuleError(
            f"decoding files compressed by {name!r} needs {_MODULES[name]} (got none: {error}). "
            f"Install it: {_COMMANDS[name]}"
        ) from error


def inflate(name: str, data: bytes, num_bytes: int) -> bytes:
    """Decode a file, which must have so many bytes then.

    Raises
    ------
    ValueError
        If it is damaged, or has more bytes, or fewer.
    """
    try:
        if name == "snappy":
            found = _snappy(data, num_bytes)
        else:
            found = _pieces(_open(name, data), num_bytes)
    except Exception as error:  # of many kinds
        raise ValueError(f"it must be compressed by {name!r} ({error})") from error
    if len(found) != num_bytes:
        raise ValueError(f"it must have {num_bytes} bytes when it is decoded")
    return found


def _open(name: str, data: bytes) -> Callable[[int], bytes]:
    if name == "gz":
        return _reading(open_gzip(data))
    if name == "bz2":
        return bz2.BZ2File(io.BytesIO(data)).read
    module = importlib.import_module(_MODULES[name])
    if name == "zstd":
        reader = module.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True)
        return _reading(reader)
    decompressor, waiting = module.Decompressor(), [data]

    def read(size: int) -> bytes:
        # Everything is passed at once, and so many bytes come back each time.
        piece: bytes = decompressor.process(
            waiting.pop() if waiting else b"", output_buffer_limit=size
        )
        return piece

    return read


def _reading(file: Any) -> Callable[[int], bytes]:
    read: Callable[[int], bytes] = file.read
    return read


def _pieces(read: Callable[[int], bytes], num_bytes: int) -> bytes:
    found = bytearray()
    # One byte above the limit is requested, to detect data that is larger.
    while len(found) <= num_bytes:
        piece = read(min(_PIECE, num_bytes + 1 - len(found)))
        if not piece:
            break
        found += piece
    return bytes(found)


def _snappy(data: bytes, num_bytes: int) -> bytes:
    """Decode the raw format, which begins with the number of its bytes."""
    claimed = 0
    for place, byte in enumerate(data[:5]):
        claimed |= (byte & 127) << 7 * place
        if byte < 128:
            break
    if claimed != num_bytes:
        raise ValueError(f"it says that it has {claimed} bytes")
    found: bytes = importlib.import_module("snappy").decompress(data)
    return found
