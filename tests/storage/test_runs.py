"""Neighbouring records of an archive come with one request where they are read in their order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, samplers
from tests.operators.readers.tar_files import write_tar
from tests.storage.servers import S3Server

NUM_SAMPLES = 240
NUM_BYTES = 30_000  # of a sample, so that the archive has several runs


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    generator = np.random.default_rng(5)
    entries = [(f"{i:03}.bin", generator.bytes(NUM_BYTES + i)) for i in range(NUM_SAMPLES)]
    return write_tar(tmp_path_factory.mktemp("archive") / "a.tar", entries)


def epoch(path: str, **reader: Any) -> list[tuple[int, bytes]]:
    """Return size and beginning of all samples of an epoch."""
    with Pipeline(20, 2, None, prefetch_queue_depth=1) as pipeline:
        pipeline.set_outputs(fn.readers.webdataset(paths=[path], ext=["bin"], seed=3, **reader))
    batches = [pipeline.run()[0] for _ in range(NUM_SAMPLES // 20)]
    pipeline.close()
    return [(len(data := batch.at(i)), data[:16].tobytes()) for batch in batches for i in range(20)]


@pytest.mark.parametrize(
    ("reader", "least", "most"),
    [
        ({}, 7, 24),
        ({"sampler": samplers.Blocks(1, [80] * 3)}, 7, 40),
        ({"random_shuffle": True}, 7, 40),
        ({"storage_options": {"max_bytes_in_flight": 1 << 20}}, 200, 280),
    ],
    ids=["in order", "blocks", "shuffled", "few bytes"],
)
def test_requests_of_a_run_are_coalesced(
    server: S3Server, archive: Path, reader: dict[str, Any], least: float, most: float
) -> None:
    url = server.put("runs/a.tar", archive.read_bytes())
    expected = epoch(str(archive), **{**reader, "storage_options": None})
    options = {**server.options, **reader.get("storage_options", {})}
    epoch(url, **{**reader, "storage_options": options})  # walks through the archive once
    server.requests.clear()
    assert epoch(url, **{**reader, "storage_options": options}) == expected
    assert least <= server.count("runs/a.tar") <= most


def test_runs_that_fail_leave_their_samples(server: S3Server, archive: Path) -> None:
    """What a request for many samples cannot give is read for each by itself."""
    data = archive.read_bytes()
    url = server.put("runs/cut.tar", data)
    reader = {"paths": [url], "ext": ["bin"], "storage_options": server.options}
    with Pipeline(NUM_SAMPLES, 2, None, prefetch_queue_depth=1, on_sample_error="replace") as one:
        one.set_outputs(fn.readers.webdataset(**reader))
    one.build()
    server.put("runs/cut.tar", data[: len(data) - 100_000])
    found = one.run()[0]
    bad = [sample.source for sample in one.bad_samples]
    one.close()
    assert [len(found.at(i)) for i in range(200)] == [NUM_BYTES + i for i in range(200)]
    assert bad
    assert all(".bin" in source for source in bad)
