"""Outputs of pipelines on a device, and the streams of their consumers."""

from __future__ import annotations

import numpy
import pytest

from dali_core import Pipeline, fn
from tests.cuda.simulated_driver import run_program

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def run(program: str, **options: object) -> str:
    return run_program(program, **options)  # type: ignore[arg-type]


def test_given_stream_waits_for_outputs() -> None:
    """Reading by address, in a stream passed to `run`; without it, the data is incomplete."""
    run("pipeline_streams/given_stream_waits_for_outputs")


def test_memory_is_kept_until_given_stream_has_read() -> None:
    run("pipeline_streams/memory_is_kept_until_given_stream_has_read")


def test_output_stream() -> None:
    run("pipeline_streams/output_stream", devices=2)


def test_statistics() -> None:
    run("pipeline_streams/statistics")


def test_host_pipeline_accepts_any_stream() -> None:
    pipeline = Pipeline(batch_size=2, num_threads=1)
    with pipeline:
        pipeline.set_outputs(fn.external_source(source=lambda: [[1], [2]]))
    assert pipeline.output_stream() is None
    for stream in (0, 12345):
        assert numpy.array(pipeline.run(stream)[0].as_array()).tolist() == [[1], [2]]
    pipeline.enable_api_check(False)
    pipeline.schedule_run()
    assert len(pipeline.outputs(cuda_stream=12345)[0]) == 2


def test_graph_capture_in_another_thread() -> None:
    """A program that trains by graphs captures them while batches are made ahead."""
    run("pipeline_streams/graph_capture_in_another_thread")
