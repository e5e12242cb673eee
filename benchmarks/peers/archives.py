"""Loaders that read photos from archives and files of records: random crops, flipped, as floats.

A pipeline is ``library/format``; the only file is the archive. ``torch/webdataset`` is PyTorch's
DataLoader on the package webdataset, with Pillow as in `torch_pillow`.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import photo_settings as settings

PACKAGES = ("nvidia-dali-cuda130", "torch", "webdataset", "pillow")
FORMATS = ("webdataset", "tfrecord")
PIPELINES = [f"{library}/{form}" for library in ("ours", "reference") for form in FORMATS]
PIPELINES += ["ours/file", "torch/webdataset"]


def versions() -> dict[str, str]:
    """Return the versions of the installed packages."""
    import dali_core

    found = {"dali_core": dali_core.__version__}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def open_batches(pipeline: str, files: list[str], threads: int, batch_size: int) -> Iterator[int]:
    """Run a pipeline forever."""
    library, form = pipeline.split("/")
    if library == "torch":
        return torch_batches(files[0], threads, batch_size)
    return _run(library, form, files, threads, batch_size)


def _run(library: str, form: str, files: list[str], threads: int, batch_size: int) -> Iterator[int]:
    package = {"ours": "dali_core", "reference": "nvidia.dali"}[library]
    dali = importlib.import_module(package)
    fn = importlib.import_module(f"{package}.fn")
    pipeline = dali.Pipeline(batch_size, threads, None, seed=1, prefetch_queue_depth=2)
    with pipeline:
        encoded = _encoded(package, fn, form, files)
        image = fn.decoders.image_random_crop(
            encoded,
            output_type=dali.types.RGB,
            random_area=list(settings.RANDOM_AREA),
            random_aspect_ratio=list(settings.RANDOM_ASPECT_RATIO),
        )
        image = fn.resize(image, size=[settings.CROP_SIDE] * 2, antialias=False)
        image = fn.crop_mirror_normalize(
            image,
            mirror=fn.random.coin_flip(),
            mean=list(settings.MEAN),
            std=list(settings.STANDARD_DEVIATION),
            dtype=dali.types.FLOAT,
            output_layout="CHW",
        )
        pipeline.set_outputs(image)
    pipeline.build()
    while True:
        yield len(pipeline.run()[0])


def _encoded(package: str, fn: Any, form: str, files: list[str]) -> Any:
    if form == "file":
        return fn.readers.file(files=files)[0]
    index = str(Path(files[0]).with_suffix(".idx"))
    if form == "webdataset":
        return fn.readers.webdataset(paths=files, ext=["jpg"], index_paths=[index])
    tfrecord = importlib.import_module(f"{package}.tfrecord")
    features = {"image": tfrecord.FixedLenFeature([], tfrecord.string, "")}
    return fn.readers.tfrecord(path=files, index_path=[index], features=features)["image"]


def torch_batches(file: str, threads: int, batch_size: int) -> Iterator[int]:
    """Read an archive, by its path or URL, with PyTorch's DataLoader and webdataset."""
    import webdataset
    from PIL import Image, ImageOps
    from torch.utils.data import DataLoader

    from .torch_pillow import _random_crop

    def decoded(sample: dict[str, Any]) -> Any:
        with Image.open(io.BytesIO(sample["jpg"])) as picture:
            return _random_crop(ImageOps.exif_transpose(picture).convert("RGB"))

    # As many copies of the archive as workers, since each reads archives of its own.
    shards = [file] * threads
    data = webdataset.WebDataset(shards, resampled=True, shardshuffle=False).map(decoded)
    loader = DataLoader(data, batch_size=batch_size, num_workers=threads)
    return (len(batch) for batch in loader)
