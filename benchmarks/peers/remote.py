"""Loaders that read photos from a server of S3: random resized crops, flipped, as floats.

A pipeline is ``library/where``. ``torch/fsspec`` is PyTorch's DataLoader with Pillow, as in
`torch_pillow`, whose worker processes open the files of obstore's file system of fsspec;
``torch/obstore`` fetches all objects of a batch at the same time. ``torch/webdataset`` is PyTorch's
DataLoader on the package webdataset, which reads the archive as a stream. ``mosaic/mds`` is Mosaic
Streaming, see `mosaic`.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.metadata
import io
import os
from collections.abc import Iterator
from typing import Any

from . import photo_settings as settings

PIPELINES = [
    *("ours/local", "ours/s3", "torch/local", "torch/fsspec", "torch/obstore"),
    *("ours/local-tar", "ours/s3-tar", "torch/webdataset", "mosaic/mds"),
]


def versions() -> dict[str, str]:
    """Return the versions of the installed packages."""
    packages = ("obstore", "fsspec", "torch", "pillow", "webdataset", "mosaicml-streaming")
    found = {}
    for package in packages:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[package] = importlib.metadata.version(package)
    return found


def _options() -> dict[str, Any]:
    return {
        "endpoint": os.environ["BENCHMARK_ENDPOINT"],
        "region": "us-east-1",
        "skip_signature": True,
    }


def open_batches(pipeline: str, files: list[str], threads: int, batch_size: int) -> Iterator[int]:
    """Run a pipeline forever."""
    library, where = pipeline.split("/")
    if library == "mosaic":
        from .mosaic import batches

        return batches(files[0], threads, batch_size)
    if where == "webdataset":
        from .archives import torch_batches

        url = f"{os.environ['BENCHMARK_ENDPOINT']}/bucket/photos.tar"
        return torch_batches(url, threads, batch_size)
    if library == "torch":
        return _torch_batches(where, files, threads, batch_size)
    return _our_batches(where, files, threads, batch_size)


def _our_batches(where: str, files: list[str], threads: int, batch_size: int) -> Iterator[int]:
    from dali_core import Pipeline, fn, types

    options: dict[str, Any] = {}
    if where.startswith("s3"):
        limit = int(os.environ["BENCHMARK_IN_FLIGHT"])
        options["storage_options"] = {**_options(), "max_in_flight": limit}
    queue = int(os.environ["BENCHMARK_QUEUE"])
    with Pipeline(batch_size, threads, None, seed=1, prefetch_queue_depth=queue) as pipeline:
        if where.endswith("tar"):
            path, index = files
            encoded = fn.readers.webdataset(
                paths=[path], index_paths=[index], ext=["jpg"], **options
            )
        else:
            encoded, _ = fn.readers.file(files=files, random_shuffle=True, **options)
        image = fn.decoders.image_random_crop(
            encoded,
            random_area=list(settings.RANDOM_AREA),
            random_aspect_ratio=list(settings.RANDOM_ASPECT_RATIO),
        )
        image = fn.resize(image, size=[settings.CROP_SIDE] * 2, antialias=False)
        pipeline.set_outputs(
            fn.crop_mirror_normalize(
                image,
                mirror=fn.random.coin_flip(),
                mean=list(settings.MEAN),
                std=list(settings.STANDARD_DEVIATION),
                dtype=types.FLOAT,
                output_layout="CHW",
            )
        )
    while True:
        yield len(pipeline.run()[0])


def _torch_batches(where: str, files: list[str], threads: int, batch_size: int) -> Iterator[int]:
    from torch.utils.data import DataLoader

    from .torch_pillow import _Cycle

    loader = DataLoader(
        _Photos(where, files),  # type: ignore[arg-type]
        batch_sampler=_Cycle(len(files), batch_size),
        num_workers=threads,
        multiprocessing_context="spawn",  # neither library survives a fork
    )
    return (len(batch) for batch in loader)


class _Photos:
    def __init__(self, where: str, files: list[str]) -> None:
        self._where = where
        self._files = files
        self._store: Any = None

    def __len__(self) -> int:
        return len(self._files)

    def __getitems__(self, indices: list[int]) -> list[Any]:
        from PIL import Image, ImageOps

        from .torch_pillow import _random_crop

        found = []
        for data in self._read([self._files[index] for index in indices]):
            with Image.open(io.BytesIO(data)) as picture:
                found.append(_random_crop(ImageOps.exif_transpose(picture).convert("RGB")))
        return found

    def _read(self, files: list[str]) -> Iterator[bytes]:
        if self._where == "local":
            for file in files:
                with open(file, "rb") as opened:
                    yield opened.read()
        elif self._where == "fsspec":
            if self._store is None:
                from obstore.fsspec import FsspecStore

                self._store = FsspecStore(
                    "s3", config=_options(), client_options={"allow_http": True}
                )
            for file in files:
                with self._store.open(file, "rb") as opened:
                    yield opened.read()
        else:
            yield from asyncio.run(self._read_together(files))

    async def _read_together(self, files: list[str]) -> list[bytes]:
        import obstore
        from obstore.store import from_url

        store = from_url("s3://bucket", config=_options(), client_options={"allow_http": True})

        async def read(file: str) -> bytes:
            answer = await obstore.get_async(store, file.removeprefix("s3://bucket/"))
            return bytes(await answer.bytes_async())

        return await asyncio.gather(*map(read, files))
