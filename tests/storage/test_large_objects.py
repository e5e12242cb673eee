"""Objects that are larger than memory, or say so."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from dali_core import Pipeline, fn
from dali_core._storage import Storage
from dali_core._storage.limited import PIECE_BYTES
from dali_core._storage.options import StorageOptions
from dali_core.errors import OutOfMemoryError, SampleError
from tests.hanging import HANG_SECONDS
from tests.storage.servers import S3Server, serving
from tests.storage.test_killed import ROOT

CLAIMED = 10 << 40
OPTIONS = {"max_retries": 0, "deadline": 5.0}


class _Liar(BaseHTTPRequestHandler):
    """Every object has 10 TiB, of which a few bytes come."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        first, last = 0, CLAIMED - 1
        if asked:
            first, last = map(int, asked.removeprefix("bytes=").split("-"))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{CLAIMED}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(last - first + 1))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(b"few")
            self.close_connection = True

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def liar() -> Iterator[str]:
    pytest.importorskip("obstore", reason="not available: obstore")
    with serving(_Liar) as url:
        yield url


READERS: dict[str, Callable[[str, dict[str, Any]], Any]] = {
    "file": lambda url, options: fn.readers.file(files=[f"{url}/a.jpg"], **options)[0],
    "file_list": lambda url, options: fn.readers.file(file_list=f"{url}/a.txt", **options)[0],
    "numpy": lambda url, options: fn.readers.numpy(files=[f"{url}/a.npy"], **options),
    "coco": lambda url, options: fn.readers.coco(
        file_root=url, annotations_file=f"{url}/a.json", **options
    )[0],
    "nemo_asr": lambda url, options: fn.readers.nemo_asr(
        manifest_filepaths=[f"{url}/a.json"], **options
    )[0],
    "webdataset": lambda url, options: fn.readers.webdataset(
        paths=[f"{url}/a.tar"], ext=["a", "b"], index_paths=[f"{url}/a.idx"], **options
    )[0],
}


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("kind", READERS)
def test_objects_that_claim_to_be_enormous(
    kind: str, cached: bool, liar: str, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"storage_options": OPTIONS}
    if cached:
        options["cache_dir"] = str(tmp_path)
    with Pipeline(1, 1, None) as pipeline:
        pipeline.set_outputs(READERS[kind](liar, options))
    with pytest.raises(
        (SampleError, OutOfMemoryError), match=rf"fn\.readers\..*must be available.*{CLAIMED} bytes"
    ):
        pipeline.run()
    pipeline.close()


def test_objects_are_read_in_pieces(server: S3Server) -> None:
    content = os.urandom(1000) * (PIECE_BYTES // 1000 + 500)
    url = server.put("large", content)
    storage = Storage(StorageOptions.from_argument(server.options))
    assert bytes(storage.read(url)) == content
    assert bytes(storage.read(url, 7, len(content))) == content[7:]
    assert bytes(storage.read(url, 7, PIECE_BYTES + 3)) == content[7 : PIECE_BYTES + 10]
    assert server.count("large") == 3


@pytest.mark.parametrize("more", [-1, 0, 1, PIECE_BYTES, PIECE_BYTES + 1])
def test_objects_of_other_stores_are_read_in_pieces(more: int) -> None:
    fsspec = pytest.importorskip("fsspec", reason="not available: fsspec")
    files = fsspec.filesystem("memory")
    content = (b"0123456789" * (2 * PIECE_BYTES // 10 + 1))[: PIECE_BYTES + more]
    files.pipe_file("/tests-large/a", content)
    storage = Storage(StorageOptions())
    url = "memory://tests-large/a"
    assert bytes(storage.read(url)) == content
    for offset, size in [(0, 5), (3, PIECE_BYTES), (3, PIECE_BYTES + 5), (9, 3 * PIECE_BYTES)]:
        assert bytes(storage.read(url, offset, size)) == content[offset : offset + size]
    files.rm("/tests-large", recursive=True)


_LIMITED = """
import sys
from dali_core import Pipeline, fn
from dali_core.errors import OutOfMemoryError
import fsspec
files = fsspec.filesystem("memory")
files.pipe_file("/limited/a", b"[" * 30_000_000)
folder = sys.argv[1]
for where in ("memory://limited", folder):
    for make in (
        lambda: fn.readers.file(files=[f"{where}/a"])[0],
        lambda: fn.readers.file(file_list=f"{where}/a")[0],
        lambda: fn.readers.coco(file_root="/", annotations_file=f"{where}/a")[0],
    ):
        with Pipeline(1, 1, None) as pipeline:
            pipeline.set_outputs(make())
        try:
            pipeline.run()
        except RuntimeError as error:
            assert "got none for" in str(error), error
            assert "at most 20000000 may be in use" in str(error), error
        else:
            raise AssertionError(where)
        pipeline.close()
print("refused")
"""


def test_memory_limit_counts_for_objects_and_files(tmp_path: Path) -> None:
    pytest.importorskip("fsspec", reason="not available: fsspec")
    with open(tmp_path / "a", "wb") as file:
        file.truncate(1 << 40)  # sparse
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "DALI_CORE_MEMORY_LIMIT": "20000000"},
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "refused\n"), done.stderr
