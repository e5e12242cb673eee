"""Pipelines over files of the tests, and what one process makes of them."""

from __future__ import annotations

import json
import os
import signal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from dali_core_ray import RayLoader, adapter

from dali_core import Pipeline, fn, pipeline_def
from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy

NAMES = ["image", "number", "index"]
NUM_SAMPLES = 50


def make_arrays(folder: Path) -> list[str]:
    """Write arrays of different sizes, each of which holds its own number."""
    for number in range(NUM_SAMPLES):
        np.save(folder / f"{number:03}.npy", np.full((6, 5 + number % 3, 3), number, np.uint8))
    return sorted(str(path) for path in folder.glob("*.npy"))


@pipeline_def(batch_size=4, num_threads=2, device_id=None)
def augmented(
    files: list[str], num_shards: int = 1, shard_id: int = 0, marker: str | None = None
) -> Any:
    """Read arrays in a random order, and crop and scale them at random.

    If there is a file `marker`, it is removed, and the process is killed at one of the arrays.
    """
    array = fn.readers.numpy(
        files=files,
        name="arrays",
        random_shuffle=True,
        seed=3,
        pad_last_batch=True,
        interleaved_shards=True,
        num_shards=num_shards,
        shard_id=shard_id,
    )
    if marker is not None:
        array = fn.python_function(array, function=partial(killed_once, marker))
    image = fn.crop(array, crop=(4, 4), crop_pos_x=fn.random.uniform(range=(0.0, 1.0)))
    return image, fn.random.uniform(range=(0.0, 1.0)), fn.reductions.max(array)


def killed_once(marker: str, array: Any) -> Any:
    """Return an array, unless it is that at which the process is killed."""
    if array.flat[0] == NUM_SAMPLES // 2 and Path(marker).exists():
        Path(marker).unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return array


def definition(files: list[str], **arguments: Any) -> partial[Pipeline]:
    """Return what a loader takes."""
    return partial(augmented, files, **{"seed": 11, **arguments})


def in_one_process(
    files: list[str], policy: LastBatchPolicy = LastBatchPolicy.FILL, **arguments: Any
) -> BaseIterator:
    """Return an iterator with the batches that a cluster must deliver."""
    return adapter.iterator(
        definition(files, **arguments)(), NAMES, reader_name="arrays", last_batch_policy=policy
    )


def as_bytes(batch: dict[str, Any]) -> list[bytes]:
    """Return the content of a batch, to be compared bit for bit."""
    return [np.asarray(batch[name]).tobytes() for name in NAMES]


def epochs_of(files: list[str], count: int, **arguments: Any) -> list[list[list[bytes]]]:
    """Return the content of some epochs, computed in one process."""
    iterator = in_one_process(files, **arguments)
    return [[as_bytes(batch) for (batch,) in iterator] for _ in range(count)]


def rows_of(batch: dict[str, Any]) -> list[str]:
    """Return the content of each sample of a batch."""
    columns = zip(*(np.asarray(batch[name]) for name in NAMES), strict=True)
    return [b"".join(value.tobytes() for value in row).hex() for row in columns]


class RecordingLoader(RayLoader):
    """A loader for any names of outputs, which writes down in a folder what it has given.

    If there is a file ``kill`` in the folder, it is removed, and the process of the first shard is
    killed, instead of giving the third batch.
    """

    def __init__(self, folder: str, made: partial[Pipeline], names: Any, **arguments: Any) -> None:
        self._folder = Path(folder)
        self._shard, self._count = made.keywords["shard_id"], made.keywords["num_shards"]
        super().__init__(made, NAMES, **arguments | {"reader_name": "arrays"})

    def __next__(self) -> dict[str, Any]:
        number = self.state_dict()["taken"]
        batch = super().__next__()
        kill = self._folder / "kill"
        if (self._shard, number) == (0, 2) and kill.exists():
            kill.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        with open(self._folder / f"{self._shard} of {self._count}", "a") as file:
            file.write(json.dumps([number, rows_of(batch)]) + "\n")
        return batch | {"label": batch["index"]}
