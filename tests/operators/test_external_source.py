"""`fn.external_source`: kinds of sources, ends of epochs, feeding, and rejected data."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, types
from dali_core.errors import ArgumentTypeError, ArgumentValueError, GraphError, SampleError
from dali_core.tensors import TensorListCPU
from dali_core.testing.examples import list_of
from tests.operators.suite import Example, images
from tests.step_threads import step_threads
from tests.waiting import wait_until


def squares(info: types.SampleInfo) -> np.ndarray:
    return np.arange(info.idx_in_epoch) ** 2


def image_and_number(info: types.SampleInfo) -> tuple[np.ndarray, np.ndarray]:
    return images().make(info.idx_in_epoch), np.int64(info.idx_in_epoch)


EXAMPLES = [
    Example("samples", (), {"source": squares, "batch": False}),
    Example(
        "tuples",
        (),
        {"source": image_and_number, "batch": False, "num_outputs": 2, "layout": ["HWC", ""]},
    ),
]

BATCHES = [[np.int64(10 * i + j) for j in range(3)] for i in range(4)]


def make(source: Any = None, depth: int = 2, batch_size: int = 3, **arguments: Any) -> Pipeline:
    with Pipeline(batch_size, 2, None, prefetch_queue_depth=depth) as pipeline:
        results = fn.external_source(source, **arguments)
        pipeline.set_outputs(*list_of(results))
    return pipeline


def log(pipeline: Pipeline, epochs: int = 2, most: int = 10) -> list[Any]:
    """Run some epochs: return first elements of the batches, and "end" where an epoch ends."""
    found: list[Any] = []
    for _ in range(epochs):
        for _ in range(most):
            try:
                found.append(int(pipeline.run()[0].at(0)))
            except StopIteration:
                found.append("end")
                break
        pipeline.reset()
    pipeline.close()
    return found


class Restartable:
    def __iter__(self) -> Iterator[Any]:
        return iter(BATCHES)


def generate() -> Iterator[Any]:
    yield from BATCHES


@pytest.mark.parametrize("source", [BATCHES, generate, Restartable()])
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_iterables(source: Any, depth: int) -> None:
    epoch = [0, 10, 20, 30]
    for nothing in (None, False, "no"):
        assert log(make(source, depth, cycle=nothing)) == [*epoch, "end", "end"]
    assert log(make(source, depth, cycle="raise"), 3) == [*epoch, "end"] * 3
    for quietly in (True, "quiet"):
        assert log(make(source, depth, cycle=quietly), 1) == [*epoch, *epoch, 0, 10]


def test_an_iterator_cannot_start_over() -> None:
    assert log(make(generate())) == [0, 10, 20, 30, "end", "end"]
    assert log(make(iter(BATCHES), cycle="raise")) == [0, 10, 20, 30, "end", "end"]
    assert log(make(iter(BATCHES), cycle="quiet"), 1) == [0, 10, 20, 30, "end"]
    for cycle in ("raise", "quiet", True):
        with pytest.raises(ArgumentTypeError, match="Pass the generator function itself"):
            make(generate(), cycle=cycle).build()


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_callables_for_batches(depth: int) -> None:
    infos: list[tuple[int, int]] = []

    def with_info(info: types.BatchInfo) -> list[np.int64]:
        infos.append((info.epoch_idx, info.iteration))
        return with_number(info.iteration)

    def with_number(iteration: int) -> list[np.int64]:
        if iteration == 2:
            raise StopIteration
        return BATCHES[iteration]

    assert log(make(with_number, depth), 3) == [0, 10, "end"] * 3
    assert log(make(with_info, depth, batch_info=True), 2) == [0, 10, "end"] * 2
    assert infos[:3] == [(0, 0), (0, 1), (0, 2)]
    # For any prefetch depth, the next epoch begins with batch 0, and only once.
    assert infos[3:6] == [(1, 0), (1, 1), (1, 2)]


def test_callables_without_arguments() -> None:
    count = iter(range(100))
    assert log(make(lambda: [np.int64(next(count))] * 3, 1), 1, 3) == [0, 1, 2]


def test_callables_for_samples() -> None:
    infos: list[tuple[int, ...]] = []

    def source(info: types.SampleInfo) -> np.int64:
        if info.idx_in_epoch >= 7:
            raise StopIteration
        infos.append((info.epoch_idx, info.iteration, info.idx_in_batch, info.idx_in_epoch))
        return np.int64(info.idx_in_epoch)

    # The batch in flight of one sample is dropped.
    assert log(make(source, 1, batch=False)) == [0, 3, "end"] * 2
    expected = [(i // 3, i % 3, i) for i in range(7)]
    assert infos == [(epoch, *info) for epoch in (0, 1) for info in expected]


def test_iterables_of_samples() -> None:
    samples = [np.int64(i) for i in range(7)]
    assert log(make(samples, batch=False, cycle="raise")) == [0, 3, "end"] * 2
    assert log(make(samples, batch=False, cycle="quiet"), 1, 4) == [0, 3, 6, 2]


def test_arguments_follow_the_signature_of_the_source() -> None:
    class Source:
        def __call__(self, number: int) -> list[np.int64]:
            return [np.int64(number)] * 3

        def method(self, number: int, scale: int = 2) -> list[np.int64]:
            return [np.int64(number * scale)] * 3

    assert log(make(Source()), 1, 3) == [0, 1, 2]
    assert log(make(Source().method), 1, 3) == [0, 2, 4]
    # A sole parameter is the batch index, whether or not it has a default.
    assert log(make(lambda number=5: [np.int64(number)] * 3), 1, 2) == [0, 1]
    assert log(make(lambda number=5, scale=2: [np.int64(number * scale)] * 3), 1, 2) == [10, 10]
    assert log(make(functools.partial(lambda a, b: [np.int64(a + b)] * 3, 7)), 1, 2) == [7, 8]
    assert log(make(iter(BATCHES).__next__), 1, 2) == [0, 10]


@pytest.mark.parametrize("depth", [1, 2, 5])
@pytest.mark.parametrize("swap", [False, True])
def test_the_first_source_that_ends_ends_the_epoch(swap: bool, depth: int) -> None:
    lengths = (2, 4) if swap else (4, 2)
    with Pipeline(3, 2, None, prefetch_queue_depth=depth) as pipeline:
        pipeline.set_outputs(
            *(fn.external_source(BATCHES[:length], cycle="raise") for length in lengths)
        )
    pairs: list[Any] = []
    for _ in range(4):
        while True:
            try:
                pair = [int(batch.at(0)) for batch in pipeline.run()]
            except StopIteration:
                break
            pairs.append(tuple(reversed(pair) if swap else pair))
        pipeline.reset()
        pairs.append("end")
    # The longer one has lost a batch, for any prefetch depth.
    assert pairs == [(0, 0), (10, 10), "end", (30, 0), "end", "end", (10, 0), (20, 10), "end"]


def test_the_end_is_an_error_if_another_source_fails_at_it() -> None:
    def failing(iteration: int) -> list[np.int64]:
        return BATCHES[iteration] if iteration < 2 else 1 / 0

    with Pipeline(3, 2, None) as pipeline:
        pipeline.set_outputs(fn.external_source(BATCHES[:2]), fn.external_source(failing))
    assert [int(pipeline.run()[1].at(0)) for _ in range(2)] == [0, 10]
    with pytest.raises(SampleError, match="ZeroDivisionError"):
        pipeline.run()


def test_several_outputs() -> None:
    def source() -> tuple[list[Any], np.ndarray]:
        return [np.zeros((i + 1, 2), np.uint8) for i in range(3)], np.arange(3, dtype=np.int16)

    images, labels = make(source, num_outputs=2, layout=["HW", ""]).run()
    assert images.shape() == [(1, 2), (2, 2), (3, 2)]
    assert (images.layout(), labels.layout()) == ("HW", "")
    assert labels.as_array().tolist() == [0, 1, 2]
    (alone,) = make(lambda: (BATCHES[0],), num_outputs=1).run()
    assert alone.as_array().tolist() == [0, 1, 2]


def test_several_outputs_for_samples() -> None:
    def source(info: types.SampleInfo) -> tuple[np.int64, np.ndarray]:
        return np.int64(info.idx_in_epoch), np.zeros(info.idx_in_batch)

    numbers, arrays = make(source, num_outputs=2, batch=False).run()
    assert numbers.as_array().tolist() == [0, 1, 2]
    assert arrays.shape() == [(0,), (1,), (2,)]
    pairs = [(np.int64(i), np.zeros(i)) for i in range(4)]
    numbers, arrays = make(pairs, num_outputs=2, batch=False).run()
    assert numbers.as_array().tolist() == [0, 1, 2]
    assert arrays.shape() == [(0,), (1,), (2,)]


def test_kinds_of_batches() -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    listed = TensorListCPU(array, layout="W")
    for batch in (array, list(array), tuple(array), listed, memoryview(array), listed.as_tensor()):
        (found,) = make([batch]).run()
        np.testing.assert_array_equal(found.as_array(), array)
    (found,) = make(lambda: listed).run()
    assert found.layout() == "W"
    (found,) = make(lambda: listed, layout="C").run()
    assert found.layout() == "C"
    strided = np.arange(24).reshape(3, 8)[:, ::-2]
    np.testing.assert_array_equal(make(lambda: strided).run()[0].as_array(), strided)


def test_sources_may_reuse_their_memory() -> None:
    buffer = np.zeros(3, np.int64)

    def source(number: int) -> np.ndarray:
        buffer[:] = number
        return buffer

    pipeline = make(source)
    batches = [pipeline.run()[0] for _ in range(5)]
    assert [batch.as_array().tolist() for batch in batches] == [[i] * 3 for i in range(5)]


def test_batches_may_be_smaller_or_empty() -> None:
    pipeline = make([BATCHES[0][:2], [], BATCHES[1]])
    sizes = [len(pipeline.run()[0]) for _ in range(3)]
    assert sizes == [2, 0, 3]


def test_positional_arguments() -> None:
    first, second = make((lambda: (BATCHES[0], BATCHES[1])), num_outputs=2).run()
    with Pipeline(3, 1, None) as pipeline:
        pipeline.set_outputs(*fn.external_source(lambda: (BATCHES[0], BATCHES[1]), 2))
    again = pipeline.run()
    assert again[1].as_array().tolist() == second.as_array().tolist() == [10, 11, 12]
    assert again[0].as_array().tolist() == first.as_array().tolist()


# Feeding


def feedable(depth: int = 2, **arguments: Any) -> Pipeline:
    return make(None, depth, name="source", **arguments)


def test_feed_input() -> None:
    pipeline = feedable()
    for i in range(6):
        pipeline.feed_input("source", BATCHES[i % 4])
    assert [int(pipeline.run()[0].at(0)) for _ in range(4)] == [0, 10, 20, 30]


def test_feed_input_takes_nodes_and_layouts() -> None:
    with Pipeline(2, 1, None, prefetch_queue_depth=1) as pipeline:
        node = fn.external_source(layout="C")
        pipeline.set_outputs(node)
    array = np.zeros((2, 3))
    pipeline.feed_input(node, array)
    pipeline.feed_input(node, array)
    assert pipeline.run()[0].layout() == "C"
    pipeline = feedable(1)
    pipeline.feed_input("source", array, layout="W")
    assert pipeline.run()[0].layout() == "W"


def test_fed_data_is_copied_at_once() -> None:
    pipeline = feedable(1)
    ragged = [np.zeros(2), np.zeros(3)]
    pipeline.feed_input("source", ragged)
    for array in ragged:
        array[:] = 1
    assert [array.sum() for array in map(pipeline.run()[0].at, range(2))] == [0, 0]


def test_repeat_last() -> None:
    pipeline = feedable(repeat_last=True)
    pipeline.feed_input("source", BATCHES[1])
    assert [int(pipeline.run()[0].at(0)) for _ in range(3)] == [10, 10, 10]
    for _ in range(2):  # past the batch in flight
        pipeline.feed_input("source", BATCHES[2])
        found = int(pipeline.run()[0].at(0))
    assert found in {10, 20}
    assert int(pipeline.run()[0].at(0)) == 20


def test_blocking_source_waits_for_data() -> None:
    before = step_threads()
    pipeline = feedable(blocking=True)

    def feed() -> None:
        for batch in BATCHES:
            pipeline.feed_input("source", batch)

    thread = threading.Timer(0.05, feed)
    thread.start()
    assert [int(pipeline.run()[0].at(0)) for _ in range(4)] == [0, 10, 20, 30]
    thread.join()
    (step_thread,) = step_threads() - before
    pipeline.close()  # while the source waits for a fifth batch
    wait_until(lambda: not step_thread.is_alive())


def test_a_missing_batch_is_an_error_for_that_batch_only() -> None:
    pipeline = feedable(1)
    with pytest.raises(SampleError, match=r"Pipeline.feed_input before each run"):
        pipeline.run()
    pipeline.feed_input("source", BATCHES[3])
    assert int(pipeline.run()[0].at(0)) == 30


def test_wrong_feeding() -> None:
    pipeline = feedable()
    with pytest.raises(GraphError, match="got 'sauce'"):
        pipeline.feed_input("sauce", BATCHES[0])
    with pytest.raises(TypeError, match="must be numbers"):
        pipeline.feed_input("source", ["a"])
    with pytest.raises(GraphError, match="no source of its own"):
        make(BATCHES, name="source").feed_input("source", BATCHES[0])


# Errors


def fails_on(bad: int) -> Callable[..., Any]:
    def source(info: types.SampleInfo) -> np.int64:
        if info.idx_in_epoch == bad:
            raise OSError("disk on fire")
        return np.int64(info.idx_in_epoch)

    return source


def test_an_exception_in_the_source_ends_one_batch() -> None:
    pipeline = make(fails_on(4), batch=False)
    assert int(pipeline.run()[0].at(0)) == 0
    with pytest.raises(OSError, match="disk on fire") as caught:
        pipeline.run()
    (note,) = caught.value.__notes__
    assert note.startswith("raised for fn.external_source, at ")
    assert "test_external_source.py:" in note
    assert note.endswith(", iteration 1, sample 1")
    assert int(pipeline.run()[0].at(0)) == 6


@pytest.mark.parametrize(
    ("batch", "arguments", "message"),
    [
        ([np.zeros(1)] * 4, {}, "at most batch_size = 3 samples"),
        (None, {}, "must be numbers"),
        (np.float32(3), {}, "first dimension"),
        ([np.zeros(1), np.zeros(1, int), np.zeros(1)], {}, "one dtype"),
        ([np.zeros(1), np.zeros((1, 1)), np.zeros(1)], {}, "number of dimensions"),
        ([np.zeros(1)] * 3, {"dtype": types.UINT8}, "data with dtype .*UINT8"),
        ([np.zeros(1)] * 3, {"ndim": 2}, "data with ndim 2"),
        ([np.zeros(1)] * 3, {"layout": "HW"}, "layout"),
        ([np.zeros(1)] * 3, {"num_outputs": 2}, "each of the 2 outputs"),
        (([np.zeros(1)] * 3, [np.zeros(1)] * 2), {"num_outputs": 2}, "each of the 3 samples"),
        (3, {"num_outputs": 2}, "each of the 2 outputs"),
    ],
)
def test_wrong_batches(batch: Any, arguments: dict[str, Any], message: str) -> None:
    pipeline = make(lambda: batch, **arguments)
    for iteration in range(2):
        with pytest.raises(SampleError, match=message) as caught:
            pipeline.run()
        assert caught.value.operator == "external_source"
        assert caught.value.iteration == iteration


def test_right_batches_pass_the_checks() -> None:
    pipeline = make(
        lambda: ([np.zeros(1, np.uint8)] * 3, [np.zeros((1, 1))] * 3),
        num_outputs=2,
        dtype=[types.UINT8, None],
        ndim=[1, 2],
    )
    assert [batch.ndim() for batch in pipeline.run()] == [1, 2]


def test_sources_must_agree_on_the_size() -> None:
    with Pipeline(3, 2, None) as pipeline:
        pipeline.set_outputs(
            fn.external_source(lambda: BATCHES[0]), fn.external_source(lambda: BATCHES[0][:2])
        )
    with pytest.raises(SampleError, match="equally many samples"):
        pipeline.run()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"source": 3}, ArgumentTypeError, "source must be a callable"),
        ({"source": lambda a, b: 0}, ArgumentTypeError, "no argument or one"),
        ({"source": lambda *a: 0}, ArgumentTypeError, r"no argument or one .it takes \*a."),
        ({"source": lambda a, **b: 0}, ArgumentTypeError, r"no argument or one .it takes \*\*b."),
        ({"source": [], "cycle": "often"}, ArgumentValueError, "cycle must be"),
        ({"num_outputs": 2, "layout": ["A", "B", "C"]}, ArgumentValueError, "layout must have"),
        ({"dtype": [types.UINT8] * 2}, ArgumentValueError, "dtype must have"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        make(**arguments).build()
    assert "fn.external_source at" in str(caught.value)
    assert "test_external_source.py:" in str(caught.value)


def test_too_many_positional_arguments() -> None:
    with Pipeline(1, 1, None):
        with pytest.raises(ArgumentTypeError, match=r"external_source at .*got 3 values"):
            fn.external_source(None, 1, "no")
        with pytest.raises(ArgumentTypeError, match=r"external_source at .*got it twice"):
            fn.external_source(BATCHES, source=BATCHES)
