"""The loader as `train_dataloaders` and `val_dataloaders` of Lightning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

lightning = pytest.importorskip("lightning.pytorch", reason="not available: Lightning")
torch = pytest.importorskip("torch", reason="not available: PyTorch")

from dali_core.pytorch import Loader  # noqa: E402
from tests.folders import make_folders  # noqa: E402
from tests.loaders.pipelines import numbers  # noqa: E402

NUM_SAMPLES, NUM_VALID = 22, 10

# Warnings of Lightning about worker processes, GPUs, and deprecated functions of PyTorch.
pytestmark = pytest.mark.filterwarnings("ignore")


class Recorder(lightning.LightningModule):  # type: ignore[misc]
    """Learns nothing of importance, and records its inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.seen: list[list[int]] = []
        self.validated: list[list[int]] = []

    def training_step(self, batch: tuple[Any, ...], _: int) -> Any:
        (shown,) = batch
        self.seen.append(shown.tolist())
        return (self.weight * shown.float()).sum()

    def on_validation_epoch_start(self) -> None:
        self.validated.append([])

    def validation_step(self, batch: tuple[Any, ...], _: int) -> None:
        self.validated[-1] += batch[0].tolist()

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.01)


def fit(root: Path, *, with_validation: bool = False, **options: Any) -> Recorder:
    recorder = Recorder()
    checkpoint = options.pop("ckpt_path", None)
    trainer = lightning.Trainer(
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=root,
        **options,
    )
    train = Loader(numbers(root, NUM_SAMPLES, 4, random_shuffle=True))
    valid = Loader(numbers(root, NUM_VALID, 4)) if with_validation else None
    trainer.fit(recorder, train, valid, ckpt_path=checkpoint)
    return recorder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    make_folders(tmp_path, (10, NUM_SAMPLES - 10))
    return tmp_path


def test_epochs_with_validation(root: Path) -> None:
    """The check before training leaves the validation after two batches."""
    done = fit(root, with_validation=True, max_epochs=3, enable_checkpointing=False)
    assert len(done.seen) == 18
    for epoch in range(3):
        batches = done.seen[6 * epoch : 6 * epoch + 6]
        assert sorted(n for batch in batches for n in batch) == list(range(NUM_SAMPLES))
    assert done.seen[:6] != done.seen[6:12]
    check, *validated = done.validated
    assert check == list(range(8))
    assert validated == [list(range(NUM_VALID))] * 3


def test_resumes_in_mid_epoch(root: Path) -> None:
    whole = fit(root, max_epochs=3, enable_checkpointing=False).seen
    saving = lightning.callbacks.ModelCheckpoint(
        root / "checkpoints", every_n_train_steps=8, save_top_k=-1, filename="{step}"
    )
    assert fit(root, max_steps=8, callbacks=[saving]).seen == whole[:8]
    (checkpoint,) = (root / "checkpoints").glob("*.ckpt")
    rest = fit(root, max_epochs=3, ckpt_path=checkpoint, enable_checkpointing=False).seen
    assert rest == whole[8:]


def test_fewer_batches_than_an_epoch_has(root: Path) -> None:
    done = fit(
        root,
        with_validation=True,
        max_epochs=2,
        limit_train_batches=2,
        limit_val_batches=1,
        num_sanity_val_steps=0,
        enable_checkpointing=False,
    )
    assert len(done.seen) == 4
    assert done.seen[:2] != done.seen[2:]
    assert done.validated == [[0, 1, 2, 3]] * 2
