"""An iterator in a loop of Accelerate: the shard of a process, and its state in checkpoints."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

accelerate = pytest.importorskip("accelerate", reason="not available: Accelerate")
torch = pytest.importorskip("torch", reason="not available: PyTorch")

from dali_core import DataNode, fn, pipeline_def  # noqa: E402
from dali_core.plugin.pytorch import DALIGenericIterator, LastBatchPolicy  # noqa: E402
from tests.folders import make_folders  # noqa: E402
from tests.rest_of_epoch import rest_of_epoch  # noqa: E402

NUM_SAMPLES = 22

# Warnings of Accelerate, which looks for a GPU.
pytestmark = pytest.mark.filterwarnings("ignore")


@pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=3)
def numbers(files: list[str], accelerator: Any) -> DataNode:
    _, number = fn.readers.file(
        files=files,
        labels=list(range(len(files))),
        random_shuffle=True,
        pad_last_batch=True,
        shard_id=accelerator.process_index,
        num_shards=accelerator.num_processes,
        name="reader",
    )
    return number


class Training:
    """A model, its optimizer and its loader, prepared by Accelerate."""

    def __init__(self, folder: Path) -> None:
        files = sorted(map(str, folder.glob("*/*")))
        self.accelerator = accelerate.Accelerator(cpu=True)
        loader = DALIGenericIterator(
            numbers(files, self.accelerator),
            ["number"],
            reader_name="reader",
            last_batch_policy=LastBatchPolicy.PARTIAL,
            auto_reset=True,
        )
        model = torch.nn.Linear(1, 1)
        self.model, self.optimizer, self.loader = self.accelerator.prepare(
            model, torch.optim.SGD(model.parameters(), lr=1e-4), loader
        )
        self.accelerator.register_for_checkpointing(self.loader)

    def epoch(self, batches: Iterable[Any] | None = None, most: int = 100) -> list[list[int]]:
        """Train on batches, by default those of an epoch, and return their samples."""
        seen = []
        for (batch,) in batches or self.loader:
            loss = self.model(batch["number"].float()).square().mean()
            self.accelerator.backward(loss)
            self.optimizer.step()
            self.optimizer.zero_grad()
            seen.append(batch["number"].flatten().tolist())
            if len(seen) == most:
                break
        return seen


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_folders(tmp_path / "data", (10, NUM_SAMPLES - 10))
    return tmp_path


def test_epochs(folder: Path) -> None:
    training = Training(folder / "data")
    epochs = [training.epoch() for _ in range(3)]
    for batches in epochs:
        assert sorted(n for batch in batches for n in batch) == list(range(NUM_SAMPLES))
    assert epochs[0] != epochs[1]


def test_state_is_part_of_a_checkpoint(folder: Path) -> None:
    training = Training(folder / "data")
    training.epoch()
    training.epoch(most=2)
    training.accelerator.save_state(folder / "checkpoint")
    rest = [training.epoch(rest_of_epoch(training.loader)), training.epoch()]

    resumed = Training(folder / "data")
    resumed.accelerator.load_state(folder / "checkpoint")
    assert [resumed.epoch(), resumed.epoch()] == rest
    assert len(rest[0]) == 4
