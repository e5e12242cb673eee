"""The evaluator of loaders of both libraries: its batches, and the names of what it measures."""

from __future__ import annotations

import inspect

import pytest

pytest.importorskip("torch", reason="not available: PyTorch")
pytest.importorskip("nvidia.dali.plugin.pytorch", reason="not available: NVIDIA DALI")

import torch
from nvidia.dali.plugin.pytorch import loader_evaluator as reference

from dali_core.plugin.pytorch.loader_evaluator import LoaderEvaluator


@pytest.mark.parametrize("arguments", [{}, {"mode": "replay", "num_cached_batches": 2}])
def test_batches_and_metrics(arguments: dict[str, object]) -> None:
    found = []
    for cls in (LoaderEvaluator, reference.LoaderEvaluator):
        evaluator = cls(torch.utils.data.DataLoader(range(10), batch_size=3), **arguments)
        batches = [[batch.tolist() for batch in evaluator] for _ in range(2)]
        metrics = evaluator.get_metrics()
        counts = {name: metrics[name] for name in ("mode", "cached_batches", "cache_ready")}
        found.append((len(evaluator), batches, counts, list(metrics)))
    assert found[0] == found[1]


def test_signatures() -> None:
    ours, theirs = (
        {name: value.default for name, value in inspect.signature(cls).parameters.items()}
        for cls in (LoaderEvaluator, reference.LoaderEvaluator)
    )
    assert ours == theirs
