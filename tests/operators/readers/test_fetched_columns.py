"""Formats that fetch whole columns of a batch: the same samples, and the same bad ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from dali_core import readers
from dali_core.errors import SampleError
from dali_core.readers import Arg
from dali_core.testing.reading import add_to_functions, read

calls: list[str] = []


class Numbers(readers.FetchedSource):
    """Pairs of a number and as many ones; `kind` says how columns are wrong."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __len__(self) -> int:
        return 8

    def fetch(self, index: int) -> Any:
        calls.append("one")
        if index == 5 and self._kind == "bad":
            raise ValueError("row 5 is bad")
        return np.int64(index), np.ones(index)

    def fetch_columns(self, indices: Sequence[int]) -> Sequence[Any] | None:
        calls.append("columns")
        if self._kind == "bad" and 5 in indices:
            raise ValueError("one is bad")
        if self._kind == "none":
            return None
        if self._kind == "too few":
            return [np.int64(indices)]
        if self._kind == "too short":
            indices = indices[1:]
        return [np.array(indices), [np.ones(index) for index in indices]]


class Format(readers.Format):
    name = "readers.columns_of_numbers"
    doc = "Give numbers."
    args = (Arg("kind", str, "How columns are."),)

    def open(self, arguments: Mapping[str, Any], storage: readers.Storage) -> Numbers:
        return Numbers(arguments["kind"])

    def num_outputs(self, arguments: Mapping[str, Any]) -> int:
        return 2


def found(kind: str, count: int = 8, **arguments: Any) -> list[int]:
    add_to_functions(Format())
    calls.clear()
    samples = read("readers.columns_of_numbers", {"kind": kind, **arguments}, count)
    for number, ones in samples:
        assert number.dtype == np.int64
        np.testing.assert_array_equal(ones, np.ones(int(number)), strict=True)
    return [int(number) for number, _ in samples]


def test_columns_take_the_place_of_samples() -> None:
    assert found("columns") == list(range(8))
    assert set(calls) == {"columns"}
    assert found("columns", 3, sampler=[6, 0, 6]) == [6, 0, 6]


@pytest.mark.parametrize("kind", ["none", "too few", "too short"])
def test_samples_are_fetched_where_columns_do_not_fit(kind: str) -> None:
    assert found(kind) == list(range(8))
    assert "one" in calls


def test_bad_samples_in_columns() -> None:
    with pytest.raises(SampleError, match="row 5 is bad"):
        found("bad")
    assert found("bad", 3) == [0, 1, 2]
