"""Ways to define a pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import DataNode, Pipeline, fn, ops, pipeline_def
from dali_core.errors import (
    ArgumentTypeError,
)
from tests.folders import make_folders
from tests.pipeline.counting import first, numbers


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


def test_unknown_arguments_of_pipeline_def_raise() -> None:
    with pytest.raises(ArgumentTypeError, match="unknown arguments bach_size"):
        pipeline_def(bach_size=3)

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


def test_each_call_makes_another_pipeline() -> None:
    @pipeline_def(batch_size=3, num_threads=1, device_id=None)
    def make() -> DataNode:
        return fn.external_source(numbers)

    one, two = make(), make()
    assert [first(one.run()), first(one.run()), first(two.run())] == [0, 10, 0]


def test_debug_at_the_call_warns() -> None:
    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def plain() -> Any:
        return fn.constant(idata=[3])

    with pytest.warns(UserWarning, match="debug=True has no effect"):
        pipe = plain(debug=True)
    assert pipe.run()[0].as_array().tolist() == [[3]]
    assert plain(debug=False).run()[0].as_array().tolist() == [[3]]


def test_debug_may_be_a_parameter_of_the_function() -> None:
    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def own(debug: bool) -> Any:
        return fn.constant(idata=[int(debug)])

    assert own(debug=True).run()[0].as_array().tolist() == [[1]]


def test_bool_as_seed_raises() -> None:
    numbers = []
    for seed in (True, 1, False):
        pipe = Pipeline(2, 1, None, seed=seed)
        with pipe:
            pipe.set_outputs(fn.random.uniform())
        numbers.append(pipe.run()[0].as_array().tolist())
        assert (pipe.seed, type(pipe.seed)) == (int(seed), int)
    assert numbers[0] == numbers[1] != numbers[2]
