"""``dali-core bench``: what it reports. How fast things are is not tested."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dali_core import Pipeline
from dali_core.__main__ import main
from dali_core.commands import bench
from tests.forgotten_modules import forgotten_modules
from tests.generated_images import jpeg, photo_like


@pytest.fixture
def folder(tmp_path: Path) -> str:
    for number in range(3):
        (tmp_path / f"{number}.jpg").write_bytes(jpeg(photo_like(20, 30, seed=number)))
    (tmp_path / "bad.jpg").write_bytes(b"not an image")
    return str(tmp_path)


def test_numbers_of_threads() -> None:
    assert bench.thread_counts(1) == [1]
    assert bench.thread_counts(2) == [1, 2]
    assert bench.thread_counts(12) == [1, 2, 4, 8, 12]


def test_keys_of_json(
    folder: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "_torch_loader", lambda: None)
    options = ["--seconds", "0", "--rounds", "2", "--max-threads", "2", "--json"]
    assert main(["bench", folder, *options]) == 0
    report = json.loads(capsys.readouterr().out)
    assert list(report) == [
        *("path", "files", "batch_size", "processors", "results"),
        *("saturated_at_threads", "diagnosis", "torch"),
    ]
    assert (report["files"], report["batch_size"], report["torch"]) == (4, 4, None)
    assert [row["threads"] for row in report["results"]] == [1, 2]
    for row in report["results"]:
        speed = row["images_per_second"]
        assert 0 < speed["lowest"] <= speed["median"] <= speed["highest"]
        assert row["torch_images_per_second"] is None
    assert report["saturated_at_threads"] in (1, 2)


def test_in_turns_with_another_loader(
    folder: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    speeds = {1: [100.0, 120.0, 110.0], 2: [200.0, 190.0, 210.0], 4: [205.0, 207.0, 208.0]}
    order: list[tuple[str, int]] = []

    def ours(pipeline: Pipeline, seconds: float) -> tuple[float, str]:
        threads = pipeline.num_threads
        order.append(("ours", threads))
        return speeds[threads].pop(), f"diagnosis of {threads}"

    def theirs(files: list[str], workers: int, batch_size: int, side: int) -> Iterator[int]:
        order.append(("theirs", workers))
        return itertools.repeat(batch_size)

    monkeypatch.setattr(bench, "_pipeline_speed", ours)
    monkeypatch.setattr(bench, "_torch_loader", lambda: ("a loader 1.0", theirs))
    assert main(["bench", folder, "--seconds", "0", "--max-threads", "4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert order == [(who, count) for count in (1, 2, 4) for who in ("ours", "theirs")] * 3
    assert lines[1].endswith("  a loader 1.0")
    assert lines[2].startswith("      1  110 (100 to 120)")
    assert ", ratio " in lines[2]
    assert lines[-2].startswith("saturated with 2 threads; ")
    assert lines[-1] == "diagnosis of 2"


SCRIPT = """
from dali_core import Pipeline, fn, pipeline_def

@pipeline_def(batch_size=5, device_id=None)
def numbers(size):
    return fn.random.uniform(range=[0, 1], shape=[size])

@pipeline_def(batch_size=2, device_id=None)
def lists():
    return fn.external_source([[[1.0], [2.0]]] * 2, cycle="raise")

ready = numbers(3)
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loaders.py").write_text(SCRIPT)
    with forgotten_modules(tmp_path):
        yield "loaders.py"


QUICKLY = ["--seconds", "0", "--rounds", "1", "--max-threads", "2"]


def test_pipelines_of_scripts(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", f"{script}:numbers", "--arg", "size=4", *QUICKLY]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["batches of 5", "threads  samples/s (lowest to highest)"]
    assert [line.split()[0] for line in lines[2:4]] == ["1", "2"]
    options = ["--arg", "size=4", "--batch-size", "3", "--json", *QUICKLY]
    assert main(["bench", f"{script}:numbers", *options]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["path"], report["files"], report["batch_size"]) == (
        "loaders.py:numbers",
        None,
        3,
    )
    assert report["results"][0]["images_per_second"]["median"] > 0


def test_sources_that_end_are_started_again(
    script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", f"{script}:lists", *QUICKLY]) == 0
    assert capsys.readouterr().out.startswith("batches of 2\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["loaders.py:ready"], "must be a function that makes a pipeline (got a pipeline"),
        (["loaders.py:numbers"], "Add --arg size=VALUE"),
        (
            ["loaders.py:other"],
            "a function, a pipeline or a loader 'other' (got numbers, lists, ready",
        ),
        ([".", "--arg", "size=3"], "bench: --arg is for functions of scripts"),
    ],
)
def test_targets_that_cannot_be_measured(
    arguments: list[str], message: str, script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *arguments, *QUICKLY]) == 2
    assert message in capsys.readouterr().err


def test_nothing_to_measure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.wav").write_bytes(b"")
    assert main(["bench", str(tmp_path)]) == 2
    assert "bench: there must be images" in capsys.readouterr().err
