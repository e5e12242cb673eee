"""Buckets in which an object has a name that cannot be read."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from dali_core._storage import Storage, odd_names
from dali_core._storage.options import StorageOptions
from dali_core._storage.stores import ObjectInfo, open_store
from dali_core._storage.urls import split_url
from dali_core.errors import ArgumentValueError
from tests.storage.servers import S3Server
from tests.storage.test_reading import batches

ODD = ["a//2.jpg", "/3.jpg", "a/../4.jpg", "a/./5.jpg", "a/6\x01.jpg", "a/7\t.jpg", "8\x7f/9.jpg"]


def listed(server: S3Server, prefix: str) -> list[ObjectInfo]:
    store = open_store(split_url("s3://bucket"), StorageOptions.from_argument(server.options))
    return sorted(store.objects(prefix))


@pytest.mark.parametrize("odd", ODD)
def test_other_names_are_read(odd: str, server: S3Server, tmp_path: Path) -> None:
    good = {f"odd/{name}": name.encode() for name in ("a/1.jpg", "b/ü 10.jpg", "b/%41+.jpg")}
    for key, data in good.items():
        server.put(key, data)
    expected = listed(server, "odd")
    assert [one.key for one in expected] == sorted(good)
    server.put(f"odd/{odd}", b"odd")
    arguments = {"storage_options": server.options, "cache_dir": str(tmp_path)}
    try:
        with pytest.warns(UserWarning, match="these are left out") as caught:
            assert listed(server, "odd") == expected
        assert "got 1 in s3://bucket, such as" in str(caught[0].message)
        assert repr(f"odd/{odd}") in str(caught[0].message)
        with pytest.warns(UserWarning, match="these are left out"):
            (found,) = batches(1, batch_size=3, file_root="s3://bucket/odd", **arguments)
        assert [data for _, data, _ in found] == [good[key] for key in sorted(good, key=str.encode)]
    finally:
        server.delete(f"odd/{odd}")


def test_error_names_the_object(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.put("refused/a/1.jpg", b"1")
    server.put("refused/a/\x1b2.jpg", b"2")
    monkeypatch.setattr(odd_names.importlib.util, "find_spec", lambda name: None)
    storage = Storage(StorageOptions.from_argument(server.options))
    folder = storage.checked_path("s3://bucket/refused")
    with pytest.raises(ArgumentValueError, match="Rename or remove the object") as caught:
        storage.names_in(folder, folders=False)
    assert "refused/a/\\x1b2.jpg" in str(caught.value)
    assert "network" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    server.delete("refused/a/\x1b2.jpg")


def test_markers_of_folders_are_no_objects(server: S3Server) -> None:
    for key in ("marked/a/", "marked/a/1.jpg", "marked/a//2.jpg"):
        server.put(key, b"")
    with pytest.warns(UserWarning, match="got 1 in"):
        found = listed(server, "marked")
    assert [one.key for one in found] == ["marked/a/1.jpg"]
    server.delete("marked/a//2.jpg")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "marked/a/1.jpg" in [one.key for one in listed(server, "marked")]
