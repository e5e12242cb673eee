"""Values outside of pipelines, or of one that is never built: each pipeline computes its own."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dali_core import DataNode, Pipeline, fn, ops, pipeline_def, types
from dali_core.errors import ArgumentTypeError, GraphError, UnknownInputError

EMPTY = {"batch_size": 2, "num_threads": 1, "device_id": None, "seed": 5}


def pipeline_of(*outputs: Any, **options: Any) -> Pipeline:
    pipeline = Pipeline(**{**EMPTY, **options})
    pipeline.set_outputs(*outputs)
    return pipeline


def values(pipeline: Pipeline) -> list[list[Any]]:
    return [[np.array(batch.at(i)).tolist() for i in range(2)] for batch in pipeline.run()]


def counted() -> Callable[[int], np.ndarray]:
    return lambda iteration: np.array([10 * iteration, 10 * iteration + 1])


def chosen(condition: DataNode, value: DataNode) -> DataNode:
    @pipeline_def(enable_conditionals=True, **EMPTY)
    def define() -> DataNode:
        return value + 1 if condition else value * 10

    return define()


def test_outputs_inputs_and_arguments() -> None:
    number = fn.external_source(counted())
    mean = types.Constant(np.float32([1, 2]))
    layout = fn.constant(idata=[0, 1, 2, 3], shape=[2, 2, 1], dtype=types.UINT8, layout="HWC")
    flipped = fn.flip(layout, horizontal=number)
    with Pipeline(**EMPTY) as pipeline:
        pipeline.set_outputs(fn.copy(number), mean * 2, flipped)
    results = values(pipeline)
    assert results[:2] == [[0, 1], [[2, 4], [2, 4]]]
    assert np.ravel(results[2]).tolist() == [0, 1, 2, 3, 1, 0, 3, 2]


def test_a_graph_of_any_depth_is_one_source() -> None:
    numbers = fn.external_source(counted())
    value = numbers
    for _ in range(2000):
        value = value + 1
    pipeline = pipeline_of(value, numbers, value - numbers, optimize=False)
    assert values(pipeline) == [[2000, 2001], [0, 1], [2000, 2000]]
    assert (
        sum(node.spec.name == "external_source" for node in pipeline._definition.graph.nodes) == 1
    )
    assert values(pipeline)[1] == [10, 11]


def test_arguments_of_functions_and_conditions() -> None:
    condition = fn.external_source(lambda: np.array([True, False]))
    assert values(chosen(condition, types.Constant([7]))) == [[[8], [70]]]

    @pipeline_def(**EMPTY)
    def define(value: DataNode) -> DataNode:
        return value + 1

    node = fn.external_source(counted())
    assert values(define(node)) == [[1, 2]]
    assert values(define(node)) == [[1, 2]]


def test_decisions_need_a_pipeline() -> None:
    node = types.Constant([1])
    functions = []

    @pipeline_def(enable_conditionals=True, **EMPTY)
    def define() -> DataNode:
        def decide(value: Any) -> Any:
            return 1 if value else 2

        functions.append(decide)
        return types.Constant([decide(True)])

    define()
    with pytest.raises(GraphError, match="if at .*must be made while a pipeline is being defined"):
        functions[0](node)


def test_pipelines_share_nothing_but_the_source() -> None:
    drawn = fn.random.uniform(seed=3)
    numbers = fn.external_source(counted())
    shared = (drawn, numbers, numbers + 1)
    one, two = pipeline_of(*shared), pipeline_of(*shared, batch_size=1)
    for number in range(3):
        assert values(one)[1] == [10 * number, 10 * number + 1]
    two.set_outputs(numbers)
    inner = pipeline_of(drawn)
    assert values(inner)[0] == values(pipeline_of(drawn))[0]
    one.close()
    assert values(pipeline_of(*shared))[1:] == [[0, 1], [1, 2]]
    assert not hasattr(numbers.owner, "nodes")
    assert (numbers.name, repr(numbers)) == (
        "external_source",
        "DataNode(name='external_source', device='cpu')",
    )


def test_values_of_a_pipeline_that_is_not_built() -> None:
    with Pipeline(**EMPTY) as other:
        value = fn.external_source(counted()) + 1
        other.set_outputs(value)
    pipeline = pipeline_of(value, value * 2)
    assert values(pipeline) == [[1, 2], [2, 4]]
    assert values(other) == [[1, 2]]


def test_value_of_a_branch_raises_outside_of_it() -> None:
    inner: list[DataNode] = []
    condition = fn.external_source(lambda: np.array([True, False]))

    @pipeline_def(enable_conditionals=True, **EMPTY)
    def define() -> DataNode:
        result = types.Constant([0])
        if condition:
            result = types.Constant([1])
            inner.append(result)
        return result

    define()
    with pytest.raises(GraphError, match="made in a branch"):
        pipeline_of(*inner)
    with pytest.raises(GraphError, match="made in a branch"):
        inner[0] + 1


def test_state_does_not_leak_into_another_definition() -> None:
    """A node of the outer pipeline is used while an inner one is being defined, and back."""
    with Pipeline(**EMPTY) as outer:
        number = fn.external_source(counted())
        with Pipeline(**EMPTY) as inner:
            inner.set_outputs(number + 1)
        outer.set_outputs(number * 2)
    assert [node.spec.name for node in outer._definition.graph.nodes].count("external_source") == 1
    assert (values(inner), values(outer)) == ([[1, 2]], [[0, 2]])


def test_feeding() -> None:
    fed = fn.external_source()
    named = fn.external_source(name="named")
    pipeline = pipeline_of(fed + 1, named, prefetch_queue_depth=1)
    pipeline.feed_input(fed, [np.int32(1), np.int32(2)])
    pipeline.feed_input("named", [np.int32(3), np.int32(4)])
    assert values(pipeline) == [[2, 3], [3, 4]]
    with pytest.raises(UnknownInputError):
        pipeline.feed_input(fn.external_source(name="unused"), [])


def test_sinks_and_operators_without_outputs() -> None:
    calls: list[int] = []
    watched = fn.python_function(function=lambda: calls.append(1) or np.int32(1))
    with Pipeline(**EMPTY) as pipeline:
        pipeline.set_outputs(types.Constant([1]))
    pipeline.add_sink(watched)
    pipeline.run()
    assert len(calls) >= 2
    with pytest.raises(GraphError, match="fn.python_function at .*must be called while a pipeline"):
        fn.python_function(types.Constant([1]), function=print, num_outputs=0)


def test_errors_name_the_line_of_the_call() -> None:
    with pytest.raises(ArgumentTypeError, match=rf"fn.flip at {__file__}:\d+: unknown argument"):
        fn.flip(types.Constant([1]), horizontl=1)
    twice = [types.Constant([1], name="same"), types.Constant([2], name="same")]
    with pytest.raises(GraphError, match="name must be unique in the pipeline .got 'same' again"):
        pipeline_of(*twice)
    failing = types.Constant([1]) // types.Constant([0])  # the line that fails
    with open(__file__, encoding="utf-8") as file:
        line = next(
            number for number, text in enumerate(file, 1) if "# the line that fails" in text
        )
    with pytest.raises(Exception, match=rf"{__file__}:{line}"):
        pipeline_of(failing).run()


def test_documents() -> None:
    drawn = fn.random.uniform(range=[0.0, 1.0]) + types.Constant(np.float32([1, 2]))
    pipeline = pipeline_of(drawn)
    again = Pipeline.deserialize(pipeline.serialize())
    assert values(again) == values(pipeline)
    assert pipeline_of(drawn).serialize() == pipeline.serialize()


def test_states_fit_any_pipeline_of_the_same_values() -> None:
    drawn = fn.random.uniform()
    one = pipeline_of(drawn)
    one.run()
    two = pipeline_of(drawn)
    two.load_state_dict(one.state_dict())
    assert values(one) == values(two)


def test_operator_objects_and_names() -> None:
    node = ops.Copy(name="copied")(fn.external_source(counted(), name="numbers"))
    pipeline = pipeline_of(node)
    assert values(pipeline) == [[0, 1]]
    assert [node.name for node in pipeline._definition.graph.nodes] == ["numbers", "copied"]


def test_threads_define_pipelines_of_the_same_values() -> None:
    shared = types.Constant([1, 2]) + 1
    found: dict[int, Any] = {}

    def define(number: int) -> None:
        with Pipeline(**EMPTY) as pipeline:
            pipeline.set_outputs(shared * number)
        found[number] = values(pipeline)

    threads = [threading.Thread(target=define, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: [[[2 * n, 3 * n]] * 2] for n in range(4)}


@pytest.mark.parametrize("seed", range(20))
def test_operators_called_outside_of_the_pipeline_give_the_same(seed: int) -> None:
    """A random graph returns the same, whichever operators are called inside the pipeline."""

    def build(inside: Callable[[], bool]) -> list[list[Any]]:
        rng = random.Random(seed)
        pipeline = Pipeline(**EMPTY)
        nodes: list[DataNode] = []

        def call(function: Callable[..., Any], *inputs: Any) -> None:
            if inside():
                with pipeline:
                    nodes.append(function(*inputs))
            else:
                nodes.append(function(*inputs))

        call(fn.external_source, counted())
        call(types.Constant, [3, 4])
        for _ in range(12):
            one, two = rng.choice(nodes), rng.choice(nodes)
            kind = rng.randrange(4)
            if kind == 0:
                call(lambda a, b: a + b, one, two)
            elif kind == 1:
                call(fn.copy, one)
            elif kind == 2:
                call(lambda a, b: a * 2 - b, one, two)
            else:
                call(lambda a: fn.python_function(a, function=lambda x: x + 1), one)
        pipeline.set_outputs(*rng.sample(nodes, 4))
        return [values(pipeline), values(pipeline)]

    where = random.Random(seed + 100)
    assert build(lambda: where.random() < 0.5) == build(lambda: True) == build(lambda: False)
