"""The Python interface of the executor: plans, batches, steps, and memory."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core._runtime.executor import Batch, Executor, NativeOperator
from dali_core._runtime.executor_config import (
    ExecutorConfig,
    Instruction,
    Permutation,
    ReaderRun,
    SampleProgram,
)
from dali_core._runtime.native_code import registered_names
from dali_core._runtime.path_list import PathList
from dali_core._runtime.step_task import next_step
from dali_core.batching.epoch_plan import Run
from tests.hanging import HANG_SECONDS
from tests.waiting import wait_until


def reader(files: list[str], root: object = "") -> NativeOperator:
    paths = PathList()
    paths.extend(files, range(len(files)))
    values = {"file_root": str(root), "paths": paths.address}
    return NativeOperator("readers.file", values, [], 0, 0, 0, 2)


def make_executor(
    stages: list[list[tuple[Any, ...]] | None],
    outputs: list[int],
    num_values: int,
    num_readers: int = 0,
) -> Executor:
    programs = [
        None if stage is None else SampleProgram([Instruction(*entry) for entry in stage])
        for stage in stages
    ]
    return Executor(ExecutorConfig(programs, outputs, num_values, num_readers, 2))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for number in range(5):
        (tmp_path / f"{number}").write_bytes(bytes([number] * (number + 1)))
    return tmp_path


@pytest.fixture
def reading(files: Path) -> Executor:
    """An executor that reads files 0 to 4."""
    operator = reader([str(number) for number in range(5)], files)
    return make_executor([[(operator, 0, [], [], [0, 1], [])]], [0, 1], 2, num_readers=1)


@pytest.fixture
def stepping() -> Executor:
    """An executor with a single step, whose output is value 0."""
    return make_executor([None], [0], 1)


def submit(executor: Executor, iteration: int = 0, size: int = 2) -> Batch:
    return executor.submit(iteration, size)


def test_registered_names() -> None:
    names = registered_names()
    assert "readers.file" in names
    assert names == sorted(names)


def test_unknown_operators_and_wrong_values_raise() -> None:
    with pytest.raises(RuntimeError, match='under the name "nothing"'):
        NativeOperator("nothing", {}, [], 0, -1, 0, 1)
    with pytest.raises(ValueError, match="paths must be given"):
        NativeOperator("readers.file", {}, [], 0, 0, 0, 2)
    with pytest.raises(ValueError, match="another type"):
        NativeOperator("readers.file", {"paths": "x"}, [], 0, 0, 0, 2)


def test_positions_of_readers(reading: Executor) -> None:
    batch = reading.submit(0, 4, [[ReaderRun(Run(0, 3, 2, 1)), ReaderRun(Run(1, 1, 2, 0))]])
    assert reading.wait(batch, HANG_SECONDS)
    assert batch.failures() == []
    data, labels = reading.outputs(batch)
    assert labels.as_array().ravel().tolist() == [3, 4, 1, 1]
    assert data.at(1).tolist() == [4] * 5
    assert [batch.key(i) for i in range(4)] == [(0, 3), (0, 4), (1, 1), (1, 1)]


def test_permuted_positions(reading: Executor) -> None:
    order = Permutation(0, 5, seed=7)
    batch = reading.submit(0, 10, [[ReaderRun(Run(e, 0, 5, 1), order) for e in range(2)]])
    assert reading.wait(batch, HANG_SECONDS)
    labels = reading.outputs(batch)[1].as_array().ravel().tolist()
    assert sorted(labels[:5]) == sorted(labels[5:]) == [0, 1, 2, 3, 4]
    assert labels[:5] != labels[5:]
    # The key is the position, not the file: it does not depend on the order.
    assert [batch.key(i) for i in range(10)] == [(i // 5, i % 5) for i in range(10)]
    part = reading.submit(1, 3, [[ReaderRun(Run(0, 2, 3, 1), Permutation(2, 3, seed=7))]])
    assert reading.wait(part, HANG_SECONDS)
    assert sorted(reading.outputs(part)[1].as_array().ravel()) == [2, 3, 4]


def test_failures_name_sample_node_and_source(files: Path) -> None:
    operator = reader(["0", "missing", "1"], files)
    executor = make_executor([[(operator, 5, [], [], [0, 1], [])]], [0], 2, num_readers=1)
    batch = executor.submit(0, 3, [[ReaderRun(Run(0, 0, 3, 1))]])
    assert executor.wait(batch, HANG_SECONDS)
    ((sample, node, message, source),) = batch.failures()
    assert (sample, node, source) == (1, 5, "missing")
    assert "No such file" in message


def test_steps(stepping: Executor) -> None:
    batch = submit(stepping, 3)
    assert not stepping.wait(batch, 0)
    task = next_step(stepping, HANG_SECONDS)
    assert task is not None
    assert (task.stage, task.batch.iteration, task.batch.size) == (0, 3, 2)
    assert next_step(stepping, 0) is None
    assert not stepping.wait_for_steps(0)
    original = np.arange(6).reshape(2, 3)
    task.set_output(0, list(original), "W")
    original[:] = 0
    task.finish()
    assert stepping.wait(batch, 0)
    assert stepping.wait_for_steps(0)
    (output,) = stepping.outputs(batch)
    assert output.as_array().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert output.layout() == "W"


def test_a_step_may_shrink_and_number_the_batch(stepping: Executor) -> None:
    batch = submit(stepping, 3)
    assert batch.key(1) == (0, 7)
    task = next_step(stepping, HANG_SECONDS)
    assert task is not None
    task.set_size(1, 100)
    task.set_output(0, [np.zeros(1)], "")
    task.finish()
    assert stepping.wait(batch, 0)
    assert batch.size == 1
    assert batch.key(0) == (0, 100)
    assert len(stepping.outputs(batch)[0]) == 1


def test_outputs_must_fit_the_batch(stepping: Executor) -> None:
    submit(stepping)
    task = next_step(stepping, HANG_SECONDS)
    assert task is not None
    with pytest.raises(ValueError, match="each of the 2 samples"):
        task.set_output(0, [np.zeros(1)], "")
    with pytest.raises(TypeError, match="one dtype"):
        task.set_output(0, [np.zeros(1), np.zeros(1, int)], "")


def test_released_values_are_freed(files: Path) -> None:
    read = [(reader(["4"], files), 0, [], [], [0, 1], [1])]
    executor = make_executor([read, None], [2], 3, num_readers=1)
    executor.submit(0, 1, [[ReaderRun(Run(0, 0, 1, 1))]])
    task = next_step(executor, HANG_SECONDS)
    assert task is not None
    (data,) = task.inputs([0], [])
    assert data.at(0).tolist() == [4] * 5
    used = executor.memory_stats()["used_bytes"]
    task.release([0])
    assert data.at(0).tolist() == [4] * 5
    assert executor.memory_stats()["used_bytes"] == used
    del data
    assert executor.memory_stats()["used_bytes"] < used
    task.fail(-1, 0, "enough")


def test_failing_steps(files: Path) -> None:
    read = [(reader(["3"], files), 0, [], [], [0, 1], [])]
    executor = make_executor([read, None], [0], 3, num_readers=1)
    batch = executor.submit(0, 1, [[ReaderRun(Run(0, 0, 1, 1))]])
    task = next_step(executor, HANG_SECONDS)
    assert task is not None
    task.fail(0, 1, "surrogates \udcff are text, too", [1, 0])
    task.fail(0, 1, "a step ends once")
    task.finish()
    assert executor.wait(batch, 0)
    assert batch.failures() == [(0, 1, r"surrogates \udcff are text, too", "3")]


def test_abandoned_step_fails_its_batch(stepping: Executor) -> None:
    batch = submit(stepping)
    task = next_step(stepping, HANG_SECONDS)
    assert task is not None
    del task
    gc.collect()
    assert stepping.wait(batch, 0)
    assert batch.failures() == [(-1, -1, "the step was interrupted", "")]
    assert stepping.wait_for_steps(0)


def test_cancelled_batches_are_never_completed(stepping: Executor) -> None:
    batches = [submit(stepping, iteration) for iteration in range(3)]
    task = next_step(stepping, HANG_SECONDS)
    assert task is not None
    stepping.cancel()
    assert [batch.cancelled for batch in batches] == [True] * 3
    assert not stepping.wait(batches[0], HANG_SECONDS)
    task.finish()
    assert stepping.wait_for_steps(0)
    assert next_step(stepping, 0) is None
    assert not submit(stepping, 3).cancelled


def test_close(reading: Executor) -> None:
    batch = reading.submit(0, 5, [[ReaderRun(Run(0, 0, 5, 1))]])
    assert reading.wait(batch, HANG_SECONDS)
    data, _ = reading.outputs(batch)
    reading.close()
    reading.close()
    assert reading.closed
    assert reading.memory_stats()["idle_bytes"] == 0
    assert not reading.wait(reading.submit(1, 5, [[ReaderRun(Run(0, 0, 5, 1))]]), HANG_SECONDS)
    assert next_step(reading, HANG_SECONDS) is None
    assert data.at(4).tolist() == [4] * 5


def test_threads_end_with_the_executor(files: Path) -> None:
    gc.collect()
    before = set(os.listdir("/proc/self/task"))
    executor = make_executor([None], [0], 1)
    new = set(os.listdir("/proc/self/task")) - before
    assert len(new) == 2
    submit(executor)
    del executor
    # A thread that was joined may still be listed for a moment.
    wait_until(lambda: not new & set(os.listdir("/proc/self/task")))


def test_memory_is_reused(reading: Executor) -> None:
    for iteration in range(50):
        batch = reading.submit(iteration, 5, [[ReaderRun(Run(0, 0, 5, 1))]])
        assert reading.wait(batch, HANG_SECONDS)
        del batch
        stats = reading.memory_stats()
        assert stats["used_bytes"] + stats["idle_bytes"] < 50 * 64
