"""Pipelines and processes that end with work in flight."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

PRELUDE = """
import gc, os, subprocess, sys, time
from itertools import pairwise
import numpy as np
from dali_core import cuda
from dali_core.errors import CudaError, DaliCoreError, PipelineStateError
from tests.cuda.simulated_driver import control
from tests.cuda.small_pipeline import arrays, expected, is_right, left, make
"""


def run(program: str, **options: object) -> str:
    return run_simulated(PRELUDE + program, **options)  # type: ignore[arg-type]


def test_pipeline_close_with_work_in_flight() -> None:
    run(
        """
for depth in (1, 2, 5):
    for end in ("close", "drop", "keep", "reset", "close twice"):
        pipeline = make(prefetch_queue_depth=depth)
        batch = pipeline.run()
        if end == "reset":
            pipeline.reset()
            assert is_right(pipeline.run(), 1)
        if end.startswith("close"):
            pipeline.close()
        if end == "close twice":
            pipeline.close()
            try:
                pipeline.run()
            except PipelineStateError:
                pass
            else:
                raise AssertionError("it is closed")
        if end == "drop":
            del batch
        del pipeline
        gc.collect()
        if end != "drop":
            assert is_right(batch, 0)
            del batch
        assert not left(), (depth, end, left())
""",
        delay=0.003,
    )


def test_repeated_pipelines_do_not_leak() -> None:
    run(
        """
seen = []
for number in range(50):
    pipeline = make()
    assert is_right(pipeline.run(), 0)
    if number % 2:
        pipeline.close()
    del pipeline
    assert not left(), left()
    live = control.live()
    seen.append((live["host_bytes"], live["events"], live["modules"], live["pools"]))
_, _, modules, pools = map(max, zip(*seen))
assert (modules, pools) == seen[0][2:], seen
# How many of these there are depends on how far the threads are, but most pipelines need no more.
for counts in list(zip(*seen))[:2]:
    assert sum(later > earlier for earlier, later in pairwise(counts)) < 20, seen
cuda.release_unused_memory()
assert control.live()["host_bytes"] == 0
"""
    )


def test_fork_after_device_use() -> None:
    """Every use raises an error that says so, and it exits quietly; the parent is not affected."""
    run(
        """
pipeline = make()
batch = pipeline.run()
reading, writing = os.pipe()
child = os.fork()
if child == 0:
    said = []
    for attempt in (pipeline.run, lambda: make().run(), batch[0].as_cpu, cuda.device_count,
                    lambda: cuda.Stream(0)):
        try:
            attempt()
        except DaliCoreError as error:
            said.append(type(error).__name__)
        else:
            said.append("nothing")
    del batch, pipeline
    gc.collect()
    os.write(writing, " ".join(said).encode())
    sys.exit(0)
os.close(writing)
with open(reading) as pipe:
    said = pipe.read().split()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, said
assert len(said) == 5 and "nothing" not in said[:3] + said[4:], said
assert is_right(batch, 0) and is_right(pipeline.run(), 1)
"""
    )


@pytest.mark.parametrize("delay", [0.0, 0.01])
def test_interpreter_exit_with_live_objects(delay: float) -> None:
    run(
        """
PROGRAM = '''
from tests.cuda.small_pipeline import make
{}
'''
for body in (
    "pipeline = make(); batches = [pipeline.run() for _ in range(3)]",
    "batches = [make().run() for _ in range(3)]",
    "pipeline = make(); pipeline.run(); import sys; sys.modules['kept'] = pipeline",
    "pipeline = make(); capsule = pipeline.run()[0].as_tensor().__dlpack__(stream=1)",
    "pipeline = make(); pipeline.schedule_run(); pipeline.schedule_run()",
    "from dali_core import cuda; stream = cuda.Stream(0); event = stream.record()",
    "pipeline = make(); pipeline.run(); raise SystemExit(0)",
    "import threading; pipeline = make(); run = threading.Thread(target=pipeline.run); run.start()",
    "pipeline = make(); host = pipeline.run()[2].as_tensor\\npipeline.close()",
):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-X", "faulthandler", "-c", PROGRAM.format(body)],
        capture_output=True, text=True, timeout=600,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), (body, done)
""",
        delay=delay,
    )
