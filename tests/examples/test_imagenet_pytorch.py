"""The sharded training program, alone and in two processes, one of which gets killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from examples.photos import generate
from tests.examples import waits_to_be_killed
from tests.hanging import HANG_SECONDS
from tests.waiting import wait_until

torch = pytest.importorskip("torch", reason="not available: PyTorch")

ROOT = Path(__file__).parents[2]
PROGRAM = ["-m", "examples.imagenet_pytorch"]
NUM_PHOTOS = 32
OPTIONS = [
    *("--epochs=3", "--batch-size=8", "--side=32"),
    *("--width=4", "--threads=1", "--save-every=3"),
]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("photos") / "data"
    return generate(folder, ["dunes", "marbles"], per_class=20, seed=1)


def start(
    num_processes: int, data: Path, work: Path, *more: str, waits_after: int | None = None
) -> subprocess.Popen[str]:
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={num_processes}"]
    waiting = [] if waits_after is None else [str(waits_to_be_killed.PROGRAM), str(waits_after)]
    program = [*waiting, *PROGRAM, f"--data={data}", f"--work={work}", f"--record={work}"]
    program += OPTIONS
    return subprocess.Popen(
        [sys.executable, *launcher, "--max-restarts=1", "--monitor-interval=0.1", *program, *more],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> list[str]:
    output, errors = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 0, errors
    return output.splitlines()


def recorded(work: Path) -> list[tuple[int, int, tuple[int, ...]]]:
    """Return (epoch, step, numbers of all processes) of every step, as executed last."""
    steps: dict[tuple[int, int], dict[str, list[int]]] = {}
    for file in sorted(work.glob("rank*.txt")):
        for line in file.read_text().splitlines():
            epoch, step, *numbers = map(int, line.split())
            steps.setdefault((epoch, step), {})[file.name] = numbers
    return [
        (*when, tuple(n for row in zip(*parts.values(), strict=True) for n in row))
        for when, parts in sorted(steps.items())
    ]


def weights(work: Path) -> dict[str, torch.Tensor]:
    state: dict[str, dict[str, torch.Tensor]] = torch.load(work / "last.pt")
    return state["model"]


def kill_rank(launcher: subprocess.Popen[str], rank: int) -> None:
    children = Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()
    for child in children:
        if f"RANK={rank}".encode() in Path(f"/proc/{child}/environ").read_bytes().split(b"\0"):
            os.kill(int(child), signal.SIGKILL)
            return
    raise AssertionError(f"no process of rank {rank} among {children}")


@pytest.fixture(scope="module")
def whole(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train in two processes, and return the work folder."""
    work = tmp_path_factory.mktemp("training") / "whole"
    lines = finish(start(2, data, work))
    assert len(lines) == 3
    assert re.fullmatch(r"epoch 3: loss \d+\.\d{3}, held out \d+\.\d % right", lines[-1])
    return work


def test_training_resumes_after_a_process_is_killed(
    data: Path, whole: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    launcher = start(2, data, broken, waits_after=5)
    record = broken / "rank1.txt"

    def is_time() -> bool:
        assert launcher.poll() is None, launcher.communicate()
        return record.exists() and len(record.read_text().splitlines()) == 5

    wait_until(is_time)
    kill_rank(launcher, 1)
    lines = finish(launcher)
    assert any(re.match(r"resumed in epoch \d after \d+ steps", line) for line in lines), lines

    assert recorded(broken) == recorded(whole)
    for name, weight in weights(whole).items():
        assert torch.equal(weight, weights(broken)[name]), name
    for epoch in range(3):
        seen = Counter(n for e, _, numbers in recorded(whole) for n in numbers if e == epoch)
        assert seen == Counter(range(NUM_PHOTOS))


def test_global_batches_do_not_depend_on_the_number_of_processes(
    data: Path, whole: Path, tmp_path: Path
) -> None:
    one = tmp_path / "one"
    finish(start(1, data, one, "--epochs=1"))
    assert recorded(one) == [step for step in recorded(whole) if step[0] == 0]


def test_invalid_batch_size(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, *PROGRAM, "--batch-size=3"],
        cwd=ROOT,
        env={**os.environ, "WORLD_SIZE": "2"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "--batch-size: must be a positive multiple of the 2 processes (got 3)" in done.stderr
