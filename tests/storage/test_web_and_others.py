"""Web servers, memory, and other stores that fsspec knows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

import pytest

from dali_core._storage import Storage
from dali_core._storage.options import StorageOptions
from dali_core.errors import ArgumentValueError, SampleError
from dali_core.operators.readers.folders import files_below
from tests.folders import make_folders
from tests.operators.readers.tar_files import sample_entries, write_tar
from tests.storage.servers import serving
from tests.storage.test_readers import outputs
from tests.storage.test_reading import batches


class _WithRanges(SimpleHTTPRequestHandler):
    """Python's file server, which by itself ignores ranges."""

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        path = Path(self.translate_path(self.path))
        if asked is None or not path.is_file():
            return super().do_GET()
        first, _, last = asked.removeprefix("bytes=").partition("-")
        data = path.read_bytes()
        part = data[int(first) : int(last) + 1]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{int(first) + len(part) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)
        return None

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    pytest.importorskip("obstore", reason="not available: obstore")
    with serving(partial(_WithRanges, directory=str(tmp_path))) as url:
        yield url


def test_files_of_a_web_server(web: str, tmp_path: Path) -> None:
    names = ["a.jpg", "with space/ü#1%20.jpg"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    urls = [f"{web}/a.jpg", f"{web}/with%20space/%C3%BC%231%2520.jpg"]
    (found,) = batches(1, batch_size=2, files=urls)
    assert found == [
        (url, name.encode(), i) for i, (url, name) in enumerate(zip(urls, names, strict=True))
    ]
    with pytest.raises(SampleError, match=f"'{web}/missing': there is no such object"):
        batches(1, batch_size=1, files=[f"{web}/missing"])


def test_archive_of_a_web_server(web: str, tmp_path: Path) -> None:
    path = write_tar(tmp_path / "a.tar", sample_entries(0, 8))
    here, there = (
        outputs("readers.webdataset", 8, paths=[paths], ext=["cls"], random_shuffle=True)
        for paths in (str(path), f"{web}/a.tar")
    )
    assert [one.tobytes() for (one,) in here] == [one.tobytes() for (one,) in there]


class _WithoutLength(BaseHTTPRequestHandler):
    """Says how long nothing is; the name says how an answer ends."""

    protocol_version = "HTTP/1.1"
    requests: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        name = self.path.strip("/")
        self.requests.append(f"{self.command} {self.path}")
        if name.startswith("moved"):
            self.send_response(302)
            self.send_header("Location", self.headers["X-To"])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(404 if name == "missing" else 200)
        if name.startswith("tagged"):
            self.send_header("ETag", '"1"')
        if name.startswith("closed"):
            self.send_header("Connection", "close")
            self.close_connection = True
        else:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if self.command == "GET":
            content = b"content of " + name.encode()
            if name.startswith("closed"):
                self.wfile.write(content)
            elif name.startswith("cut"):
                self.wfile.write(b"ff\r\nx")
                self.close_connection = True
            else:
                for piece in (content[:3], content[3:]):
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                self.wfile.write(b"0\r\n\r\n")

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def without_length() -> Iterator[str]:
    pytest.importorskip("obstore", reason="not available: obstore")
    _WithoutLength.requests.clear()
    with serving(_WithoutLength) as url:
        yield url


@pytest.mark.parametrize("name", ["chunked", "closed", "tagged", "with%20space/%C3%BC"])
@pytest.mark.parametrize("cached", [False, True])
def test_answers_without_a_length(
    name: str, cached: bool, without_length: str, tmp_path: Path
) -> None:
    cache = {"cache_dir": str(tmp_path)} if cached else {}
    url = f"{without_length}/{name}"
    found = [batches(1, batch_size=1, files=[url], **cache) for _ in range(2)]
    assert found == [[[(url, b"content of " + name.encode(), 0)]]] * 2
    # Of an object that has no version, changes would not be seen.
    kept = list(tmp_path.glob("*/??/*"))
    assert len(kept) == (cached and name == "tagged")


def test_bad_answers_without_a_length(without_length: str) -> None:
    options = {"max_retries": 1, "deadline": 5.0}
    for name, problem in (
        ("missing", "there is no such object"),
        ("cut", "IncompleteRead|error"),
        ("moved", "302|redirect|error"),
    ):
        headers = {"X-To": "http://127.0.0.2:1/secret"} if name == "moved" else {}
        client = {"client_options": {"default_headers": headers}} if headers else {}
        with pytest.raises(SampleError, match=problem):
            batches(
                1,
                batch_size=1,
                files=[f"{without_length}/{name}"],
                storage_options={**options, **client},
            )
    with pytest.raises(ArgumentValueError, match="must say how many bytes"):
        outputs("readers.webdataset", 4, paths=[f"{without_length}/a.tar"], ext=["a"])


def test_memory(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="not available: fsspec")
    make_folders(tmp_path)
    files = fsspec.filesystem("memory")
    files.put(f"{tmp_path}/", "/tests/memory/", recursive=True)
    local = batches(5, file_root=str(tmp_path), random_shuffle=True)
    assert batches(5, file_root="memory://tests/memory", random_shuffle=True) == local
    with pytest.raises(ArgumentValueError, match="there is none"):
        batches(1, file_root="memory://tests/nothing")
    with pytest.raises(SampleError, match="'memory://tests/nothing'"):
        batches(1, batch_size=1, files=["memory://tests/nothing"])
    files.rm("/tests", recursive=True)


@pytest.mark.parametrize("folders", ["", "a", "ab", "abc"])
def test_files_beside_folders(folders: str) -> None:
    fsspec = pytest.importorskip("fsspec", reason="not available: fsspec")
    files = fsspec.filesystem("memory")
    names = ["1.npy", *(f"{folder}/2.npy" for folder in folders)]
    for name in names:
        files.pipe_file(f"/tests-beside/{name}", b"")
    storage = Storage(StorageOptions())
    root = storage.checked_path("memory://tests-beside")
    assert list(files_below(root, storage, ["*.npy"], with_root=True)) == [
        name if "/" in name else f"./{name}" for name in names
    ]
    files.rm("/tests-beside", recursive=True)
