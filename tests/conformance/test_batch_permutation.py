"""Orders of batches: the results of NVIDIA DALI, and its distributions of random orders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

SAMPLES = [np.full((i + 1, 3), i, np.uint8) for i in range(4)]


def always(samples: Sequence[Any]) -> Callable[[], list[Any]]:
    return lambda: list(samples)


def permute(library: Any, per_sample: Sequence[Any] = (), **arguments: Any) -> Any:
    pipeline = library.Pipeline(batch_size=4, num_threads=1, device_id=None)
    with pipeline:
        data = library.fn.external_source(source=always(SAMPLES), layout="HW")
        if per_sample:
            arguments["indices"] = library.fn.external_source(source=always(per_sample))
        pipeline.set_outputs(library.fn.permute_batch(data, **arguments))
    pipeline.build()
    (batch,) = pipeline.run()
    return [np.array(batch.at(i)) for i in range(4)], batch.layout(), batch.dtype.name


def orders(library: Any, size: int, count: int, **arguments: Any) -> list[tuple[int, ...]]:
    pipeline = library.Pipeline(batch_size=size, num_threads=1, device_id=None, seed=5)
    with pipeline:
        pipeline.set_outputs(library.fn.batch_permutation(**arguments))
    pipeline.build()
    found = []
    for _ in range(count):
        (batch,) = pipeline.run()
        assert batch.dtype.name == "INT32"
        assert [np.array(batch.at(i)).shape for i in range(size)] == [()] * size
        found.append(tuple(int(batch.at(i)) for i in range(size)))
    return found


@pytest.mark.parametrize("indices", [[3, 1, 1, 0], [0, 1, 2, 3], [2, 2, 2, 2]])
def test_permute_batch(indices: list[int]) -> None:
    for arguments in ({"indices": indices}, {"per_sample": [np.int32(i) for i in indices]}):
        expected, *expected_kind = permute(reference, **arguments)
        ours, *our_kind = permute(dali_core, **arguments)
        assert our_kind == expected_kind
        for mine, theirs in zip(ours, expected, strict=True):
            np.testing.assert_array_equal(mine, theirs, strict=True)


@pytest.mark.parametrize("indices", [[0, 1], [0, 1, 2, 3, 0], [0, 1, 2, 4], [0, 1, 2, -1]])
def test_permute_batch_errors(indices: list[int]) -> None:
    for library in (reference, dali_core):
        with pytest.raises((RuntimeError, ValueError)):
            permute(library, indices=indices)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("allow_repetitions", [False, True])
@pytest.mark.parametrize("no_fixed_points", [False, True])
def test_batch_permutation(size: int, allow_repetitions: bool, no_fixed_points: bool) -> None:
    count = 500 if size < 4 else 2500
    arguments = {"allow_repetitions": allow_repetitions, "no_fixed_points": no_fixed_points}
    theirs, ours = (
        Counter(orders(library, size, count, **arguments)) for library in (reference, dali_core)
    )
    assert set(ours) == set(theirs)
    expected = count / len(theirs)
    chi_square = sum((found - expected) ** 2 / expected for found in ours.values())
    assert chi_square < len(theirs) + 5 * np.sqrt(2 * len(theirs))
