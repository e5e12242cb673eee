"""Checkpoints of pipelines and iterators, compared with the reference's.

The format and the constraints differ.  Where this library differs on purpose:

* ``enable_checkpointing`` need not be set: a checkpoint is a few numbers, so it can always be made.
* An iterable or generator resumes after the items that were taken; the reference restarts it,
  or continues wherever it happens to be.
* A callable source without arguments is rejected, since its state is unknown; the reference
continues
  with whatever it returns.
* A pipeline whose own ``seed`` differs from that of the checkpoint is rejected; the reference
  ignores the pipeline's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import dali_core
import dali_core.fn

pytest.importorskip("torch", reason="not available: PyTorch")
reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
reference_fn = pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")
reference_plugin = pytest.importorskip(
    "nvidia.dali.plugin.pytorch", reason="not available: NVIDIA DALI"
)

from dali_core.plugin import pytorch as own_plugin  # noqa: E402

COUNT = 10
LIBRARIES = [(dali_core, dali_core.fn, own_plugin), (reference, reference_fn, reference_plugin)]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("files")
    paths = [folder / f"{number}" for number in range(COUNT)]
    for path in paths:
        path.write_bytes(b"content")
    return [str(path) for path in paths]


def of_both(run: Callable[[Any, Any, Any], Any]) -> tuple[Any, Any]:
    """Run a program with each library."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own, other = (run(*library) for library in LIBRARIES)
    return own, other


def reading(library: Any, fn: Any, files: list[str], **options: Any) -> Any:
    """Return a pipeline that reads in order, since shuffled orders differ between the libraries."""
    names = ("num_shards", "shard_id", "stick_to_shard", "pad_last_batch")
    reader = {name: options.pop(name) for name in names if name in options}
    pipeline = library.Pipeline(3, 1, None, seed=1, enable_checkpointing=True, **options)
    with pipeline:
        _, labels = fn.readers.file(files=files, labels=list(range(COUNT)), name="reader", **reader)
        pipeline.set_outputs(labels)
    return pipeline


def labels(outputs: Any) -> list[int]:
    return [int(outputs[0].at(i)[0]) for i in range(len(outputs[0]))]


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("stick", [False, True])
def test_pipelines_resume_at_every_step(pad: bool, stick: bool, files: list[str]) -> None:
    def run(library: Any, fn: Any, _: Any) -> Any:
        options = {"num_shards": 2, "shard_id": 1, "stick_to_shard": stick, "pad_last_batch": pad}
        pipeline = reading(library, fn, files, **options)
        pipeline.build()
        found = []
        for _ in range(6):
            checkpoint = pipeline.checkpoint()
            resumed = reading(library, fn, files, checkpoint=checkpoint, **options)
            before = resumed.is_restored_from_checkpoint
            resumed.build()
            found.append((type(checkpoint), before, resumed.is_restored_from_checkpoint))
            found += [labels(resumed.run()) for _ in range(4)]
            found.append(labels(pipeline.run()))
        return found

    own, other = of_both(run)
    assert own == other


def test_files_hold_the_same(files: list[str], tmp_path: Path) -> None:
    def run(library: Any, fn: Any, _: Any) -> Any:
        pipeline = reading(library, fn, files)
        pipeline.build()
        pipeline.run()
        path = tmp_path / library.__name__
        checkpoint = pipeline.checkpoint(str(path))
        return path.read_bytes() == checkpoint, not pipeline.is_restored_from_checkpoint

    assert of_both(run) == ((True, True), (True, True))


@pytest.mark.parametrize("policy", ["FILL", "PARTIAL", "DROP"])
@pytest.mark.parametrize("auto_reset", [False, True])
@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("num_shards", [1, 2])
def test_iterators_resume_at_every_step(
    policy: str, auto_reset: bool, pad: bool, num_shards: int, files: list[str]
) -> None:
    """The rest of the epoch, and the next one; each `for` begins as in a program."""

    def run(library: Any, fn: Any, plugin: Any) -> Any:
        def make(checkpoints: list[Any] | None = None) -> Any:
            pipelines = [
                reading(
                    library,
                    fn,
                    files,
                    num_shards=num_shards,
                    shard_id=shard,
                    pad_last_batch=pad,
                    checkpoint=checkpoints[shard] if checkpoints else None,
                )
                for shard in range(num_shards)
            ]
            return plugin.DALIGenericIterator(
                pipelines,
                ["label"],
                reader_name="reader",
                auto_reset=auto_reset,
                last_batch_policy=getattr(plugin.LastBatchPolicy, policy),
            )

        def epoch(iterator: Any) -> list[Any]:
            return [[part["label"].ravel().tolist() for part in batch] for batch in iterator]

        iterator = make()
        found = []
        for _ in range(2):
            for _ in iterator:
                checkpoints = iterator.checkpoints()
                resumed = make(checkpoints)
                found.append((len(checkpoints), epoch(resumed), epoch(resumed)))
        return found

    own, other = of_both(run)
    assert len(own) >= 2
    assert own == other


def by_sample(info: Any) -> numpy.ndarray:
    if info.idx_in_epoch >= 8:
        raise StopIteration
    return numpy.int32([info.idx_in_epoch, info.iteration, info.epoch_idx])


def by_batch(info: Any) -> list[numpy.ndarray]:
    if info.iteration >= 4:
        raise StopIteration
    return [numpy.int32([info.iteration, info.epoch_idx])] * 2


def by_number(number: int) -> list[numpy.ndarray]:
    if number >= 4:
        raise StopIteration
    return [numpy.int32([number, i]) for i in range(2)]


@pytest.mark.parametrize(
    ("source", "arguments"),
    [(by_sample, {"batch": False}), (by_batch, {"batch_info": True}), (by_number, {})],
)
@pytest.mark.parametrize("auto_reset", [False, True])
def test_sources_that_take_numbers(
    source: Any, arguments: dict[str, Any], auto_reset: bool
) -> None:
    def run(library: Any, fn: Any, plugin: Any) -> Any:
        def make(checkpoint: Any = None) -> Any:
            pipeline = library.Pipeline(
                2, 1, None, enable_checkpointing=True, checkpoint=checkpoint
            )
            with pipeline:
                pipeline.set_outputs(fn.external_source(source=source, **arguments))
            return plugin.DALIGenericIterator(pipeline, ["data"], auto_reset=auto_reset)

        def epoch(iterator: Any) -> list[Any]:
            return [batch[0]["data"].tolist() for batch in iterator]

        iterator = make()
        found = []
        for _ in range(2):
            for _ in iterator:
                resumed = make(iterator.checkpoints()[0])
                found.append((epoch(resumed), epoch(resumed)))
        return found

    own, other = of_both(run)
    assert own == other


def test_random_numbers_resume() -> None:
    """The numbers differ between the libraries; that they continue does not."""

    def run(library: Any, fn: Any, _: Any) -> Any:
        def make(checkpoint: Any = None) -> Any:
            pipeline = library.Pipeline(
                4, 1, None, seed=3, enable_checkpointing=True, checkpoint=checkpoint
            )
            with pipeline:
                pipeline.set_outputs(fn.random.uniform(), fn.random.coin_flip())
            pipeline.build()
            return pipeline

        def batch(pipeline: Any) -> list[Any]:
            return [[float(output.at(i)) for i in range(4)] for output in pipeline.run()]

        pipeline = make()
        found = []
        for _ in range(4):
            resumed = batch(make(pipeline.checkpoint()))
            found.append((resumed == batch(pipeline), resumed[0][0]))
        return [is_same for is_same, _ in found], len({first for _, first in found})

    assert of_both(run) == (([True] * 4, 4), ([True] * 4, 4))


def test_iterables_resume_here_only() -> None:
    def run(library: Any, fn: Any, _: Any) -> Any:
        def generate() -> Iterator[list[numpy.ndarray]]:
            for number in range(6):
                yield [numpy.int32([number])] * 2

        def make(checkpoint: Any = None) -> Any:
            pipeline = library.Pipeline(
                2, 1, None, enable_checkpointing=True, checkpoint=checkpoint
            )
            with pipeline:
                pipeline.set_outputs(fn.external_source(source=generate))
            pipeline.build()
            return pipeline

        pipeline = make()
        pipeline.run()
        return labels(make(pipeline.checkpoint()).run())

    assert of_both(run) == ([1, 1], [0, 0])


@pytest.mark.parametrize("checkpoint", ["garbage", b"garbage"])
def test_invalid_checkpoint_raises_at_build(checkpoint: Any, files: list[str]) -> None:
    def run(library: Any, fn: Any, _: Any) -> Any:
        pipeline = reading(library, fn, files, checkpoint=checkpoint)
        try:
            pipeline.build()
        except (RuntimeError, ValueError):
            return "refused"
        return "accepted"

    assert of_both(run) == ("refused", "refused")
