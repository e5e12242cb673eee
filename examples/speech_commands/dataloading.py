"""Load words as log-mel spectrograms of one size, augmented to train on."""

from __future__ import annotations

from pathlib import Path

from dali_core import DataNode, fn, pipeline_def
from examples.shared.loader import READER

from .sounds import RATE

FILTERS, STEPS = 40, 80
"""Extents of a spectrogram: frequencies and times, of 10 ms each."""

_CUTOFF = -60.0


def log_mel(sounds: DataNode) -> DataNode:
    """Compute spectrograms in decibels below the loudest frequency, of layout ``ft``."""
    spectra = fn.spectrogram(
        fn.preemphasis_filter(sounds), nfft=512, window_length=400, window_step=RATE // 100
    )
    mels = fn.mel_filter_bank(spectra, nfilter=FILTERS, sample_rate=RATE, freq_low=60)
    return fn.to_decibels(mels, cutoff_db=_CUTOFF)


def without_silence(sounds: DataNode) -> DataNode:
    """Cut off the silence before and after words."""
    begin, length = fn.nonsilent_region(
        sounds, cutoff_db=-20, window_length=256, reset_interval=8192
    )
    return fn.slice(sounds, begin, length, axes=[0])


def of_one_size(mels: DataNode) -> DataNode:
    """Pad or cut in time, and bring numbers near to the range from 0 to 1."""
    mels = fn.slice(
        mels, start=0, shape=STEPS, axes=[1], out_of_bounds_policy="pad", fill_values=_CUTOFF
    )
    return mels / -_CUTOFF + 1.0


@pipeline_def
def training_pipeline(listing: Path, order: int) -> tuple[DataNode, ...]:
    """Give spectrograms of words at random speeds, and labels."""
    files, labels = fn.readers.file(
        file_list=str(listing), random_shuffle=True, seed=order, name=READER
    )
    sounds, _ = fn.decoders.audio(files, downmix=True)
    sounds = fn.audio_resample(sounds, scale=fn.random.uniform(range=[0.9, 1.1]))
    return of_one_size(log_mel(without_silence(sounds))), labels


@pipeline_def
def held_out_pipeline(listing: Path) -> tuple[DataNode, ...]:
    """Give spectrograms of words as they are, and labels."""
    files, labels = fn.readers.file(file_list=str(listing), pad_last_batch=True, name=READER)
    sounds, _ = fn.decoders.audio(files, downmix=True, sample_rate=RATE)
    return of_one_size(log_mel(without_silence(sounds))), labels


@pipeline_def
def sample_pipeline(listing: Path) -> tuple[DataNode, ...]:
    """Give sounds, their whole spectrograms, and what the network takes."""
    files, _ = fn.readers.file(file_list=str(listing), name=READER)
    sounds, _ = fn.decoders.audio(files, downmix=True)
    return sounds, log_mel(sounds), of_one_size(log_mel(without_silence(sounds)))
