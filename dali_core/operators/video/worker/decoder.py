"""Decodes frames of one video by their numbers, exactly.

Packets get their own number in the file in place of a time, and frames keep it through the codec.
So each frame says which one it is, whatever the times in the file are.
"""

from __future__ import annotations

import bisect
import itertools
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import av

from dali_core.operators.video.worker.demuxing import (
    VideoFileError,
    open_container,
    reason_of,
    video_stream,
)
from dali_core.operators.video.worker.packed_index import (
    HAS_TIMESTAMPS,
    MAY_SKIP,
    NEEDS_PTS,
    PackedIndex,
)

_NEAR = 3  # packets between two wanted frames that are decoded rather than left out
_MAX_AHEAD = 48  # frames that are kept besides the wanted ones
_BYTES_AHEAD = 1 << 26
_BYTES_READ_AHEAD = 1 << 23  # or as many frames as were asked for last, if these are more
_READ_ON = 64  # packets to read rather than to seek

Take = Callable[[int, Any], None]


class _MissedError(Exception):
    """Decoding from a keyframe did not give a frame."""


class Decoder:
    """An open video.

    Parameters
    ----------
    source
        Path of the file.
    index
        Its index.
    num_threads
        Threads of the codec.
    """

    def __init__(self, source: str, index: PackedIndex, num_threads: int) -> None:
        self.index = index
        self.num_threads = num_threads
        self._source = source
        self._is_timed = bool(index.flags & HAS_TIMESTAMPS)
        self._may_skip = bool(index.flags & MAY_SKIP) and self._is_timed
        self._numbers = array("i", [-1]) * index.num_packets
        for number, position in enumerate(index.positions):
            self._numbers[position] = number
        self._key_positions = index.key_positions
        self._key_of_pts = dict(zip(index.key_pts, index.key_positions, strict=True))
        if len(self._key_of_pts) < len(set(index.key_positions)):
            self._key_of_pts = {}  # times are not unique: packets are counted from the start
        frame_bytes = 2 * index.coded_width * index.coded_height
        self._ahead = max(1, min(_MAX_AHEAD, _BYTES_AHEAD // frame_bytes))
        self._min_ahead = _BYTES_READ_AHEAD // frame_bytes
        self._end = 0  # the frame behind the last one that was asked for
        self._num_ahead = 0  # frames to decode before they are asked for
        self._container: Any = None
        self._context: Any = None
        self._stream: Any = None
        self._open()

    def close(self) -> None:
        """Close the file, and release the codec and its frames at once."""
        if self._container is not None:
            self._packets: Iterator[Any] = iter(())  # refers to this object
            self._waiting: dict[int, Any] = {}
            self._context = self._stream = None
            self._container.close()
            self._container = None

    def frames(
        self, wanted: Sequence[int], take: Take, *, is_sequential: bool, keeps_between: bool = False
    ) -> None:
        """Pass frames to `take`, with their numbers.

        Parameters
        ----------
        wanted
            Numbers of frames, ascending, each once.
        take
            Called for each frame in this order.
        is_sequential
            Whether frames shortly behind these are likely to be asked for next.
        keeps_between
            Whether those between the last ones that were asked for and these are, too.
        """
        self._follow(wanted, is_sequential=is_sequential)
        for group in self._groups(wanted):
            self._decode(group, take, is_sequential=is_sequential, keeps=keeps_between)

    def _follow(self, wanted: Sequence[int], *, is_sequential: bool) -> None:
        """See whether the video is read in order, without a gap."""
        is_late = self._end - 2 * len(wanted) <= wanted[0] and wanted[-1] < self._end
        if is_sequential and is_late:
            return  # requests of several threads may overtake each other
        is_next = wanted[0] == self._end and len(wanted) == wanted[-1] + 1 - wanted[0]
        num_ahead = min(self._ahead, max(self._min_ahead, len(wanted)))
        self._num_ahead = num_ahead if is_sequential and is_next else 0
        self._end = wanted[-1] + 1

    @property
    def num_waiting(self) -> int:
        """The number of decoded frames that have not been requested."""
        return len(self._waiting)

    def may_read_ahead(self) -> bool:
        """Whether `read_ahead` would decode something."""
        return self._is_running and len(self._waiting) < self._num_ahead

    def read_ahead(self) -> bool:
        """Decode one packet behind the frames that were asked for, if the video is read in order.

        Returns
        -------
        bool
            Whether there is more to decode, and memory for it.

        Raises
        ------
        VideoFileError
            The file is damaged. The decoder is of no use after this.
        """
        if not self.may_read_ahead():
            return False
        try:
            packet = next(self._packets, None)
            if packet is None:
                self._drain(set(), self._end - 1, True)
            else:
                self._send(packet, False, set(), self._end - 1)
        except _MissedError as error:
            raise VideoFileError(str(error)) from error
        return True

    def _groups(self, wanted: Sequence[int]) -> Iterator[list[int]]:
        """Divide frames where leaving out what is between them is worth a new start."""
        positions = self.index.positions
        group: list[int] = []
        last = -1
        for number in wanted:
            position = positions[number]
            if group and self._start(number)[0] > last + _NEAR:
                yield group
                group, last = [], -1
            group.append(number)
            last = max(last, position)
        if group:
            yield group

    def _start(self, number: int) -> tuple[int, int]:
        """Return position and number of the keyframe from which a frame is decoded."""
        place = bisect.bisect_right(self.index.keyframes, number) - 1
        return self._key_positions[place], self.index.keyframes[place]

    def _decode(self, group: list[int], take: Take, *, is_sequential: bool, keeps: bool) -> None:
        taken = 0

        def take_and_count(number: int, frame: Any) -> None:
            nonlocal taken
            take(number, frame)
            taken += 1

        key = bisect.bisect_right(self.index.keyframes, group[0]) - 1
        # A keyframe need not be what it says, so earlier ones are tried before giving up.
        starts = list(dict.fromkeys((None, key, max(key - 1, 0), 0)))
        for start in starts:
            if start is None and not self._can_go_on(group):
                continue
            try:
                if start is not None:
                    self._restart(start)
                self._feed(
                    group[taken:],
                    take_and_count,
                    is_sequential,
                    keeps and start is None,
                    may_skip=start in (None, key),
                )
            except _MissedError as error:
                self._is_running = False
                if start == 0:
                    raise VideoFileError(str(error)) from error
            else:
                return

    def _can_go_on(self, group: list[int]) -> bool:
        """Return whether the codec reaches these frames sooner without a seek."""
        late = [number for number in group if number not in self._waiting]
        if not late:
            return True
        if not self._is_running or late[0] <= self._last_given:
            return False
        if any(self.index.positions[number] in self._skipped for number in late):
            return False
        return self._start(late[0])[0] <= self._next + _NEAR

    # Reading of packets and feeding of the codec.

    def _open(self) -> None:
        self.close()
        self._container = open_container(self._source, with_pts=bool(self.index.flags & NEEDS_PTS))
        self._stream = video_stream(self._container)
        for stream in self._container.streams:
            if stream is not self._stream and hasattr(stream, "discard"):
                stream.discard = 48  # AVDISCARD_ALL
        context = self._stream.codec_context
        context.thread_count = self.num_threads
        context.thread_type = "FRAME" if self.num_threads > 1 else "SLICE"
        context.options = {"err_detect": "explode"}
        self._context = context
        self._packets = self._read()
        self._is_matroska = "matroska" in self._container.format.name
        self._next = 0  # number of the packet that comes next
        self._is_running = False
        self._is_skipping = False
        self._first = 0  # number of the frame where the codec was started
        self._last_given = -1
        self._skipped: set[int] = set()
        self._waiting = {}
        self._count = 0  # of frames, where they have no times

    def _read(self) -> Iterator[Any]:
        try:
            for packet in self._container.demux(self._stream):
                if packet.size:
                    yield packet
        except av.FFmpegError as error:
            raise VideoFileError(
                f"reading stops at packet {self._next}: {reason_of(error)}"
            ) from error

    def _restart(self, key: int) -> None:
        """Place the reader before a keyframe, and clear the codec."""
        position = self._key_positions[key]
        self._first = self.index.keyframes[key]
        self._last_given = self._first - 1
        self._waiting.clear()
        self._skipped.clear()
        self._count = 0
        self._place(key, position)
        if self._context.is_open:
            self._context.flush_buffers()
        self._is_running = True

    def _place(self, key: int, position: int) -> None:
        if position == 0 and self._next == 0:
            return
        if not 0 <= position - self._next <= _READ_ON and not self._seek(key, position):
            self._open()
        while self._next < position:
            if next(self._packets, None) is None:
                raise _MissedError(f"it ends at packet {self._next} of {self.index.num_packets}")
            self._next += 1

    def _seek(self, key: int, position: int) -> bool:
        """Whether the next packet is now one at or before `position`, and its number is known."""
        if not self._key_of_pts or not self._is_timed:
            return False
        time = (self.index.key_pts if self._is_matroska else self.index.key_dts)[key]
        try:
            self._container.seek(time, stream=self._stream)
        except (av.FFmpegError, OSError):
            return False
        self._packets = self._read()
        for packet in self._packets:
            number = self._key_of_pts.get(packet.pts) if packet.is_keyframe else None
            if number is None:
                continue
            if number > position:
                return False
            self._packets = itertools.chain((packet,), self._packets)
            self._next = number
            return True
        return False

    def _feed(
        self, wanted: list[int], take: Take, is_sequential: bool, keeps: bool, *, may_skip: bool
    ) -> None:
        """Decode until all wanted frames have been taken, in their order."""
        waiting, positions, numbers = self._waiting, self.index.positions, self._numbers
        needed = {positions[number] for number in wanted}
        last_needed = max(needed) if self._is_timed else self.index.num_packets
        kept = set(range(self._last_given + 1, wanted[0])) if keeps else set()
        kept = set(sorted(kept)[-self._ahead :]).union(wanted)
        oldest = wanted[0] - (self._ahead if is_sequential else 0)
        for number in [number for number in waiting if number not in kept and number < oldest]:
            del waiting[number]  # it was not requested
        skipping = may_skip and self._may_skip
        # Frames that may be asked for next are not left out.
        unwanted = (wanted[0] if keeps else 0, wanted[-1] if is_sequential else len(numbers))
        for number in wanted:
            while number not in waiting:
                if self._last_given >= number:
                    raise _MissedError(f"its frame {number} cannot be decoded")
                position = self._next
                packet = None
                if position <= last_needed or is_sequential:
                    packet = next(self._packets, None)
                if packet is None:
                    self._drain(kept, wanted[-1], is_sequential)
                    if number in waiting:
                        break
                    raise _MissedError(f"its frame {number} cannot be decoded")
                skip = (
                    skipping
                    and position < last_needed
                    and position not in needed
                    and unwanted[0] <= numbers[position] < unwanted[1]
                )
                self._send(packet, skip, kept, wanted[-1])
            take(number, waiting.pop(number))

    def _send(self, packet: Any, skip: bool, kept: set[int], last: int) -> None:
        """Send the codec a packet, whose frame may be left out, and note the frames it returns."""
        position = self._next
        self._next = position + 1
        packet.pts = position
        if skip is not self._is_skipping:
            self._context.skip_frame = "NONREF" if skip else "DEFAULT"
            self._is_skipping = skip
        if skip:
            self._skipped.add(position)
        if packet.is_corrupt:
            raise _MissedError(f"its packet {position} is damaged, or cut off")
        try:
            frames = self._context.decode(packet)
        except (av.FFmpegError, EOFError) as error:
            numbers = self._numbers
            if position < len(numbers) and 0 <= numbers[position] < self._first:
                return  # shown before the keyframe, it refers to what is before that
            raise _MissedError(
                f"its packet {position} cannot be decoded: {reason_of(error)}"
            ) from error
        for frame in frames:
            self._note(frame, kept, last)

    def _note(self, frame: Any, kept: set[int], last: int) -> None:
        """Keep a frame that the codec has given, if it is wanted or comes after those."""
        if self._is_timed:
            position = frame.pts
            if position is None or not 0 <= position < len(self._numbers):
                return
            number = self._numbers[position]
        else:
            number = self._count
            self._count += 1
        if number < self._first:
            return
        if frame.is_corrupt and (number in kept or number > last):
            raise _MissedError(f"its frame {number} is damaged")
        self._last_given = max(self._last_given, number)
        if number in kept or last < number <= last + self._ahead:
            self._waiting[number] = frame

    def _drain(self, kept: set[int], last: int, is_sequential: bool) -> None:
        """Let the codec give what it holds back. It has to be started again afterwards."""
        self._is_running = False
        try:
            frames = self._context.decode(None)
        except (av.FFmpegError, EOFError) as error:
            raise _MissedError(f"its last frames cannot be decoded: {reason_of(error)}") from error
        for frame in frames:
            # At the end of the file, those behind the wanted ones may be asked for next.
            self._note(frame, kept, last if is_sequential else self.index.num_packets)
