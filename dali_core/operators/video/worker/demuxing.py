"""Opens videos, and finds their frames without decoding any."""

from __future__ import annotations

import itertools
import math
import os
import re
import struct
from array import array
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import av
import av.logging

from dali_core.operators.video.worker.packed_index import (
    HAS_TIMESTAMPS,
    IS_VARIABLE,
    MAY_SKIP,
    NEEDS_PTS,
    NO_VIDEO_STREAM,
    PackedIndex,
)

_MAX_PIXELS = 1 << 28
_SECONDS_OFF = 0.05  # that tables may be from what they describe
_SPREAD = 0.02  # of the average duration; more makes a frame rate variable


class VideoFileError(Exception):
    """The file is not a sound video."""


def reason_of(error: BaseException) -> str:
    """Return what FFmpeg says, without the path, which the error that quotes this names anyway."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).strip().rstrip(".")


def open_container(source: str, *, with_pts: bool = False) -> Any:
    """Return the open file.

    Raises
    ------
    VideoFileError
        It cannot be opened, or has no video stream.
    """
    options = {"fflags": "+genpts"} if with_pts else {}
    descriptor = -1
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
        # Playlists may name other files and hosts: no protocol is left to open them.
        options |= {"fd": str(descriptor), "protocol_whitelist": "fd"}
        container = av.open("fd:", options=options, metadata_errors="replace")
    except (av.FFmpegError, OSError, ValueError) as error:
        raise VideoFileError(f"it cannot be opened: {reason_of(error)}") from error
    finally:
        if descriptor >= 0:
            os.close(descriptor)  # FFmpeg has one of its own
    if not container.streams.video:
        has_sound = bool(container.streams.audio)
        container.close()
        raise VideoFileError(NO_VIDEO_STREAM if has_sound else "it has neither video nor sound")
    return container


def video_stream(container: Any) -> Any:
    """Return the stream whose frames count: the first one that is not a cover picture."""
    streams = container.streams.video
    for stream in streams:
        flags = getattr(stream, "disposition", 0)
        # A flag, which is no number with PyAV 17.0.
        if not int(getattr(flags, "value", flags)) & 0x400:
            return stream
    return streams[0]


def build_index(source: str) -> PackedIndex:
    """Return the index of a file by reading its packets once.

    Raises
    ------
    VideoFileError
        The file is not a sound video.
    """
    packets = _read_packets(source, with_pts=False)
    flags = 0
    if any(pts is None for pts in packets.pts):
        again = _read_packets(source, with_pts=True)
        if not any(pts is None for pts in again.pts):
            packets, flags = again, NEEDS_PTS
    index = packets.index
    index.flags |= flags
    return index


class _Key(NamedTuple):
    position: int
    pts: int
    dts: int


class _Packets:
    def __init__(self) -> None:
        self.pts: list[int | None] = []
        self.index = PackedIndex()


def _read_packets(source: str, *, with_pts: bool) -> _Packets:
    container = open_container(source, with_pts=with_pts)
    try:
        stream = video_stream(container)
        packets = _Packets()
        index = packets.index
        _describe(container, stream, index)
        index.orientation = _orientation(source, container, stream.index)
        numbers_packets = _numbers_packets(container, stream)
        rate = stream.guessed_rate or stream.average_rate or Fraction(25)
        shown: list[tuple[int, int]] = []  # presentation time, position
        keys: dict[int, _Key] = {}
        position = 0
        is_vp8 = index.codec == "vp8"
        # A broadcast that was recorded may begin in the middle, and lack a part: only clips that
        # need the part are refused.
        is_transport = container.format.name == "mpegts"
        expected = _expected_seconds(container, stream)
        _check_size(container, source)
        try:
            for packet in container.demux(stream):
                if not packet.size:
                    continue
                if packet.is_corrupt and not is_transport:
                    raise VideoFileError(f"its packet {position} is damaged, or cut off")
                pts, dts = packet.pts, packet.dts
                if not packet.is_discard and not (is_vp8 and not bytes(packet)[0] >> 4 & 1):
                    packets.pts.append(pts)
                    shown.append((position if pts is None else pts, position))
                if packet.is_keyframe:
                    keys[position] = _Key(
                        position,
                        position if pts is None else pts,
                        next((time for time in (dts, pts) if time is not None), position),
                    )
                position += 1
        except av.FFmpegError as error:
            raise VideoFileError(
                f"reading stops at packet {position}: {reason_of(error)}"
            ) from error
    finally:
        container.close()
    index.num_packets = position
    if not shown:
        raise VideoFileError("it has no frame")
    _check_duration(packets.pts, index.time_base, expected)
    has_timestamps = not (any(pts is None for pts in packets.pts) or numbers_packets)
    if not has_timestamps:
        # A raw stream: frames follow each other at the rate that its header, or FFmpeg, assumes.
        shown = [(number, position) for number, (_, position) in enumerate(shown)]
        index.time_base = (rate.denominator, rate.numerator)
    _fill(index, shown, keys, has_timestamps=has_timestamps)
    return packets


def _fill(
    index: PackedIndex,
    shown: list[tuple[int, int]],
    keys: dict[int, _Key],
    *,
    has_timestamps: bool,
) -> None:
    if has_timestamps:
        index.flags |= HAS_TIMESTAMPS
        shown.sort()
    index.pts = array("q", (pts for pts, _ in shown))
    index.positions = array("i", (position for _, position in shown))
    # Decoding can always start where the file starts, and without timestamps only there.
    starts = [(0, _Key(0, shown[0][0], shown[0][0]))]
    if keys and has_timestamps:
        first = keys[min(keys)]
        starts = [(0, first if shown[0][1] > first.position else starts[0][1])]
        for number, (_, position) in enumerate(shown):
            if position in keys and (number or position):
                starts.append((number, keys[position]))
            elif position in keys:
                starts = [(0, keys[position])]
    index.keyframes = array("i", (number for number, _ in starts))
    index.key_positions = array("i", (key.position for _, key in starts))
    index.key_pts = array("q", (key.pts for _, key in starts))
    index.key_dts = array("q", (key.dts for _, key in starts))
    if has_timestamps and len(shown) > 2:
        steps = [after - before for (before, _), (after, _) in itertools.pairwise(shown)]
        average = (shown[-1][0] - shown[0][0]) / len(steps)
        # Containers that count milliseconds round each time by one of them.
        allowed = max(1.0, _SPREAD * average)
        if max(steps) - average > allowed or average - min(steps) > allowed:
            index.flags |= IS_VARIABLE


def _describe(container: Any, stream: Any, index: PackedIndex) -> None:
    context = stream.codec_context
    if context is None:
        raise VideoFileError("its codec is not known to FFmpeg")
    index.codec = str(context.codec.canonical_name)
    index.coded_width, index.coded_height = context.width, context.height
    if min(context.width, context.height) <= 0:
        raise VideoFileError("it does not say how large its pictures are")
    if context.width * context.height > _MAX_PIXELS:
        raise VideoFileError(f"its pictures have {context.width} x {context.height} pixels")
    base = stream.time_base
    if base is None or base <= 0:
        raise VideoFileError("it has no unit of time")
    index.time_base = (base.numerator, base.denominator)
    if _may_skip(context):
        index.flags |= MAY_SKIP


def _check_size(container: Any, source: str) -> None:
    """Raise an error if an AVI or Matroska file is shorter than its header says."""
    name = container.format.name
    if name != "avi" and "matroska" not in name:
        return
    with open(source, "rb") as file:
        head = file.read(4096)
        size = file.seek(0, 2)
    expected = _size_of_riff(head) if name == "avi" else _size_of_matroska(head)
    if size < expected:
        raise VideoFileError(f"it is cut off after {size} of {expected} bytes")


def _size_of_riff(head: bytes) -> int:
    size = int.from_bytes(head[4:8], "little") + 8
    return size if head[:4] == b"RIFF" and size < 1 << 32 else 0


def _size_of_matroska(head: bytes) -> int:
    """Return the place where the segment ends, 0 if it does not say (RFC 8794, 8)."""
    place = 0
    for element in (b"\x1a\x45\xdf\xa3", b"\x18\x53\x80\x67"):
        start = place + len(element)
        if head[place:start] != element or len(head) < start + 8:
            return 0
        length = 9 - head[start].bit_length()
        place = start + length
        mask = (1 << 7 * length) - 1
        size = int.from_bytes(head[start:place], "big") & mask
        if length > 8 or size == mask:
            return 0
        place += size
    return place


def _expected_seconds(container: Any, stream: Any) -> float:
    """Return how long a Matroska file says that the stream is; 0 if it does not."""
    found = re.fullmatch(r"(\d+):(\d\d):(\d\d(?:\.\d+)?)", stream.metadata.get("DURATION", ""))
    if not found or "matroska" not in container.format.name:
        return 0.0
    return 3600.0 * int(found[1]) + 60.0 * int(found[2]) + float(found[3])


def _check_duration(times: list[int | None], time_base: tuple[int, int], expected: float) -> None:
    known = sorted(time for time in times if time is not None)
    if expected == 0 or not known:
        return
    unit = time_base[0] / time_base[1]
    # The last frame may be shown for long, as each may where the rate varies.
    longest = max((after - before for before, after in itertools.pairwise(known)), default=0)
    end = (known[-1] + 2 * longest) * unit + _SECONDS_OFF
    if len(known) > 1 and end < expected:
        raise VideoFileError(f"it ends at {known[-1] * unit:.3f} s of {expected:.3f} s")


def _numbers_packets(container: Any, stream: Any) -> bool:
    """Whether times of packets are only their numbers in the order in which they are decoded.

    AVI files have no times, and FFmpeg finds those of MPEG-4 in the stream itself, but not these.
    """
    context = stream.codec_context
    is_misled = context.codec.canonical_name in ("h264", "hevc") and context.has_b_frames
    return bool(container.format.name == "avi" and is_misled)


def orientation_of(matrix: Sequence[int]) -> int:
    """Return what a display matrix means, by the numbers of Exif, as FFmpeg's players take it.

    A matrix that turns by another angle than quarters means nothing here.
    """
    xx, xy, _, yx, yy = matrix[:5]
    across, down = math.hypot(xx, yx), math.hypot(xy, yy)
    if across == 0 or down == 0:
        return 1
    degrees = math.degrees(math.atan2(xy / down, xx / across))
    turned = {0: 4 if yy < 0 else 1, 90: 5 if yx > 0 else 6, 180: 3 if yy < 0 else 2}
    return (turned | {270: 7 if yx < 0 else 8}).get(math.floor(degrees + 0.5) % 360, 1)


def _orientation(source: str, container: Any, stream: int) -> int:
    """Return the orientation that the container asks for.

    PyAV has the matrix with decoded frames only, so the first one is decoded where FFmpeg's summary
    says that there is a matrix.
    """
    degrees = _summarised_rotation(container, stream)
    if degrees is None:
        return 1
    matrix = _first_matrix(source)
    if matrix is not None:
        return orientation_of(matrix)
    return 1 if math.isnan(degrees) else {90: 6, 180: 3, 270: 8}.get(round(degrees) % 360, 1)


def _first_matrix(source: str) -> Sequence[int] | None:
    container = open_container(source)
    try:
        for frame in container.decode(video_stream(container)):
            found = frame.side_data.get("DISPLAYMATRIX")
            data = b"" if found is None else bytes(found)
            return struct.unpack("=9i", data) if len(data) == 36 else None
    except av.FFmpegError:
        pass  # clips that need this frame are refused
    finally:
        container.close()
    return None


def _summarised_rotation(container: Any, stream: int) -> float | None:
    """Return degrees clockwise, or None if the stream has no display matrix."""
    level = av.logging.get_level()
    av.logging.set_level(av.logging.INFO)
    try:
        summary = container.dumps_format()
    except UnicodeDecodeError:
        return None
    finally:
        av.logging.set_level(level)
    parts = re.split(r"^\s*Stream #\d+:(\d+)", summary, flags=re.MULTILINE)
    for number, text in zip(parts[1::2], parts[2::2], strict=True):
        found = re.search(r"(?i:display ?matrix): rotation of (-?(?:\d+(?:\.\d+)?|nan))", text)
        if int(number) == stream and found:
            return -float(found[1])
    return None


def _may_skip(context: Any) -> bool:
    """Whether frames that no other frame refers to can be left out without a change of others."""
    name = context.codec.canonical_name
    if name == "hevc":
        # With temporal layers, frames of a higher layer refer to what this one calls unreferenced.
        data = context.extradata or b""
        return len(data) > 22 and data[0] == 1 and data[21] >> 3 & 7 == 1
    return name in ("h264", "mpeg4", "mpeg2video", "mpeg1video", "vp8")
