"""Pipelines that run partly on a device."""

from __future__ import annotations

import pytest

from dali_core import Pipeline, fn
from dali_core.errors import ArgumentValueError, CudaUnavailableError, GraphError
from tests.cuda.simulated_driver import run_program

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def run(program: str, **options: object) -> str:
    return run_program(program, **options)  # type: ignore[arg-type]


def test_host_device_round_trip() -> None:
    run("pipelines/host_device_round_trip")


def test_outputs_are_not_overwritten() -> None:
    """With slow streams, every batch is kept and checked at the end."""
    run("pipelines/outputs_are_not_overwritten", delay=0.002)


def test_memory_and_streams_are_released() -> None:
    run("pipelines/memory_and_streams_are_released")


def test_steady_state_does_not_synchronize() -> None:
    """No call that synchronizes with the device, once there are blocks for what is in flight."""
    run("pipelines/steady_state_does_not_synchronize")


@pytest.mark.parametrize("batch_size", [3, 4, 5, 64])
def test_copies_of_a_batch(batch_size: int) -> None:
    """However many samples there are: their data, and the parameters of all kernels."""
    run("pipelines/copies_of_a_batch", arguments=[batch_size])


def test_branches_on_a_device() -> None:
    run("pipelines/branches_on_a_device")


def test_pipeline_resumes_after_failed_driver_calls() -> None:
    """Any call of the driver fails: an error with its name, and the next batch is right."""
    run("pipelines/pipeline_resumes_after_failed_driver_calls")


def test_out_of_memory_fails_one_batch_only() -> None:
    run("pipelines/out_of_memory_fails_one_batch_only", memory_limit=12000000)


def test_several_devices_in_one_process() -> None:
    run("pipelines/several_devices_in_one_process", devices=8)


def test_without_a_driver() -> None:
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=0)
    with pipeline:
        pipeline.set_outputs(fn.external_source(source=lambda: [[1]]).gpu())
    with pytest.raises(CudaUnavailableError, match=r"DataNode\.gpu at .*test_pipelines"):
        pipeline.build()


def test_without_a_device() -> None:
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        pipeline.set_outputs(fn.external_source(source=lambda: [[1]]).gpu())
    with pytest.raises(GraphError, match="must have a device"):
        pipeline.build()


def test_host_operators_reject_device_inputs() -> None:
    with Pipeline(batch_size=1, num_threads=1, device_id=0):
        data = fn.external_source(source=lambda: [[1]])
        there = data.gpu()
        assert (there.device, there.gpu() is there, there.shape().device) == ("gpu", True, "cpu")
        with pytest.raises(GraphError, match=r"fn\.dump_image at .* on the host.*\.cpu\(\)"):
            fn.dump_image(there)
        with pytest.raises(ArgumentValueError, match="device must be one of 'cpu'"):
            fn.dump_image(data, device="gpu")
        with pytest.raises(GraphError, match=r"input 0 must be on the host"):
            fn.python_function(there, function=lambda x: x)
        with pytest.raises(GraphError, match=r"argument 'horizontal' must be on the host"):
            fn.flip(data, horizontal=there)
