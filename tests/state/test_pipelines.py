"""A pipeline goes on at every step where another one was, whatever it takes its data from."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dali_core import Pipeline
from tests.state.making import KINDS, take, write_files

STEPS = 15
WAYS = (
    {"num_threads": 1, "prefetch_queue_depth": 1},
    {"num_threads": 2, "prefetch_queue_depth": 4},
    {"num_threads": 1, "exec_async": False},
    {"num_threads": 2, "exec_pipelined": False},
)
"""Ways to run, which take turns."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return write_files(tmp_path_factory.mktemp("files"))


@pytest.fixture(params=KINDS)
def make(request: pytest.FixtureRequest, files: dict[str, Any]) -> Callable[..., Pipeline]:
    kind = KINDS[request.param]
    return lambda **options: kind(files, {"num_threads": 1, "device_id": None, **options})


def record(pipeline: Pipeline) -> tuple[list[Any], list[str], list[Any]]:
    """Run a pipeline; give what it gave, its states before each step, and its bad samples."""
    given, states, bad = [], [], []
    for _ in range(STEPS):
        states.append(json.dumps(pipeline.state_dict()))
        bad.append(pipeline.bad_samples)
        given.append(take(pipeline))
    pipeline.close()
    return given, states, bad


@pytest.mark.parametrize("way", range(2))
def test_goes_on_at_every_step(way: int, make: Callable[..., Pipeline]) -> None:
    given, states, bad = record(make(**WAYS[way]))
    assert given != given[:1] * STEPS
    for step, (state, options) in enumerate(zip(states, itertools.cycle(WAYS), strict=False)):
        pipeline = make(**options)
        pipeline.load_state_dict(json.loads(state))
        assert pipeline.bad_samples == bad[step]
        assert [take(pipeline) for _ in range(STEPS - step)] == given[step:], step
        pipeline.close()
