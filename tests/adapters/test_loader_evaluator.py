"""Loaders that measure themselves, or repeat batches from memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dali_core.errors import ArgumentTypeError, ArgumentValueError

pytest.importorskip("torch", reason="not available: PyTorch")

import torch

from dali_core.plugin.pytorch.loader_evaluator import LoaderEvaluator


def loader(count: int = 10) -> torch.utils.data.DataLoader:
    return torch.utils.data.DataLoader(range(count), batch_size=3)


def read(evaluator: LoaderEvaluator) -> list[list[int]]:
    return [batch.tolist() for batch in evaluator]


def test_batches_pass_and_are_measured() -> None:
    evaluator = LoaderEvaluator(loader())
    for _ in range(2):
        assert read(evaluator) == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]
        metrics = evaluator.get_metrics()
        assert metrics["total_batches"] == len(metrics["batch_times"]) == len(evaluator) == 4
        assert 0 <= metrics["min_batch_time"] <= metrics["avg_batch_time"]
        assert metrics["avg_batch_time"] <= metrics["max_batch_time"] <= metrics["total_time"]
        assert (metrics["cached_batches"], metrics["cache_ready"]) == (0, False)


@pytest.mark.parametrize(
    ("kept", "expected"),
    [(2, [[6, 7, 8], [9]] * 2), (9, [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]), (1, [[9]] * 4)],
)
def test_last_batches_are_repeated(kept: int, expected: list[list[int]]) -> None:
    evaluator = LoaderEvaluator(loader(), mode="replay", num_cached_batches=kept)
    assert read(evaluator) == read(evaluator) == expected
    metrics = evaluator.get_metrics()
    assert metrics["cached_batches"] == min(kept, 4)
    assert metrics["cache_ready"]


def test_an_epoch_that_is_left_early() -> None:
    evaluator = LoaderEvaluator(loader())
    assert evaluator.get_metrics()["total_time"] == 0
    next(iter(evaluator))
    assert evaluator.get_metrics()["total_batches"] == 1


def test_metrics_are_saved_and_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evaluator = LoaderEvaluator(loader(), metrics_file=str(tmp_path / "default.json"))
    read(evaluator)
    evaluator.save_metrics()
    evaluator.save_metrics(str(tmp_path / "other.json"))
    for name in ("default", "other"):
        saved = json.loads((tmp_path / f"{name}.json").read_text())
        assert saved == evaluator.get_metrics()
    evaluator.print_summary()
    assert "mode log: 4 batches" in capsys.readouterr().out
    with pytest.raises(ArgumentTypeError, match="filename must be given"):
        LoaderEvaluator(loader()).save_metrics()


def test_arguments_that_do_not_fit() -> None:
    with pytest.raises(ArgumentValueError, match="mode must be 'log' or 'replay'"):
        LoaderEvaluator(loader(), mode="record")
    with pytest.raises(ArgumentValueError, match="num_cached_batches must be an integer"):
        LoaderEvaluator(loader(), num_cached_batches=0)
    with pytest.raises(ArgumentValueError, match="must have a batch to repeat"):
        LoaderEvaluator(loader(0), mode="replay")
