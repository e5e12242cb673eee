"""`fn.external_source(parallel=True)` returns and rejects the same as NVIDIA DALI."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

# Frameworks that other tests have imported warn of forks, also of those of the reference.
pytestmark = [
    pytest.mark.filterwarnings("ignore:os.fork"),
    pytest.mark.usefixtures("_no_garbage_in_children"),
]


def samples(info: Any) -> np.ndarray:
    if info.idx_in_epoch >= 7:
        raise StopIteration
    shape = (info.idx_in_batch, 2)
    return np.full(shape, [info.idx_in_epoch + 100 * info.epoch_idx, info.iteration], np.int32)


def pairs(info: Any) -> tuple[np.ndarray, np.ndarray]:
    if info.iteration == 2:
        raise StopIteration
    return np.array([info.idx_in_epoch], np.float32), np.array([[info.epoch_idx]], np.uint8)


def batches(iteration: int) -> list[np.ndarray]:
    if iteration == 2:
        raise StopIteration
    return [np.array([iteration, i]) for i in range(3)]


def with_info(info: Any) -> list[np.ndarray]:
    if info.iteration == 2:
        raise StopIteration
    return [np.array([info.iteration, info.epoch_idx, i]) for i in range(3)]


def generate() -> Any:
    for iteration in range(2):
        yield batches(iteration)


def run(
    library: types.ModuleType, source: Any, workers: int, method: str, **arguments: Any
) -> list[Any]:
    pipeline = library.Pipeline(
        3, 1, None, py_num_workers=workers, py_start_method=method, prefetch_queue_depth=1
    )
    with pipeline:
        results = library.fn.external_source(source, parallel=True, **arguments)
        pipeline.set_outputs(*(results if isinstance(results, list) else [results]))
    pipeline.start_py_workers()
    pipeline.build()
    found: list[Any] = []
    for _ in range(9):
        try:
            outputs = pipeline.run()
        except StopIteration:
            found.append("end")
            pipeline.reset()
            continue
        found.append(
            [
                [(str(array.dtype), array.shape, array.tolist()) for array in map(np.array, output)]
                for output in outputs
            ]
        )
    return found


@pytest.mark.filterwarnings("ignore:There will be run only 1 python worker")
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        (samples, {"batch": False}),
        (pairs, {"batch": False, "num_outputs": 2}),
        (batches, {"batch": True}),
        (with_info, {"batch": True, "batch_info": True}),
        *[(generate, {"cycle": cycle, "batch": True}) for cycle in ("no", "quiet", "raise")],
        (list(generate()), {"cycle": "raise"}),
    ],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_same_data(source: Any, arguments: dict[str, Any], workers: int) -> None:
    expected = run(reference, source, workers, "fork", **arguments)
    assert expected[0] != "end"
    for method in ("fork", "thread"):
        assert run(dali_core, source, workers, method, **arguments) == expected


@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        (lambda: batches(0), {"batch": True}),
        (lambda one, two: batches(0), {"batch": True}),
        (generate, {"batch": False}),
        ([batches(0)], {"batch": False}),
        (samples, {"batch": False, "prefetch_queue_depth": 0}),
        (samples, {"batch": False, "bytes_per_sample_hint": -1}),
    ],
)
def test_same_errors(source: Callable[..., Any], arguments: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)) as expected:
        run(reference, source, 1, "fork", **arguments)
    with pytest.raises(expected.type):
        run(dali_core, source, 1, "fork", **arguments)


def test_same_statistics() -> None:
    found = []
    for library in (reference, dali_core):
        pipeline = library.Pipeline(4, 1, None, py_num_workers=2)
        with pipeline:
            pipeline.set_outputs(library.fn.external_source(samples, parallel=True, batch=False))
        pipeline.build()
        statistics = pipeline.external_source_shm_statistics()
        found.append({name: set(values) for name, values in statistics.items()})
    assert found[0] == found[1]
