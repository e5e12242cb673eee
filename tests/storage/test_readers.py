"""Every reader that takes URLs gives what it gives for files, in the same order."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import SampleError
from tests.operators.readers.record_files import images, write_recordio
from tests.operators.readers.tar_files import sample_entries, write_tar
from tests.operators.suite import Example, function_of
from tests.storage.servers import Fault, S3Server

MODULES = {
    "readers.file": (),
    "readers.webdataset": (),
    "readers.tfrecord": (),
    "readers.mxnet": (),
    "readers.numpy": (),
    "readers.coco": (),
    "readers.sequence": (),
    "readers.nemo_asr": ("soundfile",),
    "experimental.readers.fits": ("astropy",),
}


def _cases() -> Iterator[Any]:
    for operator, needed in MODULES.items():
        folder, _, name = operator.rpartition(".")
        missing = [module for module in needed if importlib.util.find_spec(module) is None]
        if missing:
            skip = pytest.mark.skip(reason=f"not available: {missing[0]}")
            yield pytest.param(operator, None, marks=skip)
            continue
        module = importlib.import_module(f"tests.operators.{folder}.test_{name}")
        for example in module.EXAMPLES:
            yield pytest.param(operator, example, id=f"{operator} {example.name}")


def outputs(operator: str, num_samples: int = 12, **arguments: Any) -> list[list[np.ndarray]]:
    with Pipeline(4, 2, None) as pipeline:
        found = function_of(operator)(**arguments)
        if isinstance(found, dict):
            found = list(found.values())
        pipeline.set_outputs(*(found if isinstance(found, (list, tuple)) else [found]))
    batches = [pipeline.run() for _ in range(num_samples // 4)]
    samples = [[np.array(out.at(i)) for out in batch] for batch in batches for i in range(4)]
    pipeline.close()
    return samples


def moved(value: Any, folder: str, url: str) -> Any:
    """Return arguments with URLs in the place of paths."""
    if isinstance(value, dict):
        return {name: moved(entry, folder, url) for name, entry in value.items()}
    if isinstance(value, list):
        return [moved(entry, folder, url) for entry in value]
    return value.replace(folder, url) if isinstance(value, str) else value


@pytest.mark.parametrize(("operator", "example"), list(_cases()))
def test_samples_are_those_of_files(
    server: S3Server, tmp_path: Path, operator: str, example: Example
) -> None:
    assert callable(example.arguments)
    arguments = example.arguments(tmp_path)
    expected = outputs(operator, **arguments)
    url = f"s3://bucket/{operator} {example.name}"
    for path in sorted(tmp_path.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            if path.suffix in (".json", ".txt"):
                data = data.replace(str(tmp_path).encode(), url.encode())
            server.put(f"{url[12:]}/{path.relative_to(tmp_path).as_posix()}", data)
    found = outputs(
        operator, **moved(arguments, str(tmp_path), url), storage_options=server.options
    )
    assert len(found) == len(expected) == 12
    for here, there in zip(expected, found, strict=True):
        for one, other in zip(here, there, strict=True):
            np.testing.assert_array_equal(one, other, strict=True)


def test_archives_are_read_by_ranges(server: S3Server, tmp_path: Path) -> None:
    path = write_tar(tmp_path / "a.tar", sample_entries(0, 8))
    url = server.put("ranges/a.tar", path.read_bytes())
    arguments = {"paths": [url], "ext": ["jpg;png", "cls"], "storage_options": server.options}
    expected = outputs("readers.webdataset", 8, paths=[str(path)], ext=["jpg;png", "cls"])
    for num_walks in (1, 0):  # the index is kept
        server.requests.clear()
        found = outputs("readers.webdataset", 8, **arguments)
        assert [[one.tobytes() for one in sample] for sample in found] == [
            [one.tobytes() for one in sample] for sample in expected
        ]
        # Neighbours come together after the first; the next epoch may have begun.
        assert server.count("ranges/a.tar", "HEAD") == 1
        assert 2 + num_walks <= server.count("ranges/a.tar") <= 5 + num_walks
    # An archive that has changed has another index.
    changed = write_tar(tmp_path / "b.tar", sample_entries(50, 8)).read_bytes()
    server.put("ranges/a.tar", changed)
    local = outputs("readers.webdataset", 8, paths=[str(tmp_path / "b.tar")], ext=["png", "cls"])
    again = outputs("readers.webdataset", 8, **{**arguments, "ext": ["png", "cls"]})
    for here, there in zip(local, again, strict=True):
        np.testing.assert_array_equal(here[1], there[1])


def test_record_of_an_archive_that_was_cut(server: S3Server, tmp_path: Path) -> None:
    path = write_recordio(tmp_path / "a.rec", images(0, 9))
    index = server.put("cut/a.idx", path.with_suffix(".idx").read_bytes())
    data = path.read_bytes()
    url = server.put("cut/a.rec", data[: len(data) - 12])
    arguments = {"path": [url], "index_path": [index], "storage_options": server.options}
    with pytest.raises(SampleError, match=r"s3://bucket/cut/a.rec at index"):
        outputs("readers.mxnet", 12, **arguments)


def test_failure_in_an_archive_names_it(server: S3Server, tmp_path: Path) -> None:
    path = write_tar(tmp_path / "a.tar", sample_entries(0, 4))
    url = server.put("failing/a.tar", path.read_bytes())
    arguments = {"paths": [url], "ext": ["cls"], "storage_options": server.options}
    with Pipeline(4, 2, None, prefetch_queue_depth=1) as pipeline:
        pipeline.set_outputs(fn.readers.webdataset(**arguments))
    pipeline.build()
    server.faults["failing/a.tar"] = Fault(status=503)
    with pytest.raises(SampleError, match=r"'s3://bucket/failing/a.tar'.*503"):
        pipeline.run()
    server.faults.clear()
    assert len(pipeline.run()[0]) == 4
    pipeline.close()
