"""Small data sets for all readers, and what their shards read here and in NVIDIA DALI."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dali_core.batching.epoch_plan import EpochPlan, ceil_div
from dali_core.batching.fixed import Fixed
from dali_core.testing.examples import list_of
from tests.generated_images import png
from tests.operators.readers.coco_files import CATEGORIES, object_of
from tests.operators.readers.database_files import (
    INT32,
    STRING,
    datums,
    tensor,
    tensors,
    write_database,
)
from tests.operators.readers.record_files import examples, images, write_recordio, write_tfrecords
from tests.operators.readers.tar_files import sample_entries, write_tar
from tests.sounds import sound_file, tones

Arguments = dict[str, Any]
"""Arguments of a reader; those of type `Late` depend on the library."""


class Late(NamedTuple):
    """An argument that is made by a library."""

    make: Callable[[Any], Any]


class Way(NamedTuple):
    """How shards read: arguments of a reader, and which of them is natural."""

    random_shuffle: bool = False
    shuffle_after_epoch: bool = False
    stick_to_shard: bool = False
    pad_last_batch: bool = False

    @property
    def is_natural(self) -> bool:
        """Whether the order is that of the data set."""
        return not self.random_shuffle and not self.shuffle_after_epoch


def _files(folder: Path, count: int) -> Arguments:
    for number in range(count):
        (folder / f"{number:02}").write_bytes(bytes([number]))
    return {"file_root": str(folder), "files": [f"{number:02}" for number in range(count)]}


def _arrays(folder: Path, count: int) -> Arguments:
    for number in range(count):
        np.save(folder / f"{number:02}.npy", np.int32([number]))
    return {"file_root": str(folder), "files": [f"{number:02}.npy" for number in range(count)]}


def _annotations(folder: Path, count: int) -> Arguments:
    listed = []
    for number in range(count):
        (folder / f"{number:02}.bin").write_bytes(bytes([number]))
        listed.append({"id": number, "file_name": f"{number:02}.bin", "width": 9, "height": 9})
    document = {
        "images": listed,
        "categories": CATEGORIES,
        "annotations": [object_of(number, 7, [1, 1, 2, 2]) for number in range(count)],
    }
    (folder / "annotations.json").write_text(json.dumps(document))
    return {"file_root": str(folder), "annotations_file": str(folder / "annotations.json")}


def _archive(folder: Path, count: int) -> Arguments:
    path = write_tar(folder / "a.tar", sample_entries(0, count))
    return {"paths": [str(path)], "ext": ["cls", "jpg"]}


def _records(folder: Path, count: int) -> Arguments:
    path = write_tfrecords(folder / "a.rec", examples(0, count))

    def features(library: Any) -> Any:
        records = __import__(f"{library.__name__}.tfrecord", fromlist=["int64"])
        return {"label": records.FixedLenFeature([1], records.int64, -1)}

    index = str(path.with_suffix(".idx"))
    return {"path": [str(path)], "index_path": [index], "features": Late(features)}


def _mxnet(folder: Path, count: int) -> Arguments:
    path = write_recordio(folder / "a.rec", images(0, count))
    return {"path": [str(path)], "index_path": [str(path.with_suffix(".idx"))]}


def _datums(folder: Path, count: int) -> Arguments:
    return {"path": str(write_database(folder / "a", datums(count)))}


def _tensors(folder: Path, count: int) -> Arguments:
    entries = [
        (b"%02d" % number, tensors(tensor(STRING, b"image"), tensor(INT32, [number])))
        for number in range(count)
    ]
    return {"path": str(write_database(folder / "a", entries))}


def _manifest(folder: Path, count: int) -> Arguments:
    lines = []
    for number in range(count):
        path = folder / f"{number}.wav"
        path.write_bytes(sound_file(tones(100 * (number + 1), 1, number)))
        lines.append(json.dumps({"audio_filepath": str(path), "duration": 0.1, "text": "x"}))
    (folder / "manifest.json").write_text("\n".join(lines) + "\n")
    return {"manifest_filepaths": [str(folder / "manifest.json")]}


def _sequences(folder: Path, count: int) -> Arguments:
    for number in range(count):
        (folder / "frames" / f"{number:02}").mkdir(parents=True)
        image = png(np.full((4, 4, 3), number, np.uint8))
        (folder / "frames" / f"{number:02}" / "0.png").write_bytes(image)
    return {"file_root": str(folder / "frames"), "sequence_length": 1}


READERS: Mapping[str, Callable[[Path, int], Arguments]] = {
    "file": _files,
    "numpy": _arrays,
    "coco": _annotations,
    "webdataset": _archive,
    "tfrecord": _records,
    "mxnet": _mxnet,
    "caffe": _datums,
    "caffe2": _tensors,
    "nemo_asr": _manifest,
    "sequence": _sequences,
}
"""Each writes so many different samples, and returns the arguments that read them."""

NEVER_AFTER_EPOCH = ("caffe", "caffe2", "sequence")
"""Readers that have no `shuffle_after_epoch` in NVIDIA DALI."""


def shards(
    library: Any, reader: str, arguments: Arguments, batch_size: int, num_shards: int, way: Way
) -> tuple[dict[str, int], list[list[list[Any]]]]:
    """Return the description of the reader, and the samples of each epoch of each shard.

    There are as many epochs as shards, with the padding in them; epochs are divided as the reader
    describes itself.
    """
    made = {
        name: value.make(library) if isinstance(value, Late) else value
        for name, value in arguments.items()
    }
    made |= {name: True for name, is_set in way._asdict().items() if is_set}
    found = []
    meta: dict[str, int] = {}
    for shard in range(num_shards):
        pipeline = library.Pipeline(batch_size, 1, None, prefetch_queue_depth=1)
        with pipeline:
            outputs = getattr(library.fn.readers, reader)(
                name="reader", num_shards=num_shards, shard_id=shard, seed=3, **made
            )
            values = list(outputs.values()) if isinstance(outputs, dict) else list_of(outputs)
            pipeline.set_outputs(*values)
        pipeline.build()
        own = pipeline.reader_meta("reader")
        meta = meta or dict(own)
        plan = EpochPlan.from_meta(own)
        batches = Fixed(batch_size).plan(plan)
        starts = [batches.epoch_start(epoch) for epoch in range(num_shards + 1)]
        stream: list[Any] = []
        for _ in range(ceil_div(starts[-1], batch_size)):
            batch = pipeline.run()
            stream += [
                tuple(np.array(out.at(i)).tobytes() for out in batch) for i in range(batch_size)
            ]
        found.append([stream[a:b] for a, b in itertools.pairwise(starts)])
    return meta, found


def description(epochs: list[list[list[Any]]]) -> dict[str, Any]:
    """Return what is certain of the samples of shards, also where their order is random."""
    numbers = range(len(epochs[0]))
    return {
        # Of each shard and epoch, how often each sample is there, whichever it is.
        "multiplicities": [[sorted(Counter(epoch).values()) for epoch in own] for own in epochs],
        # Of each epoch, which samples all shards have together.
        "together": [sorted({one for own in epochs for one in own[n]}) for n in numbers],
        "in two shards": [
            sum(len(set(own[n])) for own in epochs) - len({one for own in epochs for one in own[n]})
            for n in numbers
        ],
        # Padding repeats the last sample.
        "repeated at the end": [
            [all(one == epoch[-1] for one in epoch[len(set(epoch)) :]) for epoch in own]
            for own in epochs
        ],
    }
