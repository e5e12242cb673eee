"""Any call of the driver fails once: a typed error or none, and later results are right."""

from __future__ import annotations

import json

import pytest

from tests.cuda.simulated_driver import run_program

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")
Log = dict[str, tuple[int, str]]

QUEUEING = (
    *("cuEventRecord", "cuLaunchKernel", "cuMemAllocFromPoolAsync", "cuMemcpyAsync"),
    *("cuStreamWaitEvent",),
)
"""Calls that enqueue work in streams, or allocate memory for it."""
STARTING = (
    *("cuDeviceGet", "cuDeviceGetAttribute", "cuDeviceGetCount", "cuDevicePrimaryCtxRetain"),
    *("cuDriverGetVersion", "cuEventCreate", "cuInit", "cuMemPoolCreate", "cuMemPoolSetAttribute"),
    *("cuModuleGetFunction", "cuModuleLoadDataEx", "cuStreamCreateWithPriority"),
    *("cuStreamGetPriority",),
)
"""Calls that happen once per device or pipeline."""
OTHERS = (
    *("cuCtxPopCurrent", "cuCtxPushCurrent", "cuEventQuery", "cuEventSynchronize"),
    *("cuMemFreeAsync", "cuMemHostAlloc", "cuStreamDestroy", "cuStreamSynchronize"),
    "cuThreadExchangeStreamCaptureMode",
)
"""Calls that may fail silently: there is a fallback, or an error cannot be raised."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Log:
    path = tmp_path_factory.mktemp("log") / "log"
    run_program("failing_calls", env={"DALI_CORE_LOG": str(path)})
    found: Log = json.loads(path.read_text("utf-8"))
    return found


@pytest.mark.parametrize("function", [*QUEUEING, *STARTING, *OTHERS])
def test_failure_of_driver_function(log: Log, function: str) -> None:
    errors, problems = log[function]
    assert not problems, problems
    assert errors > 0 or function in OTHERS, "nobody was told"


def test_all_called_driver_functions_are_listed(log: Log) -> None:
    assert set(log) == {*QUEUEING, *STARTING, *OTHERS}
