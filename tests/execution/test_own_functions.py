"""A pipeline that is run by its own function raises an error instead of a deadlock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import PipelineStateError, SampleError

CALLS: dict[str, Callable[[Pipeline], Any]] = {
    "run": lambda pipeline: pipeline.run(),
    "schedule_run": lambda pipeline: pipeline.schedule_run(),
    "outputs": lambda pipeline: pipeline.outputs(),
    "share_outputs": lambda pipeline: pipeline.share_outputs(),
    "reset": lambda pipeline: pipeline.reset(),
    "state_dict": lambda pipeline: pipeline.state_dict(),
    "load_state_dict": lambda pipeline: pipeline.load_state_dict(EMPTY),
    "checkpoint": lambda pipeline: pipeline.checkpoint(),
}
EMPTY: dict[str, Any] = {}


class Caller:
    """A source and a function, one of which calls a method of its pipeline."""

    def __init__(self, place: str, call: Callable[[Pipeline], Any], **arguments: Any) -> None:
        self.place = place
        self.call = call
        self.errors: list[PipelineStateError] = []
        parallel = {"parallel": True} if place == "worker" else {}
        with Pipeline(2, 1, None, **arguments) as self.pipeline:
            numbers = fn.external_source(self.source, batch=True, **parallel)
            self.pipeline.set_outputs(fn.python_function(numbers, function=self.function))

    def source(self, number: int) -> list[np.ndarray]:
        if self.place != "function" and number == 1:
            self.act()
        return [np.array([number])] * 2

    def function(self, x: np.ndarray) -> np.ndarray:
        if self.place == "function" and x[0] == 1:
            self.act()
        return x

    def act(self) -> None:
        try:
            self.call(self.pipeline)
        except PipelineStateError as error:
            self.errors.append(error)
            raise


@pytest.fixture(autouse=True, scope="module")
def _state() -> None:
    with Pipeline(2, 1, None) as pipeline:
        numbers = fn.external_source(lambda number: [np.array([number])] * 2, batch=True)
        pipeline.set_outputs(fn.python_function(numbers, function=lambda x: x))
    EMPTY.update(pipeline.state_dict())


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("place", ["source", "function"])
@pytest.mark.parametrize("exec_async", [True, False])
@pytest.mark.parametrize("depth", [1, 3])
def test_pipeline_calls_from_its_own_functions_raise(
    name: str, place: str, exec_async: bool, depth: int
) -> None:
    caller = Caller(place, CALLS[name], exec_async=exec_async, prefetch_queue_depth=depth)
    assert int(caller.pipeline.run()[0].at(0)[0]) == 0
    with pytest.raises(SampleError) as caught:
        caller.pipeline.run()
    assert isinstance(caught.value.__cause__, PipelineStateError)
    assert int(caller.pipeline.run()[0].at(0)[0]) == 2  # the pipeline continues
    operator = {"source": "external_source", "function": "python_function"}[place]
    for error in caller.errors:
        assert f"by that of fn.{operator} at {__file__}" in str(error)
        assert "use another pipeline there" in str(error)
    assert caller.errors
    caller.pipeline.close()


@pytest.mark.parametrize("name", ["run", "schedule_run", "outputs", "reset"])
def test_pipeline_calls_from_worker_threads_raise(name: str) -> None:
    caller = Caller("worker", CALLS[name], py_start_method="thread", py_num_workers=1)
    assert int(caller.pipeline.run()[0].at(0)[0]) == 0
    with pytest.raises(SampleError, match="by a source of its own") as caught:
        caller.pipeline.run()
    assert isinstance(caught.value.__cause__, PipelineStateError)
    assert int(caller.pipeline.run()[0].at(0)[0]) == 2
    caller.pipeline.close()


@pytest.mark.parametrize("place", ["source", "function"])
@pytest.mark.parametrize("exec_async", [True, False])
def test_another_pipeline_may_be_run(place: str, exec_async: bool) -> None:
    with Pipeline(2, 1, None) as other:
        other.set_outputs(fn.external_source(lambda number: [np.array([number])] * 2))
    seen = []
    caller = Caller(place, lambda _: seen.append(other.run()), exec_async=exec_async)
    for number in range(3):
        assert int(caller.pipeline.run()[0].at(0)[0]) == number
    assert seen
    caller.pipeline.close()
