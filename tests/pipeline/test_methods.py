"""Properties and inputs of pipelines, and invalid calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dali_core import DataNode, OperatorConcurrency, Pipeline, StreamPolicy, fn, types
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    GraphError,
    NoBatchError,
    NotFedError,
    PipelineStateError,
    SampleError,
    UnknownInputError,
)
from dali_core.pipeline._parts import PipelineParts
from tests.pipeline.counting import counting, first, numbers

ARRAY = np.arange(6).reshape(2, 3)


def fed(*names: str, depth: int = 1, **arguments: Any) -> Pipeline:
    """Make a pipeline whose outputs are its inputs."""
    with Pipeline(2, 1, None, prefetch_queue_depth=depth) as made:
        made.set_outputs(*(fn.external_source(name=name, **arguments) for name in names))
    return made


# Constructor arguments


def test_properties_by_default() -> None:
    made = counting()
    assert (made.batch_size, made.max_batch_size, made.num_threads) == (3, 3, 2)
    assert (made.device_id, made.seed, made.num_outputs) == (None, None, 1)
    assert (made.exec_pipelined, made.exec_async, made.exec_separated) == (True, True, False)
    assert made.exec_dynamic is True
    assert (made.prefetch_queue_depth, made.cpu_queue_size, made.gpu_queue_size) == (2, 2, 2)
    assert (made.max_streams, made.default_cuda_stream_priority) == (-1, 0)
    assert (made.stream_policy, made.concurrency, made.output_stream()) == (None, None, None)
    assert (made.set_affinity, made.enable_memory_stats) == (False, False)
    assert (made.output_dtype(), made.output_ndim(), made.output_layout()) == ([None],) * 3


def test_properties_that_were_given() -> None:
    made = counting(
        seed=2**64 - 3,
        prefetch_queue_depth={"cpu_size": 4, "gpu_size": 1},
        experimental_exec_dynamic=False,
        exec_dynamic=True,
        stream_policy=StreamPolicy.SINGLE,
        concurrency=OperatorConcurrency.FULL,
        enable_memory_stats=True,
        output_dtype=types.INT64,
        output_ndim=[None],
        output_layout="",
    )
    assert (made.seed, made.cpu_queue_size, made.gpu_queue_size) == (2**64 - 3, 4, 1)
    assert (made.exec_separated, made.exec_dynamic) == (True, False)
    assert made.stream_policy is StreamPolicy.SINGLE
    assert made.concurrency is OperatorConcurrency.FULL
    assert made.enable_memory_stats is True
    assert made.output_dtype() == [types.INT64]
    assert (made.output_ndim(), made.output_layout()) == ([None], [""])
    assert first(made.run()) == 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"concurrency": 6}, ArgumentTypeError, "concurrency must be a OperatorConcurrency"),
        ({"stream_policy": "x"}, ArgumentTypeError, "stream_policy must be a StreamPolicy"),
        ({"output_dtype": "int"}, ArgumentTypeError, "output_dtype must be a types.DALIDataType"),
        ({"output_dtype": types.NO_TYPE}, ArgumentValueError, "output_dtype must describe"),
        ({"output_ndim": [0, -1]}, ArgumentValueError, "output_ndim must describe"),
        ({"output_ndim": True}, ArgumentTypeError, "output_ndim must be an int"),
        ({"output_layout": 3}, ArgumentTypeError, "output_layout must be a str"),
        ({"num_threads": 5000}, ArgumentValueError, "num_threads must be at most 4096"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], error: type, message: str) -> None:
    with pytest.raises(error, match=rf"Pipeline at .*test_methods.py:\d+: {message}"):
        Pipeline(**{"batch_size": 1, "device_id": None, **arguments})


def test_expected_layouts() -> None:
    for layout, message in (("YX", None), ([None], None), ("XY", "must have output_layout 'XY'")):
        with Pipeline(2, 1, None, output_layout=layout) as made:
            made.set_outputs(fn.external_source(lambda: [ARRAY] * 2, layout="YX"))
        if message is None:
            assert made.run()[0].layout() == "YX"
        else:
            with pytest.raises(GraphError, match=message):
                made.run()


# Inputs


def test_inputs_by_name() -> None:
    made = fed("one", "two")
    one, two = made.run(one=ARRAY, two=[np.float32(1), np.float32(2)])
    assert one.as_array().tolist() == ARRAY.tolist()
    assert two.as_array().tolist() == [1, 2]
    with pytest.raises(UnknownInputError, match="Pipeline.run: .*'three'.*'one', 'two'"):
        made.run(one=ARRAY, three=ARRAY)
    # Nothing of that call was fed.
    (again, _) = made.run(None, one=ARRAY + 1, two=[np.float32(3), np.float32(4)])
    assert again.as_array().tolist() == (ARRAY + 1).tolist()


def test_inputs_by_name_need_pipelines_that_do_not_run_ahead() -> None:
    with pytest.raises(PipelineStateError, match="Pipeline.run: .*prefetch_queue_depth=1"):
        fed("x", depth=2).run(x=ARRAY)


@pytest.mark.parametrize("depth", [1, 3])
def test_single_batches_with_their_inputs(depth: int) -> None:
    made = fed("one", "two", depth=depth)
    assert made.input_names == ["one", "two"]
    for number in range(3):
        made.schedule_batch(one=ARRAY[: number + 1], two=ARRAY[: number + 1] + number)
    for number in range(3):
        one, two = made.outputs()
        assert one.as_array().tolist() == ARRAY[: number + 1].tolist()
        assert two.as_array().tolist() == (ARRAY[: number + 1] + number).tolist()
    assert made.empty()


def test_single_batches_that_do_not_fit() -> None:
    made = fed("one", "two", depth=2)
    with pytest.raises(ArgumentValueError, match="Pipeline.schedule_batch: .*none for 'two'"):
        made.schedule_batch(one=ARRAY)
    with pytest.raises(UnknownInputError, match="Pipeline.schedule_batch: .*'three'"):
        made.schedule_batch(one=ARRAY, two=ARRAY, three=ARRAY)
    with pytest.raises(ArgumentTypeError, match="must be numbers"):
        made.schedule_batch(one=ARRAY, two=[object()])
    assert made.empty()
    too_many = np.zeros((100, 3), ARRAY.dtype)
    made.schedule_batch(one=too_many, two=too_many)
    made.schedule_batch(one=ARRAY, two=ARRAY + 1)
    with pytest.raises(SampleError, match="at most batch_size"):
        made.outputs()
    assert made.outputs()[1].as_array().tolist() == (ARRAY + 1).tolist()


def test_a_source_that_fails_takes_nothing_of_the_next_batch() -> None:
    def source(number: int) -> list[np.ndarray]:
        if number == 1:
            raise LookupError("the second batch")
        return [np.float32(number)] * 2

    with Pipeline(2, 1, None, prefetch_queue_depth=2) as made:
        made.set_outputs(fn.external_source(source), fn.external_source(name="x"))
    for number in range(4):
        made.feed_input("x", [np.float32(number)] * 2)
    found = []
    for _ in range(3):
        try:
            found.append([float(np.asarray(batch[0])) for batch in made.run()])
        except LookupError:
            found.append([])
        made.feed_input("x", [np.float32(len(found) + 3)] * 2)
    assert found == [[0, 0], [], [2, 2]]


def test_no_inputs() -> None:
    with Pipeline(2, 1, None) as made:
        made.set_outputs(fn.random.uniform(), fn.external_source(lambda: ARRAY))
    assert made.input_names == []


@pytest.mark.parametrize("depth", [1, 3])
def test_counts_of_batches_to_feed(depth: int) -> None:
    made = fed("x", depth=depth)
    for number in range(made.input_feed_count("x")):
        made.feed_input("x", ARRAY + number)
    for number in range(5):
        (batch,) = made.run()
        assert batch.as_array()[0, 0] == number
        made.feed_input("x", ARRAY + number + depth)
    with pytest.raises(UnknownInputError, match="Pipeline.input_feed_count: .*got 'y'"):
        made.input_feed_count("y")


def test_ways_to_feed() -> None:
    with Pipeline(2, 1, None, prefetch_queue_depth=1) as made:
        node = fn.external_source()
        made.set_outputs(node)
    made.feed_input(node, ARRAY, "X", None, True)
    (batch,) = made.run()
    assert (batch.as_array().tolist(), batch.layout()) == (ARRAY.tolist(), "X")
    made.feed_input(node.name, list(ARRAY), "X")
    assert made.run()[0].layout() == "X"
    with pytest.raises(ArgumentTypeError, match="data_node must be a DataNode or a str"):
        made.feed_input(3, ARRAY)  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="must name an external_source"):
        made.feed_input("nobody", ARRAY)
    with pytest.raises(ArgumentValueError, match="layout must be that of the external_source, 'Q'"):
        fed("x", layout="Q").feed_input("x", ARRAY, "X")


def test_feeding_too_little() -> None:
    made = fed("x")
    with pytest.raises(NotFedError, match="a batch must be fed for each iteration") as caught:
        made.run()
    assert isinstance(caught.value, IndexError)
    assert caught.value.operator == "external_source"
    assert made.run(x=ARRAY)[0].as_array().tolist() == ARRAY.tolist()


def test_closed_pipelines_take_nothing() -> None:
    made = fed("x")
    made.run(x=ARRAY)
    made.close()
    for call in (
        lambda: made.feed_input("x", ARRAY),
        lambda: made.input_feed_count("x"),
        lambda: made.run(x=ARRAY),
    ):
        with pytest.raises(PipelineStateError, match="it was closed"):
            call()


# Ways to run


def test_outputs_without_a_scheduled_batch_raise() -> None:
    made = counting(prefetch_queue_depth=1)
    with pytest.raises(NoBatchError, match="a batch must have been started"):
        made.share_outputs()
    made.schedule_run()
    found = []
    try:  # a loop that ends like those over iterators
        while True:
            found.append(first(made.outputs()))
    except StopIteration:
        assert found == [0]


@pytest.mark.parametrize("method", ["run", "outputs", "share_outputs"])
def test_outputs_are_on_the_host(method: str) -> None:
    made = counting()
    if method != "run":
        made.schedule_run()
    assert first(getattr(made, method)(7)) == 0  # nothing is on a device, where it could wait
    assert made.output_stream() is None


def test_sinks_are_computed() -> None:
    seen = []
    with Pipeline(3, 1, None) as made:
        data = fn.external_source(numbers)
        made.add_sink(fn.python_function(data, function=lambda x: (seen.append(int(x)), x)[1]))
        made.set_outputs(data)
        with pytest.raises(ArgumentTypeError, match="edge of add_sink must be a DataNode"):
            made.add_sink(3)  # type: ignore[arg-type]
    assert first(made.run()) == 0
    assert seen[:3] == [0, 1, 2]
    with pytest.raises(PipelineStateError, match="add_sink: must be called before"):
        made.add_sink(data)


def test_pushing_and_popping() -> None:
    made, other = counting(), Pipeline(1, 1, None)
    Pipeline.push_current(made)
    Pipeline.push_current(other)
    assert Pipeline.current() is other
    Pipeline.pop_current()
    assert Pipeline.current() is made
    Pipeline.pop_current()
    assert Pipeline.current() is None
    with pytest.raises(PipelineStateError, match="a pipeline must be current"):
        Pipeline.pop_current()
    with pytest.raises(ArgumentTypeError, match="pipeline must be a Pipeline"):
        Pipeline.push_current(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["epoch_size", "reader_meta"])
def test_unknown_readers_raise(name: str) -> None:
    made = counting()
    method: Callable[..., Any] = getattr(made, name)
    assert method() == {}
    with pytest.raises(GraphError, match="there is no reader named 'x'"):
        method("x")


def test_the_number_of_outputs_needs_no_data(tmp_path: Any) -> None:
    class Lazy(Pipeline):
        def define_graph(self) -> list[DataNode]:
            return list(fn.readers.file(file_root=tmp_path / "missing"))

    assert Lazy(1, 1, None).num_outputs == 2


def test_a_pipeline_consists_of_parts() -> None:
    parts = {"_closing", "_definition", "_inputs", "_options", "_run", "_states"}
    assert set(vars(Pipeline(batch_size=1))) == parts
    # The classes of its methods know none of the others, so no name may be in two of them.
    assert all(kind.__bases__ == (PipelineParts,) for kind in Pipeline.__bases__)
    names = [
        name
        for kind in (Pipeline, *Pipeline.__bases__)
        for name in vars(kind)
        if not name.startswith("__")
    ]
    assert len(names) == len(set(names))
