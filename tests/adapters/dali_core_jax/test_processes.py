"""Jobs of several processes: global batches, equal numbers of them, each sample exactly once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.dali_core_jax.processes import run_job

pytest.importorskip("jax", reason="not available: JAX")

JOB = "tests.adapters.dali_core_jax.job"


def job(folder: Path, processes: int, devices: int, *options: str) -> list[dict[str, Any]]:
    outputs = run_job(
        ["-m", JOB, "--devices", str(devices), "--folder", str(folder), *options], processes
    )
    return [json.loads(output.splitlines()[-1]) for output in outputs]


@pytest.mark.parametrize(("processes", "devices"), [(2, 2), (4, 1)])
def test_shards_of_all_processes_are_the_epoch(
    tmp_path: Path, processes: int, devices: int
) -> None:
    num_samples = 21
    results = job(
        tmp_path,
        *(processes, devices),
        *("--num-samples", str(num_samples), "--batch-size", "8", "--pad", "--shuffle"),
    )
    assert len(results) == processes
    orders = []
    for epoch in range(2):
        by_process = [result["epochs"][epoch] for result in results]
        # 4 shards of 5 or 6 samples, 2 in a batch
        assert [len(batches) for batches in by_process] == [3] * processes
        seen = []
        for batches in zip(*by_process, strict=True):
            assert {tuple(batch["shape"]) for batch in batches} == {(8, 1)}
            assert {len(batch["local"]) for batch in batches} == {devices}
            valid = [
                value
                for batch in batches
                for values, mask in zip(batch["local"], batch["mask"], strict=True)
                for value, is_valid in zip(values, mask, strict=True)
                if is_valid
            ]
            # The result of all processes for their global batch.
            assert {batch["sum"] for batch in batches} == {sum(valid)}
            seen += valid
        assert sorted(seen) == list(range(num_samples))
        orders.append(seen)
    assert orders[0] != orders[1]


def test_filled_batches(tmp_path: Path) -> None:
    results = job(
        tmp_path, 2, 1, *("--num-samples", "7", "--batch-size", "4", "--policy", "FILL", "--pad")
    )
    locals_ = [[batch["local"][0] for batch in result["epochs"][0]] for result in results]
    assert locals_ == [[[0, 1], [2, 2]], [[3, 4], [5, 6]]]
    masks = [[batch["mask"][0] for batch in result["epochs"][0]] for result in results]
    assert masks == [[[True, True], [True, False]], [[True, True], [True, True]]]
