"""Performs the same calls with pipelines of both libraries, and compares the results."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.types

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.types", reason="not available: NVIDIA DALI")

SIZE = 3
KINDS = (
    StopIteration,
    KeyError,
    IndexError,
    NotImplementedError,
    TypeError,
    ValueError,
    RuntimeError,
)
ARRAY = np.arange(6).reshape(SIZE, 2)


def source(iteration: int) -> list[np.int64]:
    return [np.int64(10 * iteration + i) for i in range(SIZE)]


def ending(iteration: int) -> list[np.int64]:
    if iteration == 2:
        raise StopIteration
    return source(iteration)


def plain(value: Any, library: Any) -> Any:
    """Return a value in a form that is the same for both libraries."""
    if isinstance(value, (list, tuple)):
        return [plain(entry, library) for entry in value]
    if isinstance(value, (library.tensors.TensorListCPU,)):
        samples = [np.array(value.at(i)).tolist() for i in range(len(value))]
        return [value.dtype.name, value.layout(), samples]
    if isinstance(value, library.Pipeline):
        return "a pipeline"
    return value.name if hasattr(value, "name") and not isinstance(value, str) else value


def outcome(call: Callable[[], Any], library: Any) -> Any:
    """Return the result of a call, or the kind of its error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plain(call(), library)
    except KINDS as error:
        # The reference raises RuntimeError where there is no better class.
        return next(kind.__name__ for kind in KINDS if isinstance(error, kind))


def made(library: Any, function: Any = source, count: int = 1, **arguments: Any) -> Any:
    """Return a pipeline of sources; with `function` None, its inputs are fed."""
    pipeline = library.Pipeline(SIZE, 2, None, **arguments)
    with pipeline:
        nodes = [
            library.fn.external_source(
                name=f"x{i or ''}", **({} if function is None else {"source": function})
            )
            for i in range(count)
        ]
        pipeline.set_outputs(*nodes)
    return pipeline


def check(*calls: Callable[[Any, Any], Any], make: Callable[[Any], Any] = made) -> list[Any]:
    """Perform the same calls with both, given the pipeline and the library; return the results."""
    logs = []
    for library in (dali_core, reference):
        pipeline = make(library)
        logs.append([outcome(lambda: call(pipeline, library), library) for call in calls])  # noqa: B023
    assert logs[0] == logs[1]
    return logs[0]


def fed(library: Any, depth: int = 1, **arguments: Any) -> Any:
    """Make a pipeline whose only input, ``x``, is fed."""
    pipeline = library.Pipeline(SIZE, 2, None, prefetch_queue_depth=depth)
    with pipeline:
        pipeline.node = library.fn.external_source(name="x", **arguments)
        pipeline.set_outputs(pipeline.node)
    return pipeline


def run(p: Any, _: Any) -> Any:
    return p.run()


def schedule(p: Any, _: Any) -> Any:
    return p.schedule_run()


def share(p: Any, _: Any) -> Any:
    return p.share_outputs()


def release(p: Any, _: Any) -> Any:
    return p.release_outputs()


def outputs(p: Any, _: Any) -> Any:
    return p.outputs()


def empty(p: Any, _: Any) -> Any:
    return p.empty()


def reset(p: Any, _: Any) -> Any:
    return p.reset()


def build(p: Any, _: Any) -> Any:
    return p.build()


def unchecked(p: Any, _: Any) -> Any:
    return p.enable_api_check(False)
