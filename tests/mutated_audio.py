"""Decodes damaged audio files: ``python -m tests.mutated_audio FIRST COUNT``.

Each depends only on its index. The outcome is either an error that names the sample, or samples.
Codecs without a checksum decode some damage without noticing.
"""

from __future__ import annotations

import functools
import sys
from collections import Counter

import numpy as np

from dali_core import Pipeline, fn, types
from dali_core.errors import SampleError
from tests.mutated_videos import mutated
from tests.sounds import as_bytes, sound_file, tones

FORMATS = (
    *(("WAV", "PCM_16"), ("WAV", "FLOAT"), ("WAV", "MS_ADPCM"), ("WAV", "IMA_ADPCM")),
    *(("FLAC", "PCM_16"), ("FLAC", "PCM_24"), ("MP3", None), ("OGG", "VORBIS"), ("OGG", "OPUS")),
    *(("AIFF", "PCM_16"), ("AU", "ULAW"), ("CAF", "PCM_16"), ("W64", "PCM_16"), ("RF64", None)),
)
_BATCH = 20
_TYPES = (types.FLOAT, types.INT16, types.INT32)


@functools.cache
def original(number: int) -> bytes:
    form, subtype = FORMATS[number % len(FORMATS)]
    return sound_file(tones(2000 + 100 * (number % 3), 1 + number % 2), form, subtype)


def outcomes(first: int, count: int) -> Counter[str]:
    """Decode damaged files in batches, as a program does that replaces bad samples."""
    counts: Counter[str] = Counter()
    for start in range(first, first + count, _BATCH):
        numbers = range(start, min(start + _BATCH, first + count))
        # Headers decide more than what follows: half of the files are damaged there only.
        files = [
            mutated(original(n % 84)[:200], n) + original(n % 84)[200:]
            if n % 2
            else mutated(original(n % 84), n)
            for n in numbers
        ]
        for file in files:
            counts[_outcome(file, start // _BATCH)] += 1
    return counts


def _outcome(file: bytes, choice: int) -> str:
    pipeline = _pipeline(choice % 6)
    pipeline.feed_input("data", [as_bytes(file)])
    try:
        sounds, rates = pipeline.run()
    except SampleError as error:
        return "bad" if "fn.decoders.audio" in str(error) else f"unclear: {error}"
    sound = np.array(sounds.at(0))
    return "decoded" if sound.ndim in (1, 2) and np.array(rates.at(0)) > 0 else "wrong"


@functools.cache
def _pipeline(choice: int) -> Pipeline:
    pipeline = Pipeline(
        batch_size=1, num_threads=1, device_id=None, exec_async=False, prefetch_queue_depth=1
    )
    with pipeline:
        data = fn.external_source(name="data")
        options = {"downmix": choice % 2 == 1, "dtype": _TYPES[choice % 3]}
        pipeline.set_outputs(*fn.decoders.audio(data, sample_rate=8000 * (choice // 3), **options))
    return pipeline


def main() -> None:
    first, count = map(int, sys.argv[1:])
    counts = outcomes(first, count)
    print(f"{count} files: {dict(counts)}", flush=True)
    if set(counts) - {"bad", "decoded"}:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
