"""Sounds in all containers, made without a library."""

from __future__ import annotations

import struct


def sound_headers() -> list[bytes]:
    """Return small files, whose samples are zeros."""
    data = bytes(200)
    fmt = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 16000, 2, 16)
    riff = fmt + struct.pack("<4sI", b"data", len(data)) + data
    ds64 = struct.pack("<4sIQQQI", b"ds64", 28, 300, len(data), 100, 0)
    guid = bytes(12)
    w64 = b"riff" + guid + struct.pack("<Q", 400) + b"wave" + guid
    w64 += b"fmt " + guid + struct.pack("<Q", 40) + fmt[8:]
    w64 += b"data" + guid + struct.pack("<Q", 24 + len(data)) + data
    caf = b"caff\0\1\0\0" + struct.pack(">4sqd", b"desc", 32, 8000) + bytes(24)
    caf += struct.pack(">4sqI", b"data", 4 + len(data), 0) + data
    flac = b"fLaC\x80\0\0\x22" + bytes(10) + struct.pack(">Q", 8000 << 44 | 100) + bytes(16) + data
    return [
        b"RIFF" + struct.pack("<I", len(riff) + 4) + b"WAVE" + riff,
        b"RIFF\xff\xff\xff\xffWAVE" + fmt + b"data\xff\xff\xff\xff" + data,
        b"RF64\xff\xff\xff\xffWAVE" + ds64 + fmt + b"data\xff\xff\xff\xff" + data,
        w64,
        caf,
        flac,
        b".snd" + struct.pack(">5I", 24, 0, 3, 8000, 1) + data,
        _ogg_page(2, b"OpusHead")
        + _ogg_page(0, data)
        + _ogg_page(2, b"OpusHead")
        + _ogg_page(4, data),
        _tagged(b"".join(_mpeg_frames(5))),
        _tagged(b"".join((_described(2), *_mpeg_frames(2), _mpeg_frames(1)[0][:100]))),
    ]


def _ogg_page(flags: int, content: bytes) -> bytes:
    return b"OggS\0" + bytes([flags]) + bytes(20) + bytes([1, len(content)]) + content


def _mpeg_frames(count: int) -> list[bytes]:
    return [b"\xff\xfb\x10\xc4" + bytes(100)] * count  # 32 kbit/s, 44.1 kHz, mono


def _described(num_frames: int) -> bytes:
    frame = bytearray(b"\xff\xfb\x50\xc4" + bytes(204))
    frame[21:33] = struct.pack(">4sII", b"Info", 1, num_frames)
    frame[33:37] = b"LAME"
    frame[54:57] = b"\x24\x04\x80"
    return bytes(frame)


def _tagged(audio: bytes) -> bytes:
    front = b"ID3\4\0\0\0\0\0\x14" + bytes(20)
    ape = bytes(8) + b"APETAGEX" + struct.pack("<4I8x", 2000, 40, 0, 0)
    return front + audio + ape + b"TAG" + bytes(125)
