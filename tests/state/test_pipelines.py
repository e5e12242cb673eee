"""A pipeline resumes at every step of another one, with any source of data."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dali_core import Pipeline
from dali_core.errors import PipelineStateError
from tests.state.making import KINDS, take, write_files
from tests.state.reading_formats import FORMATS

MAKERS = {**KINDS, **FORMATS}

STEPS = 15
WAYS = (
    {"num_threads": 1, "prefetch_queue_depth": 1},
    {"num_threads": 2, "prefetch_queue_depth": 4},
    {"num_threads": 1, "exec_async": False},
    {"num_threads": 2, "exec_pipelined": False},
)
"""Ways to run, which alternate."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return write_files(tmp_path_factory.mktemp("files"))


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest, files: dict[str, Any]) -> Callable[..., Pipeline]:
    kind = MAKERS[request.param]
    return lambda **options: kind(files, {"num_threads": 1, "device_id": None, **options})


def record(pipeline: Pipeline) -> tuple[list[Any], list[str], list[Any]]:
    """Run a pipeline; return its outputs, its states before each step, and its bad samples."""
    given, states, bad = [], [], []
    for _ in range(STEPS):
        states.append(json.dumps(pipeline.state_dict()))
        bad.append(pipeline.bad_samples)
        given.append(take(pipeline))
    pipeline.close()
    return given, states, bad


@pytest.mark.parametrize("way", range(2))
def test_resumes_at_every_step(way: int, make: Callable[..., Pipeline]) -> None:
    given, states, bad = record(make(**WAYS[way]))
    assert given != given[:1] * STEPS
    for step, (state, options) in enumerate(zip(states, itertools.cycle(WAYS), strict=False)):
        pipeline = make(**options)
        pipeline.load_state_dict(json.loads(state))
        assert pipeline.bad_samples == bad[step]
        assert [take(pipeline) for _ in range(STEPS - step)] == given[step:], step
        pipeline.close()


CANNOT_GO_BACK = ("generator", "iter_setup")


def test_load_state_dict_rewinds_in_place(
    make: Callable[..., Pipeline], request: pytest.FixtureRequest
) -> None:
    pipeline = make(**WAYS[1])
    state = pipeline.state_dict()
    given = [take(pipeline) for _ in range(STEPS)]
    if any(f"[{name}]" in request.node.name for name in CANNOT_GO_BACK):
        with pytest.raises(PipelineStateError, match="cannot go back|able to start over"):
            pipeline.load_state_dict(state)
        return
    pipeline.load_state_dict(state)
    assert [take(pipeline) for _ in range(5)] == given[:5]
    state = pipeline.state_dict()
    take(pipeline)
    pipeline.load_state_dict(json.loads(json.dumps(state)))
    assert [take(pipeline) for _ in range(STEPS - 5)] == given[5:]
    pipeline.close()


def test_restarts_the_epoch(make: Callable[..., Pipeline], request: pytest.FixtureRequest) -> None:
    pipeline = make(seed=9, **WAYS[1])
    if any(f"[{name}]" in request.node.name for name in CANNOT_GO_BACK):
        take(pipeline)
        with pytest.raises(PipelineStateError, match="cannot go back|able to start over"):
            pipeline.restart()
        return
    given = [take(pipeline) for _ in range(STEPS)]
    start = given.index("end") + 1 if "end" in given else 0
    state = None
    pipeline = make(seed=9, **WAYS[2])
    for step in range(STEPS):
        take(pipeline)
        if step == start:
            state = json.dumps(pipeline.state_dict())
            pipeline.restart()
            assert [take(pipeline) for _ in range(4)] == given[start : start + 4]
            break
    # It is also known after a state was loaded in mid-epoch.
    pipeline = make(seed=9, **WAYS[0])
    assert state is not None
    pipeline.load_state_dict(json.loads(state))
    pipeline.restart()
    assert [take(pipeline) for _ in range(4)] == given[start : start + 4]


def test_checkpoints_are_states(make: Callable[..., Pipeline], tmp_path: Path) -> None:
    pipeline = make(enable_checkpointing=True)
    assert not pipeline.is_restored_from_checkpoint
    take(pipeline)
    file = tmp_path / "checkpoint"
    file.write_bytes(b"old")
    checkpoint = pipeline.checkpoint(file)
    assert isinstance(checkpoint, bytes)
    assert file.read_bytes() == checkpoint
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]
    assert json.loads(checkpoint) == pipeline.state_dict()
    given = [take(pipeline) for _ in range(3)]
    for form in (checkpoint, checkpoint.decode()):
        resumed = make(enable_checkpointing=True, checkpoint=form)
        assert not resumed.is_restored_from_checkpoint
        resumed.build()
        assert resumed.is_restored_from_checkpoint
        assert [take(resumed) for _ in range(3)] == given


def test_states_are_small(make: Callable[..., Pipeline]) -> None:
    pipeline = make()
    sizes = []
    for _ in range(STEPS):
        take(pipeline)
        state = pipeline.state_dict()
        state["bad_samples"]["samples"] = []
        sizes.append(len(json.dumps(state)))
    assert max(sizes) < 1100
    assert max(sizes) - min(sizes) < 150


def test_state_dict_has_no_side_effects(make: Callable[..., Pipeline]) -> None:
    watched, plain = make(**WAYS[1]), make(**WAYS[1])
    given = []
    for _ in range(STEPS):
        watched.state_dict()
        watched.checkpoint()
        given.append(take(watched))
    # Without a seed, random numbers are those of another pipeline.
    plain.load_state_dict(make(**WAYS[1]).state_dict() | {"seed": watched.state_dict()["seed"]})
    assert given == [take(plain) for _ in range(STEPS)]
