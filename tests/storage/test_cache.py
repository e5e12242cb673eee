"""The folder in which objects that were read are kept."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from dali_core._storage.object_cache import ObjectCache
from dali_core.errors import ArgumentValueError
from tests.storage.servers import S3Server
from tests.storage.test_killed import ROOT
from tests.storage.test_reading import batches, reader


def contents(found: list[list[tuple[str, bytes, int]]]) -> list[bytes]:
    return [data for batch in found for _, data, _ in batch]


def entries(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"]


def read_twice(server: S3Server, prefix: str, **arguments: Any) -> list[list[bytes]]:
    """Read more objects than two runs have in flight, twice, and check that the second is free."""
    found, counts = [], []
    for _ in range(2):
        found.append(contents(batches(2, storage_options=server.options, **arguments)))
        counts.append([server.count(f"{prefix}/{i:02}.jpg") for i in range(8)])
    assert counts == [[1] * 8] * 2
    return found


def test_second_run_reads_nothing(server: S3Server, tmp_path: Path) -> None:
    data = [b"%d" % i * i for i in range(20)]
    urls = [server.put(f"cached/{i:02}.jpg", one) for i, one in enumerate(data)]
    arguments = {"files": urls, "cache_dir": str(tmp_path / "new" / "folder")}
    assert read_twice(server, "cached", **arguments) == [data[:8]] * 2
    server.put("cached/02.jpg", b"changed")
    data[2] = b"changed"
    assert contents(batches(2, storage_options=server.options, **arguments)) == data[:8]
    assert [server.count(f"cached/{i:02}.jpg") for i in range(4)] == [1, 1, 2, 1]


def test_folders_need_no_request_for_each_object(server: S3Server, tmp_path: Path) -> None:
    data = [b"%d" % i for i in range(20)]
    for i, one in enumerate(data):
        server.put(f"listed/a/{i:02}.jpg", one)
    found = read_twice(server, "listed/a", file_root="s3://bucket/listed", cache_dir=str(tmp_path))
    assert found == [data[:8]] * 2
    # Others may still come from a pipeline of before, which does not wait for them when it closes.
    assert not [key for method, key in server.requests if method == "HEAD" and "listed" in key]


def test_least_recently_used_is_removed(tmp_path: Path) -> None:
    cache = ObjectCache(str(tmp_path), 1000)
    paths = [cache.entry(f"s3://b/{i}", "1", 0, -1) for i in range(12)]
    for number, path in enumerate(paths[:9]):
        cache.store(path, bytes([number]) * 100)
        os.utime(path, ns=(number, number))
    assert cache.load(paths[0]) == bytes(100)  # used last
    cache.store(paths[9], b"x" * 100)
    kept = [number for number, path in enumerate(paths) if cache.load(path) is not None]
    assert kept[0] == 0
    assert kept[-1] == 9
    assert kept[1:] == list(range(10 - len(kept) + 1, 10))
    assert sum(path.stat().st_size for path in entries(tmp_path)) <= 1000
    cache.store(paths[10], b"y" * 2000)  # larger than everything
    assert cache.load(paths[10]) is None


def test_limit_holds_with_many_writers(tmp_path: Path) -> None:
    caches = [ObjectCache(str(tmp_path), 3000) for _ in range(4)]
    largest = 0

    def write(number: int) -> None:
        nonlocal largest
        for i in range(60):
            path = caches[number].entry(f"s3://b/{number}/{i}", "1", 0, -1)
            caches[number].store(path, b"z" * 92)
            with contextlib.suppress(FileNotFoundError):
                largest = max(largest, sum(one.stat().st_size for one in entries(tmp_path)))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # What is being written when the folder is counted again may come on top.
    assert 0 < largest <= 3000 + 4 * 100


def test_damaged_entries_are_read_again(server: S3Server, tmp_path: Path) -> None:
    url = server.put("damaged", b"content")
    arguments = {
        "batch_size": 1,
        "files": [url],
        "storage_options": server.options,
        "cache_dir": str(tmp_path),
        # Nothing else is being written when the entry is damaged.
        "options": {"prefetch_queue_depth": 1},
        "read_ahead": False,
    }
    for damage in (b"", b"cont", b"content" + bytes(8)):
        assert contents(batches(1, **arguments)) == [b"content"]
        (entry,) = entries(tmp_path)
        entry.write_bytes(damage)
    assert contents(batches(1, **arguments)) == [b"content"]
    assert server.count("damaged") == 4


_KILLED = """
import os, signal, sys
from dali_core._storage.object_cache import ObjectCache
cache = ObjectCache(sys.argv[1], 1000)
def killed(*arguments, **folders):
    os.kill(os.getpid(), signal.SIGKILL)
os.replace = killed
cache.store(cache.entry("s3://b/a", "1", 0, -1), b"a" * 300)
"""


def test_killed_writers_leave_valid_entries(tmp_path: Path) -> None:
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path)], cwd=ROOT, check=False)
        assert done.returncode == -signal.SIGKILL
    assert len(entries(tmp_path)) == 2  # half of a cache that nobody uses
    cache = ObjectCache(str(tmp_path), 1000)
    path = cache.entry("s3://b/a", "1", 0, -1)
    assert cache.load(path) is None
    cache.store(path, b"a" * 900)
    assert cache.load(path) == b"a" * 900
    assert entries(tmp_path) == [path]


def test_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ArgumentValueError, match="cache_dir must be a folder"):
        reader(files=["s3://bucket/a"], cache_dir=str(tmp_path / "file")).build()
    with pytest.raises(ArgumentValueError, match="cache_dir must be a local folder"):
        reader(files=["s3://bucket/a"], cache_dir="s3://bucket/cache").build()
