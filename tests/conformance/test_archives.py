"""Readers of archives and files of records read what NVIDIA DALI reads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.types
from dali_core.__main__ import main
from tests.conformance.comparing import reference
from tests.operators.readers.tar_files import UNUSUAL, sample_entries, write_tar

pytestmark = pytest.mark.filterwarnings("ignore:Some samples have several files:UserWarning")


def read(library: Any, reader: str, batch_size: int = 2, **arguments: Any) -> list[Any]:
    """Return description, types, sources and samples of two epochs."""
    if "dtypes" in arguments:
        arguments["dtypes"] = [getattr(library.types, name) for name in arguments["dtypes"]]
    pipeline = library.Pipeline(batch_size, 1, None)
    with pipeline:
        outputs = getattr(library.fn.readers, reader)(name="reader", **arguments)
        if isinstance(outputs, dict):
            outputs = list(outputs.values())
        outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
        pipeline.set_outputs(*outputs)
    pipeline.build()
    found: list[Any] = [pipeline.reader_meta("reader"), pipeline.epoch_size("reader")]
    for _ in range(2 * -(-found[1] // batch_size)):
        batch = pipeline.run()
        found.append([(out.dtype.name, out.layout()) for out in batch])
        found += [[np.array(out.at(i)).tolist() for i in range(len(out))] for out in batch]
    return found


def check(reader: str, **arguments: Any) -> None:
    expected = read(reference, reader, **arguments)
    assert read(dali_core, reader, **arguments) == expected


def check_both_refuse(reader: str, **arguments: Any) -> None:
    for library in (dali_core, reference):
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            read(library, reader, **arguments)


def script(name: str, *paths: Path) -> None:
    """Run a script of the reference."""
    program = Path(sys.executable).with_name(name)
    subprocess.run([program, *paths], check=True, capture_output=True)


@pytest.fixture
def archives(tmp_path: Path) -> list[str]:
    return [
        str(write_tar(tmp_path / f"{i}.tar", sample_entries(7 * i, count)))
        for i, count in enumerate((5, 3))
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"ext": "cls"},
        {"ext": ["png;cls", "jpg"]},
        {"ext": ["jpg", "jpg", "none"]},
        {"ext": ["JPG", "Cls"], "case_sensitive_extensions": False},
        {"dtypes": ["INT8", "UINT8"]},
        {"num_shards": 3, "shard_id": 1, "pad_last_batch": True},
        {"num_shards": 2, "shard_id": 1, "stick_to_shard": True, "batch_size": 3},
        {"missing_component_behavior": "error"},
        {"missing_component_behavior": "empty", "lazy_init": True, "dont_use_mmap": True},
        {"prefetch_queue_depth": 3, "read_ahead": True, "initial_fill": 7, "seed": 5},
        {"tensor_init_bytes": 10, "skip_cached_images": False},
    ],
)
def test_webdataset(arguments: dict[str, Any], archives: list[str]) -> None:
    check("webdataset", **{"paths": archives, "ext": ["jpg", "cls"], **arguments})


def test_numbers_in_archives(tmp_path: Path) -> None:
    files = [(f"{i}.{name}", bytes(range(8 * i))) for i in range(4) for name in ("a", "b")]
    path = str(write_tar(tmp_path / "a.tar", files))
    names = ["UINT16", "INT16", "UINT32", "INT32", "UINT64", "INT64", "FLOAT", "FLOAT64"]
    for pair in zip(names[::2], names[1::2], strict=True):
        check("webdataset", paths=path, ext=["a", "b"], dtypes=pair)
    check_both_refuse("webdataset", paths=path, ext=["a", "b"], dtypes=["BOOL", "INT8"])


@pytest.mark.parametrize("behavior", ["", "skip", "Empty"])
def test_unusual_archives(behavior: str, tmp_path: Path) -> None:
    # Without an index, the reference counts a sample of hidden files below the top, too.
    path = tmp_path / "a.tar"
    write_tar(path, UNUSUAL)
    for ext in (["left.jpg;jpg", "cls"], ["jpg"], ["nothing;JPG"]):
        arguments = {"paths": str(path), "ext": ext, "missing_component_behavior": behavior}
        if behavior != "skip" or ext[-1] != "cls":
            check("webdataset", **arguments)


@pytest.mark.parametrize("is_unusual", [False, True])
def test_index_files_of_archives(is_unusual: bool, tmp_path: Path) -> None:
    path = write_tar(tmp_path / "a.tar", UNUSUAL if is_unusual else sample_entries(0, 5))
    theirs = tmp_path / "theirs.idx"
    script("wds2idx", path, theirs)
    assert main(["index", "wds", str(path)]) == 0
    ours = tmp_path / "a.idx"
    assert ours.read_text() == theirs.read_text()
    for index in (ours, theirs):
        arguments = {"paths": str(path), "ext": ["left.jpg;jpg;JPG", "cls"]}
        check("webdataset", **arguments, index_paths=str(index))


@pytest.mark.parametrize(
    "arguments",
    [
        {"paths": []},
        {"ext": []},
        {"paths": "/none.tar"},
        {"index_paths": ["/none"]},
        {"index_paths": ["/none", "/none"]},
        {"dtypes": ["UINT8"]},
        {"dtypes": ["UINT8", "INT64"]},
        {"missing_component_behavior": "maybe"},
        {"missing_component_behavior": "error", "ext": ["jpg", "png"]},
        {"missing_component_behavior": "skip", "ext": ["jpg", "png"]},
        {"num_shards": 9},
    ],
)
def test_wrong_arguments_of_webdataset(arguments: dict[str, Any], archives: list[str]) -> None:
    check_both_refuse("webdataset", **{"paths": archives, "ext": ["jpg", "cls"], **arguments})
