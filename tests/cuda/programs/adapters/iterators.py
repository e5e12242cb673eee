"""Iterators."""

import json
import sys
from pathlib import Path

import numpy as np

from dali_core import Pipeline, fn, types
from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy
from tests.cuda.address_adapter import AddressAdapter

FOLDER = Path(json.loads(sys.argv[1]))
FILES = sorted(map(str, FOLDER.glob("*.jpg")))


def pipeline(shard, num_shards, device):
    pipeline = Pipeline(
        batch_size=3, num_threads=2, device_id=device, seed=1, prefetch_queue_depth=2
    )
    with pipeline:
        jpegs, labels = fn.readers.file(
            files=FILES,
            labels=list(range(len(FILES))),
            shard_id=shard,
            num_shards=num_shards,
            random_shuffle=True,
            pad_last_batch=True,
            name="reader",
        )
        images = fn.decoders.image(jpegs)
        if device is not None:
            images = images.gpu()
            labels = labels.gpu()
        images = fn.crop_mirror_normalize(
            images,
            crop=(8, 8),
            mirror=fn.random.coin_flip(),
            mean=[100.0],
            std=[50.0],
            dtype=types.FLOAT,
            output_layout="CHW",
        )
        pipeline.set_outputs(images, labels)
    return pipeline


def iterator(num_shards, adapter, devices=True, pipelines=None):
    pipelines = pipelines or [
        pipeline(shard, num_shards, shard if devices else None) for shard in range(num_shards)
    ]
    return BaseIterator(
        pipelines,
        ["image", "label"],
        adapter,
        reader_name="reader",
        auto_reset=True,
        last_batch_policy=LastBatchPolicy.PARTIAL,
    )


class OnHost(AddressAdapter):
    name = "host"

    def from_tensor(self, tensor):
        return np.asarray(tensor)

    def stream(self, device_id):
        raise AssertionError("there is no device")


def wanted(num_shards, epochs):
    batches = iterator(num_shards, OnHost(), devices=False)
    return [list(batches) for _ in range(epochs)]


def same(given, expected):
    assert len(given) == len(expected)
    return all(
        (reading.result() == array[name]).all()
        for parts, arrays in zip(given, expected, strict=True)
        for part, array in zip(parts, arrays, strict=True)
        for name, reading in part.items()
    )


def readings(batch):
    return [{name: array.read() for name, array in part.items()} for part in batch]
