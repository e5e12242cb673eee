"""Outputs of loaders that are texts, such as the names of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dali_core import Loader, fn, pipeline_def
from dali_core.errors import AdapterError
from tests.folders import make_folders


@pipeline_def(batch_size=4, num_threads=2, device_id=None)
def named(folder: Path) -> Any:
    """Labels, and the names of the files."""
    encoded, label = fn.readers.file(file_root=folder)
    return label, fn.get_property(encoded, key="source_info")


def test_file_names_are_texts_of_each_sample_once(tmp_path: Path) -> None:
    make_folders(tmp_path, (4, 3, 2))
    name = "ä b\n.jpg"
    (tmp_path / "class_2" / name).write_bytes(b"x")
    loader = Loader(named(tmp_path), ["labels", "names"], output_types=["dense", "text"])
    for _ in range(2):
        batches = list(loader)
        assert [len(names) for _, names in batches] == [4, 4, 2]
        found = [name for _, names in batches for name in names]
        assert found == [f"class_0/{i:03}.jpg" for i in range(4)] + [
            *(f"class_1/{i:03}.jpg" for i in range(3)),
            *("class_2/000.jpg", "class_2/001.jpg", f"class_2/{name}"),
        ]
        labels = [int(label) for labels, _ in batches for label in labels]
        assert [f"class_{label}" for label in labels] == [one.split("/")[0] for one in found]


def test_numbers_are_no_texts(tmp_path: Path) -> None:
    make_folders(tmp_path, (2, 2))
    loader = Loader(named(tmp_path), ["labels", "names"], output_types=["text", "text"], labels=())
    with pytest.raises(AdapterError, match="'text' must be for one-dimensional outputs of uint8"):
        next(iter(loader))
