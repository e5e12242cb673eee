"""The example of packed rows trains a model to the same loss on padded and packed batches."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("torch", reason="not available: PyTorch")
pytest.importorskip("matplotlib", reason="not available: Matplotlib")

import torch

from examples.packed_lm.__main__ import read_arguments
from examples.packed_lm.dataloading import IGNORED, WAYS, Batch, Batches, with_labels
from examples.packed_lm.documents import (
    LETTERS,
    LONGEST,
    SHORTEST,
    entropy,
    transitions,
    write_documents,
)
from examples.packed_lm.model import LanguageModel, sum_of_losses

ROOT = Path(__file__).parents[2]


def texts(path: Path) -> list[str]:
    return path.read_text().splitlines()


def batches_of(way: str, path: Path, **changed: Any) -> Batches:
    settings: dict[str, Any] = {"tokens": 1024, "mean_length": 40, "seed": 3, "num_threads": 1}
    return Batches(way, path, **settings | changed)


def documents_of(batch: Batch) -> list[str]:
    """Return the documents in the rows of a batch."""
    found = []
    for tokens, segments in zip(batch.tokens, batch.segment_ids, strict=True):
        for number in range(1, int(segments.max()) + 1):
            letters = tokens[segments == number].tolist()
            found.append("".join(LETTERS[letter] for letter in letters))
    return found


def test_from_documents_to_losses(tmp_path: Path) -> None:
    short = ["--documents=200", "--epochs=2", "--threads=1"]
    done = subprocess.run(
        [sys.executable, "-m", "examples.packed_lm", "--work", str(tmp_path), *short],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"200 documents, \d+ tokens, entropy 1.628 nats a token", lines[0])
    found = {line.split()[0]: line.split()[1:] for line in lines[2 : 2 + len(WAYS)]}
    assert tuple(found) == WAYS
    padding = {name: float(row[1].rstrip("%")) for name, row in found.items()}
    assert padding["padded"] > 50
    assert padding["packed"] < padding["bucketed"] < 30
    for row in found.values():
        first, last = map(float, row[3:])
        assert entropy() < last < first < 3
    with Image.open(tmp_path / "packed_lm.png") as picture:
        assert min(picture.size) > 500


def test_packed_loss_is_that_of_the_documents(tmp_path: Path) -> None:
    """Rows of several documents have the loss of the documents alone, to rounding."""
    path = tmp_path / "documents.txt"
    write_documents(path, 60, 1)
    torch.manual_seed(0)
    model = LanguageModel(len(LETTERS), LONGEST).double()
    packed = batches_of("packed", path)
    count = 0
    for batch in packed:
        together, num_predicted = sum_of_losses(model, batch)
        alone, parts = torch.zeros((), dtype=torch.float64), []
        for text in documents_of(batch):
            tokens = torch.tensor([[LETTERS.index(letter) for letter in text]])
            parts.append(sum_of_losses(model, with_labels(tokens, torch.ones_like(tokens).int())))
            alone = alone + parts[-1][0]
        count += len(parts)
        assert sum(number for _, number in parts) == num_predicted
        torch.testing.assert_close(together, alone, rtol=1e-12, atol=0)
        gradients = [
            torch.autograd.grad(loss, list(model.parameters()), retain_graph=True)
            for loss in (together, alone)
        ]
        for one, other in zip(*gradients, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)
    packed.close()
    assert count == 60


def test_attention_without_segments_leaks(tmp_path: Path) -> None:
    """The loss of the test above does notice documents that see each other."""
    path = tmp_path / "documents.txt"
    write_documents(path, 60, 1)
    torch.manual_seed(0)
    model = LanguageModel(len(LETTERS), LONGEST).double()
    packed = batches_of("packed", path)
    batch = next(iter(packed))
    apart, _ = sum_of_losses(model, batch)
    leaking, _ = sum_of_losses(model, batch._replace(segment_ids=batch.segment_ids.clamp(max=1)))
    packed.close()
    assert abs(apart.item() - leaking.item()) > 1e-6 * apart.item()


@pytest.mark.parametrize("way", WAYS)
def test_each_way_gives_each_document_once(tmp_path: Path, way: str) -> None:
    path = tmp_path / "documents.txt"
    num_letters = write_documents(path, 150, 2)
    batches = batches_of(way, path)
    epochs = []
    for _ in range(2):
        found = list(batches)
        assert len(found) == len(batches)
        epochs.append([text for batch in found for text in documents_of(batch)])
        assert sorted(epochs[-1]) == sorted(texts(path))
        assert sum(int((batch.labels != IGNORED).sum()) for batch in found) == num_letters - 150
        for batch in found:
            starts = (batch.position_ids == 0) & (batch.segment_ids > 0)
            assert (batch.labels[starts] == IGNORED).all()
            assert int(starts.sum()) == len(documents_of(batch))
    batches.close()
    assert epochs[0] != epochs[1]


def test_documents_have_the_statistics_of_their_chains(tmp_path: Path) -> None:
    path = tmp_path / "documents.txt"
    assert write_documents(path, 2000, 0) == sum(map(len, texts(path)))
    lengths = np.array(list(map(len, texts(path))))
    assert lengths.min() >= SHORTEST
    assert lengths.max() <= LONGEST
    assert np.median(lengths) == pytest.approx(30, abs=3)
    chains = transitions()
    np.testing.assert_allclose(chains.sum(axis=2), 1)
    # The chain by which a document is most probable predicts it about as well as the entropy says.
    total = count = 0.0
    for text in texts(path):
        numbers = np.array([LETTERS.index(letter) for letter in text])
        logs = np.log(chains[:, numbers[:-1], numbers[1:]]).sum(axis=1)
        total, count = total - logs.max(), count + len(numbers) - 1
    assert total / count == pytest.approx(entropy(), abs=0.05)


def test_invalid_options(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["packed_lm", "--documents=4"])
    with pytest.raises(SystemExit, match="2"):
        read_arguments()
    assert "--documents: must be at least 20 (got 4)" in capsys.readouterr().err
