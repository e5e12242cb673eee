"""The example for several devices: training resumes after a crash, on other devices as well."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

from examples.photos import generate
from tests.adapters.dali_core_jax.processes import kill_job, run_job
from tests.examples import waits_to_be_killed
from tests.hanging import HANG_SECONDS

pytest.importorskip("flax", reason="not available: Flax")

ROOT = Path(__file__).parents[2]
PROGRAM = ["-m", "examples.flax_multi_device"]
EPOCH = re.compile(r"^epoch (\d+): loss (.*) in (\d+) batches$", re.MULTILINE)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("photos")
    return generate(folder / "data", ["dunes", "marbles"], per_class=25, seed=1)


def arguments(data: Path, work: Path, devices: int) -> list[str]:
    shared = ["--epochs", "4", "--batch-size", "16", "--simulated-devices", str(devices)]
    return [*PROGRAM, "--data", str(data), "--work", str(work), *shared]


def test_training_resumes_after_a_process_is_killed(data: Path, tmp_path: Path) -> None:
    # 40 photos make 3 batches.
    first, second = run_job(arguments(data, tmp_path / "whole", 2), 2)
    assert "4 devices, from batch 0\n" in first
    epochs = [(number, batches) for number, _, batches in EPOCH.findall(first)]
    assert epochs == [(str(number), "3") for number in range(1, 5)]
    assert EPOCH.findall(second) == []

    broken = tmp_path / "broken"
    waiting = [str(waits_to_be_killed.PROGRAM), "2", *arguments(data, broken, 2)]
    kill_job(waiting, 2, (broken / "training.msgpack").exists)
    resumed = subprocess.run(
        [sys.executable, *arguments(data, broken, 8)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )
    assert resumed.returncode == 0, resumed.stderr
    start = re.match(r"8 devices, from batch (\d+)\n", resumed.stdout)
    assert start is not None, resumed.stdout
    done = int(start[1])
    assert done in (1, 2)
    assert sum(int(batches) for _, _, batches in EPOCH.findall(resumed.stdout)) == 12 - done

    # The same photos, so the same weights up to the order of additions.
    after_crash, after_all = _weights(broken), _weights(tmp_path / "whole")
    assert after_crash.keys() == after_all.keys()
    for name, weights in after_all.items():
        numpy.testing.assert_allclose(after_crash[name], weights, atol=1e-3, err_msg=name)


def _weights(work: Path) -> dict[str, Any]:
    from flax import serialization, traverse_util

    content = serialization.msgpack_restore((work / "training.msgpack").read_bytes())
    state = serialization.msgpack_restore(content["model"])
    return traverse_util.flatten_dict(state["params"], sep="/")
