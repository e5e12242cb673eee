"""Reads into memory with a limit, which does not depend on what a server says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dali_core._runtime.remote_reads import require_memory

PIECE_BYTES = 8 << 20
"""What one request or allocation may be for without a look at the limit."""


def joined(pieces: Iterable[Any], size: int) -> memoryview:
    """Return the bytes of pieces, one after the other.

    Memory is taken as they come: how many there should be is what a server says.

    Parameters
    ----------
    pieces : iterable of buffer
        Bytes.
    size : int
        How many bytes there should be.

    Raises
    ------
    OutOfMemoryError
        If so many, or as many as come, are not allowed.
    """
    require_memory(size)
    found = bytearray()
    for piece in pieces:
        require_memory(len(found) + memoryview(piece).nbytes)
        found += piece
    return memoryview(found)
