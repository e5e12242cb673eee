"""Generated sounds, and files of them."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest


def tones(length: int, channels: int = 1, seed: int = 0, rate: int = 16000) -> np.ndarray:
    """Return a few sines and noise, float32 from -1 to 1 of shape (length, channels)."""
    generator = np.random.default_rng([seed, length, channels])
    times = np.arange(length)[:, None] / rate
    frequencies = generator.uniform(100, rate / 5, (3, channels))
    sound = sum(np.sin(2 * np.pi * frequency * times) for frequency in frequencies) * 0.25
    return np.float32(sound + generator.uniform(-0.05, 0.05, (length, channels)))


def sound_file(
    sound: np.ndarray, form: str = "WAV", subtype: str | None = None, **options: Any
) -> bytes:
    """Return the bytes of a file; skip the test if no library can write it."""
    soundfile = pytest.importorskip("soundfile", reason="not available: soundfile")
    file = io.BytesIO()
    soundfile.write(file, sound, options.get("rate", 16000), format=form, subtype=subtype)
    return file.getvalue()


def as_bytes(file: bytes) -> np.ndarray:
    return np.frombuffer(file, np.uint8)


@dataclass(frozen=True)
class OggPage:
    """A page of an Ogg file (RFC 3533)."""

    content: bytes

    @property
    def flags(self) -> int:
        return self.content[5]

    def bytes(self, flags: int) -> bytes:
        """Return the page with other flags and the checksum that belongs to them."""
        page = bytearray(self.content)
        page[5] = flags
        page[22:26] = bytes(4)
        checksum = 0
        for byte in page:
            checksum = (checksum << 8 & 0xFFFFFFFF) ^ _OGG_CHECKSUMS[checksum >> 24 ^ byte]
        page[22:26] = checksum.to_bytes(4, "little")
        return bytes(page)


def _ogg_checksum(byte: int) -> int:
    value = byte << 24
    for _ in range(8):
        value = (value << 1 & 0xFFFFFFFF) ^ (0x04C11DB7 if value >> 31 else 0)
    return value


_OGG_CHECKSUMS = [_ogg_checksum(byte) for byte in range(256)]


def ogg_pages(file: bytes) -> list[OggPage]:
    """Return the pages of an Ogg file."""
    pages, at = [], 0
    while at < len(file):
        segments = file[at + 26]
        end = at + 27 + segments + sum(file[at + 27 : at + 27 + segments])
        pages.append(OggPage(file[at:end]))
        at = end
    return pages
