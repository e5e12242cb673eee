"""An iterator as the loader of Lightning: epochs, and resuming in the middle of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

lightning = pytest.importorskip("lightning.pytorch", reason="not available: Lightning")
torch = pytest.importorskip("torch", reason="not available: PyTorch")

from dali_core import DataNode, fn, pipeline_def  # noqa: E402
from dali_core.plugin.pytorch import DALIGenericIterator  # noqa: E402
from tests.folders import make_folders  # noqa: E402

NUM_SAMPLES, BATCH_SIZE = 22, 4

# Warnings of Lightning about worker processes, GPUs, and deprecated functions of PyTorch.
pytestmark = pytest.mark.filterwarnings("ignore")


@pipeline_def(batch_size=BATCH_SIZE, num_threads=2, device_id=None, seed=3)
def numbers(files: list[str]) -> DataNode:
    _, number = fn.readers.file(
        files=files,
        labels=list(range(len(files))),
        random_shuffle=True,
        pad_last_batch=True,
        name="reader",
    )
    return number


class Recorder(lightning.LightningModule):  # type: ignore[misc]
    """Learns nothing of importance, and records its inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.seen: list[tuple[int, list[int]]] = []

    def training_step(self, batch: list[dict[str, Any]], _: int) -> Any:
        shown = batch[0]["number"].flatten()
        self.seen.append((self.current_epoch, shown.tolist()))
        return (self.weight * shown.float()).sum()

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.01)


def loader(folder: Path) -> DALIGenericIterator:
    files = sorted(map(str, folder.glob("class_*/*")))
    return DALIGenericIterator(numbers(files), ["number"], reader_name="reader", auto_reset=True)


def fit(folder: Path, state: dict[str, Any] | None = None, **options: Any) -> Recorder:
    recorder = Recorder()
    checkpoint = options.pop("ckpt_path", None)
    data = loader(folder)
    if state is not None:
        data.load_state_dict(state)
    trainer = lightning.Trainer(
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=folder,
        **options,
    )
    trainer.fit(recorder, data, ckpt_path=checkpoint)
    return recorder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_folders(tmp_path, (10, NUM_SAMPLES - 10))
    return tmp_path


def test_epochs(folder: Path) -> None:
    seen = fit(folder, max_epochs=3, enable_checkpointing=False).seen
    for epoch in range(3):
        batches = [batch for number, batch in seen if number == epoch]
        assert len(batches) == -(-NUM_SAMPLES // BATCH_SIZE)
        assert sorted({n for batch in batches for n in batch}) == list(range(NUM_SAMPLES))
    assert seen[:6] != seen[6:12]


def test_resumes_in_mid_epoch(folder: Path) -> None:
    whole = fit(folder, max_epochs=3, enable_checkpointing=False).seen
    saving = lightning.callbacks.ModelCheckpoint(
        folder / "checkpoints", every_n_train_steps=8, save_top_k=-1, filename="{step}"
    )
    first = fit(folder, max_steps=8, callbacks=[saving]).seen
    assert first == whole[:8]
    (checkpoint,) = (folder / "checkpoints").glob("*.ckpt")
    rest = fit(folder, max_epochs=3, ckpt_path=checkpoint, enable_checkpointing=False).seen
    assert rest == whole[8:]


@pytest.mark.parametrize(
    ("end", "num_steps", "rest_of_run"),
    [({"max_steps": 8}, 8, slice(8, 12)), ({"max_epochs": 1}, 6, slice(6, 18))],
)
def test_resumes_from_the_end_of_a_run(
    end: dict[str, int], num_steps: int, rest_of_run: slice, folder: Path
) -> None:
    """As documented in docs/sharded_training.md: with the state in the checkpoint."""
    whole = [batch for _, batch in fit(folder, max_epochs=3, enable_checkpointing=False).seen]
    saving = lightning.callbacks.ModelCheckpoint(folder / "checkpoints", save_last=True)
    assert len(fit(folder, callbacks=[saving], **end).seen) == num_steps
    path = folder / "checkpoints" / "last.ckpt"
    loops = torch.load(path, weights_only=False)["loops"]
    state = loops["fit_loop"]["state_dict"]["combined_loader"][0]
    go_on = {"max_epochs": 3, "ckpt_path": path, "enable_checkpointing": False}
    rest = [batch for _, batch in fit(folder, state, **go_on).seen]
    assert rest == whole[rest_of_run]
    # Lightning does not load it by itself.
    assert fit(folder, **go_on).seen[0][1] == whole[0]
