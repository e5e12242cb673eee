"""`Pipeline` and `pipeline_def`: defining, building, running, and looking at pipelines."""

from __future__ import annotations

import gc
import time
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import DataNode, Pipeline, fn, ops, pipeline_def, types
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    GraphError,
    PipelineStateError,
    SampleError,
)
from tests.folders import make_folders


def numbers(iteration: int) -> list[np.int64]:
    return [np.int64(10 * iteration + i) for i in range(3)]


def counting(**arguments: Any) -> Pipeline:
    """Make a pipeline of batches 0, 10, 20, ..."""
    with Pipeline(3, 2, None, **arguments) as pipeline:
        pipeline.set_outputs(fn.external_source(numbers))
    return pipeline


def first(outputs: tuple[Any, ...]) -> int:
    return int(outputs[0].at(0))


# Ways to define one


class Derived(Pipeline):
    def __init__(self, root: Path) -> None:
        super().__init__(batch_size=2, num_threads=1, device_id=None)
        self.reader = ops.readers.File(file_root=str(root), name="reader")
        self.double = ops.PythonFunction(function=lambda x: 2 * x)

    def define_graph(self) -> list[DataNode]:
        data, labels = self.reader()
        return [data, self.double(labels)]


def test_derived_class(tmp_path: Path) -> None:
    contents = make_folders(tmp_path, (1, 3))
    pipeline = Derived(tmp_path)
    assert repr(pipeline) == "Pipeline(batch_size=2, num_threads=1, not built)"
    data, labels = pipeline.run()
    assert [data.at(i).tobytes() for i in range(2)] == contents[:2]
    assert labels.as_array().tolist() == [[0], [2]]
    assert repr(pipeline) == "Pipeline(batch_size=2, num_threads=1, 2 operators)"
    assert pipeline.epoch_size("reader") == 4


def test_context_manager() -> None:
    pipeline = Pipeline(batch_size=3, num_threads=2, device_id=None)
    assert Pipeline.current() is None
    with pipeline as entered:
        assert entered is pipeline
        assert Pipeline.current() is pipeline
        with Pipeline(1, 1, None) as inner:
            assert Pipeline.current() is inner
        node = fn.external_source(numbers)
        pipeline.set_outputs(node, node)
    assert Pipeline.current() is None
    assert pipeline.num_outputs == 2
    one, two = pipeline.run()
    assert one.as_array().tolist() == two.as_array().tolist() == [0, 1, 2]


def test_pipeline_def_with_arguments() -> None:
    @pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=5)
    def numbers_pipeline(offset: int, scale: int = 1) -> DataNode:
        """Count."""
        return fn.external_source(lambda i: [np.int64(offset + scale * i)] * 3)

    assert numbers_pipeline.__doc__ == "Count."
    pipeline = numbers_pipeline(7, scale=2)
    assert [first(pipeline.run()) for _ in range(3)] == [7, 9, 11]
    changed = numbers_pipeline(1, num_threads=1, batch_size=4, prefetch_queue_depth=3)
    assert (changed.num_threads, changed.batch_size, changed.seed) == (1, 4, 5)
    assert changed.prefetch_queue_depth == 3
    assert first(changed.run()) == 1


def test_pipeline_def_without_arguments() -> None:
    @pipeline_def
    def pair() -> tuple[DataNode, DataNode]:
        node = fn.external_source(numbers)
        return node, fn.python_function(node, function=lambda x: -x)

    one, two = pair(batch_size=3, num_threads=1, device_id=None).run()
    assert one.as_array().tolist() == [0, 1, 2]
    assert two.as_array().tolist() == [0, -1, -2]


def test_the_functions_own_parameters_come_first() -> None:
    seen = []

    @pipeline_def(batch_size=3, num_threads=2, device_id=None)
    def shadowing(num_threads: int, seed: int = 9) -> DataNode:
        seen.append((num_threads, seed))
        return fn.external_source(numbers)

    assert shadowing(7).num_threads == 2
    assert shadowing(num_threads=8, seed=1).num_threads == 2
    assert seen == [(7, 9), (8, 1)]


def test_pipeline_def_refuses_what_it_does_not_know() -> None:
    with pytest.raises(ArgumentTypeError, match="unknown arguments bach_size"):
        pipeline_def(bach_size=3)
    with pytest.raises(ArgumentValueError, match="enable_conditionals"):
        pipeline_def(enable_conditionals=True)

    @pipeline_def(batch_size=1, device_id=None)
    def nothing() -> None:
        return None

    with pytest.raises(TypeError, match="unexpected keyword argument 'size'"):
        nothing(size=3)


def test_an_error_while_defining_leaves_no_trace() -> None:
    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def failing() -> None:
        raise KeyError("no")

    with pytest.raises(KeyError):
        failing()
    assert Pipeline.current() is None
    with pytest.raises(GraphError, match="while a pipeline is being defined"):
        fn.external_source(numbers)


def test_each_call_makes_another_pipeline() -> None:
    @pipeline_def(batch_size=3, num_threads=1, device_id=None)
    def make() -> DataNode:
        return fn.external_source(numbers)

    one, two = make(), make()
    assert [first(one.run()), first(one.run()), first(two.run())] == [0, 10, 0]


# Running


def test_run() -> None:
    pipeline = counting()
    assert pipeline.empty()
    assert [first(pipeline.run()) for _ in range(5)] == [0, 10, 20, 30, 40]
    assert not pipeline.empty()  # the next ones are on their way


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
    assert (first(one), first(two)) == (0, 10)  # released, and still what they were


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


def test_running_past_the_end_starts_nothing() -> None:
    pipeline = ending(prefetch_queue_depth=2)
    for _ in range(2):
        pipeline.run()
    for _ in range(50):
        with pytest.raises(StopIteration):
            pipeline.run()
    assert len(pipeline._in_flight) == 2


def test_readers_go_on_after_a_reset(tmp_path: Path) -> None:
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
        ({"output_ndim": [0, 0]}, ArgumentValueError, "each of the 1 outputs"),
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


# The graph


def test_dead_operators_are_dropped() -> None:
    called = []
    with Pipeline(3, 1, None) as pipeline:
        used = fn.external_source(numbers)
        fn.python_function(used, function=lambda x: called.append("dead"))
        kept = fn.python_function(
            used, function=lambda x: called.append("kept") or x, preserve=True
        )
        pipeline.set_outputs(used)
    pipeline.run()
    pipeline.close()
    assert set(called) == {"kept"}
    assert kept.name in pipeline.plan()
    assert pipeline.plan().count("fn.python_function") == 1


def test_plan(tmp_path: Path) -> None:
    make_folders(tmp_path)
    with Pipeline(3, 1, None) as pipeline:
        data, labels = fn.readers.file(file_root=tmp_path, name="files")
        pipeline.set_outputs(data, fn.python_function(labels, function=abs))
    assert pipeline.plan().splitlines() == [
        "stage 0: sample program",
        "  fn.readers.file (files)",
        "stage 1: Python step",
        "  fn.python_function (python_function_1)",
    ]


def test_save_graph_to_dot_file(tmp_path: Path) -> None:
    path = tmp_path / "graph.dot"
    pipeline = counting()
    pipeline.save_graph_to_dot_file(path)
    plain = path.read_text()
    assert plain.startswith("digraph")
    assert "external_source" in plain
    pipeline.save_graph_to_dot_file(str(path), show_tensors=True, show_ids=True, use_colors=True)
    assert len(path.read_text()) > len(plain)


def test_epoch_size_and_reader_meta(tmp_path: Path) -> None:
    make_folders(tmp_path, (4, 3, 3))
    with Pipeline(3, 1, None) as pipeline:
        _, padded = fn.readers.file(
            file_root=tmp_path, name="padded", num_shards=4, shard_id=1, pad_last_batch=True
        )
        _, plain = fn.readers.file(file_root=tmp_path, name="plain")
        _, unnamed = fn.readers.file(file_root=tmp_path)
        fn.readers.file(file_root=tmp_path, name="dead")
        pipeline.set_outputs(padded, plain, unnamed)
    assert pipeline.epoch_size("plain") == 10
    assert pipeline.epoch_size() == {"padded": 12, "plain": 10}
    assert pipeline.reader_meta("padded") == {
        "epoch_size": 10,
        "epoch_size_padded": 12,
        "number_of_shards": 4,
        "shard_id": 1,
        "pad_last_batch": 1,
        "stick_to_shard": 0,
    }
    assert set(pipeline.reader_meta()) == {"padded", "plain"}
    with pytest.raises(GraphError, match="no reader named 'dead'.*'padded', 'plain'"):
        pipeline.epoch_size("dead")
    assert counting().epoch_size() == {}


def test_building_again_after_an_error(tmp_path: Path) -> None:
    with Pipeline(1, 1, None) as pipeline:
        pipeline.set_outputs(*fn.readers.file(file_root=tmp_path / "later"))
    with pytest.raises(ArgumentValueError):
        pipeline.build()
    make_folders(tmp_path / "later", (1,))
    pipeline.build()
    assert len(pipeline.run()[0]) == 1


# Lifetime


class Looping(Pipeline):
    """A pipeline whose source belongs to it: a cycle of references."""

    def define_graph(self) -> DataNode:
        return fn.external_source(self.numbers)

    def numbers(self, iteration: int) -> list[np.int64]:
        return numbers(iteration)


def test_pipelines_are_collected() -> None:
    pipeline = Looping(3, 1, None)
    (batch,) = pipeline.run()
    reference = weakref.ref(pipeline)
    del pipeline
    deadline = time.monotonic() + 10  # a running step holds the source
    while reference() is not None and time.monotonic() < deadline:
        gc.collect()
    assert reference() is None
    assert batch.as_array().tolist() == [0, 1, 2]


def test_pipelines_need_no_garbage_collector() -> None:
    pipeline = counting()
    pipeline.run()
    reference = weakref.ref(pipeline)
    gc.disable()
    try:
        del pipeline
        assert reference() is None
    finally:
        gc.enable()


def test_errors_do_not_keep_the_pipeline_running() -> None:
    with Pipeline(1, 1, None) as pipeline:
        pipeline.set_outputs(fn.external_source(lambda: 1 / 0))
    with pytest.raises(SampleError, match="ZeroDivisionError"):
        pipeline.run()
    reference = weakref.ref(pipeline)
    del pipeline
    gc.collect()
    assert reference() is None
