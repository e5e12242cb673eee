"""Iterators that go to any batch of any epoch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import fn, pipeline_def
from dali_core.adapters import Adapter
from dali_core.errors import ArgumentValueError, PipelineStateError
from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy
from tests.rest_of_epoch import rest_of_epoch

# Batches that continue with the next epoch, or repeat samples, are allowed, too.
pytestmark = pytest.mark.filterwarnings(
    "ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning"
)

NUM_SAMPLES = 11


class ArrayAdapter(Adapter):
    name = "arrays"

    def from_tensor(self, tensor: Any) -> Any:
        return np.asarray(tensor)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("arrays")
    for number in range(NUM_SAMPLES):
        np.save(folder / f"{number:02}.npy", np.array([number]))
    return sorted(map(str, folder.glob("*.npy")))


@pipeline_def(num_threads=1, device_id=None, seed=5)
def numbers(files: list[str], source: Any, **options: Any) -> Any:
    read = fn.readers.numpy(files=files, name="arrays", random_shuffle=True, **options)
    made = fn.external_source(source=source, batch=False) if source else fn.random.uniform()
    return read, made, fn.random.uniform()


def make(
    files: list[str], policy: LastBatchPolicy, source: Any = None, **options: Any
) -> BaseIterator:
    return BaseIterator(
        numbers(files, source, **options),
        ["read", "made", "random"],
        ArrayAdapter(),
        reader_name="arrays",
        last_batch_policy=policy,
        prepare_first_batch=False,
    )


def contents(iterator: Iterable[Any]) -> list[list[Any]]:
    return [[array.tolist() for array in batch.values()] for (batch,) in iterator]


@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
)
@given(
    epoch=st.integers(0, 3),
    batch=st.integers(0, 2),
    policy=st.sampled_from(LastBatchPolicy),
    options=st.fixed_dictionaries(
        {
            "batch_size": st.integers(2, 4),
            "num_shards": st.integers(1, 2),
            "pad_last_batch": st.booleans(),
        }
    ),
)
def test_seek_equals_iterating_to_the_batch(
    files: list[str],
    epoch: int,
    batch: int,
    policy: LastBatchPolicy,
    options: dict[str, Any],
) -> None:
    walked, moved = (make(files, policy, **options) for _ in range(2))
    for _ in range(epoch):
        assert contents(walked)
    iter(walked)
    batch = min(batch, len(walked) - 1)
    for _ in range(batch):
        next(walked)
    next(moved)
    moved.seek(epoch, batch)
    assert moved.state_dict() == walked.state_dict()
    assert contents(moved) == contents(rest_of_epoch(walked))
    moved.restart()
    walked.restart()
    assert contents(moved) == contents(walked)


def test_seek_beyond_the_epoch_raises(files: list[str]) -> None:
    iterator = make(files, LastBatchPolicy.FILL, batch_size=4, pad_last_batch=True)
    for epoch, batch in ((-1, 0), (0, -1), (0, 4)):
        with pytest.raises(ArgumentValueError, match="Count both from 0"):
            iterator.seek(epoch, batch)
    iterator.seek(2, 3)  # the end of an epoch: the next one follows
    again = make(files, LastBatchPolicy.FILL, batch_size=4, pad_last_batch=True)
    again.seek(3)
    assert contents(iterator) == contents(again)


def test_sources_in_python_raise(files: list[str]) -> None:
    iterator = make(files, LastBatchPolicy.FILL, lambda _: np.zeros(1), batch_size=4)
    with pytest.raises(PipelineStateError, match=r"fn\.external_source.*could not skip"):
        iterator.seek(1)
