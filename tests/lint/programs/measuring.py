"""Traces and statistics of pipelines, in a program that a strict type checker accepts."""

# mypy: warn-unreachable

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import dali_core
from dali_core import DataNode, Pipeline, fn, pipeline_def
from dali_core.statistics import (
    ConsumerStatistics,
    OperatorStatistics,
    PipelineStatistics,
    ThreadStatistics,
)


@pipeline_def(batch_size=4, num_threads=2)
def noise() -> DataNode:
    """Draw numbers."""
    return fn.random.normal(shape=(8, 8)) * 2


pipeline: Pipeline = noise()
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "trace.json")
    with dali_core.trace(path):
        for _ in range(3):
            pipeline.run()
    assert json.loads(path.read_text("utf-8"))["traceEvents"]

statistics: PipelineStatistics = pipeline.statistics()
operators: tuple[OperatorStatistics, ...] = tuple(statistics.operators)
threads: ThreadStatistics = statistics.threads
consumer: ConsumerStatistics = statistics.consumer
headroom: float = statistics.headroom
share: float = consumer.waiting_share
diagnosis: str = statistics.diagnosis()
assert headroom >= 0
assert 0 <= share <= 1
assert diagnosis in str(statistics)
assert sorted(statistics.as_dict())
names: list[str] = [operator.name for operator in operators]
assert names
working: float = threads.working
assert working >= 0
pipeline.reset_statistics()
pipeline.close()
