"""Pipelines with readers of databases, arrays, FITS and sound; each has a bad sample.

They need packages that write such files. A test is skipped where one is missing.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, samplers, types
from tests.npy_files import npy
from tests.state.making import COUNT

_DAMAGED = 6
_ORDER: dict[str, Any] = {"random_shuffle": True, "num_shards": 2, "shard_id": 1}


def _folder(files: dict[str, Any], name: str, write: Callable[[Path], None]) -> Path:
    """Return a folder beside the data set, written at the first use."""
    folder = Path(files["file_root"], name)
    if not folder.exists():
        folder.mkdir()
        write(folder)
    return folder


def _pipeline(options: dict[str, Any], read: Callable[[], list[Any]]) -> Pipeline:
    options = {"on_sample_error": "replace", "max_bad_samples": 1.0, **options}
    with Pipeline(**{"batch_size": 3, **options}) as pipeline:
        pipeline.set_outputs(*read(), fn.random.uniform())
    return pipeline


def reading_databases(files: dict[str, Any], options: dict[str, Any]) -> Pipeline:
    """Make a pipeline with readers of databases of Caffe and Caffe2."""
    pytest.importorskip("lmdb", reason="not available: lmdb")
    from tests.operators.readers.database_files import (
        INT32,
        STRING,
        datum,
        tensor,
        tensors,
        write_database,
    )

    def write(folder: Path) -> None:
        keys = [b"%02d" % i for i in range(COUNT)]
        datums = [datum(b"%d" % i, i) for i in range(COUNT)]
        messages = [tensors(tensor(STRING, b"%d" % i), tensor(INT32, [i])) for i in range(COUNT)]
        datums[_DAMAGED] = messages[_DAMAGED] = b"\xff"
        write_database(folder / "caffe", zip(keys, datums, strict=True))
        write_database(folder / "caffe2", zip(keys, messages, strict=True))

    folder = _folder(files, "databases", write)
    return _pipeline(
        options,
        lambda: [
            *fn.readers.caffe(path=str(folder / "caffe"), **_ORDER),
            *fn.readers.caffe2(path=str(folder / "caffe2"), **_ORDER),
        ],
    )


def reading_arrays(files: dict[str, Any], options: dict[str, Any]) -> Pipeline:
    """Make a pipeline with a reader of arrays."""

    def write(folder: Path) -> None:
        for number in range(COUNT):
            array = np.arange(6).reshape(2, 3) + number
            (folder / f"{number:02}.npy").write_bytes(
                npy(array)[: 130 if number == _DAMAGED else None]
            )

    folder = _folder(files, "arrays", write)
    return _pipeline(options, lambda: [fn.readers.numpy(file_root=str(folder), **_ORDER)])


def reading_fits(files: dict[str, Any], options: dict[str, Any]) -> Pipeline:
    """Make a pipeline with a reader of FITS."""
    fits = pytest.importorskip("astropy.io.fits", reason="not available: astropy")

    def write(folder: Path) -> None:
        for number in range(COUNT):
            image = np.arange(6, dtype=np.int16).reshape(2, 3) + np.int16(number)
            path = folder / f"{number:02}.fits"
            fits.HDUList([fits.PrimaryHDU(), fits.ImageHDU(image)]).writeto(path)
        (folder / f"{_DAMAGED:02}.fits").write_bytes(b"damaged")

    folder = _folder(files, "fits", write)
    return _pipeline(
        options,
        lambda: [
            fn.experimental.readers.fits(file_root=str(folder), dtypes=[types.INT16], **_ORDER)
        ],
    )


def reading_columns(files: dict[str, Any], options: dict[str, Any]) -> Pipeline:
    """Make a pipeline with a reader of Parquet, whose row groups are shuffled."""
    pytest.importorskip("pyarrow", reason="not available: pyarrow")
    from tests.operators.readers.parquet.tables import numbered, write

    def write_file(folder: Path) -> None:
        rows = numbered(COUNT)
        bad = rows.slice(_DAMAGED, 1).to_pylist()[0] | {"image": None}
        parts = [rows[:_DAMAGED], rows.from_pylist([bad], rows.schema), rows[_DAMAGED + 1 :]]
        for number, part in enumerate(parts):
            write(folder / f"{number}.parquet", part, 2)

    folder = _folder(files, "columns", write_file)
    return _pipeline(
        options,
        lambda: fn.readers.parquet(
            paths=[str(folder / f"{number}.parquet") for number in range(3)],
            columns=["number", "image"],
            **{**_ORDER, "sampler": samplers.Blocks(2), "random_shuffle": False},
        ),
    )


def reading_texts(files: dict[str, Any], options: dict[str, Any]) -> Pipeline:
    """Make a pipeline with readers of JSON Lines and of lines of text."""

    def write(folder: Path) -> None:
        lines = [json.dumps({"text": "word " * n, "number": n}).encode() for n in range(COUNT)]
        lines[_DAMAGED] = b'{"text": "\xff"}'
        (folder / "0.jsonl").write_bytes(b"\n".join(lines[:4]))
        (folder / "1.jsonl.gz").write_bytes(gzip.compress(b"\n".join(lines[4:])))

    folder = _folder(files, "texts", write)
    paths = [str(folder / "0.jsonl"), str(folder / "1.jsonl.gz")]
    return _pipeline(
        options,
        lambda: [
            *fn.readers.jsonl(paths=paths, fields=["text", "number"], **_ORDER),
            fn.readers.text(paths=paths, **_ORDER),
        ],
    )


def reading_sounds(files: dict[str, Any], options: dict[str, Any]) -> Pipeline:
    """Make a pipeline with a reader of manifests of sounds, and with their decoder."""
    from tests.sounds import sound_file, tones

    def write(folder: Path) -> None:
        lines = []
        for number in range(COUNT):
            path = folder / f"{number:02}.wav"
            path.write_bytes(sound_file(tones(20 + number)))
            lines.append(json.dumps({"audio_filepath": str(path), "text": f"word {number}"}))
        path.write_bytes(b"damaged")
        (folder / "manifest.json").write_text("\n".join(lines))

    folder = _folder(files, "sounds", write)
    return _pipeline(
        options,
        lambda: fn.readers.nemo_asr(
            manifest_filepaths=str(folder / "manifest.json"),
            read_idxs=True,
            sample_rate=8000.0,
            **_ORDER,
        ),
    )


FORMATS: dict[str, Callable[[dict[str, Any], dict[str, Any]], Pipeline]] = {
    "databases": reading_databases,
    "arrays": reading_arrays,
    "FITS": reading_fits,
    "columns": reading_columns,
    "texts": reading_texts,
    "sounds": reading_sounds,
}
"""How to make each kind of pipeline, as `KINDS` of other sources."""
