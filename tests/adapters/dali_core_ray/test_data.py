"""Pipelines in Ray Data."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import ray
import ray.data
from dali_core_ray.data import PipelineDatasource, PipelineStage

from dali_core import fn, pipeline_def
from dali_core.errors import ArgumentKeyError, ArgumentTypeError, ArgumentValueError
from dali_core.plugin.base_iterator import LastBatchPolicy
from tests.adapters.dali_core_ray.pipelines import NAMES, definition, in_one_process


@pipeline_def(batch_size=3, num_threads=1, device_id=None)
def doubled() -> Any:
    return fn.external_source(name="value") * 2


def test_rows_are_those_of_one_process(cluster: Any, files: list[str]) -> None:
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True
    source = PipelineDatasource(definition(files), NAMES, reader_name="arrays")
    rows = ray.data.read_datasource(source, override_num_blocks=3, num_cpus=0.5).take_all()
    iterator = in_one_process(files, policy=LastBatchPolicy.PARTIAL)
    batches = [batch for (batch,) in iterator]
    assert len(rows) == 50
    for name in NAMES:
        expected = np.concatenate([batch[name] for batch in batches])
        np.testing.assert_array_equal(np.stack([row[name] for row in rows]), expected)


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


def test_stage_is_built_once_in_an_actor(cluster: Any) -> None:
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    values = np.arange(40, dtype=np.int32).reshape(2, 5, 2, 2)
    data = ray.data.from_numpy([values[0], values[1]])
    mapped = data.map_batches(
        PipelineStage,
        fn_constructor_kwargs={
            "definition": doubled,
            "output_map": ["twice"],
            "columns": {"value": "data"},
            "keep": ["data"],
        },
        compute=ray.data.ActorPoolStrategy(size=2),
        batch_size=5,
        num_cpus=0.5,
    )
    rows = mapped.take_all()
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


def test_mistakes_are_named(files: list[str]) -> None:
    with pytest.raises(ArgumentKeyError, match="'value'.*'other'"):
        PipelineStage(doubled, ["twice"])({"other": np.zeros(2)})
    with pytest.raises(ArgumentValueError, match="inputs"):
        PipelineStage(doubled, ["twice"], columns={"no": "data"})
    with pytest.raises(ArgumentValueError, match="without inputs"):
        PipelineStage(partial(definition(files)), ["image"])
    with pytest.raises(ArgumentTypeError, match="must be a function"):
        PipelineStage(3, ["twice"])
    stage = PipelineStage(doubled, ["one", "two"])
    for _ in range(2):
        with pytest.raises(ArgumentValueError, match="2 names for 1"):
            stage({"value": np.zeros((7, 2))})
