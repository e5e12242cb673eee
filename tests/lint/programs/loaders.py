"""Loaders over a folder of classes, with NumPy, PyTorch and JAX."""

# mypy: warn-unreachable

import json
import tempfile
from pathlib import Path

import jax
import numpy
import torch
from numpy.typing import NDArray

import dali_core
from dali_core import DataNode, Pipeline, fn, pipeline_def
from dali_core.errors import MissingModuleError
from dali_core.jax import Loader as JAXLoader
from dali_core.loaders import BaseLoader, LoaderOptions, Placement
from dali_core.pytorch import Loader
from dali_core.statistics import PipelineStatistics

folder = tempfile.TemporaryDirectory()
for number in range(5):
    path = Path(folder.name, "cat" if number < 2 else "dog", f"{number}.jpg")
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"abc")


@pipeline_def(batch_size=2, num_threads=1, seed=1)
def contents() -> tuple[DataNode, ...]:
    file, label = fn.readers.file(file_root=folder.name, random_shuffle=True)
    return file, label


loader = Loader(contents())
files, labels = next(iter(loader))
target: torch.Tensor = labels
assert (target.dtype, target.shape) == (torch.int64, (2,))
assert len(loader) == 3
classes: list[str] = loader.classes
indices: dict[str, int] = loader.class_to_idx
assert indices == {name: index for index, name in enumerate(classes)} == {"cat": 0, "dog": 1}
assert len(loader.dataset) == 5
assert loader.dataset.classes == classes
assert loader.dataset.class_to_idx == indices

loader.restart()
whole = [batch[1].tolist() for batch in loader]
assert loader.epoch == 0
loader.set_epoch(0)
loader.skip(1)
assert [batch[1].tolist() for batch in loader] == whole[1:]
state = json.dumps(loader.state_dict())
loader.load_state_dict(json.loads(state))
assert loader.steps_per_epoch is None
assert (loader.batch_size, len(loader.names)) == (2, 2)
pipeline: Pipeline = loader.pipelines[0]
statistics: PipelineStatistics = loader.statistics()
assert statistics.headroom >= 0
print(loader, loader.describe(num_epochs=1))
try:
    loader.keras()
except MissingModuleError as error:
    print(error)
loader.close()

options: LoaderOptions = {"last_batch": "drop", "channels_last": True, "labels": ("label",)}
with Loader(contents(), ("file", "label"), as_dict=True, **options) as named:
    for batch in named:
        kept: torch.Tensor = batch["label"]
        assert len(kept) == 2


def count(batches: BaseLoader[tuple[NDArray[numpy.uint8], ...]]) -> int:
    return sum(len(first) for first, *_ in batches)


assert count(dali_core.Loader(contents(), steps_per_epoch=4)) == 8
assert isinstance(Loader.placement(None), Placement)
assert Loader.adapter.name == "pytorch"

array: jax.Array
for _, array in JAXLoader(contents(), device=jax.devices()[0], last_batch="pad"):
    assert array.shape == (2,)
folder.cleanup()
