"""The adapter test suite fails for faulty adapters."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

from dali_core.adapters import Adapter
from dali_core.testing import AdapterSuite


class Correct(Adapter):
    name = "correct"

    def from_tensor(self, tensor: Any) -> Any:
        return numpy.asarray(tensor)


class Copies(Correct):
    def from_tensor(self, tensor: Any) -> Any:
        return numpy.array(tensor)


class CopiesSamples(Correct):
    def represent(self, batch: Any, kind: str, num_valid: int) -> Any:
        result = super().represent(batch, kind, num_valid)
        return result if kind == "dense" else [array.copy() for array in result]


class CopiesPartialBatches(Correct):
    def represent(self, batch: Any, kind: str, num_valid: int) -> Any:
        result = super().represent(batch, kind, num_valid)
        return result if num_valid == len(batch) else result.copy()


class ReusesOneBuffer(Correct):
    def __init__(self) -> None:
        self.buffer = numpy.zeros((2, 1), numpy.int64)

    def from_tensor(self, tensor: Any) -> Any:
        array = numpy.asarray(tensor)
        if array.shape != self.buffer.shape or array.dtype != self.buffer.dtype:
            return array
        self.buffer[...] = array
        return self.buffer


class Flattens(Correct):
    def from_tensor(self, tensor: Any) -> Any:
        return numpy.asarray(tensor).ravel()


class ConvertsToFloat(Correct):
    def from_tensor(self, tensor: Any) -> Any:
        array = numpy.asarray(tensor)
        return array.astype(numpy.float64) if array.dtype == numpy.int64 else array


class IgnoresPadding(Correct):
    def represent(self, batch: Any, kind: str, num_valid: int) -> Any:
        return super().represent(batch, kind, len(batch))


class KeepsOnePipeline(Correct):
    def assemble(self, shards: list[dict[str, Any]]) -> Any:
        return shards[:1]


class OnlyDense(Correct):
    representations = ("dense",)


FAULTS: list[tuple[type[Correct], set[str]]] = [
    (Copies, {"test_dense_batches_are_not_copied", "test_samples_are_not_copied"}),
    (CopiesSamples, {"test_samples_are_not_copied"}),
    (CopiesPartialBatches, {"test_partial_batches_are_not_copied"}),
    (ReusesOneBuffer, {"test_batches_are_never_overwritten", "test_batches_outlive_the_pipeline"}),
    (Flattens, {"test_dense_batches_are_not_copied", "test_labels_are_columns"}),
    (ConvertsToFloat, {"test_every_dtype"}),
    (IgnoresPadding, {"test_partial_batches_are_not_copied", "test_last_batch_policies"}),
    (KeepsOnePipeline, {"test_several_pipelines"}),
    (OnlyDense, {"test_offers_dense_and_list", "test_ragged_outputs"}),
]


def failures(kind: type[Correct], folder: Path) -> set[str]:
    """Run the whole suite except registration, and return the names of the failing tests."""

    class Suite(AdapterSuite):
        adapter = kind()

        def to_numpy(self, array: Any) -> Any:
            return array

    failed = set()
    for name, test in inspect.getmembers(Suite(), inspect.ismethod):
        if name.startswith("test_") and name != "test_is_registered":
            try:
                _call(test, folder)
            except Exception:
                failed.add(name)
    return failed


def _call(test: Callable[..., None], folder: Path) -> None:
    test(folder) if inspect.signature(test).parameters else test()


def test_a_correct_adapter_passes(tmp_path: Path) -> None:
    assert failures(Correct, tmp_path) == set()


@pytest.mark.parametrize(("kind", "expected"), FAULTS)
def test_a_faulty_adapter_fails(kind: type[Correct], expected: set[str], tmp_path: Path) -> None:
    assert expected <= failures(kind, tmp_path)
