"""Ten thousand damaged files: no crash, no leak, an error for each bad one, good ones decoded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dali_core.operators.decoders.backends import backend_arguments
from tests.fuzz.decode_damaged import PROGRESS
from tests.fuzz.small_images import all_images, damaged

COUNT = 10_000
SEED = 20_000
ROOT = Path(__file__).parents[2]


def suspects(folder: Path) -> list[str]:
    """Files in flight when a program ended: the next one to be returned, and those after it."""
    number = int.from_bytes((folder / PROGRESS).read_bytes(), "little")
    paths = [path for path in folder.iterdir() if path.name != PROGRESS]
    return [str(path) for path in paths if number <= int(path.name.split("_")[0]) < number + 4]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_damaged_images(tmp_path: Path) -> None:
    if "codec_library" not in backend_arguments():
        pytest.skip("not available: nvImageCodec")
    command = [sys.executable, "-m", "tests.fuzz.decode_damaged", str(tmp_path)]
    result = subprocess.run(
        [*command, str(COUNT), str(SEED)],
        cwd=ROOT,
        # With an arena for each thread, what is fragmented in one grows whenever threads end.
        env={**os.environ, "MALLOC_ARENA_MAX": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        pytest.fail(f"exit {result.returncode} at {suspects(tmp_path)}\n{result.stderr}")
    assert result.stderr == ""
    report = json.loads(result.stdout)
    assert report["sound"] + report["decoded"] + report["refused"] == COUNT
    assert report["sound"] >= COUNT // 10
    assert report["refused"] > COUNT // 4
    assert report["decoded"] > COUNT // 10
    grown_bytes, grown_descriptors = report["growth"]
    assert grown_bytes < 2 << 20
    assert grown_descriptors == 0


def test_damage_is_the_same_every_time_and_differs_by_seed() -> None:
    for kind, file in all_images().items():
        changed = {damaged(file, seed) for seed in range(20)}
        assert len(changed) > 10, kind
        assert changed == {damaged(file, seed) for seed in range(20)}
