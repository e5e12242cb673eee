"""A new format has shards, samplers, bad samples, states and URLs without code of its own."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from dali_core import Pipeline, fn, samplers
from dali_core._registry.specs import packages
from dali_core.operator_packages import OperatorPackage
from tests.operators.readers.fixed_records import SPECS

fsspec = pytest.importorskip("fsspec", reason="not available: fsspec")
packages().add("tests", OperatorPackage(SPECS))


@pytest.fixture(params=["files", "memory://"])
def paths(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """Return a file of one record, and one of nine; the bytes of a record are its index."""
    folder = f"memory:/{tmp_path}" if request.param == "memory://" else str(tmp_path)
    for name, numbers in (("a", [0]), ("b", range(1, 10))):
        with fsspec.open(f"{folder}/{name}", "wb") as file:
            file.write(b"".join(bytes([number] * 4) for number in numbers))
    return [f"{folder}/a", f"{folder}/b"]


def make(paths: list[str], options: dict[str, Any] | None = None, **arguments: Any) -> Pipeline:
    with Pipeline(5, 2, None, **(options or {})) as pipeline:
        records = fn.test.fixed_records(paths=paths, record_bytes=4, **arguments)
        pipeline.set_outputs(records)
    return pipeline


def read(pipeline: Pipeline, num_batches: int) -> list[int]:
    return [int(row[0]) for _ in range(num_batches) for row in pipeline.run()[0].as_array()]


def test_order_shards_and_documents(paths: list[str]) -> None:
    assert read(make(paths), 2) == list(range(10))
    shards = [make(paths, num_shards=2, shard_id=shard, random_shuffle=True) for shard in (0, 1)]
    assert sorted(itertools.chain(*(read(shard, 1) for shard in shards))) == list(range(10))
    document = make(paths, random_shuffle=True, seed=3).serialize()
    assert read(Pipeline.deserialize(document, allow_remote=True), 2) == read(
        make(paths, random_shuffle=True, seed=3), 2
    )


def test_samplers_use_labels_and_blocks(paths: list[str]) -> None:
    balanced = read(make(paths, sampler=samplers.ClassBalanced(length=500)), 100)
    assert 200 < balanced.count(0) < 300
    in_blocks = read(make(paths, sampler=samplers.Blocks(1)), 2)
    assert sorted(in_blocks) == list(range(10))
    assert in_blocks.index(0) in (0, 9)


def test_states_at_every_step(paths: list[str]) -> None:
    first = make(paths, random_shuffle=True)
    states, given = [], []
    for _ in range(5):
        states.append(json.dumps(first.state_dict()))
        given.append(read(first, 1))
    for step, state in enumerate(states):
        other = make(paths, random_shuffle=True)
        other.load_state_dict(json.loads(state))
        assert [read(other, 1) for _ in range(5 - step)] == given[step:]


def test_bad_samples_name_the_file(paths: list[str]) -> None:
    pipeline = make(paths, {"on_sample_error": "replace", "max_bad_samples": 1.0})
    pipeline.build()
    with fsspec.open(paths[1], "wb") as file:
        file.write(b"123")
    assert read(pipeline, 1) == [0] * 5
    assert [bad.source for bad in pipeline.bad_samples][:2] == ["index 1", "index 2"]
    assert all(f"{paths[1]!r} must have whole" in bad.message for bad in pipeline.bad_samples)
