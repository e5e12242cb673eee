"""Records of ArrayRecord files, read by `fn.readers.python`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from dali_core import Pipeline, fn
from dali_core.array_record import ArrayRecordSource
from dali_core.errors import ArgumentTypeError, ArgumentValueError, MissingModuleError

RECORDS = [bytes([i]) * (100 * i) for i in range(20)]


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    module = pytest.importorskip(
        "array_record.python.array_record_module", reason="not available: array_record"
    )
    written = [tmp_path / f"{i}.array_record" for i in range(2)]
    for path, records in zip(written, (RECORDS[:13], RECORDS[13:]), strict=True):
        writer = module.ArrayRecordWriter(str(path), "group_size:1,uncompressed")
        for record in records:
            writer.write(record)
        writer.close()
    return written


def reader(paths: Any, **options: Any) -> Pipeline:
    with Pipeline(4, 2, None, seed=1, **options) as pipeline:
        source = ArrayRecordSource(paths)
        pipeline.set_outputs(fn.readers.python(source, random_shuffle=True, seed=2))
    return pipeline


def read(pipeline: Pipeline, num_batches: int = 5) -> list[bytes]:
    batches = [pipeline.run()[0] for _ in range(num_batches)]
    return [batch.at(i).tobytes() for batch in batches for i in range(4)]


def test_an_epoch_has_each_record_once_and_resumes(paths: list[Path]) -> None:
    pipeline = reader(paths)
    first = read(pipeline)
    assert sorted(first) == RECORDS
    state = pipeline.state_dict()
    second = read(pipeline)
    pipeline.close()
    assert second != first
    resumed = reader(paths)
    resumed.load_state_dict(state)
    assert read(resumed) == second
    resumed.close()


def test_damaged_records_are_bad_samples(paths: list[Path]) -> None:
    data = bytearray(paths[0].read_bytes())
    place = data.index(RECORDS[7])
    data[place : place + 8] = b"wrong..."
    paths[0].write_bytes(data)
    pipeline = reader(paths, on_sample_error="replace")
    found = read(pipeline, 6)
    (bad,) = {(sample.source, "hash mismatch" in sample.message) for sample in pipeline.bad_samples}
    pipeline.close()
    assert bad == ("index 7", True)
    assert set(found) == set(RECORDS) - {RECORDS[7]}


def test_wrong_arguments(paths: list[Path], tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "other").write_bytes(b"x" * 100)
    with pytest.raises(ArgumentValueError, match="No such file"):
        ArrayRecordSource(tmp_path / "none")
    with pytest.raises(ArgumentValueError, match="at least 64KB"):
        ArrayRecordSource([tmp_path / "other"])
    with pytest.raises(ArgumentValueError, match="at least one"):
        ArrayRecordSource([])
    with pytest.raises(ArgumentTypeError, match="paths must be"):
        ArrayRecordSource([3])  # type: ignore[list-item]
    with pytest.raises(ArgumentValueError, match="Copy the files"):
        ArrayRecordSource("s3://bucket/records")
    monkeypatch.setitem(sys.modules, "array_record.python.array_record_data_source", None)
    with pytest.raises(MissingModuleError, match="pip install array_record"):
        ArrayRecordSource(paths)
