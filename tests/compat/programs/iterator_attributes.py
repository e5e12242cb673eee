"""Private attributes of iterators that programs read nevertheless."""

import math
import os

import torch

import nvidia.dali.fn as fn
from nvidia.dali.pipeline import pipeline_def
from nvidia.dali.plugin.base_iterator import _DaliBaseIterator
from nvidia.dali.plugin.pytorch import (
    DALIClassificationIterator,
    DALIGenericIterator,
    LastBatchPolicy,
)


def write_files(count):
    os.makedirs("files", exist_ok=True)
    names = [os.path.join("files", f"{i:02}.bin") for i in range(count)]
    for name in names:
        with open(name, "wb") as file:
            file.write(name.encode())
    return names


@pipeline_def(batch_size=4, num_threads=1, device_id=None)
def numbered(files, shard_id=0, num_shards=1, pad=False):
    data, label = fn.readers.file(
        files=files,
        labels=list(range(len(files))),
        shard_id=shard_id,
        num_shards=num_shards,
        pad_last_batch=pad,
        name="reader",
    )
    return fn.shapes(data), label


def show(loader):
    print(
        *(type(loader).__name__, loader._size, loader._counter, loader._num_gpus),
        *(loader.batch_size, loader.output_map, loader._last_batch_policy.name),
        *(len(loader._pipes), loader._first_batch is None),
    )


def train(files, policy):
    """The loop of the reference's ImageNet example, with its progress."""
    pipe = numbered(files, pad=policy is LastBatchPolicy.PARTIAL)
    loader = DALIClassificationIterator(pipe, reader_name="reader", last_batch_policy=policy)
    assert isinstance(loader, _DaliBaseIterator)
    show(loader)
    for epoch in range(3):
        length = math.ceil(loader._size / loader.batch_size)
        for step, data in enumerate(loader):
            labels = data[0]["label"].squeeze(-1).long()
            print("step", epoch, f"{step}/{length}", *labels.tolist(), loader._counter)
        loader.reset()
        show(loader)


def train_on_two(files):
    pipes = [numbered(files, shard_id=shard, num_shards=2) for shard in range(2)]
    loader = DALIGenericIterator(pipes, ["size", "label"], reader_name="reader", auto_reset=True)
    print("shards", loader._shards_num, [pipe.max_batch_size for pipe in loader._pipes])
    for epoch in range(3):
        for data in loader:
            merged = torch.cat([part["label"] for part in data]).flatten().tolist()
            print("merged", epoch, loader._size, loader._counter, merged)


def main():
    files = write_files(10)
    for policy in LastBatchPolicy:
        train(files, policy)
    train_on_two(files)


if __name__ == "__main__":
    main()
