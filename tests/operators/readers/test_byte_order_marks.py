"""A UTF-8 mark in front of a text is no part of its first name, number or document."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, tfrecord
from dali_core.errors import ArgumentValueError
from dali_core.testing.examples import list_of
from tests.generated_images import jpeg, photo_like
from tests.operators.readers.coco_files import write_data_set
from tests.operators.readers.record_files import (
    examples,
    images,
    write_recordio,
    write_tfrecords,
)
from tests.operators.readers.tar_files import write_tar
from tests.sounds import sound_file, tones

MARK = b"\xef\xbb\xbf"
LABEL = {"label": tfrecord.FixedLenFeature((), tfrecord.int64, 0)}
Read = tuple[str, dict[str, Any], Path]  # a reader, its arguments, and the text that it reads


def file_list(folder: Path, reader: str = "file") -> Read:
    for i in range(2):
        (folder / f"{i}.jpg").write_bytes(jpeg(photo_like(8, 9 + i)))
    path = folder / "list.txt"
    path.write_text("0.jpg 4\n1.jpg 5\n")
    return reader, {"file_list": str(path), "file_root": str(folder)}, path


def numpy_list(folder: Path) -> Read:
    for i in range(2):
        np.save(folder / f"{i}.npy", np.arange(3) + i)
    path = folder / "list.txt"
    path.write_text("0.npy\n1.npy\n")
    return "numpy", {"file_list": str(path), "file_root": str(folder)}, path


def manifest(folder: Path) -> Read:
    pytest.importorskip("soundfile", reason="not available: soundfile")
    lines = []
    for i in range(2):
        (folder / f"{i}.wav").write_bytes(sound_file(tones(100 + i)))
        lines.append(json.dumps({"audio_filepath": str(folder / f"{i}.wav"), "text": f"ä{i}"}))
    path = folder / "manifest.json"
    path.write_text("\n".join(lines))
    return "nemo_asr", {"manifest_filepaths": str(path)}, path


def coco(folder: Path) -> Read:
    arguments = write_data_set(folder)
    return "coco", arguments, Path(arguments["annotations_file"])


def webdataset_index(folder: Path) -> Read:
    path = write_tar(folder / "a.tar", [("a.jpg", b"abc"), ("a.cls", b"1"), ("b.jpg", b"de")])
    index = folder / "a.idx"
    index.write_text("v1.2 2\njpg 512 3 a.jpg cls 1536 1 a.cls\njpg 2560 2 b.jpg\n")
    arguments = {"paths": str(path), "ext": ["jpg", "cls"], "index_paths": str(index)}
    return "webdataset", arguments | {"missing_component_behavior": "empty"}, index


def tfrecord_index(folder: Path) -> Read:
    path = write_tfrecords(folder / "a.rec", examples(0, 3))
    index = path.with_suffix(".idx")
    arguments = {"path": str(path), "index_path": str(index), "features": LABEL}
    return "tfrecord", arguments, index


def recordio_index(folder: Path) -> Read:
    path = write_recordio(folder / "a.rec", images(0, 3))
    index = path.with_suffix(".idx")
    return "mxnet", {"path": str(path), "index_path": str(index)}, index


def outputs(reader: str, arguments: dict[str, Any]) -> list[list[np.ndarray]]:
    pipeline = Pipeline(batch_size=2, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipeline:
        found = getattr(fn.readers, reader)(**arguments)
        found = list(found.values()) if isinstance(found, dict) else list_of(found)
        pipeline.set_outputs(*found)
    try:
        return [[np.array(batch.at(i)) for i in range(2)] for batch in pipeline.run()]
    finally:
        pipeline.close()


@pytest.mark.parametrize(
    "make",
    [file_list, numpy_list, manifest, coco, webdataset_index, tfrecord_index, recordio_index],
)
def test_a_mark_in_front(make: Callable[[Path], Read], tmp_path: Path) -> None:
    reader, arguments, text = make(tmp_path)
    content = text.read_bytes()
    expected = outputs(reader, arguments)
    text.write_bytes(MARK + content)
    found = outputs(reader, arguments)
    for one, other in zip(found, expected, strict=True):
        for mine, theirs in zip(one, other, strict=True):
            np.testing.assert_array_equal(mine, theirs, strict=True)


def test_only_one_mark(tmp_path: Path) -> None:
    """What follows the mark is the name, even if it looks like another mark."""
    _, arguments, path = file_list(tmp_path)
    path.write_bytes(MARK * 2 + b"0.jpg 4\n")
    with pytest.raises((ArgumentValueError, RuntimeError), match="0.jpg"):
        outputs("file", arguments)
