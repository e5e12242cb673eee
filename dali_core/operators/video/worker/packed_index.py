"""The index of a video as bytes, for other processes and for the cache."""

from __future__ import annotations

import struct
import zlib
from array import array
from dataclasses import dataclass, field
from typing import Any

_HEADER = struct.Struct("<8sII8q16s3q")
_MAGIC = b"dcvidx05"  # the last digits change with the format and with the rules below

HAS_TIMESTAMPS = 1
IS_VARIABLE = 2
NEEDS_PTS = 4
MAY_SKIP = 8

# The reason that there is no index of a recording of sound.
NO_VIDEO_STREAM = "it has sound, and no video stream"


def is_transposed(orientation: int) -> bool:
    """Whether the upright picture is as wide as the stored one is high."""
    return orientation >= 5


class DamagedIndexError(ValueError):
    """The bytes are not an index that this version has written."""


@dataclass
class PackedIndex:
    """Frames of the first video stream of a file in presentation order, found by demuxing only.

    `positions` has each frame's number in the order of packets, which is the order of decoding.
    Decoding that starts at the packet of a keyframe gives all frames from that keyframe on.
    """

    codec: str = ""
    coded_width: int = 0
    coded_height: int = 0
    orientation: int = 1  # by the numbers of Exif: what makes the picture upright
    time_base: tuple[int, int] = (1, 1)
    num_packets: int = 0
    flags: int = 0
    pts: Any = field(default_factory=lambda: array("q"))
    positions: Any = field(default_factory=lambda: array("i"))
    keyframes: Any = field(default_factory=lambda: array("i"))  # numbers of frames, ascending
    key_positions: Any = field(default_factory=lambda: array("i"))
    key_pts: Any = field(default_factory=lambda: array("q"))
    key_dts: Any = field(default_factory=lambda: array("q"))

    def _parts(self) -> tuple[Any, ...]:
        longs = (self.pts, self.key_pts, self.key_dts)
        return (*longs, self.positions, self.keyframes, self.key_positions)

    def to_bytes(self) -> bytes:
        """Return the index as bytes with a checksum."""
        body = b"".join(memoryview(part).cast("B") for part in self._parts() if len(part))
        numbers = (self.coded_width, self.coded_height, self.orientation, *self.time_base)
        lengths = (self.num_packets, len(self.pts), len(self.keyframes))
        rest = struct.pack("<I8q16s", self.flags, *numbers, *lengths, self.codec.encode()[:16])
        checksum = zlib.crc32(body, zlib.crc32(rest))
        return (
            _HEADER.pack(
                _MAGIC, checksum, self.flags, *numbers, *lengths, self.codec.encode()[:16], 0, 0, 0
            )
            + body
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> PackedIndex:
        """Return the index that `data` holds, or raise `DamagedIndexError`."""
        if len(data) < _HEADER.size:
            raise DamagedIndexError("too short")
        magic, checksum, flags, *numbers, codec, _, _, _ = _HEADER.unpack_from(data)
        packets, frames, keys = numbers[5:]
        if magic != _MAGIC or min(packets, frames, keys) < 0:
            raise DamagedIndexError("of another version")
        if len(data) != _HEADER.size + frames * 12 + keys * 24:
            raise DamagedIndexError("of a wrong length")
        rest = struct.pack("<I8q16s", flags, *numbers, codec)
        if zlib.crc32(memoryview(data)[_HEADER.size :], zlib.crc32(rest)) != checksum:
            raise DamagedIndexError("with a wrong checksum")
        view = memoryview(data)
        at = _HEADER.size
        parts: list[Any] = []
        for count in (frames, keys, keys):
            parts.append(view[at : at + 8 * count].cast("q"))
            at += 8 * count
        for count in (frames, keys, keys):
            parts.append(view[at : at + 4 * count].cast("i"))
            at += 4 * count
        return cls(
            codec=codec.rstrip(b"\0").decode("ascii", "replace"),
            coded_width=numbers[0],
            coded_height=numbers[1],
            orientation=numbers[2],
            time_base=(numbers[3], numbers[4]),
            num_packets=packets,
            flags=flags,
            pts=parts[0],
            key_pts=parts[1],
            key_dts=parts[2],
            positions=parts[3],
            keyframes=parts[4],
            key_positions=parts[5],
        )
