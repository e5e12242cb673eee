"""Interpreter exit with live objects."""

import subprocess
import sys

PROGRAM = """
from tests.cuda.small_pipeline import make
{}
"""
for body in (
    "pipeline = make(); batches = [pipeline.run() for _ in range(3)]",
    "batches = [make().run() for _ in range(3)]",
    "pipeline = make(); pipeline.run(); import sys; sys.modules['kept'] = pipeline",
    "pipeline = make(); capsule = pipeline.run()[0].as_tensor().__dlpack__(stream=1)",
    "pipeline = make(); pipeline.schedule_run(); pipeline.schedule_run()",
    "from dali_core import cuda; stream = cuda.Stream(0); event = stream.record()",
    "pipeline = make(); pipeline.run(); raise SystemExit(0)",
    "import threading; pipeline = make(); run = threading.Thread(target=pipeline.run); run.start()",
    "pipeline = make(); host = pipeline.run()[2].as_tensor\npipeline.close()",
):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-X", "faulthandler", "-c", PROGRAM.format(body)],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), (body, done)
