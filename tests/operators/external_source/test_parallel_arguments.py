"""Arguments of parallel sources and of their pipelines, and how sources are sent to the workers."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    GraphError,
    SampleError,
    WorkerError,
)
from tests.operators.external_source import sources
from tests.operators.external_source.sources import make


def test_workers_may_start_before_the_pipeline_is_built() -> None:
    value = [1]
    pipeline = make(lambda info: np.int64(value), batch=False)
    assert pipeline.start_py_workers() is None
    value[0] = 2
    pipeline.build()
    assert pipeline.run()[0].as_array().ravel().tolist() == [1, 1, 1]
    assert (pipeline.py_num_workers, pipeline.py_start_method) == (2, "fork")
    never_built = make(sources.numbers, batch=False)
    never_built.start_py_workers()
    never_built.close()


@pytest.mark.parametrize(
    ("source", "arguments", "message"),
    [
        (lambda: [1], {"batch": True}, "must take one argument"),
        (lambda a, b: [1], {}, "no argument or one"),
        (sources.generate, {"batch": False}, "batch must be True for an iterable"),
        ([[1]], {"batch": False}, "batch must be True for an iterable"),
        (None, {}, "parallel must be False without a source"),
        (5, {}, "source must be a callable"),
        (sources.numbers, {"prefetch_queue_depth": 0}, "'prefetch_queue_depth' must be at least 1"),
        (sources.numbers, {"bytes_per_sample_hint": 0}, "bytes_per_sample_hint must be positive"),
        (sources.numbers, {"workers": 0}, "the pipeline has no workers"),
    ],
)
def test_invalid_sources_raise(source: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(
        (ArgumentTypeError, ArgumentValueError, GraphError), match=message
    ) as caught:
        make(source, **arguments).build()
    assert "fn.external_source at " in str(caught.value)
    assert "sources.py" in str(caught.value)


@pytest.mark.parametrize(
    "arguments",
    [
        {"py_num_workers": -1},
        {"py_num_workers": True},
        {"py_num_workers": "2"},
        {"py_start_method": "threads"},
        {"py_callback_pickler": 3},
        {"py_callback_pickler": (pickle, 3)},
        {"py_callback_pickler": ()},
    ],
)
def test_arguments_of_the_pipeline_are_checked(arguments: dict[str, Any]) -> None:
    with pytest.raises((ArgumentTypeError, ArgumentValueError), match=next(iter(arguments))):
        Pipeline(1, 1, None, **arguments)


class Pickler:
    """Sends a name instead of the function."""

    @staticmethod
    def dumps(function: Any, name: str) -> bytes:
        assert function.__name__ == "<lambda>"
        return name.encode()

    @staticmethod
    def loads(data: bytes, suffix: str = "") -> Any:
        function: Callable[..., Any] = getattr(sources, data.decode() + suffix)
        return function


def test_another_pickler() -> None:
    pickler = (Pickler, {"name": "num"}, {"suffix": "bers"})
    pipeline = make(
        lambda info: np.zeros(1),
        "spawn",
        workers=1,
        batch=False,
        pipeline_arguments={"py_callback_pickler": pickler},
    )
    assert pipeline.run()[0].as_array()[:, 0].tolist() == [0, 1, 2]


def test_unpicklable_source_raises_before_workers_start() -> None:
    pipeline = make(
        lambda info: np.zeros(1),
        "spawn",
        batch=False,
        pipeline_arguments={"py_callback_pickler": pickle},
    )
    with pytest.raises(ArgumentTypeError, match="install cloudpickle") as caught:
        pipeline.build()
    assert "sources.py" in str(caught.value)


class OnlyHere:
    """Can be pickled, but not unpickled in another process."""

    def __reduce__(self) -> Any:
        return _only_in, (os.getpid(),)

    def __call__(self, info: Any) -> np.ndarray:
        return np.zeros(1)


def _only_in(process: int) -> OnlyHere:
    if os.getpid() != process:
        raise RuntimeError("not at home")
    return OnlyHere()


def test_unpickling_failure_in_a_worker_is_reported() -> None:
    pipeline = make(OnlyHere(), "spawn", workers=1, batch=False)
    with pytest.raises(SampleError, match="RuntimeError: not at home") as caught:
        pipeline.run()
    assert isinstance(caught.value.__cause__, WorkerError)
