"""Files that others have put into the folder of a cache: links, pipes, and files of other users."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dali_core import _cache_files
from dali_core._storage import ObjectCopies, Storage
from dali_core._storage.object_cache import ObjectCache
from dali_core._storage.options import StorageOptions
from tests.caches import give_to_other_user, warned_of_cache, without_privileges

CONTENT = b"content" * 50
VICTIM = b"precious"
Plant = Callable[[Path, Path], None]
"""Puts something in the place of a file; the second path is that of a file outside."""


def plant_pipe(path: Path, victim: Path) -> None:
    os.mkfifo(path)


def plant_socket(path: Path, victim: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one, pytest.MonkeyPatch.context() as patch:
        patch.chdir(path.parent)  # names of sockets are short
        one.bind(path.name)


PLANTS: dict[str, Plant] = {
    "link": lambda path, victim: path.symlink_to(victim),
    "link to nothing": lambda path, victim: path.symlink_to(victim.with_name("new")),
    "link to an endless file": lambda path, victim: path.symlink_to("/dev/zero"),
    "second name": lambda path, victim: path.hardlink_to(victim),
    "pipe": plant_pipe,
    "socket": plant_socket,
    "folder": lambda path, victim: path.mkdir(),
}


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Path]:
    """Return a file outside of the cache, which stays as it is."""
    (tmp_path / "outside").mkdir()
    path = tmp_path / "outside" / "victim"
    path.write_bytes(VICTIM)
    yield path
    assert path.read_bytes() == VICTIM
    assert os.listdir(path.parent) == ["victim"]


@pytest.fixture
def cache(tmp_path: Path) -> ObjectCache:
    return ObjectCache(str(tmp_path / "cache"), 100_000)


def put(path: Path, plant: Plant, victim: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.unlink(missing_ok=True)
    plant(path, victim)


@pytest.mark.parametrize("kind", PLANTS)
def test_entries_of_objects(kind: str, cache: ObjectCache, victim: Path) -> None:
    entry = cache.entry("s3://bucket/a", "1", 0, -1)
    put(entry, PLANTS[kind], victim)
    # Another name of a file of this user is a file like any other, with other content.
    with warned_of_cache("", kind != "second name"):
        assert cache.load(entry) is None
        cache.store(entry, CONTENT)
    assert (cache.load(entry) == CONTENT) == (kind != "folder")


@pytest.mark.parametrize("kind", PLANTS)
def test_lock_of_objects(kind: str, cache: ObjectCache, victim: Path, tmp_path: Path) -> None:
    put(tmp_path / "cache" / "objects-1" / "total.lock", PLANTS[kind], victim)
    entry = cache.entry("s3://bucket/a", "1", 0, -1)
    with warned_of_cache("Is a directory", kind == "folder"):
        cache.store(entry, CONTENT)
    assert (cache.load(entry) == CONTENT) == (kind != "folder")


@pytest.mark.parametrize("place", ["objects-1", "objects-1/{}"])
def test_folders_of_objects_that_are_links(
    place: str, cache: ObjectCache, victim: Path, tmp_path: Path
) -> None:
    """Neither are entries written there, nor files removed to make room."""
    entry = cache.entry("s3://bucket/a", "1", 0, -1)
    own = victim.parent.with_name("own")
    own.mkdir()
    for name in ("a" * 64, "writing-b"):
        (own / name).write_bytes(VICTIM * 1000)
    path = tmp_path / "cache" / place.format(entry.parent.name)
    put(path, lambda path, _: path.symlink_to(own), victim)
    small = ObjectCache(str(tmp_path / "cache"), 500)
    with warned_of_cache("Not a directory"):
        small.store(entry, CONTENT)
        small.store(small.entry("s3://bucket/b", "1", 0, -1), CONTENT)
    assert sorted(os.listdir(own)) == ["a" * 64, "writing-b"]
    assert small.load(entry) is None


def test_files_of_other_users(
    cache: ObjectCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = cache.entry("s3://bucket/a", "1", 0, -1)
    cache.store(entry, CONTENT)
    assert cache.load(entry) == CONTENT
    give_to_other_user(entry, monkeypatch)
    with warned_of_cache("belongs to another user"):
        assert cache.load(entry) is None


def test_folder_of_another_user(
    cache: ObjectCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = cache.entry("s3://bucket/a", "1", 0, -1)
    cache.store(entry, CONTENT)
    give_to_other_user(tmp_path / "cache" / "objects-1", monkeypatch)
    with warned_of_cache("belongs to another user"):
        assert cache.load(entry) is None
        cache.store(entry, CONTENT)


def test_entries_under_other_names(cache: ObjectCache) -> None:
    """The checksum is also one of the name: content is never that of another object."""
    first, second = (cache.entry(f"s3://bucket/{name}", "1", 0, -1) for name in "ab")
    cache.store(first, CONTENT)
    second.parent.mkdir(exist_ok=True)
    first.rename(second)
    with warned_of_cache("an entry is damaged"):
        assert cache.load(second) is None


def test_flipped_bits_are_detected(cache: ObjectCache) -> None:
    entry = cache.entry("s3://bucket/a", "1", 0, -1)
    cache.store(entry, CONTENT)
    data = entry.read_bytes()
    for place in range(len(CONTENT)):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        entry.write_bytes(changed)
        with warned_of_cache("an entry is damaged", place == 0):
            assert cache.load(entry) is None
    entry.write_bytes(data)
    assert cache.load(entry) == CONTENT


def test_entries_without_checksums(cache: ObjectCache) -> None:
    """Former versions have written only the length."""
    entry = cache.entry("s3://bucket/a", "1", 0, -1)
    entry.parent.mkdir(parents=True)
    entry.write_bytes(CONTENT + len(CONTENT).to_bytes(8, "little"))
    assert cache.load(entry) is None
    cache.store(entry, CONTENT)
    assert cache.load(entry, len(CONTENT)) == CONTENT
    assert cache.load(entry, len(CONTENT) + 1) is None


def test_files_are_for_this_user_only(cache: ObjectCache, tmp_path: Path) -> None:
    entry = cache.entry("s3://bucket/a", "1", 0, -1)
    cache.store(entry, CONTENT)
    for path in (tmp_path / "cache" / "objects-1").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_folder_for_reading_only(tmp_path: Path) -> None:
    """Entries are read, and nothing is written."""
    folder = tmp_path / "cache"
    entry = ObjectCache(str(folder), 100_000).entry("s3://bucket/a", "1", 0, -1)
    ObjectCache(str(folder), 100_000).store(entry, CONTENT)
    folders = [entry.parent, entry.parent.parent, folder]
    files = [entry, folder / "objects-1" / "total.lock"]
    for path in (*files, *folders):
        path.chmod(0o555)
    try:
        with without_privileges(folder):
            cache = ObjectCache(str(folder), 100_000)
            with warned_of_cache("Permission denied"):
                assert cache.load(entry) == CONTENT
                other = cache.entry("s3://bucket/b", "1", 0, -1)
                for _ in range(2):
                    cache.store(other, CONTENT)
            assert cache.load(other) is None
    finally:
        for path in folders:
            path.chmod(0o755)


def test_lock_timeout_of_another_holder(cache: ObjectCache, tmp_path: Path) -> None:
    """It is waited for once."""
    import fcntl

    entry = cache.entry("s3://bucket/a", "1", 0, -1)
    cache.store(entry, CONTENT)
    sleeps: list[float] = []
    with open(tmp_path / "cache" / "objects-1" / "total.lock", "r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.MonkeyPatch.context() as patch, warned_of_cache("holds the lock"):
            patch.setattr(_cache_files.time, "sleep", sleeps.append)
            for number in range(3):
                cache.store(cache.entry("s3://bucket/b", str(number), 0, -1), CONTENT)
    assert sum(sleeps) == pytest.approx(_cache_files.LOCK_SECONDS)
    assert cache.load(entry) == CONTENT
    other = cache.entry("s3://bucket/c", "1", 0, -1)
    cache.store(other, CONTENT)
    assert cache.load(other) == CONTENT


def copies(folder: Path) -> ObjectCopies:
    storage = Storage(StorageOptions())
    return ObjectCopies(storage, storage.checked(["memory://planted/a.mp4"]), str(folder), 10_000)


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[Path]:
    """Copy an object, and return the path of the copy."""
    fsspec = pytest.importorskip("fsspec", reason="not available: fsspec")
    files = fsspec.filesystem("memory")
    files.pipe_file("/planted/a.mp4", CONTENT)
    (path,) = copies(tmp_path / "cache").paths.values()
    yield Path(path)
    files.rm("/planted", recursive=True)


@pytest.mark.parametrize("kind", [kind for kind in PLANTS if kind != "folder"])
@pytest.mark.parametrize("prefix", ["", "check-", "writing-"])
def test_copies(prefix: str, kind: str, copy: Path, victim: Path, tmp_path: Path) -> None:
    place = copy.with_name(prefix + copy.name)
    put(place, PLANTS[kind], victim)
    if prefix == "writing-":
        copy.unlink()
    # Another name of a file of this user has another length, or is opened only to be written to.
    with warned_of_cache("", prefix != "writing-" and kind != "second name"):
        again = copies(tmp_path / "cache")
    assert again.problems == {}
    assert list(again.paths.values()) == [str(copy)]
    assert copy.read_bytes() == CONTENT
    assert not copy.is_symlink()
    assert copies(tmp_path / "cache").problems == {}


@pytest.mark.parametrize("kind", [kind for kind in PLANTS if kind != "folder"])
@pytest.mark.parametrize("name", ["total.lock", "held-0000"])
def test_lists_and_locks_of_copies(
    name: str, kind: str, copy: Path, victim: Path, tmp_path: Path
) -> None:
    put(copy.with_name(name), PLANTS[kind], victim)
    assert copies(tmp_path / "cache").problems == {}


def test_flipped_bits_of_copies(copy: Path, tmp_path: Path) -> None:
    """Also where the time of the change is set back."""
    status = copy.stat()
    for place in (0, len(CONTENT) - 1):
        with open(copy, "r+b") as file:
            file.seek(place)
            file.write(bytes([CONTENT[place] ^ 1]))
        os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
        with warned_of_cache("is damaged", place == 0):
            copies(tmp_path / "cache")
        assert copy.read_bytes() == CONTENT


def test_copies_that_were_touched_are_kept(copy: Path, tmp_path: Path) -> None:
    before = copy.stat().st_ino
    os.utime(copy)
    copies(tmp_path / "cache")
    assert copy.stat().st_ino == before
