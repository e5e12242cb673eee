"""One process of a job that reads a data set: writes batches, and saves its state after each."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

import numpy as np

from dali_core import DataNode, fn, pipeline_def
from dali_core.adapters import Adapter
from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy


@dataclasses.dataclass(frozen=True)
class Job:
    """The settings of all processes, without their ranks.

    Attributes
    ----------
    folder : str
        Class folders with files; they are numbered in the order of their paths.
    states : str
        Folder for the states after each step.
    batch_size, num_threads, epochs : int
        Samples in a batch of one process, its threads, and the number of epochs.
    reader : dict
        More arguments of the reader.
    policy : str
        Name of a `LastBatchPolicy`.
    resume_after : int
        Step whose state to start from; 0 for the beginning.
    state_of_rank : int or None
        Whose state that is; by default each process has its own.
    waits_after : int or None
        Step after which a process waits to be killed.
    """

    folder: str
    states: str
    batch_size: int
    num_threads: int = 2
    epochs: int = 3
    reader: dict[str, Any] = dataclasses.field(default_factory=dict)
    policy: str = "FILL"
    resume_after: int = 0
    state_of_rank: int | None = None
    waits_after: int | None = None


class _NumPy(Adapter):
    name = "numpy"

    def from_tensor(self, tensor: Any) -> Any:
        return np.asarray(tensor)


@pipeline_def(device_id=None, seed=7)
def numbers(job: Job, rank: int, world_size: int) -> tuple[DataNode, DataNode]:
    files = sorted(map(str, Path(job.folder).glob("*/*")))
    _, number = fn.readers.file(
        files=files,
        labels=list(range(len(files))),
        shard_id=rank,
        num_shards=world_size,
        name="reader",
        **job.reader,
    )
    return number, fn.random.uniform(range=[0.0, 1.0])


def main(job: Job, rank: int, world_size: int, output: Connection) -> None:
    """Write each batch as a line of JSON."""
    with os.fdopen(os.dup(output.fileno()), "w") as file:
        read(job, rank, world_size, file)


def read(job: Job, rank: int, world_size: int, output: IO[str]) -> None:
    pipeline = numbers(
        job, rank, world_size, batch_size=job.batch_size, num_threads=job.num_threads
    )
    loader = BaseIterator(
        pipeline,
        ["number", "random"],
        _NumPy(),
        reader_name="reader",
        last_batch_policy=LastBatchPolicy[job.policy],
        auto_reset=True,
    )
    step = job.resume_after
    if step:
        owner = rank if job.state_of_rank is None else job.state_of_rank
        saved = json.loads(_state_file(job, owner, step).read_text())
        loader.load_state_dict(saved["loader"])
        first_epoch = saved["epoch"]
    else:
        first_epoch = 0
    for epoch in range(first_epoch, job.epochs):
        for (batch,) in loader:
            step += 1
            saved = {"epoch": epoch, "loader": loader.state_dict()}
            file = _state_file(job, rank, step)
            file.with_suffix(".unfinished").write_text(json.dumps(saved))
            file.with_suffix(".unfinished").replace(file)
            taken = {
                "epoch": epoch,
                "step": step,
                "numbers": batch["number"].ravel().tolist(),
                "random": batch["random"].ravel().tolist(),
            }
            print(json.dumps(taken), file=output, flush=True)
            while step == job.waits_after:
                signal.pause()


def _state_file(job: Job, rank: int, step: int) -> Path:
    return Path(job.states) / f"rank{rank}-step{step}.json"
