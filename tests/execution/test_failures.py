"""Texts of errors, and the memory that they keep alive."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core._execution.bad_samples import name_others
from dali_core.errors import BadSample, SampleError
from dali_core.plugin.base_iterator import BaseIterator
from tests.state.listing import ListAdapter
from tests.waiting import wait_until


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Create reference cycles."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def fail(*_: Any) -> Any:
    raise ValueError("no")


def fail_on_five(info: Any) -> np.ndarray:
    if info.idx_in_epoch % 5 == 1:
        raise ValueError("five")
    return np.zeros(1000)


def failing(kind: str) -> Pipeline:
    """Make a pipeline whose batches fail in one of several ways."""
    options: dict[str, Any] = {}
    if kind == "too many":
        options = {"on_sample_error": "replace", "max_bad_samples": 0}
    with Pipeline(4, 2, None, **options) as pipeline:
        data = fn.external_source(
            fail_on_five
            if kind in ("source", "too many")
            else lambda: [np.zeros(1000, np.uint8)] * 4,
            batch=kind not in ("source", "too many"),
        )
        if kind == "function":
            data = fn.python_function(data, function=fail)
        elif kind == "native":
            data = fn.decoders.image(data)
        pipeline.set_outputs(data)
    return pipeline


@pytest.mark.parametrize("kind", ["source", "function", "native", "too many"])
@pytest.mark.parametrize("iterates", [False, True])
@pytest.mark.usefixtures("no_collector")
def test_failed_batches_are_released(kind: str, iterates: bool) -> None:
    pipeline = failing(kind)
    iterator = None
    if iterates:
        iterator = BaseIterator(pipeline, ["data"], ListAdapter(), prepare_first_batch=False)
    for _ in range(3):
        # Exceptions of a source propagate unchanged.
        with pytest.raises(ValueError if kind == "source" else SampleError) as caught:
            next(iterator) if iterator is not None else pipeline.run()
        assert caught.value.__traceback__ is not None
        del caught
    assert pipeline._run.runner is not None
    executor = pipeline._run.runner.executor
    pipeline.close()
    # The thread may still hold a reference.
    wait_until(lambda: executor.memory_stats()["used_bytes"] == 0, executor.memory_stats)


@pytest.mark.usefixtures("no_collector")
def test_traceback_keeps_the_frames_of_the_user() -> None:
    pipeline = failing("function")
    with pytest.raises(SampleError) as caught:
        pipeline.run()
    cause = caught.value.__cause__
    assert isinstance(cause, ValueError)
    frames = []
    traceback = cause.__traceback__
    while traceback is not None:
        frames.append(traceback.tb_frame.f_code.co_name)
        traceback = traceback.tb_next
    assert frames[-1] == "fail"
    pipeline.close()


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, ""),
        (2, " (1 more sample of this batch failed: sample 1.)"),
        (3, " (2 more samples of this batch failed: sample 1; sample 2.)"),
        (
            6,
            " (5 more samples of this batch failed: sample 1; sample 2; sample 3; and 2 more.)",
        ),
    ],
)
def test_other_failures_are_named(count: int, expected: str) -> None:
    failures = [BadSample("flip", "a.py:1", 0, 0, number, None, "bad") for number in range(count)]
    assert name_others(failures) == expected
