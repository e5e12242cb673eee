"""Random programs over an iterator, compared with the model batch by batch."""

from __future__ import annotations

import functools
import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings

from dali_core import DataNode, Pipeline, fn, pipeline_def
from tests.plugin.epoch_model import Batch, Case, Model, Sample

NAMES = ["label", "uniform"]
MOST_SAMPLES = 12

Values = list[list[tuple[int, float]]]
"""The label and the random number of each sample of a batch, for each pipeline."""

SETTINGS = settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pipeline_def(device_id=None, seed=11)
def numbers(files: Sequence[str], **reader: Any) -> tuple[DataNode, DataNode]:
    _, label = fn.readers.file(
        files=files, labels=list(range(len(files))), random_shuffle=True, seed=7, **reader
    )
    return label, fn.random.uniform()


def write_files(folder: Path) -> list[str]:
    """Write as many files as samples are needed at most, and return their paths."""
    paths = [folder / str(number) for number in range(MOST_SAMPLES)]
    for path in paths:
        path.write_bytes(b"content")
    return list(map(str, paths))


@functools.lru_cache
def contents(
    files: tuple[str, ...], num_shards: int, stick: bool
) -> Callable[[Sample], tuple[int, float]]:
    """Return a function of samples, which pipelines give one by one.

    An order is that of the whole data set, or, with `stick`, of a shard.
    """
    parts = num_shards if stick else 1
    pipelines = [
        numbers(
            list(files),
            batch_size=1,
            num_threads=1,
            num_shards=parts,
            shard_id=part,
            stick_to_shard=stick,
        )
        for part in range(parts)
    ]
    read: list[list[tuple[int, float]]] = [[] for _ in pipelines]
    starts = [part * len(files) // parts for part in range(parts + 1)]

    def content(sample: Sample) -> tuple[int, float]:
        part = bisect_right(starts, sample.place) - 1
        index = sample.epoch * (starts[part + 1] - starts[part]) + sample.place - starts[part]
        while len(read[part]) <= index:
            label, uniform = pipelines[part].run()
            read[part].append((int(label.at(0).item()), float(uniform.at(0).item())))
        return read[part][index]

    return content


def check_program(
    make: Callable[[list[Pipeline], dict[str, Any]], Any],
    values: Callable[[Any, Any], Values],
    files: Sequence[str],
    case: Case,
    program: Sequence[tuple[str, int]],
) -> None:
    """Run a program over an iterator.

    Parameters
    ----------
    make : callable
        Makes the iterator over pipelines, with arguments.
    values : callable
        Returns what a batch has, of an iterator and its batch.
    files : sequence of str
        One for each sample, at least.
    case, program
        What to run.
    """
    used = tuple(files[: case.num_samples])
    content = contents(used, case.num_shards, case.stick)
    num_made = 0

    def new() -> Any:
        nonlocal num_made
        num_made += 1
        pipelines = [
            numbers(
                list(used),
                batch_size=case.batch_size,
                num_threads=1 + num_made % 3,
                prefetch_queue_depth=1 + num_made % 2,
                **case.reader(shard),
            )
            for shard in case.shards
        ]
        return make(pipelines, case.counting())

    def check(batch: Any, expected: Batch) -> None:
        given = values(iterator, batch)
        # A list of pipelines ends with the last that has samples, or has empty batches.
        given += [[]] * (len(expected) - len(given))
        assert [[label for label, _ in part] for part in given] == [
            [content(one)[0] for one in part] for part in expected
        ]
        for part, wanted in zip(given, expected, strict=True):
            for (_, uniform), one in zip(part, wanted, strict=True):
                assert one.is_padding or uniform == content(one)[1]

    iterator, model = new(), Model(case)
    for action, count in program:
        if action == "loop":
            iter(iterator)
            model.begin()
        if action in ("loop", "next"):
            for _ in range(count):
                expected = model.next()
                if expected is None:
                    assert next(iterator, None) is None
                    break
                check(next(iterator), expected)
        elif action == "state":
            state = json.dumps(iterator.state_dict())
            iterator = new()
            iterator.load_state_dict(json.loads(state))
            model.resume()
        elif action == "reset":
            iterator.reset()
            model.reset()
        else:
            iterator.restart()
            model.restart()
        assert (iterator.epoch, iterator.num_returned) == (model.epoch, model.returned)
