"""`fn._conditional`: operators on the sides of a split run for these samples only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, pipeline_def
from dali_core.compat.conditional_operators import merge, not_, split
from dali_core.errors import GraphError

OPTIONS: dict[str, Any] = {"batch_size": 4, "num_threads": 2, "device_id": None}
VALUES = np.arange(4, dtype=np.float32).reshape(4, 1)
EVEN, SMALL = np.array([True, False, True, False]), np.array([True, True, False, False])


def fed(pipe: Pipeline) -> list[float]:
    for name, batch in (("values", VALUES), ("even", EVEN), ("small", SMALL)):
        pipe.feed_input(name, batch)
    (output,) = pipe.run()
    return output.as_array().ravel().tolist()


def inputs() -> tuple[Any, Any, Any]:
    return tuple(fn.external_source(name=name) for name in ("values", "even", "small"))  # type: ignore[return-value]


@pipeline_def(prefetch_queue_depth=1, **OPTIONS)
def nested() -> Any:
    values, even, small = inputs()
    yes, no = split(values, predicate=even)
    small_even, _ = split(small, predicate=even)
    first, second = split(yes + 100, predicate=small_even)
    inner = merge(first * 2, fn.cat(second, second, axis=0)[1:], predicate=small_even)
    return merge(inner, no - 1, predicate=even)


def test_nested_splits_and_their_document() -> None:
    pipe = nested()
    assert fed(pipe) == [200, 0, 102, 2]
    assert fed(Pipeline.deserialize(pipe.serialize())) == [200, 0, 102, 2]


def test_operators_of_a_side_run_for_its_samples_only() -> None:
    seen: list[float] = []

    def note(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        seen.append(float(value[0]))
        return value

    pipe = Pipeline(prefetch_queue_depth=1, exec_async=False, **OPTIONS)
    with pipe:
        values, even, _ = inputs()
        yes, no = split(values, predicate=even)
        noted = fn.python_function(yes, function=note)
        pipe.set_outputs(merge(noted, no, predicate=even))
    for name, batch in (("values", VALUES), ("even", EVEN)):
        pipe.feed_input(name, batch)
    assert pipe.run()[0].as_array().ravel().tolist() == [0, 1, 2, 3]
    assert seen == [0, 2]


def test_beside_if() -> None:
    @pipeline_def(prefetch_queue_depth=1, enable_conditionals=True, **OPTIONS)
    def decided() -> Any:
        values, even, small = inputs()
        yes, no = split(values, predicate=even)
        result = merge(yes + 1, no, predicate=even)
        if small:
            result = result * 10
        return result

    assert fed(decided()) == [10, 10, 3, 3]


def test_not() -> None:
    pipe = Pipeline(prefetch_queue_depth=1, **OPTIONS)
    with pipe:
        pipe.set_outputs(not_(fn.external_source(name="even")))
    pipe.feed_input("even", EVEN)
    assert pipe.run()[0].as_array().tolist() == (~EVEN).tolist()


def test_a_side_without_merge_cannot_be_returned() -> None:
    pipe = Pipeline(**OPTIONS)
    with pipe:
        yes, _ = split(fn.constant(idata=[1]), predicate=fn.random.coin_flip())
        result = yes + 1
        with pytest.raises(GraphError, match="must exist for all samples"):
            pipe.set_outputs(result)


def test_sides_of_different_splits_do_not_mix() -> None:
    with Pipeline(**OPTIONS):
        value = fn.constant(idata=[1])
        yes, _ = split(value, predicate=fn.random.coin_flip())
        other, _ = split(value, predicate=fn.random.coin_flip())
        with pytest.raises(GraphError, match="must exist for all samples"):
            _ = yes + other
