"""Batches from actors are those of one process, whatever happens to the actors."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
import ray
from dali_core_ray import LastBatchPolicy, RayLoader

from dali_core import Pipeline, fn, pipeline_def
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    GraphError,
    PipelineStateError,
    SampleError,
    StateMismatchError,
    WorkerError,
)
from tests.adapters.dali_core_ray.conftest import add_node
from tests.adapters.dali_core_ray.pipelines import (
    NAMES,
    as_bytes,
    definition,
    epochs_of,
    in_one_process,
)
from tests.hanging import HANG_SECONDS

FEW_CPUS = {"num_cpus": 0.1}


def make_loader(files: list[str], **arguments: Any) -> RayLoader:
    options = {
        "num_actors": 1,
        "batches_per_task": 2,
        "actor_options": FEW_CPUS,
        "timeout": HANG_SECONDS,
    }
    made = arguments.pop("definition", None) or definition(files, **arguments.pop("pipeline", {}))
    return RayLoader(made, NAMES, reader_name="arrays", **{**options, **arguments})


@pytest.fixture(scope="module")
def shared(cluster: Any, files: list[str]) -> Iterator[tuple[RayLoader, dict[str, Any]]]:
    """Return a loader with two actors, whose start takes longer than most tests, and its state."""
    with make_loader(files, num_actors=2) as loader:
        yield loader, loader.state_dict()


@pytest.fixture
def loader(shared: tuple[RayLoader, dict[str, Any]]) -> RayLoader:
    """Return a loader with two actors, at its beginning."""
    shared[0].load_state_dict(shared[1])
    return shared[0]


def processes(loader: RayLoader) -> list[int]:
    """Return the process of each actor."""
    return [
        ray.get(actor.handle.__ray_call__.remote(lambda _: os.getpid())) for actor in loader._actors
    ]


@pytest.mark.parametrize("num_actors", [1, 4])
def test_two_epochs_are_those_of_one_process(
    cluster: Any, files: list[str], num_actors: int
) -> None:
    with make_loader(files, num_actors=num_actors) as loader:
        given = [[as_bytes(batch) for batch in loader] for _ in range(2)]
        assert len(loader) == 13
    assert given == epochs_of(files, 2)


def test_state_is_that_of_one_process(loader: RayLoader, files: list[str]) -> None:
    iterator = in_one_process(files)
    before = processes(loader)
    for _ in range(2):
        for batch, (expected,) in zip(loader, iterator, strict=True):
            assert as_bytes(batch) == as_bytes(expected)
            assert loader.state_dict() == iterator.state_dict()
    state = in_one_process(files).state_dict()
    next(iter(loader))
    loader.load_state_dict(state)
    assert [[as_bytes(batch) for batch in loader]] == epochs_of(files, 1)
    next(iter(loader))
    place = loader.state_dict()
    with pytest.raises(StateMismatchError, match="graph"):
        loader.load_state_dict({**state, "pipelines": [{**state["pipelines"][0], "graph": {}}]})
    assert len(list(loader)) == 12  # it has not changed
    loader.load_state_dict(place)
    assert len(list(loader)) == 12
    assert processes(loader) == before


def test_undelivered_batches_of_a_killed_actor_are_recomputed(
    loader: RayLoader, files: list[str]
) -> None:
    first, second = processes(loader)
    given = [as_bytes(next(loader)) for _ in range(3)]
    os.kill(first, signal.SIGKILL)
    given += [as_bytes(next(loader)) for _ in range(4)]
    os.kill(second, signal.SIGKILL)
    given += [as_bytes(batch) for batch in loader]
    assert [given] == epochs_of(files, 1)


def test_an_actor_may_be_killed_before_a_state_is_loaded(
    loader: RayLoader, files: list[str]
) -> None:
    given = [as_bytes(next(loader)) for _ in range(3)]
    os.kill(processes(loader)[0], signal.SIGKILL)
    loader.load_state_dict(loader.state_dict())
    given += [as_bytes(batch) for batch in loader]
    assert [given] == epochs_of(files, 1)


def test_loader_survives_node_removal(cluster: Any, files: list[str]) -> None:
    node = add_node(cluster)
    place = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node.node_id, soft=True)
    with make_loader(files, actor_options={**FEW_CPUS, "scheduling_strategy": place}) as loader:
        given = [as_bytes(next(loader)) for _ in range(3)]
        cluster.remove_node(node, allow_graceful=False)
        given += [as_bytes(batch) for batch in loader]
    assert [given] == epochs_of(files, 1)


def test_resumes_global_batches_with_another_number_of_shards(
    loader: RayLoader, files: list[str]
) -> None:
    parts, states = [], []
    for shard in range(2):
        arguments = {"num_shards": 2, "shard_id": shard, "batch_size": 2}
        with make_loader(files, pipeline=arguments) as of_shard:
            parts += next(of_shard)["index"].tolist()
            states.append(of_shard.state_dict())
    assert states[0] == states[1]
    loader.load_state_dict(states[0])
    rest = [sorted(batch["index"].tolist()) for batch in loader]
    whole = [sorted(batch["index"].tolist()) for (batch,) in in_one_process(files)]
    assert sorted(parts) == whole[0]
    assert rest == whole[1:]


def test_default_seed_is_shared_by_all_actors(cluster: Any, files: list[str]) -> None:
    with make_loader(files, pipeline={"seed": -1}, num_actors=2) as loader:
        start = loader.state_dict()
        given = [as_bytes(batch) for batch in loader]
    iterator = in_one_process(files, seed=-1)
    iterator.load_state_dict(start)
    assert given == [as_bytes(batch) for (batch,) in iterator]


def test_partial_batch_ends_an_epoch(cluster: Any, files: list[str]) -> None:
    with make_loader(files, last_batch_policy=LastBatchPolicy.PARTIAL) as loader:
        indices = np.concatenate([batch["index"] for batch in loader])
    assert sorted(indices.tolist()) == list(range(50))
    with pytest.raises(PipelineStateError, match="closed"):
        next(loader)


def test_few_batches_are_computed_ahead(loader: RayLoader) -> None:
    next(loader)
    tasks = [(task.first, task.stop) for task in loader._tasks]
    assert tasks == [(1, 2), (2, 4), (4, 6), (6, 8)]


def test_bad_sample_is_named_and_the_next_batch_follows(
    cluster: Any, files: list[str], tmp_path: Any
) -> None:
    bad = tmp_path / "bad.npy"
    bad.write_bytes(b"nothing")
    names = [*files[:7], str(bad)]
    with make_loader(names) as loader:
        errors, batches = [], 0
        for _ in range(len(loader)):
            try:
                next(loader)
                batches += 1
            except SampleError as error:
                errors.append(str(error))
    assert batches == 1
    assert len(errors) == 1
    assert "bad.npy" in errors[0]


def no_pipeline() -> Any:
    return 3


@pipeline_def(batch_size=1, num_threads=1, device_id=None)
def deadly(files: list[str]) -> Any:
    """End the process at the first sample."""
    array = fn.readers.numpy(files=files, name="arrays")
    return array, array, fn.python_function(array, function=lambda _: os._exit(1))


def test_invalid_arguments_raise(cluster: Any, files: list[str]) -> None:
    with pytest.raises(ArgumentValueError, match="num_actors must be at least 1"):
        make_loader(files, num_actors=0)
    with pytest.raises(ArgumentTypeError, match="batches_per_task must be an int"):
        make_loader(files, batches_per_task=1.5)
    with pytest.raises(ArgumentValueError, match="max_restarts must be at least 0"):
        make_loader(files, max_restarts=-1)
    with pytest.raises(ArgumentTypeError, match="actor_options must be a mapping"):
        make_loader(files, actor_options=3)
    with pytest.raises(ArgumentValueError, match="timeout must be positive"):
        make_loader(files, timeout=0)
    with pytest.raises(ArgumentTypeError, match="must return a Pipeline"):
        make_loader(files, definition=no_pipeline)
    with pytest.raises(ArgumentTypeError, match="must be a function"):
        make_loader(files, definition=7)
    with pytest.raises(GraphError, match="'no'.*'arrays'"):
        RayLoader(definition(files), NAMES, reader_name="no", actor_options=FEW_CPUS)


def test_repeatedly_dying_actors_raise(cluster: Any, files: list[str]) -> None:
    made: partial[Pipeline] = partial(deadly, files[:3])
    loader = make_loader(files, definition=made, max_restarts=1)
    with pytest.raises(WorkerError, match="2 died one after another"):
        next(loader)


def test_unschedulable_actors_raise_after_timeout(cluster: Any, files: list[str]) -> None:
    with pytest.raises(WorkerError, match="Use fewer actors"):
        make_loader(files, actor_options={"num_cpus": 100}, timeout=1.0)
