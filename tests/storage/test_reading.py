"""Objects behind URLs: the same samples, order and states as those of files."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import ArgumentTypeError, ArgumentValueError, MissingModuleError, SampleError
from tests.folders import make_folders
from tests.storage.servers import Fault, S3Server
from tests.waiting import wait_until


def reader(
    batch_size: int = 4, options: dict[str, Any] | None = None, **arguments: Any
) -> Pipeline:
    with Pipeline(batch_size, 2, None, **(options or {})) as pipeline:
        pipeline.set_outputs(*fn.readers.file(name="reader", **arguments))
    return pipeline


def batch(pipeline: Pipeline) -> list[tuple[str, bytes, int]]:
    data, labels = pipeline.run()
    return [
        (str(data[i].source_info()), data.at(i).tobytes(), int(labels.at(i)[0]))
        for i in range(len(data))
    ]


def batches(count: int, **arguments: Any) -> list[list[tuple[str, bytes, int]]]:
    pipeline = reader(**arguments)
    found = [batch(pipeline) for _ in range(count)]
    pipeline.close()
    return found


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"random_shuffle": True, "seed": 7},
        {"random_shuffle": True, "num_shards": 3, "shard_id": 1, "pad_last_batch": True},
        {"random_shuffle": True, "num_shards": 2, "stick_to_shard": True},
        {"read_ahead": False},
    ],
    ids=str,
)
def test_folders_are_those_of_files(
    server: S3Server, tmp_path: Path, arguments: dict[str, Any]
) -> None:
    make_folders(tmp_path)
    url = server.upload(tmp_path, "set")
    local = batches(9, file_root=str(tmp_path), **arguments)
    assert batches(9, file_root=url, storage_options=server.options, **arguments) == local
    assert batches(9, file_root=f"{url}/", storage_options=server.options, **arguments) == local


def test_lists_and_names(server: S3Server, tmp_path: Path) -> None:
    names = ["a.jpg", "with space/ü#1%20.jpg", "deep/er/b.jpg"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    (tmp_path / "list.txt").write_text("".join(f"{name} {i}\n" for i, name in enumerate(names)))
    url = server.upload(tmp_path, "lists")
    local = batches(1, batch_size=3, file_list=str(tmp_path / "list.txt"))
    remote = {"batch_size": 3, "storage_options": server.options}
    assert batches(1, file_list=f"{url}/list.txt", **remote) == local
    assert batches(1, file_root=url, files=names, **remote) == local
    mixed = [f"{url}/{names[0]}", str(tmp_path / names[1]), f"file://{tmp_path}/{names[2]}"]
    assert [data for _, data, _ in batches(1, files=mixed, **remote)[0]] == [
        name.encode() for name in names
    ]


def test_state_at_every_step(server: S3Server, tmp_path: Path) -> None:
    make_folders(tmp_path)
    url = server.upload(tmp_path, "states")
    arguments = {"random_shuffle": True, "options": {"seed": 1, "enable_checkpointing": True}}
    remote = {"file_root": url, "storage_options": server.options, **arguments}
    here, there = reader(file_root=str(tmp_path), **arguments), reader(**remote)
    for _ in range(6):
        state = there.checkpoint()
        assert state == here.checkpoint()
        expected = batch(here)
        assert batch(there) == expected
        resumed = reader(**remote | {"options": {**arguments["options"], "checkpoint": state}})
        assert batch(resumed) == expected
        resumed.close()
    here.close()
    there.close()


def test_many_requests_are_in_flight(server: S3Server, tmp_path: Path) -> None:
    contents = [os.urandom(100) for _ in range(32)]
    urls = [server.put(f"many/{i}", data) for i, data in enumerate(contents)]
    gate = threading.Event()
    server.faults = {f"many/{i}": Fault(until=gate) for i in range(32)}
    pipeline = reader(16, files=urls, storage_options=server.options)
    pipeline.schedule_run()
    # Two batches are started; all of their objects are asked for at the same time.
    wait_until(lambda: server.num_waiting >= 32, lambda: server.num_waiting)
    gate.set()
    data, _ = pipeline.share_outputs()
    assert [data.at(i).tobytes() for i in range(16)] == contents[:16]
    pipeline.close()


def test_large_object_does_not_block_small_ones(server: S3Server) -> None:
    """Objects whose size nobody knows count as the mean of those before, not as the largest."""
    contents = [bytes(1 << 20), *(os.urandom(100) for _ in range(63))]
    urls = [server.put(f"mean/{i}", data) for i, data in enumerate(contents)]
    gate = threading.Event()
    server.faults = {f"mean/{i}": Fault(until=gate) for i in range(32, 64)}
    options = {**server.options, "max_bytes_in_flight": 2 << 20}
    pipeline = reader(16, files=urls, storage_options=options)
    for _ in range(2):
        pipeline.run()
    # All of the batch that is started: two of a megabyte would be all that fit.
    wait_until(lambda: server.num_waiting >= 16, lambda: server.num_waiting)
    gate.set()
    found = [bytes(np.asarray(data)) for _ in range(2) for data in pipeline.run()[0]]
    assert found == contents[32:]
    pipeline.close()


def test_limit_of_requests(server: S3Server) -> None:
    contents = [os.urandom(1000) for _ in range(40)]
    for limit, most in (({"max_in_flight": 3}, 3), ({"max_bytes_in_flight": 1}, 1)):
        # Not requests of the pipeline before, which it did not wait for when it was closed.
        server.watched = f"limit {most}/"
        urls = [server.put(f"{server.watched}{i}", data) for i, data in enumerate(contents)]
        server.most_waiting = 0
        found = batches(2, batch_size=20, files=urls, storage_options={**server.options, **limit})
        assert [data for one in found for _, data, _ in one] == contents
        assert server.most_waiting <= most


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault(status=404), "there is no such object"),
        (Fault(status=403), "access is denied"),
        (Fault(status=500), "500"),
        (Fault(cut=True), "body"),
    ],
    ids=["missing", "forbidden", "error", "cut"],
)
def test_bad_samples(server: S3Server, fault: Fault, said: str) -> None:
    urls = [server.put(f"bad/{i}", b"%d" % i) for i in range(4)]
    server.faults["bad/2"] = fault
    with pytest.raises(SampleError) as caught:
        batches(1, files=urls, storage_options=server.options)
    assert "'s3://bucket/bad/2'" in str(caught.value)
    assert said in str(caught.value)
    assert [sample.source for sample in caught.value.failures] == ["s3://bucket/bad/2"]
    pipeline = reader(
        files=urls, storage_options=server.options, options={"on_sample_error": "replace"}
    )
    assert [data for _, data, _ in batch(pipeline)] == [b"0", b"1", b"3", b"3"]
    assert [sample.source for sample in pipeline.bad_samples] == ["s3://bucket/bad/2"]
    pipeline.close()


@pytest.mark.parametrize(
    ("fault", "num_requests"), [(Fault(status=404), 1), (Fault(status=500), 3)], ids=str
)
@pytest.mark.parametrize("policy", ["raise", "replace"])
def test_bad_samples_are_requested_once(
    server: S3Server, fault: Fault, num_requests: int, policy: str
) -> None:
    """Only what may help is tried again, as often as the options say."""
    urls = [server.put(f"once/{i}", b"%d" % i) for i in range(8)]
    server.faults["once/2"] = fault
    options = {"on_sample_error": policy, "prefetch_queue_depth": 1}
    pipeline = reader(8, options, files=urls, storage_options=server.options)
    with contextlib.suppress(SampleError):
        batch(pipeline)
    pipeline.close()
    assert server.count("once/2") == num_requests


@pytest.mark.parametrize("fault", [Fault(status=500, times=2), Fault(cut=True, times=1)], ids=str)
def test_requests_are_retried(server: S3Server, fault: Fault) -> None:
    urls = [server.put(f"again/{i}", b"content %d" % i) for i in range(4)]
    server.faults["again/1"] = fault
    (found,) = batches(1, files=urls, storage_options=server.options)
    assert [data for _, data, _ in found] == [b"content %d" % i for i in range(4)]
    assert server.count("again/1") > 1


def test_request_timeout_and_close(server: S3Server) -> None:
    """A server that does not answer keeps nobody from closing."""
    urls = [server.put(f"stuck/{i}", b"x") for i in range(4)]
    gate = threading.Event()
    # Others may take longer, too: an error names the first sample.
    server.faults["stuck/0"] = Fault(until=gate)
    options = {**server.options, "timeout": 0.05, "deadline": 0.2}
    with pytest.raises(SampleError, match="'s3://bucket/stuck/0'"):
        batches(1, files=urls, storage_options=options)
    server.faults["stuck/1"] = Fault(until=gate)
    pipeline = reader(files=urls, storage_options=server.options | {"timeout": 3600.0})
    pipeline.schedule_run()
    wait_until(lambda: "stuck/1" in server.waiting)
    pipeline.close()
    assert not gate.is_set()
    gate.set()


def test_settings_from_the_environment(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    url = server.put("environment/a", b"content")
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    options = {"client_options": {"http1_only": True}}
    assert batches(1, batch_size=1, files=[url], storage_options=options)[0][0][1] == b"content"


def test_large_objects_are_views_of_answers(server: S3Server) -> None:
    """Each has memory of its own: who writes into one changes nothing that comes later."""
    data = bytes(range(256)) * 512
    url = server.put("large/a", data)
    pipeline = reader(files=[url, url], storage_options=server.options)
    kept = []
    for _ in range(3):
        outputs = pipeline.run()[0]
        for i in range(len(outputs)):
            array = outputs.at(i)
            assert array.tobytes() == data
            array[:] = 7
            kept.append(array)
    pipeline.close()
    assert all((array == 7).all() for array in kept)


def test_unknown_server() -> None:
    pytest.importorskip("obstore", reason="not available: obstore")
    options = {"max_retries": 0, "skip_signature": True, "endpoint": "http://name.invalid"}
    with pytest.raises(SampleError, match="s3://bucket/object"):
        batches(1, batch_size=1, files=["s3://bucket/object"], storage_options=options)


def test_wrong_arguments(server: S3Server, tmp_path: Path) -> None:
    def refused(kind: type[Exception], said: str, **arguments: Any) -> None:
        with pytest.raises(kind, match=said):
            reader(**arguments).build()

    files = ["s3://bucket/a"]
    refused(ArgumentTypeError, "must be a dict", files=files, storage_options=[1])
    refused(ArgumentValueError, "timeout", files=files, storage_options={"timeout": "x"})
    refused(
        ArgumentValueError, "no_such_option", files=files, storage_options={"no_such_option": 1}
    )
    refused(ArgumentValueError, "bucket or a server", files=["s3:///a"])
    refused(ArgumentValueError, "scheme", files=["unheardof://a/b"])
    with pytest.raises(SampleError, match="' s3://bucket/a'.*No such file"):
        batches(1, batch_size=1, files=[" s3://bucket/a", *files], storage_options=server.options)
    refused(ArgumentValueError, "signed URLs", files=["https://server/a?signature=1"])
    refused(ArgumentValueError, "no list of their files", file_root="http://127.0.0.1:9/folder")
    refused(
        ArgumentValueError,
        "there is none",
        file_root="s3://bucket/nothing",
        storage_options=server.options,
    )
    refused(
        ArgumentValueError,
        "no such object",
        file_list="s3://bucket/nothing.txt",
        storage_options=server.options,
    )


def test_extra_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(MissingModuleError, match=r"dali_core\[remote\]"):
        reader(files=["s3://bucket/a"]).build()
