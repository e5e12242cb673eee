"""Traces: which threads did what, in the format that browsers show."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dali_core
from dali_core import Pipeline, fn, pipeline_def, types
from dali_core.errors import ArgumentValueError, MissingModuleError, PipelineStateError


def make() -> Pipeline:
    @pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=1)
    def pipeline():
        image = fn.random.uniform(range=[0, 255], shape=[6, 8, 3], dtype=types.UINT8)
        return fn.python_function(fn.flip(image), function=np.copy)

    return pipeline()


def events(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text())["traceEvents"]


def test_every_sample_and_step_is_there(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    before = time.time()
    with dali_core.trace(path):
        pipeline = make()
        for _ in range(4):
            pipeline.run()
    found = [event for event in events(path) if event["ph"] == "X"]
    of_flip = [event for event in found if event["name"] == "flip"]
    wanted = {(batch, sample) for batch in range(4) for sample in range(3)}
    seen = Counter((event["args"]["batch"], event["args"]["sample"]) for event in of_flip)
    assert wanted <= set(seen)
    assert set(seen.values()) == {1}
    steps = [event["args"] for event in found if event["name"] == "python_function"]
    assert [args["batch"] for args in steps][:4] == [0, 1, 2, 3]
    assert {args["sample"] for args in steps} == {-1}
    taken = [event["args"]["batch"] for event in found if event["name"] == "take a batch"]
    assert taken == [0, 1, 2, 3]
    for event in found:
        assert before - 1 <= event["ts"] / 1e6 <= time.time() + 1
        assert event["dur"] >= 0


def test_events_of_a_thread_do_not_overlap(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    with dali_core.trace(path):
        pipeline = make()
        for _ in range(5):
            pipeline.run()
    rows: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for event in events(path):
        if event["ph"] == "X":
            end = event["ts"] + event["dur"]
            rows.setdefault((event["pid"], event["tid"]), []).append((event["ts"], end))
    assert len(rows) >= 3
    for spans in rows.values():
        spans.sort()
        for (_, end), (begin, _) in pairwise(spans):
            assert begin >= end - 1  # a microsecond of rounding, since 1970 is long ago


def test_pipelines_and_threads_have_names(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    pipelines = [make(), make()]
    with dali_core.trace(path):
        for pipeline in pipelines:
            pipeline.run()
    of_pipeline: dict[int, list[tuple[str, str]]] = {}
    own = set()  # those of other tests may not have ended yet
    for event in events(path):
        if event["ph"] == "M":
            named = event["name"], event["args"]["name"]
            of_pipeline.setdefault(event["pid"], []).append(named)
        elif event["name"] == "take a batch":
            own.add(event["pid"])
    assert len(own) == 2
    for number, (process, names) in enumerate(of_pipeline.items(), 1):
        assert names.count(("process_name", f"dali_core pipeline {number}")) == 1
        if process in own:
            assert names.count(("thread_name", "native thread 1")) == 1
            assert names.count(("thread_name", "consumer")) == 1


def test_pipelines_that_run_already_are_traced(tmp_path: Path) -> None:
    pipeline = make()
    pipeline.run()
    with dali_core.trace(tmp_path / "run.json"):
        pipeline.run()
    found = events(tmp_path / "run.json")
    assert any(event["name"] == "take a batch" for event in found)


def test_events_outside_of_the_block_are_not_recorded(tmp_path: Path) -> None:
    pipeline = make()
    pipeline.run()
    with dali_core.trace(tmp_path / "first.json"):
        pass
    pipeline.run()
    with dali_core.trace(tmp_path / "second.json"):
        pass
    taken = [event for event in events(tmp_path / "second.json") if event["name"] == "take a batch"]
    assert taken == []


def test_a_trace_is_written_though_the_loop_fails(tmp_path: Path) -> None:
    path = tmp_path / "run.json"

    def loop() -> None:
        with dali_core.trace(path):
            make().run()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        loop()
    assert any(event["name"] == "flip" for event in events(path))
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.json"]


def test_nested_traces_raise(tmp_path: Path) -> None:
    with dali_core.trace(tmp_path / "outer.json"):
        with (
            pytest.raises(PipelineStateError, match="one trace must be written at a time"),
            dali_core.trace(tmp_path / "inner.json"),
        ):
            pass
        make().run()
    assert any(event["name"] == "flip" for event in events(tmp_path / "outer.json"))
    assert not (tmp_path / "inner.json").exists()


def test_a_wrong_path_is_found_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), dali_core.trace(tmp_path / "none" / "run.json"):
        pytest.fail("must not begin")
    with dali_core.trace(tmp_path / "run.json"):  # tracing was not started
        pass


def test_merging_aligns_by_wall_clock(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    base = 1_790_857_026_000_000_000
    span = {"ph": "X", "name": "flip", "cat": "operator", "dur": 2.0, "tid": 0, "args": {}}
    row = {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "pipeline"}}
    ours.write_text(json.dumps({"traceEvents": [{**span, "ts": base / 1e3 + 40, "pid": 1}, row]}))
    step = {"ph": "X", "name": "step", "ts": 39.0, "dur": 5.0, "pid": 4711, "tid": 4711}
    odd = {"ph": "i", "name": "end", "ts": 1.0, "pid": "Traces", "s": "g"}
    document = {"baseTimeNanoseconds": base, "traceName": "x", "traceEvents": [step, odd]}
    theirs.write_text(json.dumps(document))
    dali_core.tracing.merge(ours, theirs, theirs)
    merged = json.loads(theirs.read_text())
    assert merged["baseTimeNanoseconds"] == base
    assert merged["traceEvents"][:2] == [step, odd]
    flip, process = merged["traceEvents"][2:]
    assert flip["ts"] == pytest.approx(40, abs=0.5)
    assert {**flip, "ts": 0} == {**span, "ts": 0, "pid": 4712}
    assert process == {**row, "pid": 4712}
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("content", ["", "[1, 2]", "{}", '{"traceEvents": [1]}'])
def test_merging_other_files_raises(content: str, tmp_path: Path) -> None:
    path, target = tmp_path / "a.json", tmp_path / "b.json"
    path.write_text(content)
    with pytest.raises(ArgumentValueError, match="merge: the files must be traces in JSON"):
        dali_core.tracing.merge(path, path, target)
    assert not target.exists()


class RecordingNvtx(SimpleNamespace):
    """Stands in for the package nvtx."""

    def __init__(self) -> None:
        super().__init__(begun=[], open_ranges=0, domains=set())

    def push_range(self, message: str, domain: str) -> None:
        self.begun.append(message)
        self.open_ranges += 1
        self.domains.add(domain)

    def pop_range(self, domain: str) -> None:
        self.open_ranges -= 1
        self.domains.add(domain)


def test_nvtx_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    nvtx = RecordingNvtx()
    monkeypatch.setitem(sys.modules, "nvtx", nvtx)
    pipeline = make()
    pipeline.run()
    with dali_core.tracing.nvtx_ranges():
        for _ in range(2):
            pipeline.run()
        with (
            pytest.raises(PipelineStateError, match="one such block"),
            dali_core.tracing.nvtx_ranges(),
        ):
            pass
    taken = [name for name in nvtx.begun if name.startswith("take")]
    assert taken == ["take batch 1", "take batch 2"]
    assert nvtx.begun.count("start a batch") == 2
    # The step of a batch that is returned has begun before; that of the next one may have, too.
    assert "python_function, batch 2" in nvtx.begun
    assert nvtx.domains == {"dali_core"}
    pipeline.close()
    assert nvtx.open_ranges == 0
    marked = len(nvtx.begun)
    make().run()
    assert len(nvtx.begun) == marked


def test_nvtx_ranges_end_with_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    nvtx = RecordingNvtx()
    monkeypatch.setitem(sys.modules, "nvtx", nvtx)

    def fail(array: np.ndarray) -> np.ndarray:
        raise ValueError("no")

    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        pipeline.set_outputs(fn.python_function(fn.random.coin_flip(), function=fail))
    with dali_core.tracing.nvtx_ranges(), pytest.raises(Exception, match="no"):
        pipeline.run()
    pipeline.close()
    assert nvtx.begun.count("take batch 0") == 1
    assert nvtx.open_ranges == 0


def test_missing_nvtx_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nvtx", None)
    with (
        pytest.raises(MissingModuleError, match="needs the package nvtx"),
        dali_core.tracing.nvtx_ranges(),
    ):
        pytest.fail("must not begin")
