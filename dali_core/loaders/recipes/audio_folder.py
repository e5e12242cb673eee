"""Sounds with a folder for each class."""

from __future__ import annotations

from typing import Any

from dali_core.loaders.recipes.image_folder import NAME
from dali_core.loaders.recipes.program import Argument, call, literal, options
from dali_core.loaders.recipes.settings import Settings


def program(
    settings: Settings, root: Any, sample_rate: int, length: int, num_mels: int | None
) -> str:
    """Return the program of a loader for a folder of sounds.

    Parameters
    ----------
    settings : Settings
        The options.
    root : path
        The folder.
    sample_rate : int
        In Hz.
    length : int
        Samples of a sound.
    num_mels : int, optional
        Bands of a mel spectrogram; by default waveforms are given.
    """
    files = [("file_root", literal(root, "root")), *options(settings.reader), NAME]
    sound: list[Argument] = [
        "files",
        ("downmix", "True"),
        ("sample_rate", literal(sample_rate, "sample_rate")),
    ]
    steps = [
        call("files, labels = fn.readers.file", files),
        call("sounds, _ = fn.decoders.audio", sound),
        f"    spare = fn.shapes(sounds, dtype=types.FLOAT)[0] - {length}",
    ]
    share = "fn.random.uniform(range=[0.0, 1.0])" if settings.train else "0.5"
    steps += [
        f"    # A part of long sounds{'' if settings.train else ', from the middle'}; short ones "
        "are followed by silence.",
        call("start = fn.cast", [f"{share} * math.max(spare, 0)", ("dtype", "types.INT32")]),
        call(
            "sounds = fn.slice",
            [
                "sounds",
                ("start", "start"),
                ("shape", f"[{length}]"),
                ("axes", "[0]"),
                ("out_of_bounds_policy", '"pad"'),
            ],
        ),
    ]
    names = ["sounds", "labels"]
    if num_mels is not None:
        # Windows of 25 ms, every 10 ms, as is usual for speech.
        window, step = max(1, sample_rate // 40), max(1, sample_rate // 100)
        nfft = 1 << (window - 1).bit_length()
        steps += [
            call(
                "spectra = fn.spectrogram",
                [
                    "sounds",
                    ("nfft", str(nfft)),
                    ("window_length", str(window)),
                    ("window_step", str(step)),
                ],
            ),
            call(
                "mels = fn.mel_filter_bank",
                [
                    "spectra",
                    ("nfilter", str(num_mels)),
                    ("sample_rate", literal(float(sample_rate), "sample_rate")),
                ],
            ),
            "    mels = fn.to_decibels(mels, cutoff_db=-80.0)",
        ]
        names = ["mels", "labels"]
    title = f"Sounds of class folders, for {'training' if settings.train else 'validation'}."
    return settings.text(title, steps, names, core=["math"])
