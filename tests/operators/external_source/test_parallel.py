"""`fn.external_source(parallel=True)`: the same data as without, from any workers."""

from __future__ import annotations

import copy
import itertools
import json
import os
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import (
    SampleError,
)
from tests.operators.external_source import sources
from tests.operators.external_source.sources import make
from tests.waiting import wait_until

FRESH = pytest.mark.parametrize("method", ["spawn", "forkserver"])
INHERITING = pytest.mark.parametrize("method", ["fork", "thread"])


def log(pipeline: Pipeline, epochs: int = 2, most: int = 6) -> list[Any]:
    """Everything about the batches of some epochs, and "end" where an epoch ends."""
    found: list[Any] = []
    for _ in range(epochs):
        for _ in range(most):
            try:
                outputs = pipeline.run()
            except StopIteration:
                found.append("end")
                break
            found.append(
                [
                    (
                        output.layout(),
                        output.dtype,
                        [output.at(i).tolist() for i in range(len(output))],
                    )
                    for output in outputs
                ]
            )
        pipeline.reset()
    pipeline.close()
    return found


BY_SAMPLE: list[tuple[Any, dict[str, Any]]] = [
    (sources.numbers, {"batch": False}),
    (sources.ragged, {"batch": False, "num_outputs": 4, "layout": ["HWC"] * 1 + [""] * 3}),
    (sources.DatasetSource(sources.ByIndex()), {"batch": False}),
]
BY_BATCH: list[tuple[Any, dict[str, Any]]] = [
    (sources.batches, {"batch": True}),
    (sources.dense, {"batch": True, "batch_info": True, "num_outputs": 2}),
    *[(sources.generate, {"batch": True, "cycle": cycle}) for cycle in (None, "quiet", "raise")],
    (list(sources.generate()), {"batch": True, "cycle": "raise"}),
]


@pytest.mark.parametrize(("source", "arguments"), BY_SAMPLE + BY_BATCH)
@INHERITING
def test_same_data_for_any_workers(source: Any, arguments: dict[str, Any], method: str) -> None:
    expected = log(make(source, parallel=False, **arguments), 3)
    assert len(expected) > 3
    for workers, depth, ahead in ((1, 1, 1), (2, 2, 1), (3, 1, 4)):
        pipeline = make(
            source,
            method,
            workers,
            pipeline_arguments={"prefetch_queue_depth": depth},
            prefetch_queue_depth=ahead,
            **arguments,
        )
        assert log(pipeline, 3) == expected


@FRESH
def test_same_data_from_fresh_processes(method: str) -> None:
    with Pipeline(3, 1, None, py_num_workers=2, py_start_method=method) as pipeline:
        parallel = [
            fn.external_source(sources.ragged, parallel=True, batch=False, num_outputs=4),
            [fn.external_source(sources.generate, parallel=True, cycle="quiet")],
        ]
        pipeline.set_outputs(*itertools.chain(*parallel))
    with Pipeline(3, 1, None) as serial:
        nodes = fn.external_source(sources.ragged, batch=False, num_outputs=4)
        serial.set_outputs(*nodes, fn.external_source(sources.generate, cycle="quiet"))
    assert log(pipeline) == log(serial)


@pytest.mark.parametrize("exec_async", [True, False])
def test_functions_that_cannot_be_pickled(exec_async: bool) -> None:
    offset = 5
    pipeline = make(
        lambda info: np.int64([info.idx_in_epoch + offset]),
        batch=False,
        pipeline_arguments={"exec_async": exec_async},
    )
    assert pipeline.run()[0].as_array().ravel().tolist() == [5, 6, 7]


def test_work_is_spread_over_processes(tmp_path: Path) -> None:
    def together(info: Any) -> np.ndarray:
        (tmp_path / str(os.getpid())).touch()
        wait_until(lambda: len(list(tmp_path.iterdir())) >= 3)
        return sources.process(info)

    pipeline = make(together, workers=3, batch_size=6, batch=False)
    found = {int(number) for _ in range(4) for number in pipeline.run()[0].as_array().ravel()}
    assert len(found) == 3
    assert os.getpid() not in found


def test_an_iterable_stays_in_one_process() -> None:
    def generate() -> Any:
        while True:
            yield [np.int64([os.getpid()])] * 3

    with Pipeline(3, 1, None, py_num_workers=2) as pipeline:
        pipeline.set_outputs(*(fn.external_source(generate, parallel=True) for _ in range(2)))
    found = [[int(output.at(0)[0]) for output in pipeline.run()] for _ in range(4)]
    assert len({tuple(pair) for pair in found}) == 1
    assert len(set(found[0])) == 2


def test_prefetch_depth_is_respected(tmp_path: Path) -> None:
    def leave_mark(info: Any) -> np.ndarray:
        (tmp_path / f"{info.idx_in_epoch}").touch()
        return np.zeros(1)

    pipeline = make(
        leave_mark,
        batch=False,
        prefetch_queue_depth=4,
        pipeline_arguments={"prefetch_queue_depth": 1},
    )
    pipeline.build()
    assert list(tmp_path.iterdir()) == []
    pipeline.run()
    wait_until(lambda: len(list(tmp_path.iterdir())) >= 15)
    time.sleep(0.1)  # for what must not come
    assert sorted(int(path.name) for path in tmp_path.iterdir()) == list(range(15))


def test_a_source_before_may_give_smaller_batches() -> None:
    with Pipeline(3, 1, None, py_num_workers=2) as pipeline:
        first = fn.external_source(lambda i: [np.int64(i)] * (1 + i % 3), batch=True)
        second = fn.external_source(sources.numbers, parallel=True, batch=False)
        pipeline.set_outputs(first, second)
    found = [[int(x[0]) for x in map(np.asarray, pipeline.run()[1])] for _ in range(3)]
    assert found == [[0], [3, 4], [6, 7, 8]]


# Bad samples and errors


@INHERITING
def test_an_error_names_the_sample_and_where_it_comes_from(method: str) -> None:
    pipeline = make(sources.failing, method, 3, batch_size=6, batch=False)
    assert pipeline.run()[0].as_array().ravel().tolist() == list(range(6))
    with pytest.raises(ValueError, match="bad sample 7") as caught:
        pipeline.run()
    (note,) = caught.value.__notes__
    assert "sources.py" in note
    assert note.endswith(", sample 1")
    text = "".join(traceback.format_exception(caught.value))
    assert 'raise ValueError(f"bad sample {info.idx_in_epoch}")' in text
    assert pipeline.run()[0].as_array().ravel().tolist() == list(range(12, 18))


def test_bad_samples_are_replaced() -> None:
    found = []
    for parallel in (True, False):
        pipeline = make(
            sources.failing,
            workers=3,
            batch_size=6,
            batch=False,
            parallel=parallel,
            pipeline_arguments={"on_sample_error": "replace"},
        )
        found.append([pipeline.run()[0].as_array().ravel().tolist() for _ in range(3)])
        assert [bad.sample for bad in pipeline.bad_samples] == [1, 5]
    assert found[0] == found[1]
    assert found[0][1] == [6, 8, 8, 9, 10, 6]


def test_bad_entries_of_a_batch_are_replaced() -> None:
    def batch(iteration: int) -> list[Any]:
        return [np.int64(0), "text" if iteration else np.int64(1), np.int64(2)]

    pipeline = make(batch, batch=True, pipeline_arguments={"on_sample_error": "replace"})
    assert [pipeline.run()[0].as_array().tolist() for _ in range(2)] == [[0, 1, 2], [0, 2, 2]]
    assert [bad.sample for bad in pipeline.bad_samples] == [1]


def test_errors_that_are_kept_do_not_stop_the_next_batches() -> None:
    def wrong_type(info: Any) -> np.ndarray:
        return np.zeros(1, np.float32 if info.idx_in_batch == 2 else np.int64)

    pipeline = make(wrong_type, batch=False)
    kept = []
    for _ in range(10):
        with pytest.raises(SampleError, match="one dtype") as caught:
            pipeline.run()
        kept.append(caught)
    assert len(kept) == 10


def test_data_of_the_wrong_kind_raises_with_its_sample() -> None:
    pipeline = make(lambda info: ["text", 1][info.idx_in_batch % 2], batch=False)
    with pytest.raises(SampleError, match="sample 0: .*: Tensor data must be numbers"):
        pipeline.run()
    pipeline = make(lambda info: (1, 2, 3), batch=False, num_outputs=2)
    with pytest.raises(SampleError, match=r"each of the 2 outputs \(got a tuple of 3\)"):
        pipeline.run()


class Unreadable(Exception):
    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")


@INHERITING
def test_any_exception_propagates(method: str) -> None:
    def source(info: Any) -> Any:
        if info.iteration == 0:
            raise Unreadable(1, 2)
        raise SystemExit(5)

    pipeline = make(source, method, batch=False)
    # Exceptions that cannot be pickled are described.
    with pytest.raises(SampleError if method == "fork" else Unreadable, match="1 and 2"):
        pipeline.run()
    with pytest.raises(SystemExit, match="5"):
        pipeline.run()
    with pytest.raises(SystemExit, match="5"):
        pipeline.run()


def test_a_generator_that_fails_has_ended() -> None:
    def generate() -> Any:
        yield [np.int64(1)] * 3
        raise ValueError("broken")

    pipeline = make(generate)
    pipeline.run()
    with pytest.raises(ValueError, match="broken"):
        pipeline.run()
    with pytest.raises(StopIteration):
        pipeline.run()


# Shared memory


def test_memory_grows_with_the_samples_and_no_further() -> None:
    pipeline = make(
        lambda info: np.full((info.iteration % 2) * 400_000, 1.5),
        batch=False,
        prefetch_queue_depth=2,
    )
    pipeline.build()
    before = pipeline.external_source_shm_statistics()
    assert before == {"capacities": [1 << 20] * 6, "per_sample_capacities": [1 << 19] * 6}
    for _ in range(8):
        pipeline.run()
    after = pipeline.external_source_shm_statistics()
    assert 2 * 3_200_000 <= max(after["capacities"]) < 4 * 3_200_000
    for _ in range(20):
        (batch,) = pipeline.run()
    assert pipeline.external_source_shm_statistics() == after
    assert batch.as_array().sum() == 3 * 1.5 * 400_000


def test_the_hint_sets_the_size() -> None:
    pipeline = make(sources.numbers, batch=False, bytes_per_sample_hint=3 << 20)
    pipeline.start_py_workers()
    statistics = pipeline.external_source_shm_statistics()
    assert statistics["per_sample_capacities"] == [3 << 20] * len(statistics["capacities"])


def test_outputs_are_never_overwritten() -> None:
    pipeline = make(lambda info: np.full(1000, info.idx_in_epoch), batch=False)
    kept = [pipeline.run()[0] for _ in range(10)]
    assert [int(batch.at(2)[999]) for batch in kept] == list(range(2, 32, 3))


# State


class Counting:
    """An iterable with its own state, that ends after five batches."""

    def __init__(self) -> None:
        self.number = 0

    def __iter__(self) -> Counting:
        if self.number >= 5:
            self.number = 0
        return self

    def __next__(self) -> list[np.ndarray]:
        if self.number >= 5:
            raise StopIteration
        self.number += 1
        return [np.int64([self.number, i]) for i in range(3)]

    def state_dict(self) -> dict[str, int]:
        return {"number": self.number}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.number = state["number"]


@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        (sources.numbers, {"batch": False}),
        (sources.batches, {"batch": True}),
        (sources.generate, {"cycle": "raise"}),
        (sources.generate, {"cycle": "quiet"}),
        (Counting(), {"cycle": "raise"}),
    ],
)
@INHERITING
def test_restored_at_every_step(source: Any, arguments: dict[str, Any], method: str) -> None:
    def step(pipeline: Pipeline) -> Any:
        try:
            return [sample.tolist() for sample in map(np.asarray, pipeline.run()[0])]
        except StopIteration:
            pipeline.reset()
            return "end"

    def fresh() -> Pipeline:
        return make(copy.deepcopy(source), method, prefetch_queue_depth=2, **arguments)

    pipeline = fresh()
    states, batches = [], []
    for _ in range(9):
        states.append(json.loads(json.dumps(pipeline.state_dict())))
        batches.append(step(pipeline))
    same = fresh()
    for number in (0, 1, 3, 4, 6):
        restored = fresh()
        for loaded in (restored, same):
            loaded.load_state_dict(states[number])
            assert [step(loaded) for _ in range(9 - number)] == batches[number:]
        restored.close()


def test_a_restored_source_of_samples_may_have_another_batch_size() -> None:
    pipeline = make(sources.numbers, batch=False)
    pipeline.run()
    other = make(sources.numbers, batch=False, batch_size=2)
    other.load_state_dict(pipeline.state_dict())
    assert [other.run()[0].as_array()[:, 0].tolist() for _ in range(2)] == [[3, 4], [5, 6]]
