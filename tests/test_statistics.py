"""Statistics of pipelines: what is counted, and what is concluded from it."""

from __future__ import annotations

import html
import json
import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dali_core import Pipeline, fn, pipeline_def, types
from dali_core._execution import run_statistics
from dali_core._runtime.executor import Executor
from dali_core._runtime.run_times import OperatorTimes, RunTimes
from dali_core._runtime.thread_times import run_times
from dali_core.plugin.base_iterator import BaseIterator
from dali_core.statistics import (
    ConsumerStatistics,
    OperatorStatistics,
    PipelineStatistics,
    ThreadStatistics,
)
from tests.plugin.fake_pipeline import ListAdapter
from tests.waiting import wait_until

SECONDS = 0.002
"""For how long functions of these tests sleep. Measured times are at least that, on any machine."""


def sleeping(batch_size: int = 4) -> Pipeline:
    def sleep(array: np.ndarray) -> np.ndarray:
        time.sleep(SECONDS)
        return array

    @pipeline_def(batch_size=batch_size, num_threads=2, device_id=None, seed=1)
    def pipeline():
        image = fn.random.uniform(range=[0, 255], shape=[6, 8, 3], dtype=types.UINT8)
        image = fn.python_function(fn.flip(image), function=sleep)
        return fn.cast(image, dtype=types.FLOAT)

    return pipeline()


def settled(pipeline: Pipeline) -> PipelineStatistics:
    """Return the statistics once nothing is being computed any more."""
    runner = pipeline._run.runner
    assert runner is not None
    wait_until(lambda: runner.executor.num_active == 0)
    return pipeline.statistics()


def by_name(statistics: PipelineStatistics) -> dict[str, OperatorStatistics]:
    return {entry.name: entry for entry in statistics.operators}


def test_operator_statistics() -> None:
    pipeline = sleeping()
    for _ in range(3):
        pipeline.run()
    statistics = settled(pipeline)
    operators = by_name(statistics)
    assert set(operators) == {"random.uniform", "flip", "python_function", "cast"}
    # At least what was returned; more is on its way.
    flip, cast, step = operators["flip"], operators["cast"], operators["python_function"]
    assert flip.samples >= cast.samples >= 12
    assert flip.calls == flip.samples
    assert flip.bytes_in == flip.bytes_out == flip.samples * 6 * 8 * 3
    assert cast.bytes_out == 4 * cast.bytes_in == cast.samples * 6 * 8 * 3 * 4
    assert step.kind == "Python"
    assert step.calls >= 3
    assert step.samples == 4 * step.calls
    assert step.seconds >= step.samples * SECONDS
    assert step.processor_seconds is not None
    assert step.processor_seconds < step.seconds
    assert flip.processor_seconds is None
    assert 4 * SECONDS * 0.95 <= step.median <= step.p90 <= step.p99
    assert sum(entry.share for entry in statistics.operators) == pytest.approx(1)
    assert [entry.seconds for entry in statistics.operators] == sorted(
        (entry.seconds for entry in statistics.operators), reverse=True
    )


def test_thread_and_consumer_statistics() -> None:
    pipeline = sleeping()
    for _ in range(4):
        pipeline.run()
        time.sleep(SECONDS)
    statistics = pipeline.statistics()
    loop, threads = statistics.consumer, statistics.threads
    assert loop.batches == 4
    assert loop.working >= 3 * SECONDS
    assert loop.first_wait >= 4 * SECONDS
    assert loop.waiting > 0
    # Four native threads' worth of samples take no time beside those in Python.
    assert threads.waiting_for_python > 0
    waits = [getattr(threads, name) for name in vars(threads) if name.startswith("waiting")]
    assert threads.working + sum(waits) == pytest.approx(2 * statistics.seconds, rel=1e-6)
    assert 0 <= loop.mean_queue <= loop.depth == 2


def test_a_slow_loop_finds_batches_ready() -> None:
    pipeline = Pipeline(batch_size=2, num_threads=1, device_id=None, prefetch_queue_depth=2)
    with pipeline:
        pipeline.set_outputs(fn.random.coin_flip())
    pipeline.run()
    for _ in range(3):
        pipeline.run()
        settled(pipeline)
        time.sleep(SECONDS)
    statistics = pipeline.statistics()
    assert statistics.consumer.ready >= 2 * SECONDS
    assert statistics.consumer.mean_queue > 0
    # What comes after the last batch does not count.
    assert statistics.threads.waiting_for_consumer >= 2 * SECONDS
    assert statistics.headroom > 0


def trivial(depth: int) -> Pipeline:
    pipeline = Pipeline(batch_size=2, num_threads=1, device_id=None, prefetch_queue_depth=depth)
    with pipeline:
        pipeline.set_outputs(fn.random.coin_flip())
    return pipeline


@pytest.mark.parametrize("by_run", [True, False])
def test_a_slow_loop_finds_the_queue_full(by_run: bool) -> None:
    pipeline = trivial(3)
    if not by_run:
        pipeline.schedule_run()
    for _ in range(5):
        if by_run:
            pipeline.run()
        else:
            pipeline.outputs()
            pipeline.schedule_run()
        loop = settled(pipeline).consumer
    assert loop.batches == 5
    assert (loop.found_empty, loop.found_full) == (0, 4)
    # `run` finds two batches, and perhaps the one that it has started.
    assert (2 if by_run else 3) <= loop.mean_queue <= loop.depth == 3


def test_a_fast_loop_finds_the_queue_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Semaphore(0)

    def wait(array: np.ndarray) -> np.ndarray:
        gate.acquire()
        return array

    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=2)
    with pipeline:
        pipeline.set_outputs(fn.python_function(fn.random.coin_flip(), function=wait))
    pipeline.schedule_run()
    runner = pipeline._run.runner
    assert runner is not None
    wait_for = runner.wait
    # A batch is made once the loop has asked for it.
    monkeypatch.setattr(runner, "wait", lambda batch: gate.release() or wait_for(batch))
    for number in range(4):
        pipeline.outputs()
        pipeline.schedule_run()
        loop = pipeline.statistics().consumer
        assert (loop.found_empty, loop.found_full, loop.mean_queue) == (number, 0, 0)
    gate.release(100)
    wait_until(lambda: runner.executor.num_active == 0)
    pipeline.outputs()
    loop = pipeline.statistics().consumer
    assert (loop.found_empty, loop.found_full) == (3, 1)
    text = str(pipeline.statistics())
    assert (
        "finished batches: 0.5 of 2 on average, none 75 % of the times that the loop asked for one"
        ", all 25 %"
    ) in text


def test_files_are_counted_wherever_they_are_read(tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / f"{number}.bin").write_bytes(bytes(100))

    @pipeline_def(batch_size=4, num_threads=2, device_id=None)
    def pipeline():
        files = sorted(str(path) for path in tmp_path.iterdir())
        return fn.readers.file(files=files, name="files")[0]

    running = pipeline()
    for _ in range(5):
        running.run()
    (reader,) = settled(running).operators
    assert reader.is_reader
    assert reader.samples >= 20
    assert reader.bytes_out == reader.samples * (100 + 4)
    assert reader.seconds + reader.seconds_ahead > 0


def test_reset_statistics() -> None:
    pipeline = sleeping()
    for _ in range(5):
        pipeline.run()
    pipeline.reset_statistics()
    none = pipeline.statistics()
    assert none.consumer.batches == 0
    assert none.headroom == 0
    assert "Too few batches" in none.diagnosis()
    pipeline.run()
    pipeline.run()
    some = pipeline.statistics()
    assert some.consumer.batches == 2
    assert by_name(some)["python_function"].samples < 5 * 4


def test_before_the_first_batch() -> None:
    statistics = sleeping().statistics()
    assert statistics.consumer.batches == 0
    assert "Too few batches" in str(statistics)


def test_a_failed_batch_does_not_count(tmp_path: Path) -> None:
    def fail(array: np.ndarray) -> np.ndarray:
        raise ValueError("no")

    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        pipeline.set_outputs(fn.python_function(fn.random.coin_flip(), function=fail))
    for _ in range(2):
        with pytest.raises(Exception, match="no"):
            pipeline.run()
    assert pipeline.statistics().consumer.batches == 0


def test_printed_and_as_json() -> None:
    pipeline = sleeping()
    for _ in range(3):
        pipeline.run()
    statistics = pipeline.statistics()
    lines = str(statistics).splitlines()
    assert lines[0].startswith("3 batches in ")
    assert any(line.startswith("python_function") for line in lines)
    data = json.loads(json.dumps(statistics.as_dict()))
    assert data["consumer"]["batches"] == 3
    assert data["diagnosis"] == statistics.diagnosis()


def test_chains_have_one_entry(tmp_path: Path) -> None:
    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def pipeline():
        image = fn.random.uniform(range=[0, 255], shape=[20, 30, 3], dtype=types.UINT8)
        image = fn.resize(fn.reinterpret(image, layout="HWC"), size=[10, 10])
        return fn.crop_mirror_normalize(image, dtype=types.FLOAT, output_layout="CHW")

    running = pipeline()
    running.run()
    assert "resize + crop_mirror_normalize" in by_name(running.statistics())


def test_the_slowest_pipeline_of_an_iterator_counts() -> None:
    pipelines = [sleeping(), sleeping()]
    iterator = BaseIterator(pipelines, ["image"], adapter=ListAdapter(), size=1000)
    assert iterator.headroom() == 0
    for _ in range(3):
        next(iterator)
    headrooms = [pipeline.statistics().headroom for pipeline in pipelines]
    assert 0 < iterator.headroom() <= 1.1 * max(headrooms)


@given(st.lists(st.integers(64, 10**10), min_size=1, max_size=50), st.floats(0.01, 1))
def test_percentiles_are_right_to_5_percent(durations: list[int], share: float) -> None:
    counts = [0] * 242
    for duration in durations:
        power = duration.bit_length() - 1
        counts[1 + (power - 6) * 8 + ((duration >> (power - 3)) & 7)] += 1
    found = OperatorTimes(len(durations), 0, 0, 0, 0, 0, counts).percentile(share) * 1e9
    expected = sorted(durations)[max(0, int(np.ceil(share * len(durations))) - 1)]
    assert found == pytest.approx(expected, rel=0.07)


# Made-up cases: two threads for ten seconds, in which 100 batches were taken.
def made_up(
    *operators: OperatorStatistics,
    waiting: float,
    working: float,
    num_threads: int = 2,
    **waits: float,
) -> PipelineStatistics:
    names = ("consumer", "python", "files", "others")
    times = {f"waiting_for_{name}": waits.get(name, 0.0) for name in names}
    threads = ThreadStatistics(num_threads, 10 * num_threads - sum(times.values()), **times)
    loop = ConsumerStatistics(100, 6400, 0.5, waiting, working, 0.0, 0.0, 0, 0, 2)
    return PipelineStatistics(10.0, operators, threads, loop)


def operator(
    name: str, seconds: float, kind: str = "native", **others: object
) -> OperatorStatistics:
    entry = OperatorStatistics(
        name, (name,), kind, 6400, 6400, seconds, 0.0, None, 0, 0, 0.01, 0.02, 0.03, 0.5, False
    )
    return replace(entry, **others)  # type: ignore[arg-type]


def test_headroom_of_a_loader_that_is_ahead() -> None:
    statistics = made_up(operator("decoders.image", 8.0), waiting=0.1, working=9.9, consumer=12.0)
    # The threads worked for 8 of their 20 seconds: 4 seconds each.
    assert statistics.headroom == pytest.approx(9.9 / 4.0)
    assert statistics.diagnosis() == (
        "The loader is not the bottleneck: the training loop waits 1 % of its time, and the loader "
        "could feed 2.5 times as much."
    )


def test_diagnosis_of_too_few_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    statistics = made_up(
        operator("decoders.image", 14.2), operator("resize", 5.8), waiting=4.3, working=5.7
    )
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)))
    assert statistics.diagnosis() == (
        "The training loop waits 43 % of its time; decoders.image takes 71 % of the native "
        "threads, which are always busy: more threads would help."
    )
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1})
    assert statistics.diagnosis().endswith("as there are processors: only less work would help.")


def test_diagnosis_of_slow_storage() -> None:
    reader = operator("readers.file", 6.0, is_reader=True)
    statistics = made_up(reader, operator("resize", 4.0), waiting=8.0, working=2.0, files=10.0)
    assert "storage is the limit, since the native threads spend 80 %" in statistics.diagnosis()


def test_diagnosis_of_a_function_that_holds_the_gil() -> None:
    function = operator("python_function", 9.0, "Python", processor_seconds=8.1, median=0.09)
    statistics = made_up(function, operator("resize", 2.0), waiting=9.0, working=1.0, python=18.0)
    text = statistics.diagnosis()
    assert "the Python function of python_function takes 90 ms a batch" in text
    assert "computes for 90 % of that, in which it holds the GIL" in text
    assert statistics.headroom == pytest.approx(1.0 / 9.0)


def test_diagnosis_of_a_function_that_waits() -> None:
    function = operator("python_function", 9.0, "Python", processor_seconds=0.9)
    statistics = made_up(function, waiting=9.0, working=1.0, python=18.0)
    assert "waits for 90 % of that. Worker processes" in statistics.diagnosis()


def test_diagnosis_of_too_little_prefetching() -> None:
    statistics = made_up(operator("resize", 9.0), waiting=3.0, working=7.0, others=11.0)
    assert "a larger prefetch depth would help" in statistics.diagnosis()


def test_diagnosis_of_work_elsewhere() -> None:
    statistics = made_up(operator("resize", 1.0, "device"), waiting=5.0, working=5.0, python=20.0)
    assert "on a device, or outside of the pipeline" in statistics.diagnosis()


def test_diagnosis_of_operators_that_took_no_time() -> None:
    statistics = made_up(operator("resize", 0.0), waiting=5.0, working=5.0, consumer=20.0)
    assert "resize takes 0 % of the native threads" in statistics.diagnosis()


def test_time_after_the_last_batch_is_a_pause(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The same twelve batches give the same numbers at once, after a pause, and in a report."""
    pipeline = sleeping()
    for _ in range(12):
        pipeline.run()
    at_once = settled(pipeline)

    def five_seconds_later(executor: Executor) -> RunTimes:
        times = run_times(executor)
        waits = times.waits._replace(consumer=times.waits.consumer + 2 * 5 * 10**9)  # two threads
        return times._replace(now=times.now + 5 * 10**9, waits=waits)

    monkeypatch.setattr(run_statistics, "run_times", five_seconds_later)
    later = pipeline.statistics()
    assert later == at_once
    assert later.diagnosis() == at_once.diagnosis()
    pipeline.show().save(tmp_path / "samples.html")
    pipeline.report(tmp_path / "report.html")
    assert html.escape(at_once.diagnosis()) in (tmp_path / "report.html").read_text()


def test_time_between_loops_is_a_pause() -> None:
    pipeline = sleeping()
    iterator = BaseIterator(pipeline, ["image"], ListAdapter(), size=8, auto_reset=True)
    pause = 40 * SECONDS
    for _ in range(3):
        assert len(list(iterator)) == 2
        time.sleep(pause)
    iter(iterator)
    statistics = settled(pipeline)
    assert statistics.consumer.batches == 6
    assert statistics.consumer.working < pause
    # The threads wait in pauses, which does not count either.
    assert statistics.threads.waiting_for_consumer < 2 * pause
    parts = statistics.threads
    waited = parts.waiting_for_python + parts.waiting_for_consumer
    waited += parts.waiting_for_files + parts.waiting_for_others
    assert parts.working + waited == pytest.approx(2 * statistics.seconds)
