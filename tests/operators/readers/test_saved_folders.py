"""Listings that are kept between runs: changes, damage, and other processes."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import Pipeline, fn
from dali_core._runtime.path_list import NamePatterns, PathList
from dali_core._storage import Storage
from dali_core._storage.options import StorageOptions
from dali_core.errors import ArgumentValueError, SampleError
from dali_core.operators.readers import folders, saved_folders
from dali_core.operators.readers.archive_index import CACHE_VARIABLE
from dali_core.operators.readers.file.listing import KNOWN_EXTENSIONS
from dali_core.operators.readers.listed_files import list_files
from dali_core.operators.readers.saved_folders import SavedFolders
from tests.caches import warned_of_cache
from tests.operators.readers.folder_trees import LIST, expected_files


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make folders that were changed long ago, of which an index is kept."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(saved_folders, "_LEAST_FILES", 1)
    monkeypatch.setattr(folders, "warn_of_skipped_files", lambda remark: None)
    root = tmp_path / "tree"
    for folder, names in {"a": ["1.jpg", "2.png"], "b": [], "c": ["3.jpg"]}.items():
        (root / folder).mkdir(parents=True)
        for name in names:
            (root / folder / name).write_text(name)
    age(root)
    return root


def age(root: Path) -> None:
    for folder in (root, *filter(Path.is_dir, root.iterdir())):
        os.utime(folder, (1e9, 1e9))


def found(root: Path, **arguments: Any) -> tuple[list[tuple[str, int]], bool]:
    """Return files and labels, and whether folders had to be listed."""
    watch, watched = SavedFolders.watch, []

    def spy(saved: SavedFolders, folders: list[str]) -> None:
        watched.append(folders)
        watch(saved, folders)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SavedFolders, "watch", spy)
        listing = LIST({"file_root": str(root), **DEFAULTS, **arguments})
    return list(zip(listing.files, listing.labels, strict=True)), bool(watched)


DEFAULTS = {"file_filters": KNOWN_EXTENSIONS, "case_sensitive_filter": False}
ALL = [("a/1.jpg", 0), ("a/2.png", 0), ("c/3.jpg", 2)]


def test_folders_are_listed_once(tree: Path) -> None:
    assert found(tree) == (ALL, True)
    assert found(tree) == (ALL, False)
    assert found(tree, file_filters=["*.png"]) == (ALL[1:2], True)
    assert found(tree, file_filters=["*.png"], dir_filters=["a"]) == (ALL[1:2], True)
    assert found(tree, file_filters=["*.png"], dir_filters=["a"]) == (ALL[1:2], False)
    numpy = {"file_root": str(tree), "file_filter": "*.jpg"}
    for _ in range(2):
        assert list(list_files(numpy, Storage(StorageOptions())).files) == ["a/1.jpg", "c/3.jpg"]
    for _ in range(2):
        with Pipeline(3, 1, None) as pipeline:
            pipeline.set_outputs(*fn.readers.file(file_root=tree))
        data, labels = pipeline.run()
        assert pipeline.reader_meta("readers_file_0")["class_names"] == ["a", "b", "c"]
        assert [data.at(i).tobytes() for i in range(3)] == [b"1.jpg", b"2.png", b"3.jpg"]
        assert labels.as_array().ravel().tolist() == [0, 0, 2]
        pipeline.close()


def add_file(root: Path) -> None:
    (root / "b" / "new.jpg").touch()


def remove_file(root: Path) -> None:
    (root / "a" / "1.jpg").unlink()


def rename_file(root: Path) -> None:
    (root / "a" / "1.jpg").rename(root / "a" / "9.jpg")


def add_folder(root: Path) -> None:
    (root / "aa").mkdir()


def remove_folder(root: Path) -> None:
    (root / "b").rmdir()


def replace_folder(root: Path) -> None:
    """The new one is as old, and has the same number of files."""
    (root / "c").rename(root.parent / "elsewhere")
    (root / "c").mkdir()
    (root / "c" / "4.jpg").touch()
    age(root)


def set_time_back(root: Path) -> None:
    add_file(root)
    age(root)


@pytest.mark.parametrize(
    "change",
    [
        *(add_file, remove_file, rename_file, add_folder, remove_folder, replace_folder),
        set_time_back,
    ],
)
def test_changes_are_detected(change: Callable[[Path], None], tree: Path) -> None:
    assert found(tree) == (ALL, True)
    change(tree)
    expected = expected_files(str(tree), KNOWN_EXTENSIONS, None, False)
    assert expected != ALL
    assert found(tree) == (expected, True)
    age(tree)
    assert found(tree) == (expected, True)
    assert found(tree) == (expected, False)


def test_recently_changed_folders_are_not_cached(tree: Path) -> None:
    os.utime(tree / "b")
    assert found(tree) == found(tree) == (ALL, True)


def test_cache_can_be_disabled(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, "")
    assert found(tree) == found(tree) == (ALL, True)


def test_small_trees_are_not_cached(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_folders, "_LEAST_FILES", len(ALL) + 1)
    assert found(tree) == found(tree) == (ALL, True)
    assert not (tree.parent / "cache").exists()


def test_missing_roots_are_errors_though_they_are_known(tree: Path) -> None:
    assert found(tree) == (ALL, True)
    shutil.rmtree(tree)
    with pytest.raises(ArgumentValueError, match="No such file"):
        found(tree)


def some_paths() -> PathList:
    """Return what has all parts of the format."""
    paths = PathList()
    with tempfile.TemporaryDirectory() as root:
        for label, (folder, count) in enumerate({"a": 3, "empty": 0, "é\udcff": 2}.items()):
            os.mkdir(os.path.join(root, folder))
            for number in range(count):
                open(os.path.join(root, folder, f"{number}.jpg"), "w").close()
            everything = NamePatterns(["*"], True, bool)
            paths.add_local_folder(os.path.join(root, folder), f"{folder}/", label, everything)
    return paths


PATHS = some_paths()
NOTE = b"any note"


def bytes_of(paths: PathList) -> bytes:
    """Return what the file of a list has."""
    pieces: list[bytes] = []
    paths.write_to(pieces.append, NOTE)
    return b"".join(pieces)


BYTES = bytes_of(PATHS)


def test_saved_paths_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "paths"
    path.write_bytes(BYTES)
    opened = PathList.open(str(path))
    assert opened is not None
    again, note = opened
    assert note == NOTE
    assert (
        list(again)
        == list(PATHS)
        == ["a/0.jpg", "a/1.jpg", "a/2.jpg"] + [f"é\udcff/{i}.jpg" for i in range(2)]
    )
    assert again.labels == PATHS.labels == array("i", [0, 0, 0, 2, 2])
    assert again.folders == ["a/", "empty/", "é\udcff/"]
    path.write_bytes(bytes_of(PathList()))
    opened = PathList.open(str(path))
    assert opened is not None
    assert list(opened[0]) == list(opened[0].labels) == []


NUMBERS = st.one_of(
    st.integers(-3, 60),
    st.sampled_from([2**31, 2**32, 2**61, 2**62, 2**63 - 1, -(2**63), -(2**62)]),
)


@settings(max_examples=200, deadline=None)
@given(
    numbers=st.dictionaries(st.integers(1, len(BYTES) // 8), NUMBERS, max_size=3),
    length=st.one_of(st.just(len(BYTES)), st.integers(0, len(BYTES))),
    more=st.binary(max_size=4),
)
def test_damaged_files_are_rejected_or_valid(
    numbers: dict[int, int], length: int, more: bytes
) -> None:
    """Numbers of 64 bits are at the end, so places count from there."""
    data = bytearray(BYTES)
    for place, number in numbers.items():
        first = len(data) - 8 * place
        data[first : first + 8] = number.to_bytes(8, "little", signed=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "paths")
        path.write_bytes(bytes(data[:length]) + more)
        opened = PathList.open(str(path))
        if opened is None:
            assert bytes(data[:length]) + more != BYTES
            return
        paths, note = opened
        assert (len(paths), note) == (len(PATHS), NOTE)
        problem = ""
        try:
            found = list(zip(paths, paths.labels, strict=True))
        except RuntimeError as error:
            problem = str(error)
        if problem:
            assert "is damaged or missing" in problem
            assert not path.exists()
        else:
            assert found == list(zip(PATHS, PATHS.labels, strict=True))


@settings(max_examples=50, deadline=None)
@given(data=st.binary(max_size=300))
def test_any_bytes_as_saved_listing_are_rejected(data: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        assert PathList.open(file.name) is None


def kept_file(tree: Path) -> Path:
    """Return the file in which the listing is kept."""
    (path,) = (tree.parent / "cache").glob("*/*")
    return path


@pytest.mark.parametrize("place", [-1, -8, -56, -100, -200, -250])
def test_damaged_files_are_listed_again(place: int, tree: Path) -> None:
    assert found(tree) == (ALL, True)
    data = bytearray(kept_file(tree).read_bytes())
    data[place] ^= 0x40
    for number, damaged in enumerate((data, data[:place], b"")):
        kept_file(tree).write_bytes(damaged)
        with warned_of_cache("is damaged", number == 0):
            assert found(tree) == (ALL, True)
        assert found(tree) == (ALL, False)


@pytest.mark.parametrize("damage", ["cut off", "changed"])
def test_files_may_be_damaged_while_they_are_used(damage: str, tree: Path) -> None:
    pipelines = []
    for _ in range(2):
        with Pipeline(3, 1, None) as pipeline:
            data, labels = fn.readers.file(file_root=tree)
            pipeline.set_outputs(data, labels)
        pipeline.build()
        pipelines.append(pipeline)
    path = kept_file(tree)
    if damage == "cut off":
        os.truncate(path, 5)
    else:
        path.write_bytes(b"\xff" + path.read_bytes()[1:])
    # The first one has listed the folders, and wrote the file: it reads it all the same.
    for pipeline in pipelines:
        with pytest.raises(SampleError, match="saved list of files must be as it was written"):
            pipeline.run()
        pipeline.close()
    assert not path.exists()
    assert found(tree) == (ALL, True)


def test_files_may_be_replaced_while_they_are_used(tree: Path) -> None:
    assert found(tree) == (ALL, True)
    before = LIST({"file_root": str(tree), **DEFAULTS})
    add_file(tree)
    age(tree)
    assert len(found(tree)[0]) == len(ALL) + 1
    assert list(zip(before.files, before.labels, strict=True)) == ALL


def test_processes_that_list_at_once_write_one_file(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listings = []

    class Beside(SavedFolders):
        def store(self, found: PathList, remark: str) -> PathList:
            if not listings:  # another one is as far, and faster
                listings.append(None)
                listings[0] = LIST({"file_root": str(tree), **DEFAULTS})
                listings.append(os.stat(kept_file(tree)).st_ino)
            return super().store(found, remark)

    monkeypatch.setattr(folders, "SavedFolders", Beside)
    assert list(LIST({"file_root": str(tree), **DEFAULTS}).files) == list(listings[0].files)
    assert os.stat(kept_file(tree)).st_ino == listings[1]


KILLED = """
import os, pathlib, signal, sys
from dali_core import Pipeline, fn
from dali_core.operators.readers import saved_folders

saved_folders._LEAST_FILES = 1
pathlib.Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
with Pipeline(1, 1, None) as pipeline:
    pipeline.set_outputs(fn.readers.file(file_root=sys.argv[1])[0])
pipeline.build()
"""


def test_partial_file_of_a_killed_writer_is_ignored(tree: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tree)], check=False)
    assert done.returncode == -signal.SIGKILL
    partial = kept_file(tree)
    assert partial.suffix == ".partial"
    assert found(tree) == (ALL, True)
    assert found(tree) == (ALL, False)
    assert partial.exists()
    os.utime(partial, (1e9, 1e9))
    add_folder(tree)
    age(tree)
    assert found(tree)[1]
    assert kept_file(tree) == partial.with_name(partial.name.partition(".")[0])


def test_full_disk_is_not_an_error(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(saved_folders, "whole_file", refuse)
    with warned_of_cache("No space left on device"):
        assert found(tree) == found(tree) == (ALL, True)
    assert not list((tree.parent / "cache").glob("*/*"))
