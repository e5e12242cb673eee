"""Answers a program that decodes videos from the database of indices, which only Python opens.

Requests come by a socket that keeps messages whole. Indices are in memory that the program passes
along: what it reads, or a worker has written, is checked there or here.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import select
import socket
import struct

from dali_core.operators.video.index_cache import IndexCache
from dali_core.operators.video.worker.packed_index import DamagedIndexError, PackedIndex

SOCKET = 3

# Must have the order and the types of `Command` and `Reply` in saved_indices.cpp.
COMMAND = struct.Struct("<QqqQII")
REPLY = struct.Struct("<QQ")
_LOAD, _STORE = range(2)

_MAX_MESSAGE = 1 << 15
_PARENT_SECONDS = 5  # between looks whether the other process is there


def serve_saved_indices(cache_folder: str) -> int:
    """Answer requests until the other process closes its end, or is gone."""
    cache = IndexCache(cache_folder)
    parent = os.getppid()
    with contextlib.suppress(KeyboardInterrupt), socket.socket(fileno=SOCKET) as requests:
        while _has_request(requests, parent):
            try:
                message, descriptors, _, _ = socket.recv_fds(requests, _MAX_MESSAGE, 1)
                if len(message) < COMMAND.size or len(descriptors) != 1:
                    return 0
                size = _answer(cache, message, descriptors[0])
                requests.send(REPLY.pack(COMMAND.unpack_from(message)[0], size))
            except OSError:
                return 0
    return 0


def _has_request(requests: socket.socket, parent: int) -> bool:
    """Wait for a request. Return False if the other process is gone."""
    while not select.select([requests], [], [], _PARENT_SECONDS)[0]:
        # A fork of the other process may hold its end of the socket open.
        if os.getppid() != parent:
            return False
    return True


def _answer(cache: IndexCache, message: bytes, descriptor: int) -> int:
    """Return the bytes of a saved index, which are in the memory if there is room."""
    _, size, changed, index_bytes, kind, _ = COMMAND.unpack_from(message)
    key = (os.path.abspath(os.fsdecode(message[COMMAND.size :])), size, changed)
    try:
        if kind == _STORE:
            with mmap.mmap(descriptor, index_bytes, access=mmap.ACCESS_READ) as memory:
                data = memory[:]  # the worker that has written it can still change the memory
            PackedIndex.from_bytes(data)
            cache.store_bytes([(key, data)])
            return 0
        data = cache.load_bytes([key]).get(key[0], b"")
        if 0 < len(data) <= index_bytes:
            with mmap.mmap(descriptor, len(data)) as memory:
                memory[:] = data
        return len(data)
    except (DamagedIndexError, MemoryError, OSError, ValueError):
        return 0
    finally:
        os.close(descriptor)
