"""Every call of the driver may fail: a typed error, no leaks, and everything works afterwards."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_program

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def test_failure_of_each_driver_call() -> None:
    without_error = run_program("failing_calls/failure_of_each_driver_call").split()
    # Freeing memory cannot raise an error, so there is a fallback; pinned memory is requested
    # twice.
    assert set(without_error) <= {
        *("cuCtxPopCurrent", "cuCtxPushCurrent", "cuCtxSynchronize", "cuEventRecord"),
        *("cuDevicePrimaryCtxRelease", "cuEventDestroy", "cuMemFreeAsync", "cuMemFreeHost"),
        *("cuMemHostAlloc", "cuMemPoolDestroy", "cuModuleUnload", "cuStreamDestroy"),
        *("cuStreamWaitEvent", "cuEventCreate", "cuThreadExchangeStreamCaptureMode"),
    }
