"""Iterators, readers' order and sharding, compared with the reference's.

Where this library differs on purpose, which random sequences avoid:

* ``len()`` of an iterator of unknown size raises TypeError; the reference returns 0, as this
  library does under `dali_core.compat`.
* ``reset()`` while the first batch is prepared and was not taken does nothing.  The reference skips
  to the next epoch if that batch is the whole epoch, and then returns that batch in addition.
* ``reset()`` while a source still has batches does nothing to the source.  In the reference, it
  also restarts the source if prefetching has reached its end already, so that the result depends on
  the prefetch depth.
* A checkpoint is the state at the time of the call.  In the reference, one that is taken before the
  first batch is that of the constructor, even after ``reset()``; and a pipeline that resumes at the
  end of its source does not notice that at ``reset()``.
* The batch after one that was rejected for its length can be taken.  In the reference, the
  pipeline has one batch less in flight each time, and finally none.
* ``DALIRaggedIterator`` cuts partial batches, where the reference raises AttributeError.
"""

from __future__ import annotations

import itertools
import logging
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy
import pytest

import dali_core
import dali_core.fn
from dali_core.errors import DaliCoreError
from tests.conformance.iterator_sequences import (
    Case,
    Library,
    Reader,
    difference,
    draw_readers,
    make_files,
    observe,
)

torch = pytest.importorskip("torch", reason="not available: PyTorch")
nvidia_dali = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
reference_plugin = pytest.importorskip(
    "nvidia.dali.plugin.pytorch", reason="not available: NVIDIA DALI"
)

from dali_core.plugin import pytorch as own_plugin  # noqa: E402

# NVIDIA DALI does not report it.
pytestmark = pytest.mark.filterwarnings(
    "ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning"
)

OWN = Library(dali_core, own_plugin)
REFERENCE = Library(nvidia_dali, reference_plugin)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return make_files(tmp_path_factory.mktemp("files"))


@pytest.fixture(autouse=True)
def quiet_log() -> Iterator[None]:
    """Both log a warning for each reset in mid-epoch."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("seed", range(5))
def test_random_sequences(seed: int, files: list[str]) -> None:
    rng = random.Random(seed)
    num_steps = 0
    for _ in range(40):
        case, reference = observe(REFERENCE, files, Case.draw(rng))
        own = observe(OWN, files, case)[1]
        assert difference(own, reference) is None, case
        num_steps += len(case.actions)
    assert num_steps > 200


@pytest.mark.parametrize("seed", range(3))
def test_random_readers(seed: int, files: list[str]) -> None:
    rng = random.Random(seed)
    for _ in range(30):
        (reader,) = draw_readers(rng, 1, disagree=False)
        case = Case((reader,), rng.randint(1, 7), 2, "FILL", {}, ())
        runs, metas = [], []
        for library in (OWN, REFERENCE):
            (pipeline,) = library.pipelines(files, case)
            pipeline.build()
            runs.append([pipeline.run()[0].as_array().ravel().tolist() for _ in range(8)])
            metas.append(pipeline.reader_meta("reader"))
            assert pipeline.epoch_size("reader") == metas[0]["epoch_size_padded"]
        assert runs[0] == runs[1], case
        assert metas[0] == metas[1], case


CASE = Case((Reader(7, 1, 0, stick=False, pad=False),), 2, 2, "FILL", {}, ())


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
def test_invalid_options_raise_in_both(options: dict[str, Any], files: list[str]) -> None:
    case = replace(CASE, options=options)
    with pytest.raises((AssertionError, ValueError, RuntimeError)) as reference:
        REFERENCE.iterator(files, case)
    with pytest.raises(DaliCoreError) as own:
        OWN.iterator(files, case)
    assert isinstance(own.value, type(reference.value))


@pytest.mark.parametrize("pipelines", [None, []])
def test_empty_pipeline_lists_raise_in_both(pipelines: Any) -> None:
    for library in (OWN, REFERENCE):
        with pytest.raises((AssertionError, IndexError)):
            library.plugin.DALIGenericIterator(pipelines, ["label"])
        with pytest.raises(AssertionError):
            library.plugin.DALIGenericIterator(pipelines, ["label", "label"])


def test_ragged_batches_raise_in_both() -> None:
    for library in (OWN, REFERENCE):
        pipeline = library.core.Pipeline(2, 1, None)
        with pipeline:
            data = [numpy.zeros(3, numpy.float32), numpy.zeros(2, numpy.float32)]
            pipeline.set_outputs(library.core.fn.external_source(source=itertools.repeat(data)))
        with pytest.raises(RuntimeError):
            library.plugin.DALIGenericIterator([pipeline], ["x"])


# The reference does not specify whether PyTorch checks its sparse tensors.
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
