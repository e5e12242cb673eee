"""Pipelines in Ray Data."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import ray
import ray.data
from dali_core_ray.data import PipelineDatasource, PipelineStage

from dali_core import Pipeline, fn, pipeline_def
from dali_core.errors import ArgumentKeyError, ArgumentTypeError, ArgumentValueError, SampleError
from dali_core.plugin.base_iterator import LastBatchPolicy
from tests.adapters.dali_core_ray.pipelines import NAMES, definition, in_one_process


@pipeline_def(batch_size=3, num_threads=1, device_id=None)
def doubled() -> Any:
    return fn.external_source(name="value") * 2


def test_rows_match_one_process_after_a_worker_is_killed(
    cluster: Any, files: list[str], tmp_path: Path
) -> None:
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True
    marker = tmp_path / "kill"
    made = definition(files, marker=str(marker))
    source = PipelineDatasource(made, NAMES, reader_name="arrays")
    iterator = in_one_process(files, policy=LastBatchPolicy.PARTIAL, marker=str(marker))
    batches = [batch for (batch,) in iterator]
    # A process is killed in the first reading, and none in the second, which is one task.
    marker.touch()
    for num_blocks in (3, 1):
        data = ray.data.read_datasource(source, override_num_blocks=num_blocks, num_cpus=0.5)
        rows = data.take_all()
        assert not marker.exists()
        assert len(rows) == 50
        for name in NAMES:
            expected = np.concatenate([batch[name] for batch in batches])
            np.testing.assert_array_equal(np.stack([row[name] for row in rows]), expected)


# Ray hides this warning in several threads at a time, which undo what the others do.
@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable:UserWarning")
@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_batches_are_those_of_one_process(cluster: Any, files: list[str], framework: str) -> None:
    module = pytest.importorskip(framework, reason=f"not available: {framework}")
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True
    source = PipelineDatasource(definition(files), NAMES, reader_name="arrays", epoch=1)
    rows = ray.data.read_datasource(source, override_num_blocks=2, num_cpus=0.5)
    if framework == "torch":
        kind, batches = module.Tensor, rows.iter_torch_batches(batch_size=4)
    else:
        kind, batches = module.Array, rows.iter_jax_batches(batch_size=4)
    iterator = in_one_process(files, policy=LastBatchPolicy.PARTIAL)
    assert len(list(iterator)) == 13  # the epoch before
    for batch, (expected,) in zip(batches, iterator, strict=True):
        for name in NAMES:
            assert isinstance(batch[name], kind)
            np.testing.assert_array_equal(np.asarray(batch[name]), expected[name], strict=True)


def noted(folder: str) -> Pipeline:
    """Return a pipeline, and write down that there is one more in the process."""
    with open(Path(folder, str(os.getpid())), "a") as file:
        file.write("built\n")
    return doubled()


def test_stage_is_built_once_in_an_actor(cluster: Any, tmp_path: Path) -> None:
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    values = np.arange(40, dtype=np.int32).reshape(2, 5, 2, 2)
    data = ray.data.from_numpy([values[0], values[1]])
    mapped = data.map_batches(
        PipelineStage,
        fn_constructor_kwargs={
            "definition": partial(noted, str(tmp_path)),
            "output_map": ["twice"],
            "columns": {"value": "data"},
            "keep": ["data"],
        },
        compute=ray.data.ActorPoolStrategy(size=2),
        batch_size=5,
        num_cpus=0.5,
    )
    result = mapped.materialize()
    assert len(list(tmp_path.iterdir())) <= 2
    assert {path.read_text() for path in tmp_path.iterdir()} == {"built\n"}
    kind = result.schema().base_schema.field("twice").type
    assert isinstance(kind, pa.BaseExtensionType)
    assert tuple(kind.shape) == (2, 2)
    rows = result.take_all()
    assert len(rows) == 10
    for row in rows:
        np.testing.assert_array_equal(row["twice"], row["data"] * 2)


def test_stage_takes_bytes_and_samples_of_different_shapes() -> None:
    stage = PipelineStage(doubled, ["twice"])
    samples = [np.ones((n, 2), np.uint8) for n in range(1, 6)]
    column = np.empty(5, object)
    column[:] = samples
    twice = stage({"value": column})["twice"]
    assert [sample.shape for sample in twice] == [(n, 2) for n in range(1, 6)]
    column = np.array([b"ab", b"cd"], object)
    stage = PipelineStage(doubled, ["twice"])
    np.testing.assert_array_equal(stage({"value": column})["twice"], [[194, 196], [198, 200]])


@pipeline_def(batch_size=3, num_threads=1, device_id=None)
def of_two() -> Any:
    return fn.reshape(fn.external_source(name="value"), shape=[2])


def test_rows_after_a_bad_one_are_their_own() -> None:
    stage = PipelineStage(of_two, ["two"])
    column = np.empty(7, object)
    column[:] = [np.full(1 + (number != 1), number) for number in range(7)]
    for _ in range(2):
        with pytest.raises(SampleError, match="reshape"):
            stage({"value": column})
        np.testing.assert_array_equal(stage({"value": column[2:]})["two"], np.stack(column[2:]))


def test_invalid_arguments_raise(files: list[str]) -> None:
    with pytest.raises(ArgumentKeyError, match="'value'.*'other'"):
        PipelineStage(doubled, ["twice"])({"other": np.zeros(2)})
    with pytest.raises(ArgumentValueError, match="inputs"):
        PipelineStage(doubled, ["twice"], columns={"no": "data"})
    with pytest.raises(ArgumentValueError, match="without inputs"):
        PipelineStage(definition(files), NAMES)
    with pytest.raises(ArgumentTypeError, match="must be a function"):
        PipelineStage(3, ["twice"])
    with pytest.raises(ArgumentTypeError, match="must be a list of names"):
        PipelineStage(doubled, "twice")
    with pytest.raises(ArgumentValueError, match="2 names for 1"):
        PipelineStage(doubled, ["one", "two"])
    for keep in ("value", ["twice"]):
        with pytest.raises(ArgumentValueError, match="keep must be a list of columns other than"):
            PipelineStage(doubled, ["twice"], keep=keep)
    for value in ("text", None):
        with pytest.raises(ArgumentTypeError, match="column 'value' must have bytes"):
            PipelineStage(doubled, ["twice"])({"value": np.array([value], object)})
    with pytest.raises(ArgumentValueError, match="epoch must be at least 0"):
        PipelineDatasource(definition(files), NAMES, reader_name="arrays", epoch=-1)
    with pytest.raises(ArgumentTypeError, match="epoch must be an int"):
        PipelineDatasource(definition(files), NAMES, reader_name="arrays", epoch="1")
    with pytest.raises(ArgumentValueError, match="2 names for 3"):
        PipelineDatasource(definition(files), NAMES[:2], reader_name="arrays")
