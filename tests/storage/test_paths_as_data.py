"""`fn.io.file.read` takes URLs: each sample brings its own, which nobody knows before."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import ArgumentTypeError, SampleError
from tests.storage.servers import Fault, S3Server
from tests.waiting import wait_until


def reading(batch_size: int, **arguments: Any) -> Pipeline:
    with Pipeline(batch_size, 2, None, prefetch_queue_depth=1) as pipeline:
        paths = fn.external_source(name="paths")
        pipeline.set_outputs(fn.io.file.read(paths, **arguments))
    return pipeline


def read(urls: Sequence[str], **arguments: Any) -> list[bytes]:
    pipeline = reading(len(urls), **arguments)
    try:
        (found,) = pipeline.run(paths=[np.frombuffer(url.encode(), np.uint8) for url in urls])
        assert [found[i].source_info() for i in range(len(urls))] == list(urls)
        return [found.at(i).tobytes() for i in range(len(urls))]
    finally:
        pipeline.close()


def test_objects_and_files(server: S3Server, tmp_path: Path) -> None:
    (tmp_path / "a b").write_bytes(b"a file")
    local = [str(tmp_path / "a b"), f"file://{tmp_path}/a%20b"]
    urls = [server.put(f"data/{i}", b"object %d" % i * i) for i in range(3)]
    expected = [b"object %d" % i * i for i in range(3)] + [b"a file"] * 2
    assert read(urls + local, storage_options=server.options) == expected
    assert [server.count(f"data/{i}") for i in range(3)] == [1, 1, 1]


def test_cache(server: S3Server, tmp_path: Path) -> None:
    url = server.put("data/kept", b"content")
    for _ in range(2):
        assert read([url], storage_options=server.options, cache_dir=str(tmp_path)) == [b"content"]
    assert server.count("data/kept") == 1


def test_serialized(server: S3Server) -> None:
    url = server.put("data/serialized", b"content")
    options = {name: value for name, value in server.options.items() if name != "retry_config"}
    document = reading(1, storage_options=options).serialize()
    pipeline = Pipeline.deserialize(document, allow_remote=True)
    (found,) = pipeline.run(paths=[np.frombuffer(url.encode(), np.uint8)])
    assert found.at(0).tobytes() == b"content"
    pipeline.close()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("s3://bucket/missing", "there is no such object"),
        ("unknown://bucket/a", "obstore or fsspec"),
        ("http:///a", "must name a bucket or a server"),
        ("file:///missing", "there is no such object"),
        ("file://elsewhere/a", "must be of this machine"),
    ],
)
def test_bad_samples(server: S3Server, url: str, said: str) -> None:
    with pytest.raises(SampleError, match=said) as caught:
        read([url], storage_options=server.options)
    assert [sample.source for sample in caught.value.failures] == [url]


def test_named_pipes_do_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SampleError, match="must be readable"):
        read([f"file://{tmp_path}/pipe"])


def test_close_cancels_pending_requests(server: S3Server) -> None:
    url = server.put("data/stuck", b"x")
    gate = threading.Event()
    server.faults["data/stuck"] = Fault(until=gate)
    pipeline = reading(1, storage_options=server.options | {"timeout": 3600.0})
    pipeline.feed_input("paths", [np.frombuffer(url.encode(), np.uint8)])
    pipeline.schedule_run()
    wait_until(lambda: server.num_waiting > 0)
    pipeline.close()
    assert not gate.is_set()
    gate.set()


def test_wrong_options_name_the_operator() -> None:
    with pytest.raises(ArgumentTypeError, match=r"fn\.io\.file\.read at .*storage_options"):
        read(["memory://a"], storage_options=3)
