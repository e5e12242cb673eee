"""The loader in the Trainer of Hugging Face's Transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="not available: PyTorch")
transformers = pytest.importorskip("transformers", reason="not available: Transformers")

from dali_core.pytorch import Loader  # noqa: E402
from tests.folders import make_folders  # noqa: E402
from tests.loaders.pipelines import images  # noqa: E402

# Warnings of Transformers and Accelerate about hardware.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    make_folders(tmp_path / "data", (4, 3, 3))
    return tmp_path


class Model(torch.nn.Module):  # type: ignore[misc]
    """Classifies, and records the labels that it is trained on."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(6 * 8 * 3, 3)
        self.trained: list[list[int]] = []
        self.evaluated: list[int] = []

    def forward(self, pixel_values: Any, labels: Any) -> dict[str, Any]:
        if self.training:
            self.trained.append(labels.tolist())
        else:
            self.evaluated += labels.tolist()
        logits = self.layer(pixel_values.flatten(1))
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


class Trainer(transformers.Trainer):  # type: ignore[misc]
    """Takes its batches from loaders."""

    root: Path

    def loader(self, **options: Any) -> Loader[dict[str, Any]]:
        pipeline = images(self.root, **options)
        return Loader(pipeline, ("pixel_values", "labels"), as_dict=True)

    def get_train_dataloader(self) -> Any:
        return self.loader(random_shuffle=True)

    def get_eval_dataloader(self, eval_dataset: Any = None) -> Any:
        return self.loader()


def test_epochs(root: Path) -> None:
    model = Model()
    arguments = transformers.TrainingArguments(
        output_dir=str(root / "out"),
        num_train_epochs=3,
        use_cpu=True,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        eval_strategy="epoch",
    )
    Trainer.root = root / "data"
    trainer = Trainer(model=model, args=arguments, eval_dataset=[None])
    result = trainer.train()
    assert result.global_step == 9
    expected = [0] * 4 + [1] * 3 + [2] * 3
    for epoch in range(3):
        batches = model.trained[3 * epoch : 3 * epoch + 3]
        assert sorted(label for batch in batches for label in batch) == expected
    assert model.trained[:3] != model.trained[3:6]
    assert model.evaluated == expected * 3
    assert trainer.num_examples(trainer.get_train_dataloader()) == 10
