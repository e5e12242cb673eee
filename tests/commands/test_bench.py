"""``dali-core bench``: what it reports. How fast things are is not tested."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dali_core.__main__ import main
from dali_core.commands import bench
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

    def ours(files: list[str], threads: int, batch_size: int, seconds: float) -> tuple[float, str]:
        order.append(("ours", threads))
        return speeds[threads].pop(), f"diagnosis of {threads}"

    def theirs(files: list[str], workers: int, batch_size: int, side: int) -> Iterator[int]:
        order.append(("theirs", workers))
        return itertools.repeat(batch_size)

    monkeypatch.setattr(bench, "_crops_per_second", ours)
    monkeypatch.setattr(bench, "_torch_loader", lambda: ("a loader 1.0", theirs))
    assert main(["bench", folder, "--seconds", "0", "--max-threads", "4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert order == [(who, count) for count in (1, 2, 4) for who in ("ours", "theirs")] * 3
    assert lines[1].endswith("  a loader 1.0")
    assert lines[2].startswith("      1  110 (100 to 120)")
    assert ", ratio " in lines[2]
    assert lines[-2].startswith("saturated with 2 threads; ")
    assert lines[-1] == "diagnosis of 2"


def test_nothing_to_measure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.wav").write_bytes(b"")
    assert main(["bench", str(tmp_path)]) == 2
    assert "bench: there must be images" in capsys.readouterr().err
