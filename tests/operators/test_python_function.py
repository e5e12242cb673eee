"""`fn.python_function`: the user's own function as an operator."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dali_core import DataNode, Pipeline, fn, pipeline_def
from dali_core.errors import ArgumentTypeError, SampleError
from dali_core.testing.examples import list_of
from tests.operators.suite import Example, images


def extremes(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return image.min(axis=(0, 1)), image.max(axis=(0, 1))


def halves(batch: list[np.ndarray]) -> list[np.ndarray]:
    return [image[::2] for image in batch]


EXAMPLES = [
    Example("samples", [images()], {"function": extremes, "num_outputs": 2}),
    Example(
        "batches",
        [images()],
        {"function": halves, "batch_processing": True, "output_layouts": "HWC"},
    ),
]

BATCH = [np.full((2,), i, np.float32) for i in range(3)]


def run(function: Callable[..., Any], num_inputs: int = 1, **arguments: Any) -> list[Any]:
    with Pipeline(3, 2, None) as pipeline:
        inputs = [fn.external_source(lambda: BATCH, layout="W") for _ in range(num_inputs)]
        results = fn.python_function(*inputs, function=function, **arguments)
        pipeline.set_outputs(*list_of(results))
    try:
        return list(pipeline.run())
    finally:
        pipeline.close()


def test_called_for_each_sample() -> None:
    (batch,) = run(lambda x: x * 2)
    assert batch.as_array().tolist() == [[0, 0], [2, 2], [4, 4]]
    assert batch.layout() == ""


def test_gets_numpy_arrays() -> None:
    seen = []

    def function(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        seen.append((type(x), x.dtype, y.shape))
        return x + y

    (batch,) = run(function, num_inputs=2)
    assert batch.at(2).tolist() == [4, 4]
    assert set(seen) == {(np.ndarray, np.dtype(np.float32), (2,))}


def test_several_results() -> None:
    outputs = run(lambda x: (x, x.sum()), num_outputs=2, output_layouts=["C", ""])
    assert outputs[0].layout() == "C"
    assert outputs[1].as_array().tolist() == [0, 2, 4]
    as_list = run(lambda x: [x, -x], num_outputs=2)
    assert as_list[1].at(1).tolist() == [-1, -1]


def test_one_layout_serves_all_outputs() -> None:
    outputs = run(lambda x: (x, x), num_outputs=2, output_layouts="C")
    assert [batch.layout() for batch in outputs] == ["C", "C"]


def test_called_for_the_batch() -> None:
    def function(x: list[np.ndarray], y: list[np.ndarray]) -> list[np.ndarray]:
        assert isinstance(x, list)
        sums = [a[: i + 1] + b[: i + 1] for i, (a, b) in enumerate(zip(x, y, strict=True))]
        return [*sums[:2], x[0]]

    (batch,) = run(function, num_inputs=2, batch_processing=True)
    assert batch.shape() == [(1,), (2,), (2,)]
    (stacked,) = run(lambda x: np.stack(x) + 1, batch_processing=True)
    assert stacked.as_array().tolist() == [[1, 1], [2, 2], [3, 3]]


def test_without_inputs_it_gives_whole_batches() -> None:
    (batch,) = run(lambda: np.int64(7), num_inputs=0)
    assert batch.as_array().tolist() == [7, 7, 7]


def test_without_outputs_it_runs_if_preserved() -> None:
    seen: list[float] = []
    with Pipeline(3, 2, None, exec_async=False, prefetch_queue_depth=1) as pipeline:
        source = fn.external_source(lambda: BATCH)
        nothing = fn.python_function(
            source, function=lambda x: seen.append(float(x[0])), num_outputs=0, preserve=True
        )
        pipeline.set_outputs(source)
    assert nothing is None
    pipeline.run()
    assert seen == [0, 1, 2]


def test_results_are_copied() -> None:
    kept = np.zeros((3, 2), np.float32)

    def function(x: np.ndarray) -> np.ndarray:
        row = kept[int(x[0])]
        row[:] = x
        return row

    (batch,) = run(function)
    kept[:] = 99
    assert batch.as_array().tolist() == [[0, 0], [1, 1], [2, 2]]


def test_inputs_may_be_kept() -> None:
    kept: list[np.ndarray] = []

    def function(x: np.ndarray) -> np.ndarray:
        kept.append(x)
        return x

    for _ in range(3):
        run(function)
    assert [x[0] for x in kept][:3] == [0, 1, 2]


def test_batches_come_in_order() -> None:
    seen = []
    with Pipeline(1, 4, None, prefetch_queue_depth=8) as pipeline:
        number = fn.external_source(lambda i: [np.int64(i)])
        again = fn.python_function(number, function=lambda x: x)
        pipeline.set_outputs(fn.python_function(again, function=lambda x: seen.append(int(x)) or x))
    for _ in range(20):
        pipeline.run()
    pipeline.close()
    assert seen == list(range(len(seen)))
    assert len(seen) >= 20


def fails_on_one(x: np.ndarray) -> np.ndarray:
    if x[0] == 1:
        raise KeyError("no such thing")
    return x


def test_an_exception_names_sample_and_line() -> None:
    with pytest.raises(SampleError, match=r"KeyError: 'no such thing'") as caught:
        run(fails_on_one)
    assert caught.value.operator == "python_function"
    assert caught.value.sample == 1
    assert "test_python_function.py:" in caught.value.location
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("batch_processing", [False, True])
def test_stop_iteration_is_an_error_here(batch_processing: bool) -> None:
    def function(x: object) -> None:
        raise StopIteration

    with pytest.raises(SampleError, match="StopIteration"):
        run(function, batch_processing=batch_processing)


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (lambda x: (x, x), {}, "must return 1 results"),
        (lambda x: x, {"num_outputs": 2}, "must return 2 results"),
        (lambda x: x[:2], {"batch_processing": True}, "each of the 3 samples"),
        (lambda x: x.astype("U1"), {}, "must be numbers"),
        (lambda x: x.astype(np.int32 if x[0] else np.int8), {}, "one dtype"),
        (lambda x: None, {}, "must be numbers"),
        (lambda x: x, {"output_layouts": "HW"}, "layout"),
    ],
)
def test_wrong_results(
    function: Callable[..., Any], arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(SampleError, match=message) as caught:
        run(function, **arguments)
    assert caught.value.operator == "python_function"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"function": 3}, "function must be callable"),
        ({"function": abs, "output_layouts": ["A", "B"]}, "must have at most one entry"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with Pipeline(1, 1, None) as pipeline:
        pipeline.set_outputs(fn.python_function(**arguments))
    with pytest.raises(ArgumentTypeError, match=message) as caught:
        pipeline.build()
    assert "fn.python_function at" in str(caught.value)


def test_the_function_must_be_given() -> None:
    with Pipeline(1, 1, None), pytest.raises(ArgumentTypeError, match="'function' must be given"):
        fn.python_function()


# Memory of the arrays


def increase(array: np.ndarray) -> np.ndarray:
    array += 1
    return array


def increase_each(arrays: list[np.ndarray]) -> list[np.ndarray]:
    return [increase(array) for array in arrays]


SHARING: dict[str, Callable[[DataNode], DataNode]] = {
    "the value itself": lambda x: x,
    "a copy": fn.copy,
    "a view of another shape": lambda x: fn.reshape(x, shape=[4]),
    "a view with one dimension more": lambda x: fn.expand_dims(x, axes=[0]),
    "the samples in another order": lambda x: fn.permute_batch(x, indices=[2, 0, 1]),
    "one sample several times": lambda x: fn.permute_batch(x, indices=[1, 1, 1]),
    "a result of another function": lambda x: fn.python_function(x, function=lambda a: a),
}


@pytest.mark.parametrize("whole_batch", [False, True])
@pytest.mark.parametrize("sharing", SHARING)
@pytest.mark.parametrize("is_output", [False, True])
def test_writes_of_a_function_are_not_shared(
    sharing: str, whole_batch: bool, is_output: bool
) -> None:
    """It gets a copy if the memory is shared, and may write to its arguments in any case."""
    data = np.arange(12, dtype=np.float32).reshape(3, 2, 2)
    constant = fn.constant(fdata=[5.0, 6.0])
    function = increase_each if whole_batch else increase
    call = functools.partial(fn.python_function, function=function, batch_processing=whole_batch)
    with Pipeline(3, 2, None) as pipeline:
        source = fn.external_source(lambda i: data)
        shared = SHARING[sharing](source)
        others = [shared, source + 0, constant] if is_output else []
        pipeline.set_outputs(call(shared), call(shared), call(constant), *others)
    with Pipeline(3, 2, None) as undisturbed:
        shared = SHARING[sharing](fn.external_source(lambda i: data))
        undisturbed.set_outputs(shared)
    expected = [np.array(sample) for sample in undisturbed.run()[0]]
    for _ in range(4):
        one, two, three, *rest = pipeline.run()
        for number in range(3):
            np.testing.assert_array_equal(one.at(number), expected[number] + 1)
            np.testing.assert_array_equal(two.at(number), expected[number] + 1)
            np.testing.assert_array_equal(three.at(number), [6, 7])
            if rest:
                np.testing.assert_array_equal(rest[0].at(number), expected[number])
                np.testing.assert_array_equal(rest[1].at(number), data[number])
                np.testing.assert_array_equal(rest[2].at(number), [5, 6])


def test_unshared_memory_is_zero_copy() -> None:
    owned: list[bool] = []

    def look(array: np.ndarray) -> np.ndarray:
        owned.append(bool(array.flags.owndata))
        assert array.flags.writeable
        return array

    source = fn.external_source(lambda i: np.zeros((2, 3), np.float32))
    with Pipeline(2, 1, None) as pipeline:
        pipeline.set_outputs(fn.python_function(source, function=look))
    pipeline.run()
    pipeline.close()  # so that no batch to come calls the function later
    assert owned
    assert not any(owned)
    owned.clear()
    with Pipeline(2, 1, None) as pipeline:
        pipeline.set_outputs(fn.python_function(source, function=look), source)
    pipeline.run()
    assert all(owned)


def test_branches_do_not_share_memory() -> None:
    @pipeline_def(batch_size=4, num_threads=2, device_id=None, enable_conditionals=True)
    def define() -> Any:
        number = fn.external_source(lambda i: np.arange(4))
        written = number
        if number % 2 == 0:
            written = fn.python_function(number, function=increase)
        return number, written

    pipeline = define()
    for _ in range(3):
        number, written = pipeline.run()
        assert number.as_array().tolist() == [0, 1, 2, 3]
        assert written.as_array().tolist() == [1, 1, 3, 3]


def test_retained_arrays_are_not_overwritten() -> None:
    kept: list[np.ndarray] = []

    def keep(array: np.ndarray) -> np.ndarray:
        kept.append(array)
        return array

    with Pipeline(2, 1, None) as pipeline:
        pipeline.set_outputs(fn.python_function(fn.random.uniform(shape=[9]), function=keep))
    found = [np.array(sample) for _ in range(5) for sample in pipeline.run()[0]]
    for array, result in zip(kept, found, strict=False):
        np.testing.assert_array_equal(array, result)
