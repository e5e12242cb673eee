"""Samplers that depend on labels or blocks give the same samples of URLs as of files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import samplers
from dali_core.errors import ArgumentTypeError
from tests.folders import make_folders
from tests.storage.test_reading import batches

fsspec = pytest.importorskip("fsspec", reason="not available: fsspec")


@pytest.fixture
def url() -> Iterator[str]:
    """Return the URL of a folder in memory."""
    yield "memory://tests/samplers"
    fsspec.filesystem("memory").rm("/tests/samplers", recursive=True)


def put(folder: Path, url: str) -> None:
    fsspec.filesystem("memory").put(f"{folder}/", f"{url[8:]}/", recursive=True)


SAMPLERS = {
    "balanced": lambda: samplers.ClassBalanced(),
    "repeated": lambda: samplers.Repeated(2, samplers.ClassBalanced(length=8)),
    "blocks": lambda: samplers.Blocks(2, sizes=[4, 3, 5]),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_files(tmp_path: Path, url: str, name: str) -> None:
    make_folders(tmp_path)
    put(tmp_path, url)
    sampler = SAMPLERS[name]
    local = batches(5, file_root=str(tmp_path), sampler=sampler())
    assert batches(5, file_root=url, sampler=sampler()) == local


def test_blocks_of_a_reader_without_blocks_are_refused(tmp_path: Path, url: str) -> None:
    make_folders(tmp_path)
    put(tmp_path, url)
    for root in (str(tmp_path), url):
        with pytest.raises(ArgumentTypeError, match="this reader has none"):
            batches(1, file_root=root, sampler=samplers.Blocks())


def test_row_groups(tmp_path: Path, url: str) -> None:
    pytest.importorskip("pyarrow", reason="not available: pyarrow")
    from tests.operators.readers.parquet.tables import numbered, numbers, write

    write(tmp_path / "a.parquet", numbered(14), 3)
    put(tmp_path, url)
    arguments: dict[str, Any] = {"sampler": samplers.Blocks(1), "seed": 3}
    local = numbers(7, 2, paths=[str(tmp_path / "a.parquet")], **arguments)
    assert local != sorted(local) == list(range(14))
    assert numbers(7, 2, paths=[f"{url}/a.parquet"], **arguments) == local


@pytest.mark.parametrize("operator", ["readers.video", "experimental.readers.video"])
def test_videos(tmp_path: Path, url: str, operator: str) -> None:
    pytest.importorskip("av", reason="not available: PyAV")
    from tests import video_files
    from tests.operators.readers.video_clips import reader_pipeline
    from tests.operators.suite import function_of

    for number, name in enumerate(("h264.mp4", "mpeg4.avi")):
        (tmp_path / f"{number}").mkdir()
        video_files.make(tmp_path, name).rename(tmp_path / f"{number}" / name)
    put(tmp_path, url)

    def labels(**arguments: Any) -> list[int]:
        pipeline = reader_pipeline(
            function_of(operator),
            60,
            sequence_length=2,
            sampler=samplers.ClassBalanced(length=120),
            **arguments,
        )
        found = [int(label) for _ in range(2) for label in np.ravel(pipeline.run()[1].as_array())]
        pipeline.close()
        return found

    local = labels(file_root=str(tmp_path))
    assert 40 < sum(local) < 80
    assert labels(file_root=url, cache_dir=str(tmp_path / "cache")) == local
