"""Jobs of 1, 2 and 4 real processes whose batches are planned by lengths."""

from __future__ import annotations

import json
import multiprocessing
import os
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import pytest

from dali_core import Loader, fn, pipeline_def
from dali_core.batching import Bucket, Budget, Pack, Planned
from tests.hanging import HANG_SECONDS

LENGTHS = np.random.default_rng(0).integers(1, 60, 400)
RULES = {
    "budget": Budget(300),
    "bucket": Bucket([20, 40, 60], batch_sizes=[6, 4, 2], group=4),
    "pack": Pack(100),
}
WINDOW = 128


class Documents:
    """Gives the number of each sample."""

    lengths = LENGTHS

    def __len__(self) -> int:
        return len(LENGTHS)

    def __getitem__(self, index: int) -> np.ndarray:
        return np.array([index])


@pipeline_def(num_threads=2, device_id=None)
def documents(rank: int, ranks: int) -> Any:
    return fn.readers.python(
        Documents(), random_shuffle=True, seed=5, shard_id=rank, num_shards=ranks
    )


def read(name: str, rank: int, ranks: int, skipped: int, output: Connection) -> None:
    """Write the batches of two epochs of a process, and what it knows of all others."""
    with (
        os.fdopen(os.dup(output.fileno()), "w") as file,
        Loader(
            documents(rank, ranks, batching=RULES[name].windows(WINDOW)),
            last_batch="drop",
            output_types=["list"],
        ) as loader,
    ):
        if skipped:
            other = Loader(
                documents(0, 1, batching=RULES[name].windows(WINDOW)),
                last_batch="drop",
                output_types=["list"],
            )
            for _ in zip(range(skipped), other, strict=False):
                pass
            loader.load_state_dict(json.loads(json.dumps(other.state_dict())))
            other.close()
        for _ in range(2):
            for (batch,) in loader:
                step = loader.step
                assert step is not None
                line = [step.epoch, step.num_tokens, step.global_tokens]
                print(json.dumps([*line, [int(one[0]) for one in batch]]), file=file, flush=True)


def run(name: str, ranks: int, skipped: int = 0) -> list[list[list[Any]]]:
    """Return the lines of each process of a job."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    started = []
    for rank in range(ranks):
        reader, writer = context.Pipe(duplex=False)
        with writer:
            process = context.Process(
                target=read, args=(name, rank, ranks, skipped, writer), daemon=True
            )
            process.start()
        started.append((process, os.fdopen(os.dup(reader.fileno()))))
        reader.close()
    found = []
    for process, output in started:
        with output:
            found.append([json.loads(line) for line in output])
        process.join(HANG_SECONDS)
        assert process.exitcode == 0
    return found


def planned(name: str, epoch: int) -> list[list[int]]:
    rule: Any = RULES[name]
    return [bins.tolist() for bins in rule.plan(LENGTHS, seed=5, epoch=epoch, window=WINDOW)]


@pytest.mark.parametrize("name", RULES)
def test_global_batches_are_the_same_for_any_number_of_processes(name: str) -> None:
    assert isinstance(RULES[name].windows(), Planned)
    for ranks in (1, 2, 4):
        jobs = run(name, ranks)
        for epoch in range(2):
            own = [[line for line in lines if line[0] == epoch] for lines in jobs]
            bins = planned(name, epoch)
            steps = len(bins) // ranks
            assert [len(lines) for lines in own] == [steps] * ranks
            given = [line[3] for step in zip(*own, strict=True) for line in step]
            assert given == bins[: steps * ranks]
            for number, step in enumerate(zip(*own, strict=True)):
                tokens = [LENGTHS[one].sum() for one in bins[number * ranks :][:ranks]]
                assert [line[1] for line in step] == tokens
                assert {line[2] for line in step} == {sum(tokens)}


def test_four_processes_resume_from_the_state_of_one() -> None:
    bins = planned("budget", 0)
    jobs = run("budget", 4, skipped=8)
    first = [[line[3] for line in lines if line[0] == 0] for lines in jobs]
    assert [batch for step in zip(*first, strict=True) for batch in step] == bins[
        8 : len(bins) // 4 * 4
    ]
