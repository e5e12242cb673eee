"""Damages entries of every cache: ``python -m tests.damaged_caches FIRST COUNT``.

Each damage depends only on its number: other bytes, or a link, a pipe or a folder in the place of a
file, or a row with other values in a database. The outcome is always the one without a cache.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import sys
import tempfile
import warnings
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec

from dali_core import _cache_files
from dali_core import _file_cache as file_cache
from dali_core._runtime.path_list import PathList
from dali_core._storage import ObjectCopies, Storage
from dali_core._storage.object_cache import ObjectCache
from dali_core._storage.options import StorageOptions
from dali_core.operators.readers import archive_index, saved_folders
from dali_core.operators.readers.folders import files_below
from dali_core.operators.readers.webdataset import record_format as tar_format
from dali_core.operators.video.index_cache import FileKey, IndexCache, key_of
from dali_core.operators.video.worker.packed_index import PackedIndex
from tests.operators.readers.tar_files import write_tar

_CONTENT = random.Random(0).randbytes(3000)
_LIMIT = 20_000
Use = Callable[[], bool]
"""Reads through a cache, checks what comes, and returns whether the cache had it."""


def _mutated(data: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    kind = draw.randrange(5)
    if kind == 0:
        return bytes(changed[: draw.randrange(len(data) + 1)])
    if kind == 1:
        return bytes(changed) + draw.randbytes(draw.choice((1, 4, 8, 4096)))
    if kind == 2:
        return draw.randbytes(draw.randrange(64))
    first, count = draw.randrange(len(data) or 1), draw.choice((1, 1, 1, 4, 8, 300))
    if kind == 3:
        changed[first : first + count] = bytes(count)
    else:
        for place in range(first, min(first + count, len(changed))):
            changed[place] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _damage(path: Path, draw: random.Random, folder: Path) -> None:
    """Damage a file, or put something else in its place."""
    data = path.read_bytes()
    kind = draw.randrange(10)
    if kind >= 4:
        path.write_bytes(_mutated(data, draw))
        return
    path.unlink()
    if kind == 0:
        path.symlink_to(draw.choice(("/dev/zero", "/dev/full", "nothing", path.name, folder)))
    elif kind == 1:
        os.mkfifo(path)
    elif kind == 2:
        copy = folder / "linked"
        copy.write_bytes(data)
        path.symlink_to(copy)


_VALUES: tuple[Any, ...] = (
    *(
        None,
        0,
        -1,
        2**63 - 1,
        0.5,
        "",
        "text",
        "{}",
        b"",
        b"\0",
        b"\0" * 4,
        b"\0" * 8,
        b"\xff" * 99,
    ),
    archive_index.ArchiveIndex(array("q", [1]), array("q"), ["a"], {}).to_bytes("tar"),
    archive_index.ArchiveIndex(array("q"), array("q"), [], {5: "x"}).to_bytes("tar"),
    archive_index.ArchiveIndex(array("q", [1]), array("q", [1]), [7], {}).to_bytes("tar"),  # type: ignore[list-item]
    archive_index.ArchiveIndex(array("q"), array("q"), [], {}).to_bytes("lmdb"),
)
_STATEMENTS = (
    "UPDATE indices SET data = CAST(x'ff80' AS TEXT)",
    "UPDATE indices SET path = CAST(x'ff80' AS TEXT)",
    "UPDATE indices SET size = x'00', changed = 'never'",
    "DELETE FROM indices",
    "DROP TABLE indices",
    "ALTER TABLE indices RENAME COLUMN data TO other",
    "ALTER TABLE indices ADD COLUMN more",
)


def _damage_rows(path: Path, draw: random.Random, folder: Path) -> None:
    if draw.random() < 0.5:
        return _damage(path, draw, folder)
    database = sqlite3.connect(path)
    with database:
        if draw.random() < 0.5:
            database.execute("UPDATE indices SET data = ?", [draw.choice(_VALUES)])
        else:
            database.execute(draw.choice(_STATEMENTS))
    database.close()
    return None


def _objects(folder: Path) -> Use:
    cache = ObjectCache(str(folder), _LIMIT)
    entry = cache.entry("s3://bucket/a", "1", 0, -1)

    def use() -> bool:
        again = ObjectCache(str(folder), _LIMIT)
        found = again.load(entry, len(_CONTENT))
        assert found is None or found == _CONTENT
        if found is None:
            again.store(entry, _CONTENT)
        for number in range(10):
            again.store(again.entry("s3://bucket/b", str(number), 0, -1), _CONTENT)
        stored = [path.lstat().st_size for path in folder.glob("objects-1/??/*")]
        assert sum(stored) <= _LIMIT + 5000  # of which a damaged entry may have as many more
        return found is not None

    cache.store(entry, _CONTENT)
    return use


def _copies(folder: Path) -> Use:
    files = fsspec.filesystem("memory")
    if not files.exists("/damaged-caches/a.mp4"):
        files.pipe_file("/damaged-caches/a.mp4", _CONTENT)

    def use() -> bool:
        storage = Storage(StorageOptions())
        urls = storage.checked(["memory://damaged-caches/a.mp4"])
        before = {path.name: path.lstat().st_ino for path in (folder / "copies-1").glob("*")}
        copies = ObjectCopies(storage, urls, str(folder), _LIMIT)
        assert copies.problems == {}
        (path,) = map(Path, copies.paths.values())
        assert path.read_bytes() == _CONTENT
        assert path.is_file()
        assert not path.is_symlink()
        return before.get(path.name) == path.stat().st_ino

    Path(folder, "copies-1").mkdir()
    storage = Storage(StorageOptions())
    ObjectCopies(storage, storage.checked(["memory://damaged-caches/a.mp4"]), str(folder), _LIMIT)
    return use


def _archives(folder: Path) -> Use:
    os.environ[archive_index.CACHE_VARIABLE] = str(folder / "cache")
    path = write_tar(folder / "a.tar", [(f"{i}.jpg", b"1" * i) for i in range(9)])
    walks: list[bytes] = []

    def walk(name: bytes) -> list[Any]:
        walks.append(name)
        return tar_format.walk_tar(name)

    def use() -> bool:
        walks.clear()
        (index,) = archive_index.open_indices([str(path)], replace(tar_format.FORMAT, scan=walk))
        assert index.names == [f"{i}.jpg" for i in range(9)]
        assert list(index.sizes) == list(range(9))
        return not walks

    use()
    return use


def _videos(folder: Path) -> Use:
    index = PackedIndex(codec="h264", coded_width=64, num_packets=3)
    index.pts, index.positions = array("q", range(3)), array("i", range(3))
    index.keyframes = index.key_positions = array("i", [0])
    index.key_pts = index.key_dts = array("q", [0])
    path = folder / "a.mp4"
    path.write_bytes(_CONTENT)
    keys: list[FileKey] = [key_of(str(path))]
    name = str(folder / "cache")

    def use() -> bool:
        cache = IndexCache(name, "DALI_CORE_VIDEO_CACHE")
        found = cache.load(keys)
        assert [one.to_bytes() for one in found.values()] in ([], [index.to_bytes()])
        cache.store([(keys[0], index)])
        return bool(found)

    IndexCache(name).store([(keys[0], index)])
    return use


def _listings(folder: Path) -> Use:
    os.environ[archive_index.CACHE_VARIABLE] = str(folder / "cache")
    saved_folders._LEAST_FILES = 1
    root = folder / "root"
    names = [f"{inner}/{i:03}.jpg" for inner in "ab" for i in range(70)]
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    for path in (root, root / "a", root / "b"):
        os.utime(path, (1e9, 1e9))

    def use() -> bool:
        found: PathList = files_below(str(root), Storage(StorageOptions()), ["*.jpg"])
        assert list(found) == names
        assert list(found.labels) == [0] * 70 + [1] * 70
        return True

    use()
    return use


_Damage = Callable[[Path, random.Random, Path], None]
KINDS: dict[str, tuple[Callable[[Path], Use], str, _Damage]] = {
    "objects": (_objects, "objects-1/??/*", _damage),
    "total of objects": (_objects, "objects-1/total.lock", _damage),
    "copies": (_copies, "copies-1/[0-9a-f][0-9a-f]*", _damage),
    "checksums of copies": (_copies, "copies-1/check-*", _damage),
    "archives": (_archives, "cache/*", _damage_rows),
    "videos": (_videos, "cache/*", _damage_rows),
    "listings": (_listings, "cache/*/*", _damage),
}


def outcomes(first: int, count: int) -> Counter[str]:
    """Damage caches, and count which ones still had the entry.

    Raises
    ------
    AssertionError
        If a cache changes what is read, or a warning is about anything else.
    """
    counts: Counter[str] = Counter()
    for number in range(first, first + count):
        draw = random.Random(number)
        name = list(KINDS)[number % len(KINDS)]
        prepare, pattern, damage = KINDS[name]
        folder = Path(tempfile.mkdtemp())
        _cache_files._warned.clear()
        file_cache._given_up.clear()
        try:
            use = prepare(folder)
            (path,) = folder.glob(pattern)
            damage(path, draw, folder)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                had = use()
                use()
            texts = [str(one.message) for one in caught]
            assert len(texts) <= 1, texts
            assert all("must be a folder in which" in text for text in texts), texts
        except BaseException as error:
            raise AssertionError(f"damage {number} of {name}: {error!r}") from error
        finally:
            shutil.rmtree(folder)
        counts[f"{name}: {'used' if had else 'read again'}"] += 1
        counts["warned"] += len(texts)
    return counts


def main() -> None:
    first, count = map(int, sys.argv[1:])
    for name, number in sorted(outcomes(first, count).items()):
        print(f"{name}: {number}")


if __name__ == "__main__":
    main()
