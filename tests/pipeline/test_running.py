"""Ways to run a pipeline, through ends and resets."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import DataNode, Pipeline, fn, ops, types
from dali_core.errors import (
    GraphError,
    PipelineStateError,
)
from tests.folders import make_folders
from tests.pipeline.counting import counting, first, numbers


def test_run() -> None:
    pipeline = counting()
    assert pipeline.empty()
    assert [first(pipeline.run()) for _ in range(5)] == [0, 10, 20, 30, 40]
    assert not pipeline.empty()  # the next ones are in flight


@pytest.mark.parametrize("depth", [1, 2, 5, {"cpu_size": 3, "gpu_size": 1}])
@pytest.mark.parametrize("exec_pipelined", [True, False])
@pytest.mark.parametrize("exec_async", [True, False])
def test_ways_to_run(depth: Any, exec_pipelined: bool, exec_async: bool) -> None:
    calls: list[int] = []

    def source(iteration: int) -> list[np.int64]:
        calls.append(iteration)
        return numbers(iteration)

    with Pipeline(
        3,
        2,
        None,
        prefetch_queue_depth=depth,
        exec_pipelined=exec_pipelined,
        exec_async=exec_async,
    ) as pipeline:
        pipeline.set_outputs(fn.external_source(source))
    assert [first(pipeline.run()) for _ in range(4)] == [0, 10, 20, 30]
    pipeline.close()
    ahead = depth if isinstance(depth, int) else depth["cpu_size"]
    most = 3 + (ahead if exec_pipelined else 1)
    assert calls == list(range(len(calls)))
    assert 4 <= len(calls) <= most
    assert pipeline.prefetch_queue_depth == depth
    assert (pipeline.exec_pipelined, pipeline.exec_async) == (exec_pipelined, exec_async)


def test_schedule_and_outputs() -> None:
    pipeline = counting(prefetch_queue_depth=1)
    found = []
    for _ in range(3):
        pipeline.schedule_run()
        assert not pipeline.empty()
        found.append(first(pipeline.outputs()))
        assert pipeline.empty()
    assert found == [0, 10, 20]


def test_the_first_schedule_run_prefetches() -> None:
    pipeline = counting(prefetch_queue_depth=3)
    pipeline.schedule_run()
    assert [first(pipeline.outputs()) for _ in range(3)] == [0, 10, 20]
    with pytest.raises(PipelineStateError, match="schedule_run first"):
        pipeline.outputs()


def test_share_and_release() -> None:
    pipeline = counting(prefetch_queue_depth=2)
    pipeline.schedule_run()
    one = pipeline.share_outputs()
    two = pipeline.share_outputs()
    assert (first(one), first(two)) == (0, 10)
    pipeline.release_outputs()
    pipeline.release_outputs()
    pipeline.schedule_run()
    assert first(pipeline.share_outputs()) == 20
    assert (first(one), first(two)) == (0, 10)  # released, and still unchanged


def test_outputs_need_a_batch() -> None:
    pipeline = counting()
    with pytest.raises(PipelineStateError, match="a batch must have been started"):
        pipeline.outputs()


def test_groups_of_run_methods_cannot_be_mixed() -> None:
    pipeline = counting()
    pipeline.run()
    for method in (pipeline.schedule_run, pipeline.share_outputs, pipeline.outputs):
        with pytest.raises(PipelineStateError, match="run methods of one group"):
            method()
    assert first(pipeline.run()) == 10
    pipeline.enable_api_check(False)
    pipeline.schedule_run()
    assert first(pipeline.outputs()) == 20
    other = counting()
    other.schedule_run()
    with pytest.raises(PipelineStateError, match="run methods of one group"):
        other.run()


def test_close() -> None:
    pipeline = counting()
    (batch,) = pipeline.run()
    pipeline.close()
    pipeline.close()
    assert batch.as_array().tolist() == [0, 1, 2]
    assert pipeline.empty()
    with pytest.raises(PipelineStateError, match="it was closed"):
        pipeline.run()
    counting().close()  # before it was built


def ending(**arguments: Any) -> Pipeline:
    def source(iteration: int) -> list[np.int64]:
        if iteration == 2:
            raise StopIteration
        return numbers(iteration)

    with Pipeline(3, 2, None, **arguments) as pipeline:
        pipeline.set_outputs(fn.external_source(source))
    return pipeline


@pytest.mark.parametrize("depth", [1, 2, 5])
@pytest.mark.parametrize("exec_async", [True, False])
def test_reset(depth: int, exec_async: bool) -> None:
    pipeline = ending(prefetch_queue_depth=depth, exec_async=exec_async)
    pipeline.reset()  # before it was built
    for _ in range(3):
        assert first(pipeline.run()) == 0
        pipeline.reset()  # in mid-epoch
        assert first(pipeline.run()) == 10
        for _ in range(4):
            with pytest.raises(StopIteration):
                pipeline.run()
        pipeline.reset()


def test_reset_at_the_end_that_was_not_met_yet() -> None:
    pipeline = ending()
    for _ in range(3):
        assert [first(pipeline.run()) for _ in range(2)] == [0, 10]
        pipeline.reset()


def test_a_batch_is_complete_although_a_source_has_ended_for_the_next_one() -> None:
    with Pipeline(1, 1, None, prefetch_queue_depth=2) as pipeline:
        listed = fn.external_source(iter([[np.zeros(1)]]))
        fed = [fn.external_source(name=name, blocking=True) for name in ("a", "b")]
        pipeline.set_outputs(listed, *fed)
    pipeline.schedule_run()  # two batches, of which the second has no data
    for name, value in (("a", 1.0), ("b", 2.0)):
        pipeline.feed_input(name, [np.full(1, value)])
    assert [output.as_array().item() for output in pipeline.outputs()] == [0.0, 1.0, 2.0]
    with pytest.raises(StopIteration):
        pipeline.outputs()


def test_running_past_the_end_starts_nothing() -> None:
    pipeline = ending(prefetch_queue_depth=2)
    for _ in range(2):
        pipeline.run()
    for _ in range(50):
        with pytest.raises(StopIteration):
            pipeline.run()
    assert len(pipeline._run.in_flight) == 2


def test_readers_continue_after_reset(tmp_path: Path) -> None:
    make_folders(tmp_path, (1,) * 12)
    with Pipeline(2, 2, None, prefetch_queue_depth=3) as pipeline:
        source = fn.external_source([np.zeros(2)] * 2, cycle="raise")
        _, labels = fn.readers.file(file_root=tmp_path)
        pipeline.set_outputs(labels, source)
    found = []
    for _ in range(3):
        for _ in range(2):
            found += pipeline.run()[0].as_array().ravel().tolist()
        with pytest.raises(StopIteration):
            pipeline.run()
        pipeline.reset()
    assert found == list(range(12))


class Feeding(Pipeline):
    """Feeds five batches, one for each `iter_setup`."""

    def __init__(self, depth: int) -> None:
        super().__init__(2, 1, None, prefetch_queue_depth=depth)
        self.count = 0
        self.source = ops.ExternalSource()

    def define_graph(self) -> DataNode:
        self.node = self.source()
        return self.node

    def iter_setup(self) -> None:
        if self.count == 5:
            raise StopIteration
        self.feed_input(self.node, [np.int64(self.count)] * 2)
        self.count += 1


@pytest.mark.parametrize("depth", [1, 2, 7])
def test_iter_setup(depth: int) -> None:
    pipeline = Feeding(depth)
    for _ in range(2):
        assert [first(pipeline.run()) for _ in range(5)] == [0, 1, 2, 3, 4]
        for _ in range(2):
            with pytest.raises(StopIteration):
                pipeline.run()
        pipeline.reset()
        pipeline.count = 0


def test_outputs_are_checked() -> None:
    counting(output_dtype=types.INT64, output_ndim=0).run()
    counting(output_dtype=[None], output_ndim=[0]).run()
    for arguments, error, message in (
        ({"output_dtype": types.FLOAT}, GraphError, "output 0 must have output_dtype .*FLOAT"),
        ({"output_ndim": [2]}, GraphError, "output 0 must have output_ndim 2"),
        ({"output_ndim": [0, 0]}, GraphError, "each of the 1 outputs"),
    ):
        pipeline = counting(**arguments)
        for _ in range(2):
            with pytest.raises(error, match=message):
                pipeline.run()


def test_set_affinity(tmp_path: Path) -> None:
    make_folders(tmp_path)
    with Pipeline(4, 5, None, set_affinity=True) as pipeline:
        pipeline.set_outputs(*fn.readers.file(file_root=tmp_path))
    assert pipeline.run()[1].as_array().ravel().tolist() == [0] * 4


def test_thread_count_by_default() -> None:
    assert Pipeline(1, device_id=None).num_threads >= 1
    assert Pipeline(1, np.int64(3)).num_threads == 3


@pytest.mark.parametrize("exec_async", [True, False])
def test_dropped_pipeline_is_freed_without_garbage_collection(exec_async: bool) -> None:
    with Pipeline(2, 1, None, exec_async=exec_async) as pipeline:
        number = fn.external_source(lambda _: [np.int64(1)] * 2)
        pipeline.set_outputs(fn.python_function(number, function=lambda x: x))
    pipeline.run()
    runner = weakref.ref(pipeline._run.runner)
    gc.disable()
    try:
        del pipeline, number
        assert runner() is None
    finally:
        gc.enable()
