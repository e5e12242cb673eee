"""Iterators for PyTorch and adapters, in a program that a strict type checker accepts."""

# mypy: warn-unreachable

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import torch

from dali_core import DataNode, adapters, fn, pipeline_def, types
from dali_core.plugin.base_iterator import BaseIterator
from dali_core.plugin.pytorch import (
    DALIClassificationIterator,
    DALIGenericIterator,
    DALIRaggedIterator,
    LastBatchPolicy,
    TorchPythonFunction,
    feed_ndarray,
    to_torch_type,
)

folder = Path(tempfile.mkdtemp())
for number in range(5):
    (folder / "a").mkdir(exist_ok=True)
    (folder / "a" / f"{number}.jpg").write_bytes(bytes(number + 1))


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def files() -> tuple[DataNode, DataNode]:
    """Read files of different lengths."""
    data, label = fn.readers.file(file_root=folder, name="reader")
    return data, label


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def labels() -> tuple[DataNode, DataNode]:
    """Read labels, and compute outputs of equal shapes."""
    _, label = fn.readers.file(file_root=folder, name="reader")
    return fn.zeros(shape=[4, 4], dtype=types.FLOAT), label


iterator = DALIGenericIterator(
    [labels()],
    ["image", "label"],
    reader_name="reader",
    auto_reset=True,
    last_batch_policy=LastBatchPolicy.PARTIAL,
    prepare_first_batch=True,
)
length: int = len(iterator)
size: int = iterator.size
assert length == -(-size // 2) == 3
state: dict[str, Any] = iterator.state_dict()
kept: list[bytes] = iterator.checkpoints()
seen = 0
for batch in iterator:
    images: torch.Tensor = batch[0]["image"]
    seen += len(images)
assert seen == 5
assert iterator.num_returned == 0
iterator.reset()
iterator.load_state_dict(state)
assert len(iterator.next()[0]["label"]) == 2
iterator.seek(1, 0)
assert iterator.epochs is not None
batches: int = iterator.epochs.num_given(1)
print(iterator.describe(num_epochs=2))
headroom: float = iterator.headroom()
assert headroom >= 0

classified: BaseIterator = DALIClassificationIterator(labels(), size=5, auto_reset="yes")
assert set(next(iter(classified))[0]) == {"data", "label"}

ragged = DALIRaggedIterator(
    files(),
    ["file", "label"],
    reader_name="reader",
    output_types=[DALIRaggedIterator.SPARSE_LIST_TAG, DALIRaggedIterator.DENSE_TAG],
)
assert [len(file) for file in next(ragged)[0]["file"]] == [1, 2]
assert DALIRaggedIterator.SPARSE_COO_TAG == "sparse_coo"
assert (DALIRaggedIterator.FLAT_TAG, DALIRaggedIterator.JAGGED_TAG) == ("flat", "jagged")

(outputs, _) = labels().run()
target = torch.empty(outputs.as_tensor().shape(), dtype=to_torch_type[outputs.dtype])
filled: torch.Tensor = feed_ndarray(outputs.as_tensor(), target)
assert filled is target

adapter: adapters.Adapter = adapters.get_adapter("pytorch")
assert "pytorch" in adapters.list_adapters()
negate: TorchPythonFunction = TorchPythonFunction(torch.neg, num_outputs=1)
assert torch.is_tensor(adapter.from_tensor(outputs[0]))
