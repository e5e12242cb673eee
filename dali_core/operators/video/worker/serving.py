"""Answers requests for frames, one after another, of the process that started this one.

Requests come by a socket that keeps messages whole. Paths, numbers of frames and pixels are in
memory that both processes see; the other process makes it and passes its descriptor along.
"""

from __future__ import annotations

import array
import contextlib
import mmap
import os
import select
import socket
import struct
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dali_core.operators.video.worker.decoder import Decoder
from dali_core.operators.video.worker.demuxing import VideoFileError, build_index
from dali_core.operators.video.worker.limits import (
    limit_ahead_seconds,
    limit_seconds,
    prepare_limits,
)
from dali_core.operators.video.worker.packed_index import (
    DamagedIndexError,
    PackedIndex,
    is_transposed,
)
from dali_core.operators.video.worker.planes import copy_planes, planar

SOCKET = 3

# Must have the order and the types of `VideoCommand` and `VideoReply` in video_messages.hpp.
COMMAND = struct.Struct("<7QdIIII")
REPLY = struct.Struct("<Qiiqqqqd")
_OPEN, _DECODE, _GO_ON, _STOP = range(4)
_PART, _DONE, _REFUSED, _NEEDS, _READY, _NEEDS_INDEX, _MADE_INDEX = range(7)
_NEW_BUFFER, _HAS_BYTES, _SEQUENTIAL, _KEEP, _HAS_INDICES = 1, 2, 4, 8, 16

_MAX_FRAMES = 256  # in one message
_READY_BYTES = 1 << 19  # of frames that are worth a message of their own
_MAX_TEXT = 2000
_MAX_INDICES = 256
_MAX_SAVED_BYTES = 1 << 28  # of an index
_PARENT_SECONDS = 5  # between looks whether the other process is there
_FRAMES_OF_CODEC = 8  # that an open decoder holds on to


@dataclass
class _Command:
    number: int
    buffer: int  # which memory
    buffer_bytes: int
    file: int
    path_bytes: int
    count: int
    codec_bytes: int  # that open decoders may hold on to, roughly
    seconds: float
    kind: int
    num_threads: int
    flags: int
    max_files: int


class _StopError(Exception):
    """The request was cancelled, or the other process is gone."""


class _Server:
    def __init__(self) -> None:
        self._socket = socket.socket(fileno=SOCKET)
        self._parent = os.getppid()
        self._buffers: dict[int, tuple[int, mmap.mmap]] = {}
        self._sources: dict[int, int] = {}  # descriptors of the bytes of files
        self._indices: OrderedDict[int, PackedIndex] = OrderedDict()
        self._decoders: OrderedDict[int, Decoder] = OrderedDict()
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)

    def serve(self) -> int:
        while (received := self._receive()) is not None:
            command, descriptors = received
            limit_seconds(command.seconds)
            try:
                self._answer(command, descriptors)
                if command.kind == _DECODE:
                    self._read_ahead(command)
            except _StopError:
                return 0
            except VideoFileError as error:
                self._close(command.file)
                self._reply(command, _REFUSED, text=str(error))
            except (MemoryError, OSError, ValueError) as error:
                self._close(command.file)
                reason = str(error) or type(error).__name__
                self._reply(command, _REFUSED, text=f"it cannot be decoded: {reason}")
            finally:
                limit_seconds(0)
        return 0

    def _receive(self) -> tuple[_Command, list[int]] | None:
        if not self._wait(select.POLLIN):
            return None
        space = socket.CMSG_SPACE(2 * struct.calcsize("i"))
        try:
            data, control, _, _ = self._socket.recvmsg(COMMAND.size, space)
        except OSError:
            return None
        if len(data) != COMMAND.size:
            return None
        descriptors = array.array("i")
        for _, _, content in control:
            descriptors.frombytes(content)
        command = _Command(*COMMAND.unpack(data))
        return command, list(descriptors)

    def _wait(self, event: int) -> bool:
        """Wait for the socket. Return False if the other process is gone."""
        self._poll.modify(self._socket, event)
        try:
            while not self._poll.poll(1000 * _PARENT_SECONDS):
                # A fork of the other process may hold its end of the socket open.
                if os.getppid() != self._parent:
                    return False
        finally:
            self._poll.modify(self._socket, select.POLLIN)
        return True

    def _reply(
        self,
        command: _Command,
        kind: int,
        count: int = 0,
        *numbers: int,
        rate: float = 0.0,
        text: str = "",
        frames: bytes = b"",
    ) -> None:
        padded = (*numbers, 0, 0, 0, 0)[:4]
        body = text.encode("utf-8", "replace")[:_MAX_TEXT] or frames
        message = REPLY.pack(command.number, kind, count, *padded, rate) + body
        while True:
            try:
                self._socket.send(message, socket.MSG_DONTWAIT)
            except BlockingIOError:
                limit_seconds(0)  # the other process may take its time
                if not self._wait(select.POLLOUT):
                    raise _StopError from None
                limit_seconds(command.seconds)
            except OSError as error:
                raise _StopError from error
            else:
                return

    def _answer(self, command: _Command, descriptors: list[int]) -> None:
        if command.flags & _NEW_BUFFER:
            self._forget_buffer(command.buffer)
            descriptor = descriptors.pop(0)
            self._buffers[command.buffer] = (
                descriptor,
                mmap.mmap(descriptor, command.buffer_bytes),
            )
        if command.flags & _HAS_BYTES:
            descriptor = descriptors.pop(0)
            if self._sources.setdefault(command.file, descriptor) != descriptor:
                os.close(descriptor)
        memory = self._memory(command)
        path = bytes(memory[: command.path_bytes])
        if command.file in self._sources:
            path = b"/proc/self/fd/%d" % self._sources[command.file]
        start = command.path_bytes + -command.path_bytes % 8
        wanted = array.array("q", bytes(memory[start : start + 8 * command.count]))
        # From here on, the memory may have something else.
        index = self._index(command, os.fsdecode(path))
        if command.kind == _OPEN:
            self._describe(command, index, self._memory(command))
            return
        self._decode(command, index, os.fsdecode(path), wanted)

    def _memory(self, command: _Command) -> mmap.mmap:
        descriptor, memory = self._buffers[command.buffer]
        if len(memory) != command.buffer_bytes:
            memory.close()
            memory = mmap.mmap(descriptor, command.buffer_bytes)
            self._buffers[command.buffer] = (descriptor, memory)
        return memory

    def _forget_buffer(self, number: int) -> None:
        if number in self._buffers:
            descriptor, memory = self._buffers.pop(number)
            memory.close()
            os.close(descriptor)

    def _close(self, file: int) -> None:
        decoder = self._decoders.pop(file, None)
        if decoder is not None:
            decoder.close()
        self._indices.pop(file, None)
        descriptor = self._sources.pop(file, None)
        if descriptor is not None:
            os.close(descriptor)

    def _index(self, command: _Command, path: str) -> PackedIndex:
        file = command.file
        index = self._indices.get(file)
        if index is not None:
            self._indices.move_to_end(file)
            return index
        is_saved = bool(command.flags & _HAS_INDICES) and file not in self._sources
        if is_saved:
            index = self._saved_index(command)
        if index is None:
            index = build_index(path)
            if is_saved:
                self._save(command, index)
        self._indices[file] = index
        while len(self._indices) > _MAX_INDICES:
            self._close(next(iter(self._indices)))
        return index

    def _saved_index(self, command: _Command) -> PackedIndex | None:
        self._reply(command, _NEEDS_INDEX)
        size = self._receive_word(command)
        with contextlib.suppress(DamagedIndexError):
            return PackedIndex.from_bytes(bytes(self._memory(command)[:size]))
        return None

    def _save(self, command: _Command, index: PackedIndex) -> None:
        data = index.to_bytes()
        if len(data) > _MAX_SAVED_BYTES:
            return
        if len(data) > len(self._memory(command)):
            self._reply(command, _NEEDS, 0, len(data))
            self._receive_word(command)
        self._memory(command)[: len(data)] = data
        self._reply(command, _MADE_INDEX, 0, len(data))
        self._receive_word(command)

    def _describe(self, command: _Command, index: PackedIndex, memory: mmap.mmap) -> None:
        is_turned = is_transposed(index.orientation)
        width, height = index.coded_width, index.coded_height
        if is_turned:
            width, height = height, width
        numerator, denominator = index.time_base
        last = len(index.pts) - 1
        ticks = (index.pts[last] - index.pts[0]) * numerator
        rate = last * denominator / ticks if ticks > 0 else 0.0
        keys = memoryview(index.keyframes).cast("B")[: len(memory) & ~3]
        memory[: len(keys)] = keys
        count = len(keys) // 4
        self._reply(command, _DONE, count, width, height, last + 1, 0, rate=rate)

    def _decoder(self, command: _Command, index: PackedIndex, path: str) -> Decoder:
        decoder = self._decoders.pop(command.file, None)
        if decoder is not None and decoder.num_threads != command.num_threads:
            decoder.close()
            decoder = None
        if decoder is None:
            decoder = Decoder(path, index, command.num_threads)
        self._decoders[command.file] = decoder
        while len(self._decoders) > 1 and (
            len(self._decoders) > command.max_files
            or sum(map(_bytes_of, self._decoders.values())) > command.codec_bytes
        ):
            _, oldest = self._decoders.popitem(last=False)
            oldest.close()
        return decoder

    def _decode(
        self, command: _Command, index: PackedIndex, path: str, wanted: Sequence[int]
    ) -> None:
        if not wanted or wanted[0] < 0 or wanted[-1] >= len(index.pts):
            raise VideoFileError(
                f"it has {len(index.pts)} frames, and frame {max(wanted, default=0)} was asked for"
            )
        decoder = self._decoder(command, index, path)
        sender = _Sender(self, command, index, len(wanted))
        decoder.frames(
            wanted,
            sender.take,
            is_sequential=bool(command.flags & _SEQUENTIAL),
            keeps_between=bool(command.flags & _KEEP),
        )
        sender.finish()

    def _read_ahead(self, command: _Command) -> None:
        """Decode what is likely to be asked for next, until there is another request."""
        decoder = self._decoders[command.file]
        if not decoder.may_read_ahead():
            return
        limit_ahead_seconds(command.seconds)
        try:
            while not self._poll.poll(0) and decoder.read_ahead():
                pass
        except (VideoFileError, MemoryError, OSError, ValueError):
            # The next request opens a new decoder, and reports the error if it needs these frames.
            self._decoders.pop(command.file).close()
        finally:
            limit_ahead_seconds(0)

    def send_ready(self, command: _Command, count: int, frames: bytes) -> None:
        self._reply(command, _READY, count, frames=frames)

    def exchange_part(
        self, command: _Command, kind: int, count: int, numbers: Sequence[int], frames: bytes
    ) -> Any:
        """Send a part, and wait until its memory is free. Return the memory."""
        self._reply(command, kind, count, *numbers, frames=frames)
        self._receive_word(command)
        return self._memory(command)

    def _receive_word(self, command: _Command) -> int:
        """Wait until the memory may be used again. Return the count that comes with the word."""
        limit_seconds(0)  # the other process may take its time
        received = self._receive()
        if received is None or received[0].kind == _STOP:
            raise _StopError
        limit_seconds(command.seconds)
        command.buffer_bytes = received[0].buffer_bytes
        return received[0].count

    def reply_done(self, command: _Command, count: int, frames: bytes) -> None:
        self._reply(command, _DONE, count, frames=frames)

    def memory(self, command: _Command) -> Any:
        return self._memory(command)


def _bytes_of(decoder: Decoder) -> int:
    index = decoder.index
    frames = _FRAMES_OF_CODEC + decoder.num_threads + decoder.num_waiting
    return 2 * index.coded_width * index.coded_height * frames


class _Sender:
    """Copies frames to the shared memory, and reports them to the client in parts."""

    def __init__(
        self, server: _Server, command: _Command, index: PackedIndex, num_left: int
    ) -> None:
        self._num_left = num_left
        self._server = server
        self._command = command
        self._index = index
        self._memory = memoryview(server.memory(command))
        self._at = 0
        self._sent = 0  # what comes before this in the memory has been reported
        self._frames: list[bytes] = []

    def take(self, number: int, frame: Any) -> None:
        index = self._index
        frame = planar(frame)
        if (frame.width, frame.height) != (index.coded_width, index.coded_height):
            raise VideoFileError(
                f"its frame {number} has {frame.width} x {frame.height} pixels, and the first one "
                f"{index.coded_width} x {index.coded_height}"
            )
        # In this order, so that the result is the nearest number to the exact time.
        numerator, denominator = index.time_base
        seconds = (index.pts[number] - index.pts[0]) * numerator / denominator
        if len(self._frames) == _MAX_FRAMES:
            self._send_part()
        copied = copy_planes(frame, number, seconds, index.orientation, self._memory, self._at)
        if isinstance(copied, int):
            if self._at:
                self._send_part()
            if copied > len(self._memory):
                self._exchange(_NEEDS, (copied,))
            copied = copy_planes(frame, number, seconds, index.orientation, self._memory, self._at)
        assert not isinstance(copied, int)
        description, self._at = copied
        self._frames.append(description)
        self._num_left -= 1
        if self._num_left and self._at - self._sent >= _READY_BYTES:
            self._server.send_ready(self._command, len(self._frames), b"".join(self._frames))
            self._frames = []
            self._sent = self._at

    def finish(self) -> None:
        self._memory.release()
        self._server.reply_done(self._command, len(self._frames), b"".join(self._frames))

    def _send_part(self) -> None:
        self._exchange(_PART, ())

    def _exchange(self, kind: int, numbers: Sequence[int]) -> None:
        self._memory.release()
        memory = self._server.exchange_part(
            self._command, kind, len(self._frames), numbers, b"".join(self._frames)
        )
        self._memory = memoryview(memory)
        self._at = self._sent = 0
        self._frames = []


def serve_frames() -> int:
    """Answer requests until the other process closes its end, or is gone."""
    prepare_limits()
    with contextlib.suppress(KeyboardInterrupt):
        return _Server().serve()
    return 0
