"""Iterators over pipelines on devices, without any framework."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.cuda.simulated_driver import run_program
from tests.generated_images import jpeg, photo_like

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

NUM_FILES = 37


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with small images."""
    path = tmp_path_factory.mktemp("images")
    for number in range(NUM_FILES):
        image = photo_like(9 + number % 3, 10 + number % 4, seed=number)
        (path / f"{number:03}.jpg").write_bytes(jpeg(image.astype(np.uint8)))
    return str(path)


def run(program: str, folder: str = "", arguments: Sequence[object] = (), **options: object) -> str:
    return run_program(program, arguments=[folder, *arguments], **options)


@pytest.mark.parametrize("num_devices", [1, 2, 8])
def test_shards_on_devices_cover_the_epoch(folder: str, num_devices: int) -> None:
    """One pipeline per device, read in streams of the adapter: the results of the host."""
    run(
        "adapters/shards_on_devices_cover_the_epoch",
        folder,
        arguments=[num_devices],
        devices=num_devices,
        delay=0.0005,
    )


def test_streams_wait_for_batches(folder: str) -> None:
    """With slow devices: a missing wait results in wrong data; without a stream the host waits."""
    run("adapters/streams_wait_for_batches", folder, devices=2)


def test_resume_in_mid_epoch_from_checkpoint(folder: str) -> None:
    run("adapters/resume_in_mid_epoch_from_checkpoint", folder, devices=2, delay=0.0005)


@pytest.mark.parametrize("suite", ["Suite", "SuiteWithoutStreams"])
def test_adapter_contract(suite: str, tmp_path: Path) -> None:
    """The checks of `dali_core.testing`, run one by one, with batches on a device."""
    output = run("adapters/adapter_contract", str(tmp_path), arguments=[suite], delay=0.0005)
    assert int(output) >= 18
