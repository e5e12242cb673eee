"""Properties and documents of pipelines, in a program that a strict type checker accepts."""

# mypy: warn-unreachable

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy

from dali_core import (
    DataNode,
    OperatorConcurrency,
    Pipeline,
    StreamPolicy,
    fn,
    pipeline_def,
    types,
)
from dali_core.errors import (
    NoBatchError,
    NotFedError,
    SampleRangeError,
    SampleValueError,
    SerializationError,
    UnknownInputError,
)
from dali_core.statistics import PipelineStatistics

if TYPE_CHECKING:
    from dali_core.cuda import Stream


@pipeline_def(
    batch_size=2,
    num_threads=1,
    device_id=None,
    seed=3,
    prefetch_queue_depth=1,
    enable_memory_stats=True,
    set_affinity=False,
    py_num_workers=1,
    py_start_method="spawn",
    output_dtype=[types.FLOAT],
    output_ndim=[1],
    output_layout=["X"],
)
def fed() -> DataNode:
    """Convert what is fed."""
    node = fn.external_source(name="input", layout="X")
    return fn.cast(node, dtype=types.FLOAT)


pipeline: Pipeline = fed()
sizes: list[int] = [pipeline.batch_size, pipeline.max_batch_size, pipeline.num_outputs]
queues: list[int] = [pipeline.cpu_queue_size, pipeline.gpu_queue_size]
switches: list[bool] = [
    *(pipeline.exec_pipelined, pipeline.exec_async, pipeline.exec_separated),
    *(pipeline.enable_memory_stats, pipeline.set_affinity),
]
dynamic: bool | None = pipeline.exec_dynamic
depth: int | Mapping[str, int] = pipeline.prefetch_queue_depth
workers: tuple[int | None, str] = (pipeline.py_num_workers, pipeline.py_start_method)
for_gpus: tuple[int, int] = (pipeline.max_streams, pipeline.default_cuda_stream_priority)
policy: StreamPolicy | None = pipeline.stream_policy
concurrency: OperatorConcurrency | None = pipeline.concurrency
seed: int | None = pipeline.seed
kinds: list[types.DALIDataType | None] = pipeline.output_dtype()
ranks: list[int | None] = pipeline.output_ndim()
layouts: list[str | None] = pipeline.output_layout()
stream: Stream | None = pipeline.output_stream()
assert (sizes, queues[0], depth, seed) == ([2, 2, 1], 1, 1, 3)
assert (kinds, ranks, layouts) == ([types.FLOAT], [1], ["X"])
print(switches, dynamic, workers, for_gpus, policy, concurrency, stream)

pipeline.start_py_workers()
shared: dict[str, list[int]] = pipeline.external_source_shm_statistics()
assert shared == {"capacities": [], "per_sample_capacities": []}
pipeline.build()
for _ in range(pipeline.input_feed_count("input")):
    pipeline.feed_input("input", numpy.zeros((2, 5), numpy.uint8))
assert pipeline.run()[0].as_array().shape == (2, 5)
statistics: dict[str, dict[str, list[int]]] = pipeline.executor_statistics()
assert any("Cast" in name or "cast" in name for name in statistics)
times: PipelineStatistics = pipeline.statistics()
names: list[str] = [entry.name for entry in times.operators]
assert "cast" in names, times.diagnosis()
print(times, times.headroom, times.threads.working, times.consumer.waiting_share)
json.dumps(times.as_dict())
pipeline.reset_statistics()

# Documents.

file = Path(tempfile.mkdtemp(), "pipeline.json")
document: bytes = pipeline.serialize(filename=file)
same: Pipeline = Pipeline.deserialize(document, batch_size=3)
copied: Pipeline = Pipeline.from_pipeline(same, num_threads=2)
allowed: Pipeline = Pipeline.deserialize(document, allow_remote=True)
other: Pipeline = Pipeline.deserialize(filename=file)
empty = Pipeline(batch_size=2, num_threads=1, device_id=None)
empty.deserialize_and_build(document)
assert (same.batch_size, other.seed, empty.num_outputs) == (3, 3, 1)

# A pipeline that is current.

inner = Pipeline(batch_size=1, num_threads=1, device_id=None)
Pipeline.push_current(inner)
constant = fn.constant(idata=[1])
inner.add_sink(fn.copy(constant))
inner.set_outputs(constant)
Pipeline.pop_current()
assert Pipeline.current() is None
assert inner.run()[0].as_array().tolist() == [[1]]

# Errors.

found: list[str] = []
try:
    pipeline.feed_input("output", numpy.zeros((2, 5)))
except UnknownInputError as error:
    found.append(type(error).__name__)
try:
    pipeline.run()
except NotFedError as error:
    found.append(type(error).__name__)
try:
    other.outputs()
except NoBatchError as error:
    found.append(type(error).__name__)
try:
    Pipeline.deserialize(b"{}")
except SerializationError as error:
    found.append(type(error).__name__)
assert found == ["UnknownInputError", "NotFedError", "NoBatchError", "SerializationError"]
for axes in ([7], [0, 0]):
    refused = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with refused:
        refused.set_outputs(fn.reductions.sum(fn.constant(fdata=[1.0]), axes=axes))
    try:
        refused.run()
    except SampleRangeError as error:
        found.append(type(error).__name__)
    except SampleValueError as error:
        found.append(type(error).__name__)
    refused.close()
assert found[4:] == ["SampleRangeError", "SampleValueError"]
for one in (pipeline, same, other, empty, inner):
    one.close()
