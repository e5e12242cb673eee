"""Properties of a pipeline's graph and readers, and its lifetime."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import numpy as np
import pytest

from dali_core import DataNode, Pipeline, fn
from dali_core.errors import (
    ArgumentValueError,
    GraphError,
)
from tests.folders import make_folders
from tests.pipeline.counting import counting, numbers
from tests.waiting import wait_until


def test_dead_operators_are_dropped() -> None:
    called = []
    with Pipeline(3, 1, None) as pipeline:
        used = fn.external_source(numbers)
        fn.python_function(used, function=lambda x: called.append("dead"), preserve=False)
        kept = fn.python_function(used, function=lambda x: called.append("kept") or x)
        fn.copy(used, name="unused")
        pipeline.set_outputs(used)
    pipeline.run()
    pipeline.close()
    assert set(called) == {"kept"}
    assert kept.name in pipeline.plan()
    assert pipeline.plan().count("fn.python_function") == 1
    assert "unused" not in pipeline.plan()


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
    assert pipeline.epoch_size() == {"padded": 12, "plain": 10, "readers_file_2": 10}
    assert pipeline.reader_meta("padded") == {
        "epoch_size": 10,
        "epoch_size_padded": 12,
        "number_of_shards": 4,
        "shard_id": 1,
        "pad_last_batch": 1,
        "stick_to_shard": 0,
        "class_names": ["class_0", "class_1", "class_2"],
    }
    assert set(pipeline.reader_meta()) == {"padded", "plain", "readers_file_2"}
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


class Looping(Pipeline):
    """A pipeline whose source refers to it: a reference cycle."""

    def define_graph(self) -> DataNode:
        return fn.external_source(self.numbers)

    def numbers(self, iteration: int) -> list[np.int64]:
        return numbers(iteration)


def test_pipelines_are_collected() -> None:
    pipeline = Looping(3, 1, None)
    (batch,) = pipeline.run()
    reference = weakref.ref(pipeline)
    del pipeline

    def collected() -> bool:
        gc.collect()
        return reference() is None

    wait_until(collected)  # a running step holds the source
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
    with pytest.raises(ZeroDivisionError):
        pipeline.run()
    reference = weakref.ref(pipeline)
    del pipeline
    gc.collect()
    assert reference() is None
