"""The data set that a loader gives to Keras: complete epochs in `fit`, `evaluate` and `predict`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("KERAS_BACKEND", "torch")
pytest.importorskip("torch", reason="not available: PyTorch")
keras = pytest.importorskip("keras", reason="not available: Keras")

import dali_core  # noqa: E402
from dali_core import pytorch  # noqa: E402
from tests.folders import make_folders  # noqa: E402
from tests.loaders.pipelines import from_source, images  # noqa: E402

# Warnings of Keras about its backend.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    make_folders(tmp_path, (4, 3, 3))
    return tmp_path


def model(seen: list[list[int]]) -> Any:
    """Return a model that records the labels of the batches that it is trained and tested on."""

    class Recording(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.dense = keras.layers.Dense(3)

        def call(self, pixels: Any) -> Any:
            return self.dense(keras.layers.Flatten()(pixels))

        def compute_loss(self, x: Any = None, y: Any = None, *others: Any, **named: Any) -> Any:
            seen.append(np.asarray(y).astype(int).tolist())
            return super().compute_loss(x, y, *others, **named)

    made = Recording()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    made.compile(loss=loss, optimizer="sgd", run_eagerly=True)
    return made


@pytest.mark.parametrize("module", [dali_core, pytorch])
def test_fit(module: Any, root: Path) -> None:
    seen: list[list[int]] = []
    train, valid = module.Loader(images(root, random_shuffle=True)), module.Loader(images(root))
    made = model(seen)
    made.predict(module.Loader(images(root)).keras(), verbose=0)
    seen.clear()
    made.fit(train.keras(), validation_data=valid.keras(), epochs=3, verbose=0)
    batches = iter(seen[-18:])  # Keras may look at a batch before
    for _ in range(3):
        for _ in ("train", "valid"):
            epoch = [label for _ in range(3) for label in next(batches)]
            assert sorted(epoch) == [0] * 4 + [1] * 3 + [2] * 3
    seen.clear()
    made.evaluate(valid.keras(), verbose=0)
    assert sorted(label for batch in seen for label in batch) == [0] * 4 + [1] * 3 + [2] * 3


@pytest.mark.parametrize("use", ["fit", "evaluate", "predict"])
def test_fit_of_a_loader_itself_names_keras_dataset(use: str, root: Path) -> None:
    loader = dali_core.Loader(images(root))
    with pytest.raises(AttributeError, match=r"for Keras, model\.fit\(loader\.keras\(\)\)"):
        getattr(model([]), use)(loader, verbose=0)


def test_an_epoch_that_was_left_is_not_continued(root: Path) -> None:
    data = dali_core.Loader(images(root)).keras()
    assert data.num_batches == 3
    data[0]
    data.on_epoch_end()
    labels = [label for index in range(3) for label in data[index][1]]
    assert sorted(labels) == [0] * 4 + [1] * 3 + [2] * 3
    assert len(data[7][1]) == 4  # the next epoch


def test_an_epoch_of_unknown_size() -> None:
    data = dali_core.Loader(from_source(2, [2, 2])).keras()
    assert data.num_batches is None


def test_steps_per_epoch(root: Path) -> None:
    seen: list[list[int]] = []
    loader = dali_core.Loader(images(root), steps_per_epoch=5)
    model(seen).fit(loader.keras(), epochs=2, verbose=0)
    assert all(len(batch) == 4 for batch in seen[-10:])
