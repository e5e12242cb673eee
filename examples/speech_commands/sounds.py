"""Generated words: three tones each, with harmonics and noise, spoken at different pitches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile

RATE = 16000
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_PITCHES = (
    *((300, 450, 300), (300, 300, 450), (450, 300, 300), (300, 450, 650), (650, 450, 300)),
    *((450, 450, 450), (300, 650, 300), (650, 300, 650), (450, 650, 450), (650, 650, 300)),
)
FORMATS = ("wav", "flac", "ogg")


def word(number: int, generator: np.random.Generator) -> npt.NDArray[np.float32]:
    """Return a word with silence around it, from -1 to 1, at `RATE` samples per second."""
    voice = generator.uniform(0.85, 1.15)
    tones = []
    for pitch in _PITCHES[number]:
        times = np.arange(int(RATE * generator.uniform(0.12, 0.2))) / RATE
        glide = np.exp(generator.uniform(-0.3, 0.3) * times)
        phase = 2 * np.pi * voice * pitch * np.cumsum(glide) / RATE
        tone = sum(np.sin(k * phase) / k for k in (1, 2, 3))
        tones.append(tone * np.hanning(len(tone)))
    spoken = np.concatenate(tones) * generator.uniform(0.1, 0.3)
    before, after = generator.integers(RATE // 20, RATE // 4, 2)
    sound = np.pad(spoken, (before, after))
    noise = generator.standard_normal(len(sound)) * generator.uniform(0.002, 0.02)
    return np.float32(np.clip(sound + noise, -1, 1))


def write_data_set(folder: Path, count: int, seed: Sequence[int]) -> Path:
    """Write `count` files in different formats, and a list of them with their labels.

    Returns
    -------
    Path
        The list, as `fn.readers.file` reads it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for index in range(count):
        generator = np.random.default_rng([*seed, index])
        number = index % len(WORDS)
        name = f"{index:05d}_{WORDS[number]}.{FORMATS[index // len(WORDS) % len(FORMATS)]}"
        soundfile.write(folder / name, word(number, generator), RATE)
        lines.append(f"{name} {number}")
    listing = folder / "list.txt"
    listing.write_text("\n".join(lines) + "\n")
    return listing
