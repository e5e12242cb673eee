"""Common parts of adapters: representation of partial batches, and `repr`."""

from __future__ import annotations

from typing import Any

import pytest

from dali_core.errors import AdapterError
from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy
from tests.plugin.fake_pipeline import ListAdapter, iterate, reader_pipeline, source_pipeline

# Batches that continue with the next epoch, or repeat samples, are allowed, too.
pytestmark = pytest.mark.filterwarnings(
    "ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning"
)


class Opaque:
    """An array of a framework that has no slices."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = numbers


class OpaqueAdapter(ListAdapter):
    name = "opaque"

    def from_tensor(self, tensor: list[int]) -> Any:
        return Opaque(tensor)


class TakingAdapter(OpaqueAdapter):
    def take(self, array: Opaque, num_samples: int) -> Opaque:
        return Opaque(array.numbers[:num_samples])


def iterate_with(adapter: ListAdapter) -> BaseIterator:
    return BaseIterator(
        reader_pipeline(5, 2),
        ["number"],
        adapter,
        reader_name="reader",
        last_batch_policy=LastBatchPolicy.PARTIAL,
    )


def test_batches_without_slicing_need_take() -> None:
    iterator = iterate_with(OpaqueAdapter())
    next(iterator), next(iterator)
    with pytest.raises(AdapterError, match=r"got Opaque.*Override OpaqueAdapter\.take") as caught:
        next(iterator)
    assert isinstance(caught.value.__cause__, TypeError)


def test_take_keeps_the_first_samples() -> None:
    batches = list(iterate_with(TakingAdapter()))
    assert [batch[0]["number"].numbers for batch in batches] == [[0, 1], [2, 3], [4]]


def test_adapters_describe_themselves() -> None:
    assert repr(TakingAdapter()) == "<TakingAdapter 'opaque': dense, list>"


def test_iterators_describe_themselves() -> None:
    iterator = iterate(reader_pipeline(5, 2), reader_name="reader")
    about = (
        "<BaseIterator output_map=['number'], pipelines=1, batch_size=2, reader_name='reader', "
        "size=6, last_batch_policy=FILL: epoch 0, "
    )
    assert repr(iterator) == f"{about}0 of 3 batches given>"
    for given in (1, 2, 3):
        next(iterator)
        assert repr(iterator) == f"{about}{given} of 3 batches given>"
    unknown = iterate(source_pipeline(2, 2), prepare_first_batch=False)
    list(unknown)
    assert repr(unknown) == (
        "<BaseIterator output_map=['number'], pipelines=1, batch_size=2: epoch 0, 2 batches given>"
    )
