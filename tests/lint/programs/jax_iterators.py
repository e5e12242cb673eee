"""Iterators for JAX, in a program that a strict type checker accepts."""

# mypy: warn-unreachable

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from dali_core import DataNode, Pipeline, fn, pipeline_def, types
from dali_core.plugin.jax import DALIGenericIterator, LastBatchPolicy, data_iterator
from dali_core.plugin.jax.clu import (
    ArraySpec,
    DALIGenericPeekableIterator,
    PeekableDALIGenericIterator,
    peekable_data_iterator,
)

folder = Path(tempfile.mkdtemp())
for number in range(5):
    (folder / "a").mkdir(exist_ok=True)
    (folder / "a" / f"{number}.jpg").write_bytes(bytes(number + 1))


def labels() -> tuple[DataNode, DataNode]:
    """Read labels, and compute outputs of equal shapes."""
    _, label = fn.readers.file(file_root=folder, name="reader")
    return fn.zeros(shape=[4, 4], dtype=types.FLOAT), label


def make() -> Pipeline:
    """Define a pipeline without a decorator."""
    return pipeline_def(labels)(batch_size=2, num_threads=1, device_id=None)


iterator = DALIGenericIterator(
    [make()], ["image", "label"], reader_name="reader", last_batch_policy=LastBatchPolicy.DROP
)
length: int = len(iterator)
size: int = iterator.size
print(iterator.describe())
headroom: float = iterator.headroom()
assert headroom >= 0
batch: dict[str, jax.Array] = next(iterator)
assert batch["image"].shape == (2, 4, 4)
state: dict[str, Any] = iterator.state_dict()
kept: list[bytes] = iterator.checkpoints()
second: dict[str, jax.Array] = iterator.next()
iterator.load_state_dict(state)
assert iterator.next()["label"].tolist() == second["label"].tolist()
iterator.restart()
iterator.set_epoch(1)
assert len(list(iterator)) == length == 2
iterator.reset()
assert iterator.adapter.name == "jax"

masked = DALIGenericIterator(
    make(),
    ["image", "label"],
    auto_reset=True,
    last_batch_policy=LastBatchPolicy.PARTIAL,
    mask_name="mask",
)
assert [int(batch["mask"].sum()) for batch in masked] == [2, 2, 1]
assert masked.next()["label"].dtype == "int32"

mesh = Mesh(jax.devices()[:1], ("batch",))
sharding = NamedSharding(mesh, PartitionSpec("batch"))
sharded = data_iterator(
    labels, ["image", "label"], last_batch_policy=LastBatchPolicy.DROP, sharding=sharding
)
for batch in sharded(batch_size=2, num_threads=1):
    assert batch["image"].sharding == sharding

peekable = peekable_data_iterator(labels, ["image", "label"], reader_name="reader")(
    batch_size=2, num_threads=1
)
assert isinstance(peekable, DALIGenericPeekableIterator)
assert DALIGenericPeekableIterator is PeekableDALIGenericIterator
specs: Mapping[str, ArraySpec] = peekable.element_spec
ahead = peekable.peek()
assert peekable.peek_async().result()["label"].tolist() == ahead["label"].tolist()
assert next(peekable)["label"].tolist() == ahead["label"].tolist()
whole: jax.Array = peekable.is_nonpadding
assert whole.all()
