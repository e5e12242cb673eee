"""Pipelines of all kinds, created for each use, and their batches as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dali_core import Pipeline, fn, mix_readers, pipeline_def, samplers, types
from dali_core.errors import SampleError
from dali_core.tfrecord import FixedLenFeature, int64, string
from tests.operators.readers.record_files import (
    example,
    image_record,
    write_recordio,
    write_tfrecords,
)
from tests.operators.readers.tar_files import write_tar

COUNT = 11
"""Samples in the data set."""
BAD = (3, 4, 10)
"""Samples whose files are missing in `replacing`."""
NUMBER = {"number": FixedLenFeature([1], int64), "text": FixedLenFeature([], string)}


def write_files(folder: Path) -> dict[str, Any]:
    """Write the data set, and return the arguments of a reader of it."""
    for number in range(COUNT):
        (folder / f"{number:02}").write_bytes(b"%02d" % number)
    members = [(f"{number:02}.txt", b"%02d" % number) for number in range(COUNT)]
    tar = bytearray(write_tar(folder / "files.tar", members).read_bytes())
    tar[1024 * 5] ^= 255  # a header
    (folder / "files.tar").write_bytes(tar)
    texts = [example({"number": [n], "text": [b"%02d" % n]}) for n in range(COUNT)]
    write_tfrecords(folder / "files.tfrecord", texts)
    write_recordio(folder / "files.rec", [image_record(b"%d" % n, n) for n in range(COUNT)])
    return {
        "file_root": str(folder),
        "files": [f"{number:02}" for number in range(COUNT)],
        "labels": list(range(COUNT)),
        "name": "reader",
    }


class Lines:
    """An iterable that resumes from its own state, by the convention of torchdata."""

    def __init__(self, count: int = 7) -> None:
        self._count = count
        self._next = 0
        self._round = 0

    def __iter__(self) -> Iterator[list[np.ndarray]]:
        while self._next < self._count:
            self._next += 1
            yield [np.int64([self._round, self._next, i]) for i in range(3)]
        self._next = 0
        self._round += 1

    def state_dict(self) -> dict[str, int]:
        return {"next": self._next, "round": self._round}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self._next, self._round = state["next"], state["round"]


class Countdown:
    """A callable without arguments, which has a state; it returns batches of all sizes."""

    def __init__(self) -> None:
        self._left = 8

    def __call__(self) -> list[np.ndarray]:
        if self._left == 0:
            self._left = 8
            raise StopIteration
        self._left -= 1
        return [np.int64([self._left, i]) for i in range(self._left % 4)]

    def state_dict(self) -> dict[str, int]:
        return {"left": self._left}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self._left = state["left"]


class CountingIterator:
    """An iterator with its own state, of an iterable without one."""

    def __init__(self) -> None:
        self.number = 0

    def __iter__(self) -> CountingIterator:
        return self

    def __next__(self) -> list[np.ndarray]:
        self.number += 1
        if self.number > 6:
            raise StopIteration
        return [np.int64([self.number])] * 3

    def state_dict(self) -> dict[str, int]:
        return {"number": self.number}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.number = state["number"]


class Counting:
    """Each iteration over it is a `CountingIterator`."""

    def __iter__(self) -> CountingIterator:
        return CountingIterator()


class Fed(Pipeline):
    """Feeds itself in `iter_setup`, as older programs do."""

    def __init__(self, batch_size: int, **options: Any) -> None:
        super().__init__(batch_size, **options)
        self._batches = self._each()

    def _each(self) -> Iterator[list[np.ndarray]]:
        for number in range(5):
            yield [np.int64([number, i]) for i in range(1 + number % 3)]

    def define_graph(self) -> Any:
        self.data = fn.external_source()
        return self.data, fn.random.uniform()

    def iter_setup(self) -> None:
        try:
            self.feed_input(self.data, next(self._batches))
        except StopIteration:
            self._batches = self._each()
            raise


def batches(count: int) -> Callable[[], Iterator[list[np.ndarray]]]:
    """Return a generator function of a number of batches of 1 to 3 samples."""

    def generate() -> Iterator[list[np.ndarray]]:
        for number in range(count):
            yield [np.int64([number, i]) for i in range(1 + number % 3)]

    return generate


def sample(info: Any) -> np.ndarray:
    """Return a sample by its index; an epoch has 10."""
    if info.idx_in_epoch >= 10:
        raise StopIteration
    return np.int64([info.epoch_idx, info.iteration, info.idx_in_epoch])


def sample_number(info: Any) -> np.ndarray:
    """Return a sample that depends only on its index."""
    return np.int64([info.epoch_idx, info.idx_in_epoch])


def batch(info: Any) -> list[np.ndarray]:
    """Return a batch by its index; an epoch has 4."""
    if info.iteration >= 4:
        raise StopIteration
    return [np.int64([info.epoch_idx, info.iteration])] * (1 + info.iteration % 3)


def failing(info: Any) -> np.ndarray:
    """Fail on some samples."""
    if info.idx_in_epoch % 7 == 4:
        raise RuntimeError(f"sample {info.idx_in_epoch} is bad")
    return np.int64([info.idx_in_epoch])


class SeededSampler:
    """A sampler as PyTorch has them, each iteration over which gives another order."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(3)

    def __len__(self) -> int:
        return COUNT

    def __iter__(self) -> Iterator[int]:
        return iter(self._random.permutation(COUNT).tolist())


class EpochSampler(SeededSampler):
    """The same, whose order depends on nothing but the epoch."""

    def set_epoch(self, epoch: int) -> None:
        self._random = np.random.default_rng(epoch)


def reading(files: dict[str, Any], options: dict[str, Any], **reader: Any) -> Pipeline:
    """Make a pipeline with a reader, random numbers, and a Python function between."""
    with Pipeline(**{"batch_size": 3, **options}) as pipeline:
        _, labels = fn.readers.file(**files, **reader)
        copied = fn.python_function(labels, function=lambda label: label)
        pipeline.set_outputs(labels, fn.random.uniform(), fn.random.normal(copied))
    return pipeline


def replacing(files: dict[str, Any], options: dict[str, Any], **reader: Any) -> Pipeline:
    """Return a pipeline in which missing files are replaced by other samples."""
    names = [f"missing/{name}" if int(name) in BAD else name for name in files["files"]]
    options = {"on_sample_error": "replace", "max_bad_samples": 1.0, **options}
    with Pipeline(**{"batch_size": 3, **options}) as pipeline:
        data, labels = fn.readers.file(**{**files, "files": names}, **reader)
        pipeline.set_outputs(data, labels, fn.random.uniform())
    return pipeline


def reading_archives(files: dict[str, Any], options: dict[str, Any], **reader: Any) -> Pipeline:
    """Make a pipeline with readers of archives and records, one of which is damaged."""
    folder = files["file_root"]
    options = {"on_sample_error": "replace", "max_bad_samples": 1.0, **options}
    order = {"random_shuffle": True, "num_shards": 2, "shard_id": 1, **reader}
    with Pipeline(**{"batch_size": 3, **options}) as pipeline:
        text = fn.readers.webdataset(paths=f"{folder}/files.tar", ext="txt", **order)
        record = fn.readers.tfrecord(path=f"{folder}/files.tfrecord", features=NUMBER, **order)
        image, label = fn.readers.mxnet(path=f"{folder}/files.rec", **order)
        pipeline.set_outputs(text, *record.values(), image, label, fn.random.uniform())
    return pipeline


def taking(options: dict[str, Any], *sources: Any, **arguments: Any) -> Pipeline:
    """Make a pipeline that takes batches from sources."""
    with Pipeline(**{"batch_size": 3, **options}) as pipeline:
        nodes = [fn.external_source(source, **arguments) for source in sources]
        pipeline.set_outputs(*nodes, fn.random.uniform(nodes[0]), fn.random.coin_flip())
    return pipeline


def mixing(files: dict[str, Any], options: dict[str, Any], **mixture: Any) -> Pipeline:
    """Make a pipeline that mixes files, some of which are missing, with numbers from Python."""
    names = [f"missing/{name}" if int(name) in BAD else name for name in files["files"]]
    files = {**files, "files": names, "name": "files"}
    options = {"on_sample_error": "replace", "max_bad_samples": 1.0, **options}

    def from_python() -> Any:
        return fn.readers.python(
            [np.int32([100 + number]) for number in range(4)], sampler=samplers.Weighted(range(4))
        )

    with Pipeline(**{"batch_size": 3, **options}) as pipeline:
        number = mix_readers(
            [lambda: fn.readers.file(**files, random_shuffle=True)[1], from_python],
            name="reader",
            **mixture,
        )
        pipeline.set_outputs(number, fn.random.uniform())
    return pipeline


def drawing(options: dict[str, Any]) -> Pipeline:
    """Make a pipeline that only draws random numbers."""
    with Pipeline(**{"batch_size": 3, **options}) as pipeline:
        pipeline.set_outputs(fn.random.uniform(), fn.random.normal(seed=4))
    return pipeline


@pipeline_def(enable_conditionals=True)
def deciding(files: dict[str, Any]) -> Any:
    """Conditionals on random numbers and labels, and arithmetic on both."""
    _, labels = fn.readers.file(**files, random_shuffle=True)
    number = fn.random.uniform()
    number = number + labels if fn.random.coin_flip(dtype=types.BOOL) else fn.random.normal() * 2.0
    return labels, number


WORKERS = {"py_num_workers": 2, "py_start_method": "thread"}

KINDS: dict[str, Callable[[dict[str, Any], dict[str, Any]], Pipeline]] = {
    "shuffled": lambda files, options: reading(files, options, random_shuffle=True),
    "in order": lambda files, options: reading(files, options),
    "rotating shards": lambda files, options: reading(
        files, options, random_shuffle=True, num_shards=3, shard_id=1
    ),
    "own shard": lambda files, options: reading(
        files, options, random_shuffle=True, num_shards=3, shard_id=2, stick_to_shard=True
    ),
    "padded shards": lambda files, options: reading(
        files, options, random_shuffle=True, num_shards=2, pad_last_batch=True
    ),
    "interleaved shards": lambda files, options: reading(
        files, options, random_shuffle=True, num_shards=2, shard_id=1, interleaved_shards=True
    ),
    "shuffled after epochs": lambda files, options: reading(
        files, options, shuffle_after_epoch=True, num_shards=3, shard_id=2
    ),
    "missing files": lambda files, options: replacing(files, options, random_shuffle=True),
    "archives": reading_archives,
    "archives with a sampler": lambda files, options: reading_archives(
        files, options, sampler=[3, 1, 4, 1, 5, 9, 2, 6]
    ),
    "weights": lambda files, options: reading(
        files, options, sampler=samplers.Weighted(range(COUNT)), num_shards=2, pad_last_batch=True
    ),
    "repetitions": lambda files, options: reading(
        files,
        options,
        sampler=samplers.Repeated(3, length=13),
        random_shuffle=True,
        num_shards=2,
        shard_id=1,
        interleaved_shards=True,
    ),
    "balanced classes": lambda files, options: reading(
        {**files, "labels": [n // 8 for n in range(COUNT)]},
        options,
        sampler=samplers.ClassBalanced(),
    ),
    "curriculum": lambda files, options: reading(
        files, options, sampler=samplers.Curriculum(lambda n: range(1 + n % COUNT), length=4)
    ),
    "sampler by epoch": lambda files, options: reading(
        files, options, sampler=EpochSampler(), num_shards=3, shard_id=1
    ),
    "sampler with a state": lambda files, options: reading(files, options, sampler=SeededSampler()),
    "mixture": lambda files, options: mixing(files, options, pad_last_batch=True, num_shards=2),
    "endless mixture": lambda files, options: mixing(
        files, options, weights=[1, 3], interleaved_shards=True, num_shards=3, shard_id=2
    ),
    "decisions": lambda files, options: deciding(files, **{"batch_size": 3, **options}),
    "random numbers": lambda _, options: drawing(options),
    "samples by number": lambda _, options: taking(options, sample, batch=False),
    "batches by number": lambda _, options: taking(options, batch, batch_info=True),
    "failing samples": lambda _, options: taking(options, failing, batch=False),
    "replaced samples": lambda _, options: taking(
        {"on_sample_error": "replace", "max_bad_samples": 1.0, **options}, failing, batch=False
    ),
    "generator function": lambda _, options: taking(options, batches(5), cycle="raise"),
    "endless list": lambda _, options: taking(options, list(batches(4)()), cycle="quiet"),
    "list": lambda _, options: taking(options, list(batches(6)())),
    "generator": lambda _, options: taking(options, batches(6)()),
    "single samples": lambda _, options: taking(
        options, [np.int64([i]) for i in range(10)], batch=False, cycle="raise"
    ),
    "two sources": lambda _, options: taking(options, batches(6), batches(4), cycle="raise"),
    "iterable with a state": lambda _, options: taking(options, Lines(), cycle="raise"),
    "endless iterable with a state": lambda _, options: taking(options, Lines(), cycle="quiet"),
    "iterator with a state": lambda _, options: taking(options, Counting(), cycle="raise"),
    "callable with a state": lambda _, options: taking(options, Countdown()),
    "samples from workers": lambda _, options: taking(
        {**WORKERS, **options}, sample, batch=False, parallel=True
    ),
    "items from a worker": lambda _, options: taking(
        {**WORKERS, **options}, batches(5), cycle="raise", parallel=True
    ),
    "own state in a worker": lambda _, options: taking(
        {**WORKERS, **options}, Lines(), cycle="quiet", parallel=True
    ),
    "iter_setup": lambda _, options: Fed(**{"batch_size": 3, **options}),
}
"""How to make each kind of pipeline, from the arguments of a reader and options of `Pipeline`."""


def take(pipeline: Pipeline) -> Any:
    """Return a batch as plain data, or "end"; then continue with the next epoch."""
    try:
        outputs = pipeline.run()
    except StopIteration:
        pipeline.reset()
        return "end"
    except SampleError as error:
        # The message does not depend on who saved the state, but on where it was created.
        return error.message, error.epoch, error.iteration, error.sample
    except (RuntimeError, OSError) as error:  # of sources below, with a note of the location
        return repr(error), error.__notes__[0].partition(", epoch ")[2]
    return [[output.at(i).tolist() for i in range(len(output))] for output in outputs]
