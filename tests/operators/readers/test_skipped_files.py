"""Warnings of files that a reader skips because of their names."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import ArgumentValueError, SkippedFilesWarning
from dali_core.operators.readers import saved_folders
from dali_core.operators.readers.archive_index import CACHE_VARIABLE


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"content")


def remarks(**arguments: Any) -> list[str]:
    """Return the warnings of two batches of a pipeline with a reader."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with Pipeline(batch_size=1, num_threads=1, device_id=None) as pipeline:
            with pipeline:
                pipeline.set_outputs(fn.readers.file(**arguments)[0])
            pipeline.run()
            pipeline.run()
    assert all(issubclass(warning.category, SkippedFilesWarning) for warning in caught)
    return [str(warning.message) for warning in caught]


def test_kinds_and_empty_classes_in_one_warning(tmp_path: Path) -> None:
    write(tmp_path, "cat/1.jpg", "cat/2.GIF", "cat/3.gif", "cat/noext", "cat/.hidden")
    write(tmp_path, "dog/1.avif", "owl/deeper/1.jpg")
    (remark,) = remarks(file_root=str(tmp_path))
    assert remark.startswith(
        f"file_root {str(tmp_path)!r}: 4 files are not read, since their names match no pattern of "
        "file_filters (.gif 2, .avif 1, no extension 1); classes without files: 'dog', 'owl' "
    )
    assert "`dali-core check`" in remark


def test_long_lists_are_shortened(tmp_path: Path) -> None:
    write(tmp_path, "0/0.jpg", *(f"0/a.e{number}" for number in range(12)))
    for number in range(1, 9):
        (tmp_path / str(number)).mkdir()
    (remark,) = remarks(file_root=str(tmp_path))
    assert "12 files are not read" in remark
    assert ", others 4)" in remark
    assert "classes without files: '1', '2', '3', '4', '5' and 3 more" in remark


def test_names_are_printable(tmp_path: Path) -> None:
    write(tmp_path, "a/1.jpg", "a/2.\x1b[2J")
    (tmp_path / "b\nc").mkdir()
    (remark,) = remarks(file_root=str(tmp_path))
    assert remark.isprintable()
    assert "classes without files: 'b\\nc'" in remark


def test_no_warning_where_all_files_are_read_or_chosen(tmp_path: Path) -> None:
    write(tmp_path, "a/1.jpg", "a/2.txt", "b/3.jpg", "b/.DS_Store")
    assert remarks(file_root=str(tmp_path), file_filters=["*.jpg"]) == []
    os.remove(tmp_path / "a/2.txt")
    assert remarks(file_root=str(tmp_path)) == []


def test_kept_listings_warn_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(saved_folders, "_LEAST_FILES", 1)
    root = tmp_path / "tree"
    write(root, "a/1.jpg", "a/2.gif")
    for folder in (root / "a", root):
        os.utime(folder, (1e9, 1e9))
    # The status of a folder changes with its times; listings of folders that changed now are not
    # kept.
    monkeypatch.setattr(saved_folders, "_SETTLED_NS", -(2**62))
    first = remarks(file_root=str(root))
    assert (".gif 1" in first[0], len(first)) == (True, 1)
    monkeypatch.setattr(saved_folders.SavedFolders, "watch", None)  # would be called to list
    assert remarks(file_root=str(root)) == first


def test_warning_can_be_filtered(tmp_path: Path) -> None:
    write(tmp_path, "a/1.jpg", "a/2.gif")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SkippedFilesWarning)
        with Pipeline(batch_size=1, num_threads=1, device_id=None) as pipeline:
            with pipeline:
                pipeline.set_outputs(fn.readers.file(file_root=str(tmp_path))[1])
            assert pipeline.run()[0].as_array().tolist() == [[0]]


def test_other_readers_of_folders(tmp_path: Path) -> None:
    np.save(tmp_path / "1.npy", np.arange(3))
    write(tmp_path, "a/2.NPY")
    with Pipeline(batch_size=1, num_threads=1, device_id=None) as pipeline:
        with pipeline:
            pipeline.set_outputs(fn.readers.numpy(file_root=str(tmp_path)))
        with pytest.warns(SkippedFilesWarning, match=r"no pattern of file_filter \(\.npy 1\)"):
            pipeline.run()


def test_flat_folder_names_files_and_labels(tmp_path: Path) -> None:
    write(tmp_path, "1.jpg", "2.jpg")
    with Pipeline(batch_size=1, num_threads=1, device_id=None) as pipeline:
        with pipeline:
            pipeline.set_outputs(fn.readers.file(file_root=str(tmp_path))[0])
        with pytest.raises(ArgumentValueError, match="2 files, such as .*as files.*labels"):
            pipeline.run()


def test_the_warning_names_the_line_of_the_user(tmp_path: Path) -> None:
    write(tmp_path, "cat/1.jpg", "cat/2.gif")
    with Pipeline(batch_size=1, num_threads=1, device_id=None) as pipeline:
        with pipeline:
            pipeline.set_outputs(fn.readers.file(file_root=str(tmp_path))[0])
        with pytest.warns(SkippedFilesWarning) as caught:
            pipeline.build()
    assert [warning.filename for warning in caught] == [__file__]
