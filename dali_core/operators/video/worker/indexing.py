"""Builds indices of files that another process names, one after another."""

from __future__ import annotations

import os
import struct
import sys
from typing import BinaryIO

from dali_core.operators.video.worker.demuxing import VideoFileError, build_index
from dali_core.operators.video.worker.limits import limit_seconds, prepare_limits

LENGTH = struct.Struct("<I")
IS_INDEX, IS_ERROR = b"i", b"e"


def read_message(stream: BinaryIO) -> bytes | None:
    """Return the next message, or None at the end of the stream."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (size,) = LENGTH.unpack(head)
    body = stream.read(size)
    return body if len(body) == size else None


def write_message(stream: BinaryIO, body: bytes) -> None:
    """Write a message at once."""
    stream.write(LENGTH.pack(len(body)) + body)
    stream.flush()


def serve_indices(seconds: float) -> int:
    """Answer paths that come from standard input by indices or errors to standard output."""
    prepare_limits()
    source = os.fdopen(os.dup(0), "rb")
    target = os.fdopen(os.dup(1), "wb")
    sys.stdout = sys.stderr
    while (path := read_message(source)) is not None:
        name = os.fsdecode(path)
        try:
            megabytes = os.stat(name).st_size / (1 << 20)
            limit_seconds(seconds + megabytes / 16)
            answer = IS_INDEX + build_index(name).to_bytes()
        except VideoFileError as error:
            answer = IS_ERROR + str(error).encode("utf-8", "replace")
        except OSError as error:
            answer = IS_ERROR + str(error.strerror).encode()
        finally:
            limit_seconds(0)
        write_message(target, answer)
    return 0
