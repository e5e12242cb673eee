"""Pipelines from documents: nothing is opened before they are built, and URLs need permission."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, mix_readers
from dali_core._storage.access import Access, check_arguments, check_place
from dali_core._storage.options import StorageOptions
from dali_core._storage.urls import split_url
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DaliCoreError,
    SampleError,
    SerializationError,
)
from tests.folders import make_folders
from tests.fuzz import documents_with_urls as documents
from tests.operators.readers.tar_files import sample_entries, write_tar
from tests.storage.servers import S3Server


@pytest.fixture
def canaries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[documents.Canaries]:
    folder = tmp_path / "canaries"
    folder.mkdir()
    monkeypatch.chdir(folder)
    found = documents.Canaries(folder)
    yield found
    found.close()


def test_documents_execute_and_request_nothing(canaries: documents.Canaries) -> None:
    pytest.importorskip("fsspec", reason="not available: fsspec")
    read = itertools.islice(documents.documents(canaries, random.Random(1)), 300)
    found = {
        documents.outcome(data, url, canaries, allow_remote=allow_remote)
        for url, data in read
        for allow_remote in (False, True)
    }
    assert {"refused", "not opened"} <= found <= documents.HARMLESS


@pytest.mark.parametrize("scheme", ["reference", "filecache", "blockcache"])
@pytest.mark.parametrize("allow_remote", [False, True])
def test_file_systems_that_run_code_raise(
    scheme: str, allow_remote: bool, canaries: documents.Canaries
) -> None:
    url = f"{scheme}://a/a"
    arguments = {"files": [url], "storage_options": canaries.executed()[scheme]}
    data = documents.document("readers.file", arguments)
    assert documents.outcome(data, url, canaries, allow_remote=allow_remote) == "refused"
    listed = canaries.folder / "list"
    listed.write_text(f"{url} 0\n")
    data = documents.document("readers.file", {"file_list": str(listed)})
    assert documents.outcome(data, url, canaries, allow_remote=allow_remote) == "not opened"


@pytest.mark.parametrize("scheme", documents.schemes() if documents.has_fsspec() else [])
def test_schemes_raise_wherever_urls_come_from(scheme: str, canaries: documents.Canaries) -> None:
    url = f"{scheme}://{canaries.host}/a"
    listed, manifest = canaries.folder / "list", canaries.folder / "manifest"
    listed.write_text(f"{url} 0\n")
    manifest.write_text(json.dumps({"audio_filepath": url}) + "\n")
    for operator, arguments in (
        ("readers.file", {"files": [url]}),
        ("readers.file", {"file_list": str(listed)}),
        ("readers.nemo_asr", {"manifest_filepaths": [str(manifest)]}),
        ("io.file.read", {}),
    ):
        data = documents.document(operator, arguments)
        assert documents.outcome(data, url, canaries) in ("refused", "not opened")
    assert canaries.connections == 0


@pytest.mark.parametrize(("operator", "name", "more"), documents.PLACES)
def test_deserializing_opens_no_files(operator: str, name: str, more: dict[str, Any]) -> None:
    value = ["missing"] if name in documents.LISTS else "missing"
    pipeline = Pipeline.deserialize(documents.document(operator, {**more, name: value}))
    with pytest.raises(DaliCoreError):
        pipeline.run()
    pipeline.close()


@pytest.mark.parametrize(("operator", "name", "more"), documents.PLACES)
def test_deserializing_makes_no_requests(
    operator: str, name: str, more: dict[str, Any], canaries: documents.Canaries
) -> None:
    pytest.importorskip("obstore", reason="not available: obstore")
    pytest.importorskip("fsspec", reason="not available: fsspec")
    url = f"http://{canaries.host}/a"
    document = documents.document(
        operator, {**more, name: [url] if name in documents.LISTS else url}
    )
    with pytest.raises(SerializationError, match=r"operators\[0\].*allow_remote=True"):
        Pipeline.deserialize(document)
    with pytest.raises(ArgumentTypeError, match="must be True or False"):
        Pipeline.deserialize(document, allow_remote="no")  # type: ignore[arg-type]
    with pytest.raises(SerializationError, match=r"allow_remote=True"):
        Pipeline(device_id=None).deserialize_and_build(document)
    pipeline = Pipeline.deserialize(document, allow_remote=True)
    assert canaries.connections == 0
    with pytest.raises(DaliCoreError):
        pipeline.run()
    pipeline.close()


def outputs(pipeline: Pipeline, count: int = 4) -> list[Any]:
    return [
        [bytes(output.at(i)) for output in batch for i in range(len(output))]
        for batch in (pipeline.run() for _ in range(count))
    ]


def readers(server: S3Server, tmp_path: Path, **options: Any) -> dict[str, Callable[[], Any]]:
    """Return calls of readers of objects, which lead to at least two outputs."""
    make_folders(tmp_path / "photos", (5, 6))
    root = server.upload(tmp_path / "photos", "photos")
    archive = server.put("a.tar", write_tar(tmp_path / "a.tar", sample_entries(0, 8)).read_bytes())
    listed = server.put("list", b"photos/class_0/000.jpg 3\nphotos/class_1/001.jpg 2\n")

    def mixture() -> Any:
        return mix_readers(
            [
                lambda: fn.readers.file(file_root=root, **options)[0],
                lambda: fn.readers.file(file_list=listed, **options)[0],
            ],
            weights=[2.0, 1.0],
            name="one",
        )

    named = {**options, "name": "one"}
    return {
        "file_root": lambda: fn.readers.file(file_root=root, random_shuffle=True, **named),
        "file_list": lambda: fn.readers.file(file_list=listed, **named),
        "sampler": lambda: fn.readers.webdataset(
            paths=[archive], ext=["cls", "jpg"], sampler=[3, 1, 2, 7, 6], **named
        ),
        "mixture": lambda: [mixture()],
    }


@pytest.fixture
def options(server: S3Server) -> dict[str, Any]:
    return {name: value for name, value in server.options.items() if name != "retry_config"}


@pytest.mark.parametrize("reader", ["file_root", "file_list", "sampler", "mixture"])
def test_remote_readers_of_documents_open_when_built(
    reader: str, server: S3Server, tmp_path: Path, options: dict[str, Any]
) -> None:
    with Pipeline(2, 1, None, seed=1) as made:
        made.set_outputs(*readers(server, tmp_path, storage_options=options)[reader]())
    document = made.serialize()
    server.requests.clear()
    pipeline = Pipeline.deserialize(document, allow_remote=True)
    assert pipeline.serialize() == document
    assert server.requests == []
    assert pipeline.epoch_size("one") == made.epoch_size("one")
    assert outputs(pipeline) == outputs(made)
    resumed = Pipeline.deserialize(document, allow_remote=True)
    requests = len(server.requests)
    resumed.load_state_dict(made.state_dict())
    assert len(server.requests) > requests
    assert outputs(resumed) == outputs(made)
    for each in (pipeline, made, resumed):
        each.close()


def test_copies_inherit_permissions(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="not available: fsspec")
    files = fsspec.filesystem("memory")
    files.pipe("/tests/documents/a", b"content")
    (tmp_path / "list").write_text("memory://tests/documents/a 0\n")
    with Pipeline(1, 1, None) as made:
        made.set_outputs(*fn.readers.file(file_list=str(tmp_path / "list")))
    copy = Pipeline.from_pipeline(made, num_threads=2)
    assert copy.num_threads == 2
    assert copy.run()[0].at(0).tobytes() == b"content"
    foreign = Pipeline.deserialize(made.serialize())
    for each in (foreign, Pipeline.from_pipeline(foreign)):
        with pytest.raises(ArgumentValueError, match="allow_remote=True"):
            each.build()
    allowed = Pipeline.deserialize(made.serialize(), allow_remote=True)
    assert allowed.run()[0].at(0).tobytes() == b"content"
    files.rm("/tests", recursive=True)
    for each in (copy, allowed):
        each.close()


def test_no_folder_for_a_cache_without_permission(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"content")
    with Pipeline(1, 1, None) as made:
        made.set_outputs(
            *fn.readers.file(files=[str(tmp_path / "a")], cache_dir=str(tmp_path / "cache"))
        )
    pipeline = Pipeline.deserialize(made.serialize())
    assert pipeline.run()[0].at(0).tobytes() == b"content"
    pipeline.close()
    assert not (tmp_path / "cache").exists()


def test_annotations_of_documents_are_not_saved(tmp_path: Path) -> None:
    annotations = {
        "images": [{"id": 1, "file_name": "a", "width": 2, "height": 2}],
        "categories": [{"id": 1, "name": "one"}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1], "iscrowd": 0}
        ],
    }
    (tmp_path / "annotations.json").write_text(json.dumps(annotations))
    document = documents.document(
        "readers.coco",
        {
            "file_root": str(tmp_path),
            "annotations_file": str(tmp_path / "annotations.json"),
            "save_preprocessed_annotations": True,
            "save_preprocessed_annotations_dir": str(tmp_path),
        },
    )
    pipeline = Pipeline.deserialize(document, allow_remote=True)
    with pytest.raises(ArgumentValueError, match="must write no files"):
        pipeline.build()
    assert [path.name for path in tmp_path.iterdir()] == ["annotations.json"]


def test_urls_as_data_need_permission(server: S3Server, options: dict[str, Any]) -> None:
    url = server.put("data", b"content")
    document = documents.document("io.file.read", {"storage_options": options})
    fed = {"paths": [np.frombuffer(url.encode(), np.uint8)]}
    server.requests.clear()
    pipeline = Pipeline.deserialize(document)
    with pytest.raises(SampleError, match="allow_remote=True"):
        pipeline.run(**fed)
    assert server.requests == []
    pipeline.close()
    pipeline = Pipeline.deserialize(document, allow_remote=True)
    assert pipeline.run(**fed)[0].at(0).tobytes() == b"content"
    pipeline.close()


OWN_KEYS = {"access_key_id": "a", "secret_access_key": "b"}


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("s3://bucket/a", {}),
        ("s3://bucket/a", {"region": "us-east-1", "skip_signature": True, "timeout": 3.0}),
        ("s3://bucket/a", {"endpoint": "http://127.0.0.1:9000", **OWN_KEYS}),
        ("S3A://bucket.with-dots/a", {"endpoint": "https://[::1]/", "skip_signature": "true"}),
        ("gs://bucket/a", {"skip_signature": True}),
        ("az://container/a", {"account_name": "account1"}),
        ("abfss://container@account1.dfs.core.windows.net/a", {}),
        ("https://host:8000/a", {"client_options": {"http1_only": True}, "max_retries": 0}),
        ("memory://a/b", {"max_in_flight": 3}),
    ],
)
def test_places_that_documents_may_use(url: str, options: dict[str, Any]) -> None:
    check_arguments(Access.REMOTE, {"paths": [url], "storage_options": options})
    parsed = StorageOptions.from_argument(options)
    check_place(Access.REMOTE, split_url(url), parsed)
    with pytest.raises(ArgumentValueError, match="this machine only"):
        check_place(Access.LOCAL, split_url(url), parsed)


@pytest.mark.parametrize(
    ("url", "options", "said"),
    [
        ("reference://a/b", {}, "must be buckets and servers of the schemes"),
        ("local:///a/b", {}, "must name a bucket|must be buckets"),
        ("gcs://a/b", {}, "must be buckets"),
        ("s3://bucket?endpoint=http:/a", {}, "must be buckets"),
        ("https://host#/a", {}, "without"),
        ("https://host:port/a", {}, "must be buckets"),
        ("memory://a::b/c", {}, "must be buckets"),
        ("memory://a/b", {"fo": "x"}, "'fo' must not come from a document"),
        ("https://host/a", {"region": "x"}, "'region' must not come from a document"),
        ("https://host/a", {"client_options": {"proxy_url": "http://a"}}, "'proxy_url' must not"),
        ("https://host/a", {"client_options": "x"}, "client_options must be a valid value"),
        ("s3://bucket/a", {"endpoint": "http://a"}, "endpoint must come with access_key_id"),
        ("s3://bucket/a", {"endpoint": "http://a", "access_key_id": "a"}, "endpoint must come"),
        ("s3://bucket/a", {"endpoint": "file:///a", **OWN_KEYS}, "endpoint must be a valid value"),
        ("s3://bucket/a", {"endpoint": "http://a/\n", **OWN_KEYS}, "endpoint must be a valid"),
        ("s3://bucket/a", {"region": "evil.com/"}, "region must be a valid value"),
        ("s3://bucket/a", {"AWS_ENDPOINT": "http://a"}, "'AWS_ENDPOINT' must not"),
        ("s3://bucket/a", {"web_identity_token_file": "/a"}, "'web_identity_token_file' must not"),
        ("gs://bucket/a", {"service_account": "/key"}, "'service_account' must not"),
        ("gs://bucket/a", {"base_url": "http://a"}, "'base_url' must not"),
        ("az://container/a", {"account_name": "evil.com/#"}, "account_name must be a valid"),
        ("az://container/a", {"endpoint": "http://a"}, "endpoint"),
        ("s3://bucket/a", {"max_in_flight": 0}, "max_in_flight must be"),
    ],
)
def test_places_that_documents_may_not_use(url: str, options: dict[str, Any], said: str) -> None:
    def check() -> None:
        check_place(Access.REMOTE, split_url(url), StorageOptions.from_argument(options))

    with pytest.raises(ArgumentValueError, match=said):
        check()
    with pytest.raises(ArgumentValueError):
        check_arguments(Access.REMOTE, {"paths": [url], "storage_options": options})


def test_messages_keep_secrets() -> None:
    with pytest.raises(ArgumentValueError) as caught:
        check_arguments(Access.REMOTE, {"storage_options": {"secret_access_key": "\x7fsecret"}})
    assert "secret_access_key must be a valid value" in str(caught.value)
    assert "\x7fsecret" not in str(caught.value)


@pytest.mark.parametrize("form", [" http://{host}/a", "http:/{host}/a", "\thttp://{host}/a"])
def test_other_libraries_open_no_urls(form: str, canaries: documents.Canaries) -> None:
    pytest.importorskip("astropy", reason="not available: Astropy")
    pytest.importorskip("pyarrow", reason="not available: pyarrow")
    name = form.format(host=canaries.host)
    with Pipeline(1, 1, None) as pipeline:
        pipeline.set_outputs(fn.experimental.readers.fits(files=[name]))
    with pytest.raises(SampleError, match="No such file"):
        pipeline.run()
    with Pipeline(1, 1, None) as tables:
        tables.set_outputs(*fn.readers.parquet(paths=[name], columns=["a", "b"]))
    with pytest.raises(ArgumentValueError):
        tables.build()
    assert canaries.connections == 0
    pipeline.close()
