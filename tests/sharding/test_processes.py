"""Jobs of 1, 2 and 4 real processes: their global batches, also after one of them was killed."""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
import signal
from collections import Counter
from itertools import pairwise
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import IO, Any

import pytest

from tests.folders import make_folders
from tests.hanging import HANG_SECONDS
from tests.sharding import read_shard
from tests.sharding.read_shard import Job

NUM_SAMPLES = 43
SHUFFLED = {"random_shuffle": True, "seed": 5}

Batches = list[dict[str, Any]]


@pytest.fixture
def job(tmp_path: Path) -> Job:
    make_folders(tmp_path / "data", (20, 23))
    (tmp_path / "states").mkdir()
    return Job(str(tmp_path / "data"), str(tmp_path / "states"), batch_size=4)


@dataclasses.dataclass
class Rank:
    """A process of a job, and what it writes."""

    process: ForkServerProcess
    output: IO[str]


def start(job: Job, world_size: int) -> list[Rank]:
    # Forks of a process that has imported everything, and has no threads.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([read_shard.__name__])
    started = []
    for rank in range(world_size):
        reader, writer = context.Pipe(duplex=False)
        with writer:
            arguments = (job, rank, world_size, writer)
            process = context.Process(target=read_shard.main, args=arguments, daemon=True)
            process.start()
        started.append(Rank(process, os.fdopen(os.dup(reader.fileno()))))
        reader.close()
    return started


def run(job: Job, world_size: int) -> list[Batches]:
    """Return the batches of every process."""
    results = []
    for rank in start(job, world_size):
        with rank.output:
            output = rank.output.read()
        rank.process.join(HANG_SECONDS)
        assert rank.process.exitcode == 0
        results.append([json.loads(line) for line in output.splitlines()])
    return results


def run_until_killed(job: Job, world_size: int, victim: int, lines: int) -> list[Batches]:
    """Kill a process after all have returned some batches, then the others, as a launcher does."""
    ranks = start(job, world_size)
    seen = ["".join(rank.output.readline() for _ in range(lines)) for rank in ranks]
    for rank in (ranks[victim], *ranks):
        rank.process.kill()
    results = []
    for rank, before in zip(ranks, seen, strict=True):
        with rank.output:
            output = before + rank.output.read()
        rank.process.join(HANG_SECONDS)
        assert rank.process.exitcode == -signal.SIGKILL
        complete = output[: output.rfind("\n") + 1]
        results.append([json.loads(line) for line in complete.splitlines()])
    return results


def numbers_of(epoch: int, results: list[Batches]) -> Counter[int]:
    return Counter(
        number
        for batches in results
        for batch in batches
        if batch["epoch"] == epoch
        for number in batch["numbers"]
    )


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("world_size", [1, 2, 4])
def test_partial_batches_are_the_epoch(world_size: int, interleaved: bool, job: Job) -> None:
    reader = {**SHUFFLED, "pad_last_batch": True, "interleaved_shards": interleaved}
    results = run(dataclasses.replace(job, reader=reader, policy="PARTIAL"), world_size)
    for epoch in range(job.epochs):
        assert numbers_of(epoch, results) == Counter(range(NUM_SAMPLES))
    assert len({len(batches) for batches in results}) == 1


@pytest.mark.parametrize("world_size", [1, 2, 4])
def test_padding_repeats_the_last_sample_of_each_part(world_size: int, job: Job) -> None:
    reader = {"pad_last_batch": True, "stick_to_shard": True}
    results = run(dataclasses.replace(job, reader=reader), world_size)
    starts = [rank * NUM_SAMPLES // world_size for rank in range(world_size + 1)]
    num_given = -(-max(b - a for a, b in pairwise(starts)) // 4) * 4
    for rank, batches in enumerate(results):
        part = list(range(starts[rank], starts[rank + 1]))
        padded = part + [part[-1]] * (num_given - len(part))
        for epoch in range(job.epochs):
            given = [n for batch in batches if batch["epoch"] == epoch for n in batch["numbers"]]
            assert given == padded


@pytest.mark.parametrize("world_size", [2, 4])
def test_without_padding_nothing_is_read_twice(world_size: int, job: Job) -> None:
    """Batches continue into the next epoch, and in the long run each epoch is complete."""
    results = run(dataclasses.replace(job, reader={**SHUFFLED, "stick_to_shard": True}), world_size)
    counts = Counter(n for batches in results for batch in batches for n in batch["numbers"])
    assert set(counts) == set(range(NUM_SAMPLES))
    assert min(counts.values()) >= job.epochs
    assert sum(counts.values()) < job.epochs * NUM_SAMPLES + world_size * job.batch_size


PADDED = {**SHUFFLED, "pad_last_batch": True}
INTERLEAVED = {**PADDED, "interleaved_shards": True}
STICKING = {**SHUFFLED, "stick_to_shard": True}


@pytest.mark.parametrize(
    ("world_size", "reader"),
    [(1, PADDED), (2, PADDED), (2, STICKING), (2, INTERLEAVED), (4, INTERLEAVED)],
    ids=["alone", "moving and padded", "sticking", "interleaved", "four interleaved"],
)
def test_resumed_after_a_killed_process(world_size: int, reader: dict[str, Any], job: Job) -> None:
    job = dataclasses.replace(job, reader=reader)
    whole = run(job, world_size)
    waiting = dataclasses.replace(job, waits_after=5)
    cut = run_until_killed(waiting, world_size, victim=world_size - 1, lines=2)
    for before, reference in zip(cut, whole, strict=True):
        assert before == reference[: len(before)]
    # All have saved their states then; how much further each came is a matter of time.
    step = 2
    assert all(len(batches) >= step for batches in cut)
    rest = run(dataclasses.replace(job, resume_after=step, num_threads=1), world_size)
    assert rest == [batches[step:] for batches in whole]


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 4), (4, 1)])
def test_interleaved_job_resumes_with_other_processes(before: int, after: int, job: Job) -> None:
    reader = {**SHUFFLED, "interleaved_shards": True, "pad_last_batch": True}
    job = dataclasses.replace(job, reader=reader)
    batch_sizes = {size: 8 // size for size in (before, after)}
    whole = run(dataclasses.replace(job, batch_size=batch_sizes[before]), before)
    resumed = dataclasses.replace(
        job, batch_size=batch_sizes[after], resume_after=7, state_of_rank=0
    )
    rest = run(resumed, after)
    assert global_steps(rest) == global_steps(whole)[7:]


def global_steps(results: list[Batches]) -> list[list[tuple[int, float]]]:
    """Return the global batch of each step, in the global order."""
    steps = []
    for taken in zip(*results, strict=True):
        samples = [list(zip(batch["numbers"], batch["random"], strict=True)) for batch in taken]
        steps.append([sample for row in zip(*samples, strict=True) for sample in row])
    return steps
