"""`Pipeline.monitor`: what it shows on terminals and in files."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

from dali_core import Pipeline, fn
from dali_core.errors import PipelineStateError
from dali_core.monitoring.snapshot import Snapshot
from dali_core.monitoring.view import view_line, view_lines
from tests.waiting import wait_until


class Terminal(io.StringIO):
    """A terminal that shows what was written to it."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True

    @property
    def screen(self) -> list[str]:
        """The lines after all escape sequences, which go up some lines and erase the rest."""
        lines: list[str] = []
        for part in re.split(r"(\x1b\[\d+F\x1b\[J)", self.getvalue()):
            if part.startswith("\x1b"):
                del lines[-int(re.search(r"\d+", part)[0]) :]
            else:
                assert "\x1b" not in part
                lines += part.splitlines()
        return lines


def numbers(batch_size: int = 4) -> Pipeline:
    with Pipeline(batch_size, 1, None) as pipeline:
        pipeline.set_outputs(fn.flip(fn.random.uniform(range=[0, 1], shape=[4, 4, 1])))
    return pipeline


def snapshot(**changes: Any) -> Snapshot:
    given: dict[str, Any] = {
        "program": "train.py",
        "time": 5.0,
        "seconds": 10.0,
        "batches": 100,
        "samples": 3200,
        "waiting": 1.0,
        "working": 9.0,
        "queued": 150.0,
        "depth": 2,
        "diagnosis": "All is well.",
        "operators": {"decoders.image": 3.0, "readers.file": 1.0},
    }
    return Snapshot(**{**given, **changes})


def test_lines_of_a_pipeline() -> None:
    assert view_lines(snapshot(), None, 80, is_unicode=False) == [
        "train.py: 320 samples/s, 10.0 batches/s; 100 batches in 10 s",
        "queue  ###############..... 1.5 of 2 batches ready; the loop waits 10 %",
        "decoders.image  ###############.....  75 %",
        "readers.file    #####...............  25 %",
        "All is well.",
    ]
    assert view_line(snapshot(), None) == (
        "train.py: 320 samples/s, 10.0 batches/s; 100 batches in 10 s; "
        "1.5 of 2 batches ready; the loop waits 10 %; decoders.image  75 % of operators"
    )


def test_rates_are_those_of_the_last_interval() -> None:
    later = snapshot(
        seconds=12.0,
        batches=140,
        samples=4480,
        waiting=3.0,
        queued=150.0,
        operators={"decoders.image": 3.0, "readers.file": 1.5, "resize": 1.5},
    )
    lines = view_lines(later, snapshot(), 80, is_unicode=False)
    assert lines[0] == "train.py: 640 samples/s, 20.0 batches/s; 140 batches in 12 s"
    assert lines[1].endswith("0.0 of 2 batches ready; the loop waits 100 %")
    assert lines[2:4] == [
        "resize          ###############.....  75 %",
        "readers.file    #####...............  25 %",
    ]
    # After a reset, everything counts.
    assert view_lines(snapshot(), later, 80) == view_lines(snapshot(), None, 80)
    idle = view_lines(snapshot(seconds=20.0), snapshot(), 80, is_unicode=False)
    assert idle[0].startswith("train.py: 0 samples/s, 0.0 batches/s")
    assert idle[1] == "queue  .................... no batch was asked for"


def test_lines_fit_and_names_stay_in_place() -> None:
    state = snapshot(
        program="a\x1b[2J.py", operators={"x" * 300: 1.0, "\n\u202e": 2.0}, diagnosis="y" * 300
    )
    for width in (20, 40, 200):
        lines = view_lines(state, None, width)
        assert len(lines) == 5
        assert all(len(line) <= width and line.isprintable() for line in lines)
    assert "a\\x1b[2J.py" in view_line(state, None)


def test_terminals_are_redrawn() -> None:
    terminal = Terminal()
    pipeline = numbers()
    with pipeline.monitor(interval=0.01, file=terminal) as monitor:
        pipeline.run()
        wait_until(lambda: terminal.getvalue().count("\x1b") >= 4)
        monitor.print("epoch", 1)
        for _ in range(5):
            pipeline.run()
    screen = terminal.screen
    assert screen[0] == "epoch 1"
    assert re.match(r".*: [\d,]+ samples/s, [\d,.]+ batches/s; 6 batches in \d+ s$", screen[1])
    assert screen[2].startswith("queue  ")
    assert {line.split()[0] for line in screen[3:-1]} == {"flip", "random.uniform"}
    assert screen[-1][:12] in pipeline.statistics().diagnosis() or "loop" in screen[-1]
    assert len(screen) == 6


def test_other_files_get_lines() -> None:
    file = io.StringIO()
    pipeline = numbers()
    monitor = pipeline.monitor(interval=0.01, file=file)
    assert file.getvalue() == ""
    with monitor:
        pipeline.run()
        wait_until(lambda: file.getvalue().count("\n") >= 3)
        monitor.print("a line")
    lines = file.getvalue().splitlines()
    assert "a line" in lines
    assert all("samples/s" in line for line in lines if line != "a line")
    assert "\x1b" not in file.getvalue()
    # The last one is about everything.
    assert "1 batches in" in lines[-1]


def test_nothing_is_shown_before_the_first_batch_and_after_the_end() -> None:
    file = io.StringIO()
    pipeline = numbers()
    monitor = pipeline.monitor(interval=0.01, file=file).start()
    monitor.stop()
    monitor.stop()
    assert file.getvalue() == ""
    monitor = pipeline.monitor(interval=30, file=file).start()
    pipeline.run()
    pipeline.close()
    del pipeline
    monitor.stop()
    assert file.getvalue() == ""


def test_closed_files_disturb_no_training() -> None:
    file = io.StringIO()
    pipeline = numbers()
    with pipeline.monitor(interval=0.01, file=file):
        pipeline.run()
        file.close()
        pipeline.run()
    assert pipeline.statistics().consumer.batches == 2


def test_wrong_use() -> None:
    pipeline = numbers()
    with pytest.raises(TypeError, match=r"interval must be a number of seconds \(got '1'\)"):
        pipeline.monitor(interval="1")  # type: ignore[arg-type]
    for wrong in (0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="interval must be positive"):
            pipeline.monitor(interval=wrong)
    with (
        pipeline.monitor(file=io.StringIO()) as monitor,
        pytest.raises(PipelineStateError, match="must not have been started"),
    ):
        monitor.start()
    monitor.start()  # after its end it may be used again
    monitor.stop()
