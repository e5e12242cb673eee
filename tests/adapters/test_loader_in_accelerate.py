"""The loader in `prepare` and in checkpoints of Accelerate."""

from __future__ import annotations

from pathlib import Path

import pytest

accelerate = pytest.importorskip("accelerate", reason="not available: Accelerate")
torch = pytest.importorskip("torch", reason="not available: PyTorch")

from dali_core.pytorch import Loader  # noqa: E402
from tests.folders import make_folders  # noqa: E402
from tests.loaders.pipelines import numbers  # noqa: E402

# Warnings of Accelerate, which looks for a GPU.
pytestmark = pytest.mark.filterwarnings("ignore")


class Training:
    """A model, its optimizer and its loader, prepared by Accelerate."""

    def __init__(self, root: Path) -> None:
        self.accelerator = accelerate.Accelerator(cpu=True)
        pipeline = numbers(
            root,
            22,
            4,
            random_shuffle=True,
            shard_id=self.accelerator.process_index,
            num_shards=self.accelerator.num_processes,
        )
        model = torch.nn.Linear(1, 1)
        self.model, self.optimizer, self.loader = self.accelerator.prepare(
            model,
            torch.optim.SGD(model.parameters(), lr=1e-4),
            Loader(pipeline, device=self.accelerator.device),
        )
        self.accelerator.register_for_checkpointing(self.loader)

    def epoch(self, most: int = 100) -> list[list[int]]:
        """Train on the next batches of an epoch, and return their samples."""
        seen = []
        for (number,) in self.loader:
            loss = self.model(number.float()[:, None]).square().mean()
            self.accelerator.backward(loss)
            self.optimizer.step()
            self.optimizer.zero_grad()
            seen.append(number.tolist())
            if len(seen) == most:
                break
        return seen


@pytest.fixture
def root(tmp_path: Path) -> Path:
    make_folders(tmp_path / "data", (10, 12))
    return tmp_path


def test_epochs(root: Path) -> None:
    training = Training(root / "data")
    assert isinstance(training.loader, Loader)
    epochs = [training.epoch(), training.epoch(most=2), training.epoch()]
    for batches in epochs[::2]:
        assert len(batches) == len(training.loader) == 6
        assert sorted(n for batch in batches for n in batch) == list(range(22))


def test_state_is_part_of_a_checkpoint(root: Path) -> None:
    training = Training(root / "data")
    whole = [Training(root / "data")]
    epochs = [whole[0].epoch() for _ in range(3)]
    training.epoch()
    training.epoch(most=2)
    training.accelerator.save_state(root / "checkpoint")

    resumed = Training(root / "data")
    resumed.accelerator.load_state(root / "checkpoint")
    assert [resumed.epoch(), resumed.epoch()] == [epochs[1][2:], epochs[2]]
