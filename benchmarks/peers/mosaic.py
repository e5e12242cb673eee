"""Mosaic Streaming on PyTorch's DataLoader: shards that are downloaded to the local disk, and read.

Run by the interpreter of an environment with ``mosaicml-streaming``, which wants older versions of
packages than other peers.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageOps
from streaming import MDSWriter, StreamingDataset
from torch.utils.data import DataLoader

from .torch_pillow import _random_crop

PIPELINES = ["mosaic/mds"]


def prepare(photos: Sequence[str], folder: str) -> None:
    """Write shards of photos, of the size that is the default."""
    with MDSWriter(out=folder, columns={"image": "bytes"}) as writer:
        for photo in photos:
            writer.write({"image": Path(photo).read_bytes()})


def batches(url: str, threads: int, batch_size: int) -> Iterator[int]:
    """Read the shards below a URL once, in random order, into an empty folder."""
    os.environ["S3_ENDPOINT_URL"] = os.environ["BENCHMARK_ENDPOINT"]
    os.environ.update(AWS_ACCESS_KEY_ID="any", AWS_SECRET_ACCESS_KEY="any")
    with tempfile.TemporaryDirectory() as folder:
        data = _Photos(remote=url, local=folder, shuffle=True, batch_size=batch_size)
        # With forked workers, some shards arrived damaged.
        loader = DataLoader(
            data, batch_size=batch_size, num_workers=threads, multiprocessing_context="spawn"
        )
        for batch in loader:
            yield len(batch)


class _Photos(StreamingDataset):
    def __getitem__(self, at: Any) -> Any:
        with Image.open(io.BytesIO(super().__getitem__(at)["image"])) as picture:
            return _random_crop(ImageOps.exif_transpose(picture).convert("RGB"))
