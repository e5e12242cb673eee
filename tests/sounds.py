"""Generated sounds, and files of them."""

from __future__ import annotations

import io
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
