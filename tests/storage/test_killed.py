"""Processes that are killed while they read: the resumed run gives the remaining samples."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dali_core import Pipeline, fn, mix_readers, samplers
from tests.folders import make_folders
from tests.storage.servers import Fault, S3Server
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
NUM_BATCHES = 6


def shuffled(root: str, **options: Any) -> Any:
    return tuple(fn.readers.file(file_root=f"{root}/b", random_shuffle=True, seed=5, **options))


def mixed(root: str, **options: Any) -> Any:
    def drawn() -> Any:
        sampler = samplers.Weighted([1, 2, 3, 4], length=3)
        return tuple(fn.readers.file(file_root=f"{root}/a", sampler=sampler, seed=5, **options))

    return mix_readers(
        [drawn, lambda: shuffled(root, **options)],
        weights=[1, 2],
        length="all",
        num_shards=2,
        shard_id=1,
        interleaved_shards=True,
    )


READERS = {"shuffled": shuffled, "mixed": mixed}


def open_pipeline(kind: str, root: str, state: bytes | None = None, **options: Any) -> Pipeline:
    with Pipeline(
        4, 2, None, seed=1, enable_checkpointing=True, checkpoint=state, prefetch_queue_depth=2
    ) as pipeline:
        data, _ = READERS[kind](root, **options)
        pipeline.set_outputs(data, fn.random.uniform(range=[0.0, 1.0]))
    return pipeline


def read(pipeline: Pipeline) -> list[list[Any]]:
    """Return the contents of the samples of a batch, and their random numbers."""
    data, numbers = pipeline.run()
    return [[data.at(i).tobytes().decode(), float(numbers.at(i))] for i in range(len(data))]


_PROGRAM = """
import json, os, sys
from tests.storage.test_killed import open_pipeline, read
kind, root, options, state_path = json.loads(sys.argv[1])
state = open(state_path, "rb").read() if os.path.exists(state_path) else None
pipeline = open_pipeline(kind, root, state, **options)
for _ in sys.stdin:
    print(json.dumps(read(pipeline)), flush=True)
    with open(state_path + ".new", "wb") as file:
        file.write(pipeline.checkpoint())
    os.replace(state_path + ".new", state_path)
"""


@contextlib.contextmanager
def run(call: str, num_batches: int) -> Iterator[subprocess.Popen[str]]:
    """Run a process that reads some batches, and kill it."""
    command = [sys.executable, "-c", _PROGRAM, call]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as process:
        assert process.stdin is not None
        process.stdin.write("\n" * num_batches)
        process.stdin.flush()
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("is_cached", [False, True], ids=["uncached", "cached"])
@pytest.mark.parametrize("kind", READERS)
def test_killed_process_is_resumed(
    server: S3Server, tmp_path: Path, kind: str, is_cached: bool
) -> None:
    make_folders(tmp_path / "set" / "a", (2, 2))
    make_folders(tmp_path / "set" / "b", (9, 12))
    url = server.upload(tmp_path / "set", f"killed/{kind}/{is_cached}")
    options: dict[str, Any] = {"storage_options": {**server.options, "retry_config": {}}}
    if is_cached:
        options["cache_dir"] = str(tmp_path / "cache")
    call = json.dumps([kind, url, options, str(tmp_path / "state")])
    stuck = [f"killed/{kind}/{is_cached}/b/class_1/{number:03}.jpg" for number in range(12)]
    gate = threading.Event()
    server.faults.update({key: Fault(until=gate) for key in stuck[4:]})
    with run(call, 10 * NUM_BATCHES) as process:
        wait_until(lambda: any(key in server.waiting for key in stuck))
        process.kill()
        assert process.stdout is not None
        before = [json.loads(line) for line in process.stdout if line.endswith("\n")]
    gate.set()
    server.faults.clear()
    with run(call, NUM_BATCHES) as process:
        assert process.stdout is not None
        after = [json.loads(process.stdout.readline()) for _ in range(NUM_BATCHES)]

    pipeline = open_pipeline(kind, str(tmp_path / "set"))
    expected = [read(pipeline) for _ in range(len(before) + NUM_BATCHES)]
    pipeline.close()
    assert before == expected[: len(before)]
    # What was read after the last state comes again.
    first = expected.index(after[0])
    assert len(before) - first in (0, 1)
    assert after == expected[first : first + NUM_BATCHES]
