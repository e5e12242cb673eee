"""Spectrograms of whole sounds, padded to the longest one of their batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dali_core import DataNode, fn, pipeline_def
from dali_core.batching import Bucket, Budget
from dali_core.pytorch import Loader
from examples.speech_commands.dataloading import FILTERS, log_mel

from .sounds import durations

WAYS = ("random", "buckets", "budget")
NUM_BUCKETS = 6
__all__ = ["FILTERS", "NUM_BUCKETS", "WAYS", "make_loader", "sounds_pipeline"]

_CUTOFF = -60.0


@pipeline_def
def sounds_pipeline(
    listing: Path, order: int, shuffle: bool, rank: int = 0, num_ranks: int = 1
) -> tuple[DataNode, ...]:
    """Give spectrograms of shape (times, filters), masks of their times, and labels."""
    files, labels = fn.readers.file(
        file_list=str(listing),
        random_shuffle=shuffle,
        seed=order,
        shard_id=rank,
        num_shards=num_ranks,
    )
    sounds, _ = fn.decoders.audio(files, downmix=True)
    spectra = fn.transpose(log_mel(sounds) / -_CUTOFF + 1.0, perm=[1, 0])
    padded, mask, _ = fn.pad_batch(spectra)
    return padded, mask, labels


def make_loader(
    way: str,
    listing: Path,
    *,
    frames: int,
    num_threads: int,
    seed: int = 0,
    shuffle: bool = True,
    rank: int = 0,
    num_ranks: int = 1,
) -> Loader:
    """Return batches of spectrograms, masks and labels.

    Parameters
    ----------
    way : {"random", "buckets", "budget"}
        Batches of a fixed number of sounds; of one class of durations, with as many sounds as its
        longest duration has room for; or of sounds of like duration, as many as have room.
    listing : Path
        The sounds.
    frames : int
        Frames of a batch, padding included for all but ``"random"``.
    num_threads, seed : int
        Of the pipeline, and of the order.
    shuffle : bool
        Whether the order is random.
    rank, num_ranks : int
        Number of this process, and how many there are. At each step all have the same class.
    """
    lengths = durations(listing)
    arguments: dict[str, Any] = {
        "num_threads": num_threads,
        "device_id": None,
        "shuffle": shuffle,
        "rank": rank,
        "num_ranks": num_ranks,
    }
    if way == "random":
        count = max(1, round(frames / lengths.mean()))
        return Loader(sounds_pipeline(listing, seed, batch_size=count, **arguments))
    rule = Bucket(number=NUM_BUCKETS, tokens=frames) if way == "buckets" else Budget(frames)
    return Loader(sounds_pipeline(listing, seed, batching=rule, lengths=lengths, **arguments))
