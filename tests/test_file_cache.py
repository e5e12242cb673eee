"""Caches of indices: whatever is wrong with them, readers do without, and warn once."""

from __future__ import annotations

import os
import sqlite3
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dali_core import Pipeline, _cache_files, fn
from dali_core._file_cache import FileCache, FileKey, cache_folder
from dali_core.operators.readers import archive_index, saved_folders
from dali_core.operators.readers.archive_index import CACHE_VARIABLE, ArchiveIndex, open_indices
from dali_core.operators.readers.webdataset.record_format import FORMAT
from dali_core.operators.video.index_cache import IndexCache
from dali_core.operators.video.worker.packed_index import PackedIndex
from tests.caches import give_to_other_user, warned_of_cache, without_privileges
from tests.folders import make_folders
from tests.operators.readers.tar_files import write_tar

NAME = archive_index._FILE
KEY: FileKey = ("/a.tar", 5, 7)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "cache"
    monkeypatch.setenv(CACHE_VARIABLE, str(path))
    return path


@pytest.fixture
def archive(tmp_path: Path) -> str:
    return str(write_tar(tmp_path / "a.tar", [("a.jpg", b"1")]))


def names(archive: str) -> list[str]:
    (index,) = open_indices([archive], FORMAT)
    return index.names


def as_pipe(path: Path) -> None:
    os.mkfifo(path)


def as_link(path: Path) -> None:
    path.symlink_to(path.with_name("other"))


@pytest.mark.parametrize("plant", [as_pipe, as_link, Path.mkdir])
def test_planted_databases(plant: Callable[[Path], None], folder: Path, archive: str) -> None:
    folder.mkdir(mode=0o700)
    other = folder / "other"
    sqlite3.connect(other).close()
    plant(folder / NAME)
    with warned_of_cache("it is no regular file"):
        assert names(archive) == names(archive) == ["a.jpg"]
    assert other.read_bytes() == b""
    assert sorted(os.listdir(folder)) == ["other", NAME]


def test_folder_of_every_user(folder: Path, archive: str) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    with warned_of_cache("every user may write to it"):
        assert names(archive) == ["a.jpg"]
    assert os.listdir(folder) == []
    folder.chmod(0o755)
    assert names(archive) == ["a.jpg"]
    assert os.listdir(folder) == [NAME]


def test_files_of_other_users(folder: Path, archive: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert names(archive) == ["a.jpg"]
    give_to_other_user(folder / NAME, monkeypatch)
    with warned_of_cache("belongs to another user"):
        assert names(archive) == ["a.jpg"]


def test_folder_that_cannot_be_read(folder: Path, tmp_path: Path) -> None:
    """Such as the home of another user, in a container."""
    home = tmp_path / "root"
    (home / "cache").mkdir(parents=True)
    home.chmod(0)
    cache = FileCache(str(home / "cache" / "records"), NAME, CACHE_VARIABLE)
    try:
        with without_privileges(tmp_path / "x"), warned_of_cache("Permission denied"):
            for _ in range(2):
                assert cache.load_bytes([KEY]) == {}
                cache.store_bytes([(KEY, b"data")])
    finally:
        home.chmod(0o700)


def test_folder_for_reading_only(folder: Path) -> None:
    cache = FileCache(str(folder), NAME, CACHE_VARIABLE)
    cache.store_bytes([(KEY, b"data")])
    (folder / NAME).chmod(0o444)
    folder.chmod(0o555)
    try:
        with without_privileges(folder / NAME):
            assert cache.load_bytes([KEY]) == {KEY[0]: b"data"}
            with warned_of_cache("readonly database"):
                cache.store_bytes([(KEY, b"other")])
            assert cache.load_bytes([KEY]) == {KEY[0]: b"data"}
    finally:
        folder.chmod(0o755)


@pytest.mark.parametrize("wrong", ["x" * 300, "x/" * 3000, "file", "file/folder"])
def test_invalid_folders(
    wrong: str, archive: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / wrong))
    with warned_of_cache(""):
        assert names(archive) == names(archive) == ["a.jpg"]


def test_invalid_folders_of_listings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setattr(saved_folders, "_LEAST_FILES", 1)
    root = tmp_path / "root"
    root.mkdir()
    make_folders(root)
    for path in (root, *root.iterdir()):
        os.utime(path, (1e9, 1e9))
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / ("x" * 300)))
    with warned_of_cache("File name too long"):
        for _ in range(2):
            with Pipeline(1, 1, None) as pipeline:
                pipeline.set_outputs(fn.readers.file(file_root=str(root))[0])
            pipeline.run()
            pipeline.close()


def test_planted_listings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(saved_folders, "_LEAST_FILES", 1)
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    (root / "a" / "1.jpg").write_bytes(b"1")
    for path in (root, root / "a"):
        os.utime(path, (1e9, 1e9))

    def read() -> bytes:
        with Pipeline(1, 1, None) as pipeline:
            pipeline.set_outputs(fn.readers.file(file_root=str(root))[0])
        (data,) = pipeline.run()
        found = data.at(0).tobytes()
        pipeline.close()
        return found

    assert read() == b"1"
    (kept,) = folder.glob("*/*")
    saved = tmp_path / "saved"
    kept.rename(saved)
    data = saved.read_bytes()
    kept.symlink_to(saved)
    with warned_of_cache("it is a link"):
        assert read() == b"1"
    assert saved.read_bytes() == data
    assert not kept.is_symlink()
    kept.unlink()
    os.mkfifo(kept)
    _cache_files._warned.clear()
    with warned_of_cache("it is no regular file"):
        assert read() == b"1"


def test_missing_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable in (CACHE_VARIABLE, "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert cache_folder(CACHE_VARIABLE, "records") == ""


@pytest.fixture
def locked(folder: Path) -> Iterator[FileCache]:
    """Return a cache whose database another program has locked."""
    cache = FileCache(str(folder), NAME, CACHE_VARIABLE)
    cache.store_bytes([(KEY, b"data")])
    other = sqlite3.connect(folder / NAME, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    yield cache
    other.close()


def test_locked_database_timeout_applies_once(
    locked: FileCache, folder: Path, archive: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    connect = sqlite3.connect

    def spy(path: Path, timeout: float) -> sqlite3.Connection:
        waits.append(timeout)
        return connect(path, timeout=0.0)

    monkeypatch.setattr(sqlite3, "connect", spy)
    with warned_of_cache("database is locked"):
        assert locked.load_bytes([KEY]) == {}
        locked.store_bytes([(KEY, b"data")])
        assert names(archive) == names(archive) == ["a.jpg"]
    assert waits == [1.0]


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"\0" * 4, "text", 5, None),
        ArchiveIndex(array("q", [1]), array("q"), ["a"], {}).to_bytes("tar"),
        ArchiveIndex(array("q", [1]), array("q", [1]), [7], {}).to_bytes("tar"),  # type: ignore[list-item]
        ArchiveIndex(array("q"), array("q"), [], {3: "bad"}).to_bytes("tar"),
        ArchiveIndex(array("q"), array("q"), [], {"x": 3}).to_bytes("tar"),  # type: ignore[dict-item]
    ],
)
def test_other_entries(data: bytes | str | int | None, folder: Path, archive: str) -> None:
    assert names(archive) == ["a.jpg"]
    database = sqlite3.connect(folder / NAME)
    with database:
        database.execute("UPDATE indices SET data = ?", [data])
    database.close()
    with warned_of_cache("an entry is damaged", isinstance(data, bytes)):
        assert names(archive) == ["a.jpg"]
    assert names(archive) == ["a.jpg"]


def test_entries_that_are_no_text(folder: Path) -> None:
    cache = FileCache(str(folder), NAME, CACHE_VARIABLE)
    other: FileKey = ("/b.tar", 1, 2)
    undecodable: FileKey = ("/\udcff.tar", 1, 2)
    cache.store_bytes([(KEY, b"data"), (undecodable, b"none"), (other, b"more")])
    database = sqlite3.connect(folder / NAME)
    with database:
        database.execute("UPDATE indices SET data = CAST(x'ff80' AS TEXT) WHERE path = '/a.tar'")
    database.close()
    assert cache.load_bytes([KEY, undecodable, other]) == {other[0]: b"more"}


def test_other_tables_are_replaced(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    database = sqlite3.connect(folder / NAME)
    with database:
        database.execute("CREATE TABLE indices (path TEXT, other TEXT)")
    database.close()
    cache = FileCache(str(folder), NAME, CACHE_VARIABLE)
    with warned_of_cache("is damaged"):
        assert cache.load_bytes([KEY]) == {}
    cache.store_bytes([(KEY, b"data")])
    assert cache.load_bytes([KEY]) == {KEY[0]: b"data"}


def test_damaged_indices_of_videos(folder: Path) -> None:
    cache = IndexCache(str(folder), "DALI_CORE_VIDEO_CACHE")
    cache.store([(KEY, PackedIndex(codec="h264"))])
    assert list(cache.load([KEY])) == [KEY[0]]
    cache.store_bytes([(KEY, b"")])
    with warned_of_cache("an entry is too short"):
        assert cache.load([KEY]) == cache.load([KEY]) == {}
