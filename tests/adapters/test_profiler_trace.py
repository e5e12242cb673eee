"""Traces of this library and of ``torch.profiler`` in one file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

import dali_core
from dali_core import Pipeline, fn

CLOCKS = 2000
"""Microseconds by which the clocks of both may differ: each converts its own to the wall clock."""


def spans(events: list[dict[str, Any]], name: str) -> list[tuple[float, float]]:
    return [
        (event["ts"], event["ts"] + event["dur"])
        for event in events
        if event["ph"] == "X"
        and event["name"] == name
        and event.get("cat") != "gpu_user_annotation"
    ]


def test_batches_are_within_the_steps_that_took_them(tmp_path: Path) -> None:
    ours, theirs, both = (tmp_path / f"{name}.json" for name in ("ours", "theirs", "both"))
    pipeline = Pipeline(batch_size=3, num_threads=2, device_id=None)
    with pipeline:
        pipeline.set_outputs(fn.random.coin_flip())
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities) as profiler, dali_core.trace(ours):
        for number in range(4):
            with torch.profiler.record_function(f"step {number}"):
                pipeline.run()
            torch.ones(3) + 1
    profiler.export_chrome_trace(str(theirs))
    assert json.loads(theirs.read_text())["baseTimeNanoseconds"] > 0
    dali_core.tracing.merge(ours, theirs, both)
    events = json.loads(both.read_text())["traceEvents"]
    taken = spans(events, "take a batch")
    assert len(taken) == 4
    assert spans(events, "aten::add")
    for number, (begin, end) in enumerate(taken):
        ((first, last),) = spans(events, f"step {number}")
        assert first - CLOCKS <= begin <= end <= last + CLOCKS
    # The rows of both are different processes of the trace.
    own = {event["pid"] for event in events if event["name"] == "take a batch"}
    assert own.isdisjoint(event["pid"] for event in events if event["name"].startswith("aten::"))
