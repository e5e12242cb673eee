"""Parameters change between batches, at the same batch whatever is in flight."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dali_core import DataNode, Pipeline, fn, parameter, pipeline_def, types
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DaliCoreError,
    GraphError,
    SampleError,
    StateMismatchError,
    UnknownInputError,
)

WAYS = (
    {"prefetch_queue_depth": 1},
    {"prefetch_queue_depth": 4},
    {"prefetch_queue_depth": 3, "exec_async": False},
    {"exec_pipelined": False},
)
"""Ways to run, with different numbers of batches in flight."""


@pipeline_def(batch_size=2, num_threads=2, device_id=None, seed=5)
def sizes(initial: Any = 4) -> tuple[DataNode, DataNode]:
    """Return images whose size is a parameter, and numbers that another one scales."""
    image = fn.resize(np.zeros((8, 8, 3), np.uint8), size=[1, 1] * parameter("size", initial))
    scaled = fn.random.uniform(range=[1.0, 2.0]) * parameter("scale", 1.0)
    return fn.crop_mirror_normalize(image, output_layout="HWC", dtype=types.UINT8), scaled


def side(pipeline: Pipeline) -> int:
    """Return the height of the images of the next batch."""
    image, _ = pipeline.run()
    height: int = image.shape()[0][0]
    return height


@pytest.mark.parametrize("way", WAYS)
def test_batches_in_flight_keep_the_value(way: dict[str, Any]) -> None:
    pipeline = sizes(**way)
    assert [side(pipeline) for _ in range(3)] == [4] * 3
    first = pipeline.set_parameter("size", 6)
    depth = way.get("prefetch_queue_depth", 1)
    assert first == 3 + depth - 1
    assert [side(pipeline) for _ in range(6)] == [4] * (first - 3) + [6] * (9 - first)


@pytest.mark.parametrize("way", WAYS)
def test_a_change_is_at_the_same_batch_with_any_depth(way: dict[str, Any]) -> None:
    pipeline = sizes(**way)
    assert pipeline.set_parameter("size", 5, from_batch=2) == 2
    side(pipeline)
    pipeline.set_parameter("size", 7, from_batch=8)
    pipeline.set_parameter("size", 3, from_batch=6)
    pipeline.set_parameter("size", 2, from_batch=6)  # takes its place
    assert [side(pipeline) for _ in range(8)] == [4, 5, 5, 5, 5, 2, 2, 7]


def drive(pipeline: Pipeline, steps: range) -> list[Any]:
    """Run steps; change parameters at some of them."""
    given = []
    for step in steps:
        if step % 4 == 1:
            pipeline.set_parameter("size", 2 + step, from_batch=step + 5)
            pipeline.set_parameter("scale", step / 2, from_batch=step + 6)
        image, scaled = pipeline.run()
        given.append([image.shape(), scaled.as_array().tolist()])
    return given


@pytest.mark.parametrize("way", range(len(WAYS)))
def test_resumes_at_every_step(way: int) -> None:
    count = 14
    pipeline = sizes(**WAYS[way])
    states, expected = [], []
    for step in range(count):
        states.append(json.dumps(pipeline.state_dict()))
        expected += drive(pipeline, range(step, step + 1))
    for step, state in enumerate(states):
        resumed = sizes(**WAYS[(way + step) % len(WAYS)])
        resumed.load_state_dict(json.loads(state))
        assert drive(resumed, range(step, count)) == expected[step:], step


def test_rewinding_restores_parameter_values() -> None:
    pipeline = sizes()
    state = pipeline.state_dict()
    expected = drive(pipeline, range(10))
    pipeline.restart()
    batches = [pipeline.run() for _ in range(10)]
    assert [[image.shape(), scaled.as_array().tolist()] for image, scaled in batches] == expected
    pipeline.load_state_dict(state)
    assert [side(pipeline) for _ in range(8)] == [4] * 8  # that state knows of no change


def test_states_hold_pending_and_current_values() -> None:
    pipeline = sizes()
    assert "parameters" not in pipeline.state_dict()
    pipeline.set_parameter("size", 6, from_batch=2)
    pipeline.set_parameter("scale", 0.5, from_batch=3)
    assert pipeline.state_dict()["parameters"] == {"size": [[2, 6]], "scale": [[3, 0.5]]}


@pytest.mark.parametrize("optimize", [True, False])
def test_fused_chains_use_the_value_of_the_batch(optimize: bool) -> None:
    rng = np.random.default_rng(1)
    image = rng.integers(0, 256, (9, 9, 3), np.uint8)

    @pipeline_def(batch_size=2, num_threads=1, device_id=None, optimize=optimize)
    def contrasted(value: Any) -> DataNode:
        small = fn.resize(fn.external_source(lambda: [image] * 2, layout="HWC"), size=[6, 6])
        return fn.brightness(fn.flip(small), brightness=value)

    with_parameter = contrasted(parameter("brightness", 0.5))
    with_parameter.set_parameter("brightness", 1.5, from_batch=1)
    for value in (0.5, 1.5):
        expected = contrasted(value).run()[0].as_array()
        assert np.array_equal(with_parameter.run()[0].as_array(), expected)


def test_a_parameter_may_be_an_output_and_decide() -> None:
    @pipeline_def(batch_size=3, num_threads=1, device_id=None, enable_conditionals=True)
    def deciding() -> Any:
        matrix = parameter("matrix", np.array([[1.0, 2]], np.float32))
        number = fn.constant(idata=1) if parameter("flag", False) else fn.constant(idata=2)
        return matrix, number

    pipeline = deciding()
    assert pipeline.set_parameter("matrix", np.ones((2, 3)), 1) == 1
    pipeline.set_parameter("flag", True, 1)
    matrix, number = pipeline.run()
    assert matrix.as_array().tolist() == [[[1, 2]]] * 3
    assert number.as_array().ravel().tolist() == [2] * 3
    matrix, number = pipeline.run()
    assert matrix.as_array().shape == (3, 2, 3)
    assert number.as_array().ravel().tolist() == [1] * 3


def test_functions_that_write_do_not_change_later_batches() -> None:
    def double(array: Any) -> Any:
        array *= 2
        return array

    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def doubling() -> Any:
        batch = fn.external_source(lambda info: [np.int64(info)] * (1 + info % 2), batch=True)
        return fn.python_function(parameter("value", [3]), function=double), batch

    pipeline = doubling()
    for iteration in range(4):
        value, _ = pipeline.run()
        assert value.as_array().tolist() == [[6]] * (1 + iteration % 2)


def test_documents_hold_parameters() -> None:
    document = sizes().serialize()
    pipeline = Pipeline.deserialize(document)
    pipeline.set_parameter("size", 5, from_batch=1)
    assert [side(pipeline) for _ in range(2)] == [4, 5]


def test_a_value_out_of_range_names_the_operator() -> None:
    pipeline = Pipeline(batch_size=2, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipeline:
        pipeline.set_outputs(fn.random.coin_flip(probability=parameter("share", 0.0)))
    pipeline.set_parameter("share", 1.5, from_batch=1)
    assert pipeline.run()[0].as_array().tolist() == [0, 0]
    with pytest.raises(SampleError, match=r"fn.random.coin_flip, at .*test_parameters.py.*1.5"):
        pipeline.run()
    pipeline.set_parameter("share", 1)
    assert pipeline.run()[0].as_array().tolist() == [1, 1]


WRONG: list[tuple[Callable[[Pipeline], Any], type[DaliCoreError], str]] = [
    (
        lambda p: p.set_parameter("width", 1),
        UnknownInputError,
        r"got 'width'\).*'scale', 'size'|'size', 'scale'",
    ),
    (
        lambda p: p.set_parameter("size", 1.5),
        ArgumentValueError,
        r"'size': .*int32 with 0 \(got 1.5",
    ),
    (lambda p: p.set_parameter("size", 2**40), ArgumentValueError, "'size'"),
    (lambda p: p.set_parameter("size", [1, 2]), ArgumentValueError, r"int32 with 0 \(got \[1, 2\]"),
    (lambda p: p.set_parameter("size", "big"), ArgumentTypeError, "'size'"),
    (lambda p: p.set_parameter("scale", 1e300), ArgumentValueError, "'scale'"),
    (lambda p: p.set_parameter("size", 1, 2), ArgumentValueError, r"at least 4.*\(got 2\)"),
    (lambda p: p.set_parameter("size", 1, -1), ArgumentValueError, r"at least 4.*\(got -1\)"),
    (lambda p: p.set_parameter("size", 1, "5"), ArgumentTypeError, "from_batch must be an integer"),  # type: ignore[arg-type]
]
"""What cannot be set after three batches, with one more in flight, and the error."""


@pytest.mark.parametrize(("change", "kind", "message"), WRONG)
def test_wrong_changes(
    change: Callable[[Pipeline], Any], kind: type[DaliCoreError], message: str
) -> None:
    pipeline = sizes()
    for _ in range(3):
        pipeline.run()
    with pytest.raises(kind, match=message):
        change(pipeline)
    assert [side(pipeline) for _ in range(3)] == [4] * 3


@pytest.mark.parametrize(
    "described",
    [
        {"width": [[1, 2]]},
        {"size": 5},
        {"size": [[1]]},
        {"size": [[-1, 2]]},
        {"size": [[2, 2], [1, 2]]},
        {"size": [[1, 2.5]]},
        {"size": [[1, [2]]]},
    ],
)
def test_states_that_do_not_fit(described: Any) -> None:
    pipeline = sizes()
    state = pipeline.state_dict() | {"parameters": described}
    with pytest.raises(StateMismatchError, match="parameter"):
        pipeline.load_state_dict(state)
    assert side(pipeline) == 4


def test_wrong_definitions() -> None:
    with Pipeline(batch_size=1, num_threads=1, device_id=None):
        with pytest.raises(ArgumentTypeError, match="parameter at .*name must be a text"):
            parameter(5, 5)  # type: ignore[arg-type]
        with pytest.raises(ArgumentTypeError, match="parameter at"):
            parameter("size", "big")
        parameter("size", 1)
        with pytest.raises(GraphError, match="name must be unique"):
            parameter("size", 1)


def test_functions_of_the_pipeline_cannot_change_it() -> None:
    @pipeline_def(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=1)
    def changing() -> Any:
        return fn.external_source(change), parameter("value", 1)

    def change() -> Any:
        pipeline.set_parameter("value", 2)

    pipeline = changing()
    with pytest.raises(SampleError, match="by a function of its own"):
        pipeline.run()
