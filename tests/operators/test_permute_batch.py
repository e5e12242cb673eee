"""Taking the samples of a batch in another order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import fn
from dali_core.errors import SampleError
from tests.operators.suite import Example, images, numbers, pipeline, run_on

EXAMPLES = [
    Example("order", [images()], {"indices": [1]}, depends_on_batch=True),
    Example("planes", [images("CHW", "float32")], {"indices": 0}, depends_on_batch=True),
]
SAMPLES = [numbers("int32", (i + 1, 3), i) for i in range(4)]


@pytest.mark.parametrize("indices", [[3, 1, 1, 0], [0, 1, 2, 3], [2] * 4, [2]])
def test_orders(indices: list[int]) -> None:
    results = run_on("permute_batch", SAMPLES, "HW", indices=indices)
    chosen = indices if len(indices) == 4 else indices * 4
    for result, index in zip(results, chosen, strict=True):
        np.testing.assert_array_equal(result, SAMPLES[index], strict=True)


@pytest.mark.parametrize("threads", [1, 4])
def test_order_of_each_sample(threads: int) -> None:
    batches = [[3, 1, 1, 0], [1, 0, 3, 2], [0, 0, 0, 0]]
    with pipeline(batch_size=4, num_threads=threads) as made:
        with made:
            data = fn.external_source(source=lambda: SAMPLES, layout="HW")
            indices = fn.external_source(
                source=lambda i: [np.int64(index) for index in batches[i % 3]]
            )
            # Earlier operators must be complete, later ones start over.
            permuted = fn.permute_batch(fn.copy(data), indices=indices)
            made.set_outputs(permuted, fn.shapes(permuted), indices)
        for number in range(9):
            outputs, shapes, _ = made.run()
            assert outputs.layout() == "HW"
            for i, index in enumerate(batches[number % 3]):
                np.testing.assert_array_equal(outputs.at(i), SAMPLES[index])
                assert shapes.at(i).tolist() == list(SAMPLES[index].shape)


def test_zero_copy() -> None:
    with pipeline(batch_size=4) as made:
        with made:
            data = fn.external_source(source=lambda: SAMPLES)
            made.set_outputs(fn.permute_batch(data, indices=[3, 1, 1, 0]), data)
        permuted, original = made.run()
        addresses = [tensor.data_ptr() for tensor in original]
        assert [tensor.data_ptr() for tensor in permuted] == [addresses[i] for i in (3, 1, 1, 0)]


def test_of_generated_data() -> None:
    with pipeline(batch_size=5) as made:
        with made:
            numbers = fn.random.uniform(range=[0, 1], seed=3)
            order = fn.batch_permutation()
            made.set_outputs(numbers, order, fn.permute_batch(numbers, indices=order))
        for _ in range(4):
            numbers, order, permuted = (batch.as_array() for batch in made.run())
            np.testing.assert_array_equal(permuted, numbers[order])


def test_last_batch_may_be_smaller() -> None:
    sizes = iter([4, 2])
    with pipeline(batch_size=4) as made:
        with made:
            data = fn.external_source(source=lambda: SAMPLES[: next(sizes)])
            made.set_outputs(fn.permute_batch(data, indices=fn.batch_permutation()))
        assert [len(made.run()[0]) for _ in range(2)] == [4, 2]


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        ([0, 1, 2, 4], r"indices must be from 0 to 3, numbers of samples in the batch \(got 4\)"),
        ([0, 1, 2, -1], r"indices must be from 0 to 3, .*\(got -1\)"),
        ([0, 1], "one for each of the 4 samples"),
        ([], "one for each of the 4 samples"),
    ],
)
def test_invalid_orders(indices: list[int], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        run_on("permute_batch", SAMPLES, indices=indices)


def test_invalid_order_of_one_sample() -> None:
    batches: list[list[Any]] = [[0, 9, 1, 2], [0, 3, 1, 2]]
    with pipeline(batch_size=4, num_threads=3) as made:
        with made:
            data = fn.external_source(source=lambda: SAMPLES)
            indices = fn.external_source(source=lambda i: [np.int32(n) for n in batches[i % 2]])
            made.set_outputs(fn.permute_batch(data, indices=indices))
        for _ in range(3):
            with pytest.raises(SampleError, match=r"\(got 9\)") as caught:
                made.run()
            assert caught.value.sample == 1
            np.testing.assert_array_equal(made.run()[0].at(1), SAMPLES[3])


def test_lists_do_not_come_with_samples() -> None:
    with pipeline(batch_size=2) as made:
        with made:
            data = fn.external_source(source=lambda: SAMPLES[:2])
            indices = fn.external_source(source=lambda: [np.int32([0, 1])] * 2)
            made.set_outputs(fn.permute_batch(data, indices=indices))
        with pytest.raises(SampleError, match="indices must be one number a sample"):
            made.run()
