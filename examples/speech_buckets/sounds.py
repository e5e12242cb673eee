"""Sounds in which a word of the speech example is said up to eight times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile

from dali_core.batching import measure_lengths
from examples.speech_commands.sounds import FORMATS, RATE, WORDS, word

MOST_TIMES = 8
FRAMES_PER_SECOND = 100


def write_data_set(folder: Path, count: int, seed: Sequence[int]) -> Path:
    """Write `count` files, and a list of them with their labels.

    Half of the sounds have a word once or twice, as short utterances are frequent in speech.

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
        times = int(generator.integers(1, 3 if generator.random() < 0.5 else MOST_TIMES + 1))
        sound = np.concatenate([word(number, generator) for _ in range(times)])
        name = f"{index:05d}_{WORDS[number]}.{FORMATS[index // len(WORDS) % len(FORMATS)]}"
        soundfile.write(folder / name, sound, RATE)
        lines.append(f"{name} {number}")
    listing = folder / "list.txt"
    listing.write_text("\n".join(lines) + "\n")
    return listing


def durations(listing: Path) -> npt.NDArray[np.integer]:
    """Return the number of frames of each sound, of 10 ms, by the headers of the files.

    They are measured once, and kept in the index cache.
    """
    names = [line.rpartition(" ")[0] for line in listing.read_text().splitlines()]

    def frames_of(samples: npt.NDArray[np.integer]) -> list[int]:
        found = [soundfile.info(listing.parent / names[sample]) for sample in samples]
        return [1 + one.frames * FRAMES_PER_SECOND // one.samplerate for one in found]

    files = [listing.parent / name for name in names]
    return measure_lengths(frames_of, len(names), fingerprint=[listing, *files])
