"""Iterators, readers' order and sharding, compared with the reference's.

Where this library differs on purpose:

* ``len()`` of an iterator of unknown size raises TypeError; the reference returns 0, or raises
  ValueError for batches of one sample.
* ``reset()`` before the first batch of an epoch does nothing.  The reference skips to the next
  epoch if a single, prepared batch makes the epoch, and then gives that batch in addition.
* ``reset()`` while a source still has batches does nothing to the source.  In the reference, it
  also lets the source go on after its end if prefetching has met that end already, so that the
  result depends on how far ahead the pipeline runs.
* ``DALIRaggedIterator`` cuts partial batches, where the reference raises AttributeError.
"""

from __future__ import annotations

import itertools
import logging
import random
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import pytest

import dali_core
import dali_core.fn
from dali_core.errors import DaliCoreError

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
nvidia_dali = pytest.importorskip("nvidia.dali", reason="NVIDIA DALI is not installed")
reference_plugin = pytest.importorskip("nvidia.dali.plugin.pytorch")

from dali_core.plugin import pytorch as own_plugin  # noqa: E402

POLICIES = ("FILL", "DROP", "PARTIAL")


@dataclass(frozen=True)
class Library:
    """One of the two implementations, which are driven alike."""

    core: Any
    plugin: Any

    def reader_pipeline(self, files: list[str], case: Case, shard: int) -> Any:
        pipeline = self.core.Pipeline(case.batch_size, 1, None)
        with pipeline:
            _, labels = self.core.fn.readers.file(
                files=files[: case.num_samples],
                labels=list(range(case.num_samples)),
                num_shards=case.num_shards,
                shard_id=shard,
                stick_to_shard=case.stick,
                pad_last_batch=case.pad,
                name="reader",
            )
            pipeline.set_outputs(labels)
        pipeline.build()
        return pipeline

    def source_pipeline(self, case: Case) -> Any:
        pipeline = self.core.Pipeline(case.batch_size, 1, None)
        with pipeline:
            source = Source(case.num_batches, case.batch_size)
            pipeline.set_outputs(self.core.fn.external_source(source=source, cycle=case.cycle))
        pipeline.build()
        return pipeline

    def iterator(self, files: list[str], case: Case) -> Any:
        if case.num_batches:
            pipelines = [self.source_pipeline(case)]
        else:
            pipelines = [self.reader_pipeline(files, case, shard) for shard in case.shards]
        with warnings.catch_warnings():
            # Both advise against some of the combinations that are drawn.
            warnings.simplefilter("ignore")
            return self.plugin.DALIGenericIterator(
                pipelines,
                ["label"],
                last_batch_policy=self.plugin.LastBatchPolicy[case.policy],
                **case.options,
            )


OWN = Library(dali_core, own_plugin)
REFERENCE = Library(nvidia_dali, reference_plugin)


class Source:
    """Batches of numbers, which start again with each iteration."""

    def __init__(self, num_batches: int, batch_size: int) -> None:
        self.num_batches = num_batches
        self.batch_size = batch_size

    def __iter__(self) -> Iterator[Any]:
        for batch in range(self.num_batches):
            first = batch * self.batch_size
            yield numpy.arange(first, first + self.batch_size, dtype=numpy.int32).reshape(-1, 1)


@dataclass(frozen=True)
class Case:
    """What both libraries are asked to do."""

    num_samples: int
    num_shards: int
    shards: tuple[int, ...]
    batch_size: int
    stick: bool
    pad: bool
    policy: str
    options: dict[str, Any]
    num_batches: int  # of an external source; 0 for a reader
    cycle: str | None
    actions: str

    @classmethod
    def draw(cls, rng: random.Random) -> Case:
        num_samples = rng.randint(1, 20)
        num_shards = rng.randint(1, min(num_samples, 5))
        batch_size = rng.randint(1, 7)
        options: dict[str, Any] = {
            "auto_reset": rng.random() < 0.5,
            "prepare_first_batch": rng.random() < 0.7,
        }
        first, actions = "n", "nnnnnrie"
        num_batches, cycle = 0, None
        kind = rng.choice(["reader", "reader", "size", "endless source", "source"])
        if kind == "reader":
            options["reader_name"] = "reader"
        elif kind == "size":
            options["size"] = rng.randint(1, 25)
        elif kind == "endless source":
            num_batches, cycle = rng.randint(1, 5), "quiet"
            if rng.random() < 0.5:
                options["size"] = rng.randint(1, num_batches * batch_size + 3)
        else:
            num_batches, cycle = rng.randint(1, 5), rng.choice([None, "raise"])
            if rng.random() < 0.5:
                options["size"] = num_batches * batch_size
            else:
                first, actions = "d", "eed"  # resets in mid-epoch differ
        if "size" in options:
            options["last_batch_padded"] = rng.random() < 0.5
        return cls(
            num_samples,
            num_shards,
            tuple(rng.sample(range(num_shards), rng.randint(1, min(num_shards, 3)))),
            batch_size,
            rng.random() < 0.5,
            rng.random() < 0.3,
            rng.choice(POLICIES),
            options,
            num_batches,
            cycle,
            first + "".join(rng.choice(actions) for _ in range(11)),
        )


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder: Path = tmp_path_factory.mktemp("files")
    paths = [folder / f"{index:02}.bin" for index in range(30)]
    for path in paths:
        path.write_bytes(b"content")
    return [str(path) for path in paths]


@pytest.fixture(autouse=True)
def quiet_log() -> Iterator[None]:
    """Both log a warning for each reset in mid-epoch."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def observe(library: Library, files: list[str], case: Case) -> list[Any]:
    """Act on an iterator as the case says, and note all that can be seen."""
    try:
        iterator = library.iterator(files, case)
    except Exception as error:
        return [builtin(error)]
    seen = []
    for action in case.actions:
        try:
            seen.append((act(action, iterator), counts(iterator)))
        except Exception as error:
            seen.append((builtin(error), counts(iterator)))
    return seen


def act(action: str, iterator: Any) -> Any:
    if action == "n":
        return labels(next(iterator))
    if action == "r":
        return iterator.reset()
    if action == "i":
        return iter(iterator) is iterator
    if action == "d":
        # Without iter(), which would reset.
        return [labels(batch) for batch in iter(iterator.__next__, None)]
    # An epoch may have no end: a source that cycles quietly.
    return [labels(batch) for _, batch in zip(range(40), iterator, strict=False)]


def labels(batch: list[dict[str, Any]]) -> list[list[int]]:
    return [shard["label"].ravel().tolist() for shard in batch]


def counts(iterator: Any) -> tuple[int, int] | None:
    return (len(iterator), iterator.size) if iterator.size >= 0 else None


def builtin(error: Exception) -> str:
    """Name the built-in exception that an error is."""
    kinds = [kind for kind in type(error).__mro__ if kind.__module__ == "builtins"]
    return kinds[0].__name__


@pytest.mark.parametrize("seed", range(10))
def test_random_iterators(seed: int, files: list[str]) -> None:
    rng = random.Random(seed)
    for _ in range(40):
        case = Case.draw(rng)
        assert observe(OWN, files, case) == observe(REFERENCE, files, case), case


@pytest.mark.parametrize("seed", range(3))
def test_random_readers(seed: int, files: list[str]) -> None:
    rng = random.Random(seed)
    for _ in range(30):
        case = Case.draw(rng)
        runs, metas = [], []
        for library in (OWN, REFERENCE):
            pipeline = library.reader_pipeline(files, case, case.shards[0])
            runs.append([pipeline.run()[0].as_array().ravel().tolist() for _ in range(8)])
            metas.append(pipeline.reader_meta("reader"))
            assert pipeline.epoch_size("reader") == metas[0]["epoch_size_padded"]
        assert runs[0] == runs[1], case
        assert metas[0] == metas[1], case


CASE = Case(7, 1, (0,), 2, False, False, "FILL", {}, 0, None, "")


@pytest.mark.parametrize(
    "options",
    [
        {"size": 0},
        {"size": 5, "reader_name": "reader"},
        {"last_batch_padded": True, "reader_name": "reader"},
        {"reader_name": "other"},
        {"reader_name": "reader", "auto_reset": "maybe"},
        {"reader_name": "reader", "auto_reset": 1},
    ],
)
def test_both_refuse(options: dict[str, Any], files: list[str]) -> None:
    case = Case(**{**CASE.__dict__, "options": options})
    with pytest.raises((AssertionError, ValueError, RuntimeError)) as reference:
        REFERENCE.iterator(files, case)
    with pytest.raises(DaliCoreError) as own:
        OWN.iterator(files, case)
    # Where the reference asserts, this library says that a value is wrong.
    assert builtin(own.value) == builtin(reference.value).replace("AssertionError", "ValueError")


def test_both_refuse_ragged_batches() -> None:
    for library in (OWN, REFERENCE):
        pipeline = library.core.Pipeline(2, 1, None)
        with pipeline:
            data = [numpy.zeros(3, numpy.float32), numpy.zeros(2, numpy.float32)]
            pipeline.set_outputs(library.core.fn.external_source(source=itertools.repeat(data)))
        with pytest.raises(RuntimeError):
            library.plugin.DALIGenericIterator([pipeline], ["x"])


# The reference does not say whether PyTorch shall check the sparse tensors that it makes.
@pytest.mark.filterwarnings("ignore:Sparse invariant checks")
@pytest.mark.parametrize("kind", ["DENSE_TAG", "SPARSE_LIST_TAG", "SPARSE_COO_TAG"])
def test_ragged_representations(kind: str) -> None:
    lengths = (3, 3) if kind == "DENSE_TAG" else (3, 2)
    results = []
    for library in (OWN, REFERENCE):
        pipeline = library.core.Pipeline(2, 1, None)
        with pipeline:
            data = [numpy.arange(length, dtype=numpy.float32) for length in lengths]
            pipeline.set_outputs(library.core.fn.external_source(source=itertools.repeat(data)))
        iterator_type = library.plugin.DALIRaggedIterator
        iterator = iterator_type([pipeline], ["x"], output_types=[getattr(iterator_type, kind)])
        results.append(next(iterator)[0]["x"])
    own, reference = results
    if kind == "SPARSE_COO_TAG":
        assert own.shape == reference.shape
        assert torch.equal(own._indices(), reference._indices())
        assert torch.equal(own._values(), reference._values())
    else:
        assert all(torch.equal(a, b) for a, b in zip(own, reference, strict=True))
        assert isinstance(own, type(reference))


def test_signatures() -> None:
    import inspect

    for name in ("DALIGenericIterator", "DALIClassificationIterator", "DALIRaggedIterator"):
        own, reference = (
            list(inspect.signature(getattr(plugin, name)).parameters.values())
            for plugin in (own_plugin, reference_plugin)
        )
        assert [p.name for p in own] == [p.name for p in reference]
        assert [str(p.default) for p in own] == [str(p.default) for p in reference]
        assert [p.kind for p in own] == [p.kind for p in reference]
    own_feed, reference_feed = (
        list(inspect.signature(plugin.feed_ndarray).parameters)
        for plugin in (own_plugin, reference_plugin)
    )
    assert own_feed == reference_feed
