"""Whatever call of the driver fails once: a typed error or none, and everything after is right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cuda.simulated_driver import run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")
PROGRAM = Path(__file__).with_name("programs") / "failing_calls.py"
Log = dict[str, tuple[int, str]]

QUEUEING = (
    *("cuEventRecord", "cuLaunchKernel", "cuMemAllocFromPoolAsync", "cuMemcpyAsync"),
    *("cuStreamWaitEvent",),
)
"""What puts work into streams, or gets the memory for it."""
STARTING = (
    *("cuDeviceGet", "cuDeviceGetAttribute", "cuDeviceGetCount", "cuDevicePrimaryCtxRetain"),
    *("cuDriverGetVersion", "cuEventCreate", "cuInit", "cuMemPoolCreate", "cuMemPoolSetAttribute"),
    *("cuModuleGetFunction", "cuModuleLoadDataEx", "cuStreamCreateWithPriority"),
    *("cuStreamGetPriority",),
)
"""What happens once for a device or a pipeline."""
OTHERS = (
    *("cuCtxPopCurrent", "cuCtxPushCurrent", "cuEventQuery", "cuEventSynchronize"),
    *("cuMemFreeAsync", "cuMemHostAlloc", "cuStreamDestroy", "cuStreamSynchronize"),
)
"""What may fail without a sign: where there is still another way, or nobody to tell."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Log:
    path = tmp_path_factory.mktemp("log") / "log"
    run_simulated(PROGRAM.read_text("utf-8"), env={"DALI_CORE_LOG": str(path)}, timeout=300)
    found: Log = json.loads(path.read_text("utf-8"))
    return found


@pytest.mark.parametrize("function", [*QUEUEING, *STARTING, *OTHERS])
def test_function(log: Log, function: str) -> None:
    errors, problems = log[function]
    assert not problems, problems
    assert errors > 0 or function in OTHERS, "nobody was told"


def test_these_are_all(log: Log) -> None:
    assert set(log) == {*QUEUEING, *STARTING, *OTHERS}
