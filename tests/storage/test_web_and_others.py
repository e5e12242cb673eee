"""Web servers, memory, and other stores that fsspec knows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from dali_core.errors import ArgumentValueError, SampleError
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
