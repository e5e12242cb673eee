"""The example for several devices: a training goes on after a crash, on other devices as well."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

from examples.photos import generate
from tests.adapters.dali_core_jax.processes import run_job

pytest.importorskip("flax", reason="Flax is not installed")

PROGRAM = Path(__file__).parents[2] / "examples" / "flax_multi_device.py"
EPOCH = re.compile(r"^epoch (\d+): loss (.*) in (\d+) batches$", re.MULTILINE)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("photos")
    return generate(folder / "data", ["dunes", "marbles"], per_class=25, seed=1)


def arguments(data: Path, work: Path, devices: int, *others: str) -> list[str]:
    shared = ["--epochs", "2", "--batch-size", "16", "--simulated-devices", str(devices)]
    return [str(PROGRAM), "--data", str(data), "--work", str(work), *shared, *others]


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=False, timeout=300
    )


def test_a_training_goes_on_with_other_processes_and_devices(data: Path, tmp_path: Path) -> None:
    # 40 photos make 3 batches.
    first, second = run_job(arguments(data, tmp_path / "whole", 2), 2)
    assert "4 devices, from batch 0\n" in first
    assert [(number, batches) for number, _, batches in EPOCH.findall(first)] == [
        ("1", "3"),
        ("2", "3"),
    ]
    assert EPOCH.findall(second) == []

    broken = run(*arguments(data, tmp_path / "broken", 8, "--stop-after", "4"))
    assert broken.returncode == 1
    assert broken.stderr.endswith("stopped after 4 batches\n")
    resumed = run(*arguments(data, tmp_path / "broken", 1))
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stdout.startswith("1 devices, from batch 4\nepoch 2: ")
    assert EPOCH.findall(resumed.stdout)[0][2] == "2"

    # The same photos, so the same weights but for the order of additions.
    after_crash, after_all = (_weights(tmp_path / name) for name in ("broken", "whole"))
    assert after_crash.keys() == after_all.keys()
    for name, weights in after_all.items():
        numpy.testing.assert_allclose(after_crash[name], weights, atol=1e-3, err_msg=name)


def _weights(work: Path) -> dict[str, Any]:
    from flax import serialization, traverse_util

    content = serialization.msgpack_restore((work / "training.msgpack").read_bytes())
    state = serialization.msgpack_restore(content["model"])
    return traverse_util.flatten_dict(state["params"], sep="/")
