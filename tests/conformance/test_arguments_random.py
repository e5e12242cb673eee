"""Random operators take per-sample arguments as NVIDIA DALI does; distributions are compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dali_core
from tests.conformance.graphs import check, check_distribution, feed, images, outputs_of, reference

COUNT = 5000


def per_sample(name: str, values: list[Any], **more: Any) -> Callable[[Any, Any], Any]:
    """Return a call with one per-sample argument."""

    def call(library: Any, function: Any) -> Any:
        return function(shape=[COUNT], **{name: feed(library, values)}, **more)

    return call


CALLS = [
    ("uniform", per_sample("range", [np.float32([0, i + 1]) for i in range(3)])),
    ("uniform", per_sample("values", [np.float32([0, i + 1, 9]) for i in range(3)])),
    ("coin_flip", per_sample("probability", [np.float32(p) for p in (0.1, 0.5, 0.8)])),
    ("normal", per_sample("mean", [np.float32(m) for m in (-3, 0, 10)])),
    ("normal", per_sample("stddev", [np.float32(s) for s in (0.5, 1, 9)])),
    ("beta", per_sample("alpha", [np.float32(a) for a in (0.5, 1, 5)], beta=2.0)),
    ("beta", per_sample("beta", [np.float32(b) for b in (0.5, 1, 5)], alpha=2.0)),
]


@pytest.mark.parametrize(("operator", "call"), CALLS)
def test_distributions(operator: str, call: Callable[[Any, Any], Any]) -> None:
    check_distribution(lambda library: call(library, getattr(library.fn.random, operator)), COUNT)


@pytest.mark.parametrize(
    ("operator", "arguments"),
    [
        ("uniform", {"seed": 5}),
        ("uniform", {"range": [2.0, 3.0], "seed": 5}),
        ("uniform", {"values": [1.0, 4.0, 5.0], "seed": 5}),
        ("coin_flip", {"probability": 0.2, "seed": 5}),
        ("normal", {"mean": 2.0, "stddev": 3.0, "seed": 5}),
        ("beta", {"alpha": 2.0, "beta": 0.7, "seed": 5}),
    ],
)
def test_seeds(operator: str, arguments: dict[str, Any]) -> None:
    """With its own seed, an operator repeats its numbers, in both libraries."""

    def twice(library: Any) -> Any:
        function = getattr(library.fn.random, operator)
        return [function(shape=[COUNT], **arguments) for _ in range(2)]

    check_distribution(lambda library: twice(library)[0], COUNT)
    (_, _, one), (_, _, other) = outputs_of(reference, twice)
    for first, second in zip(one, other, strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("operator", ["uniform", "coin_flip", "normal", "beta"])
def test_shapes_of_each_sample(operator: str) -> None:
    def shapes_of(library: Any) -> list[tuple[int, ...]]:
        def graph(library: Any) -> Any:
            shape = feed(library, [np.int32([i, 2, 3]) for i in (1, 4, 2)])
            return getattr(library.fn.random, operator)(shape=shape)

        ((*_, samples),) = outputs_of(library, graph)
        return [sample.shape for sample in samples]

    assert shapes_of(dali_core) == shapes_of(reference) == [(1, 2, 3), (4, 2, 3), (2, 2, 3)]


def test_choice() -> None:
    def graph(library: Any) -> Any:
        values = feed(library, [np.int32([2, 5, 9])] * 3)
        weights = feed(library, [np.float32(p) for p in ([1, 0, 0], [0.2, 0.3, 0.5], [0, 0, 1])])
        return library.fn.random.choice(values, p=weights, shape=[COUNT], seed=3)

    check_distribution(graph, COUNT)


def test_choice_of_shapes_of_each_sample() -> None:
    def graph(library: Any) -> Any:
        shape = feed(library, [np.int32([i, 2]) for i in (1, 4, 2)])
        return library.fn.random.choice(1, shape=shape)

    check(graph)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_certain_coins(probability: float) -> None:
    check(lambda library: library.fn.random.coin_flip(probability=probability, shape=[7]))


def test_windows_with_seeds() -> None:
    """The whole image is the only window of that area and shape."""

    def graph(library: Any) -> Any:
        return library.fn.random_crop_generator(
            feed(library, [np.int64([40, 40])] * 3),
            random_area=[1.0, 1.0],
            random_aspect_ratio=[1.0, 1.0],
            num_attempts=3,
            seed=9,
        )

    check(graph)


def test_random_resized_crop_of_everything() -> None:
    """With a window that is certain, the rest of the operator is that of resize."""
    shared = {"random_area": [1.0, 1.0], "random_aspect_ratio": [1.0, 1.0], "seed": 2}
    filters = ("INTERP_LINEAR", "INTERP_CUBIC", "INTERP_LANCZOS3", "INTERP_GAUSSIAN")

    def graph(library: Any, **arguments: Any) -> Any:
        given = {
            name: getattr(library.types, value) if isinstance(value, str) else value
            for name, value in arguments.items()
        }
        data = feed(library, images((40, 40, 3), (40, 40, 3), (40, 40, 3)), "HWC")
        return library.fn.random_resized_crop(data, **shared, **given)

    for name in filters:
        for size in ([20, 27], [60, 70], [30, 90]):
            for argument in ("interp_type", "min_filter", "mag_filter"):
                arguments = {argument: name, "size": size}
                check(lambda library, a=arguments: graph(library, **a), tolerance=1)
    more = {"size": 24, "minibatch_size": 2, "temp_buffer_hint": 1000, "num_attempts": 4}
    check(lambda library: graph(library, **more), tolerance=1)


def test_random_resized_crop_filters_of_each_sample() -> None:
    """The reference expects tensors of an enumeration type, our library integers."""

    def graph(library: Any, argument: str) -> Any:
        filters = feed(library, [np.int32(number) for number in (1, 2, 3)])
        if library is reference:
            filters = library.ops.Cast(dtype=library.types.INTERP_TYPE)(filters)
        return library.fn.random_resized_crop(
            feed(library, images((40, 40, 3), (40, 40, 3), (40, 40, 3)), "HWC"),
            size=[20, 60],
            random_area=[1.0, 1.0],
            random_aspect_ratio=[1.0, 1.0],
            **{argument: filters},
        )

    for argument in ("interp_type", "min_filter", "mag_filter"):
        check(lambda library, name=argument: graph(library, name), tolerance=1)
