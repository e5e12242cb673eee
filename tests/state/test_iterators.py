"""An iterator resumes at every step of another one, however it counts epochs."""

from __future__ import annotations

import contextlib
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, reject, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from dali_core import Pipeline, fn
from dali_core.errors import ArgumentConflictError, PipelineStateError, SampleError
from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy
from tests.state.listing import ListAdapter
from tests.state.making import KINDS, reading, replacing, write_files

# Partial batches without padding are allowed, too.
pytestmark = pytest.mark.filterwarnings(
    "ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning"
)

LENGTH = 26
"""Steps of the uninterrupted run."""

ONE_PIPELINE = sorted(set(KINDS) - {"generator", "iter_setup"})

READERS = st.fixed_dictionaries(
    {
        "num_pipelines": st.integers(1, 3),
        "kind": st.sampled_from(["good", "raise", "replace"]),
        "random_shuffle": st.booleans(),
        "pad_last_batch": st.booleans(),
        "sharding": st.sampled_from(
            ["rotating", "stick_to_shard", "interleaved_shards", "shuffle_after_epoch"]
        ),
    }
)
SOURCES = st.fixed_dictionaries(
    {"kind": st.sampled_from(ONE_PIPELINE), "size": st.sampled_from([-1, -1, 4, 7, 9, 13])}
)
COUNTING = st.fixed_dictionaries(
    {
        "last_batch_policy": st.sampled_from(LastBatchPolicy),
        "auto_reset": st.booleans(),
        "prepare_first_batch": st.booleans(),
    }
)
WAYS = st.fixed_dictionaries(
    {
        "num_threads": st.integers(1, 2),
        "prefetch_queue_depth": st.integers(1, 4),
        "exec_async": st.booleans(),
    }
)


def make(
    files: dict[str, Any],
    data: dict[str, Any],
    counting: dict[str, Any],
    way: dict[str, Any],
    checkpoints: list[bytes] | None = None,
) -> BaseIterator:
    """Make an iterator over readers' shards, or over a pipeline of one of the `KINDS`."""

    def options(number: int) -> dict[str, Any]:
        checkpoint = checkpoints[number] if checkpoints else None
        return {"device_id": None, "seed": 5, "checkpoint": checkpoint, **way}

    if "sharding" in data:
        count = data["num_pipelines"]
        reader = {
            "num_shards": count,
            "random_shuffle": data["random_shuffle"] and data["sharding"] != "shuffle_after_epoch",
            "pad_last_batch": data["pad_last_batch"],
        }
        if data["sharding"] != "rotating":
            reader[data["sharding"]] = True
        make_one = reading if data["kind"] == "good" else replacing
        error = {} if data["kind"] == "good" else {"on_sample_error": data["kind"]}
        if data["kind"] == "raise":
            error["max_bad_samples"] = None
        pipelines = [
            make_one(files, options(number) | error, shard_id=number, **reader)
            for number in range(count)
        ]
        counting = counting | {"reader_name": "reader"}
    else:
        pipelines = [KINDS[data["kind"]](files, options(0))]
        counting = counting | {"size": data["size"]}
    names = [f"output {number}" for number in range(pipelines[0].num_outputs)]
    with warnings.catch_warnings():
        # A policy has no effect on epochs of unknown size, which is what it warns of.
        warnings.simplefilter("ignore", UserWarning)
        return BaseIterator(
            pipelines, names, ListAdapter(), output_types=["list"] * len(names), **counting
        )


def step(iterator: BaseIterator) -> Any:
    """Return a batch as plain data, or "end"; the caller starts the next epoch."""
    try:
        return next(iterator)
    except StopIteration:
        return "end"
    except ArgumentConflictError:
        return "refused"  # a short batch, where samples are counted
    except SampleError as error:
        return error.message, error.epoch, error.iteration, error.sample
    except RuntimeError as error:  # of a source, with a note of the location
        return repr(error), error.__notes__[0].partition(", epoch ")[2]


def begin_epoch(iterator: BaseIterator, how: str = "reset") -> None:
    """Begin the next epoch."""
    # With DROP, it requests the batch to be dropped, which the source may not have.
    with contextlib.suppress(StopIteration):
        if how == "reset":
            iterator.reset()
        else:
            assert iter(iterator) is iterator


class SavingAndLoading(RuleBasedStateMachine):
    """Saves, loads and restarts at any time, and compares with an uninterrupted run."""

    files: dict[str, Any]

    @initialize(data=READERS | SOURCES, counting=COUNTING, way=WAYS)
    def start(self, data: dict[str, Any], counting: dict[str, Any], way: dict[str, Any]) -> None:
        self.data, self.counting = data, counting
        try:
            plain = make(self.files, data, counting, way)
        except (PipelineStateError, ArgumentConflictError):
            reject()  # there is not a single batch, or the first one is short
        self.given: list[Any] = []
        self.starts: list[int] = []
        start = 0
        for number in range(LENGTH):
            self.starts.append(start)
            epoch = plain._epoch
            self.given.append(step(plain))
            if self.given[-1] == "end" and not counting["auto_reset"]:
                begin_epoch(plain)
            if plain._epoch > epoch:
                start = number + 1
        self.iterator = make(self.files, data, counting, way)
        self.at = 0
        self.saved = [(0, self.has_ended, json.dumps(self.iterator.state_dict()))]

    @property
    def has_ended(self) -> bool:
        """Whether the next epoch has to be started."""
        is_end = self.at > 0 and self.given[self.at - 1] == "end"
        return is_end and not self.counting["auto_reset"] and not self.was_reset

    was_reset = False

    def can_go_on(self) -> bool:
        return self.at < LENGTH - 4

    @precondition(can_go_on)
    @rule(count=st.integers(1, 4), anew=st.sampled_from(["reset", "iter"]))
    def take(self, count: int, anew: str) -> None:
        for _ in range(count):
            if self.has_ended:
                begin_epoch(self.iterator, anew)
            assert step(self.iterator) == self.given[self.at], self.at
            self.at += 1
            self.was_reset = False

    @precondition(can_go_on)
    @rule()
    def save(self) -> None:
        self.saved.append((self.at, self.has_ended, json.dumps(self.iterator.state_dict())))

    @rule(number=st.integers(0, 100), way=WAYS, looped=st.booleans())
    def load(self, number: int, way: dict[str, Any], looped: bool) -> None:
        at, has_ended, state = self.saved[number % len(self.saved)]
        self.iterator = make(self.files, self.data, self.counting, way)
        if looped:
            step(self.iterator)
        self.iterator.load_state_dict(json.loads(state))
        self.at, self.was_reset = at, not has_ended

    @precondition(can_go_on)
    @rule(way=WAYS)
    def go_on_from_checkpoints(self, way: dict[str, Any]) -> None:
        checkpoints = self.iterator.checkpoints()
        self.iterator = make(self.files, self.data, self.counting, way, checkpoints)
        prepares = self.counting["auto_reset"] and self.counting["prepare_first_batch"]
        if prepares and self.given[self.at] == "end":
            self.at += 1  # the iterator has prepared the first batch of the next epoch

    @precondition(lambda self: self.can_go_on() and not self.has_ended)
    @rule()
    def restart(self) -> None:
        self.iterator.restart()
        self.at = self.starts[self.at]
        self.was_reset = True

    def teardown(self) -> None:
        for pipeline in self.iterator._pipelines if hasattr(self, "iterator") else ():
            pipeline.close()


@pytest.fixture(scope="module", autouse=True)
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    SavingAndLoading.files = write_files(tmp_path_factory.mktemp("files"))
    return SavingAndLoading.files


class TestSavingAndLoading(SavingAndLoading.TestCase):
    settings = settings(
        max_examples=100,
        stateful_step_count=12,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


PLAIN: dict[str, Any] = {"last_batch_policy": LastBatchPolicy.FILL, "auto_reset": False}


def test_loop_resumes_once_and_reset_begins_the_next_epoch(
    files: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    data = {"kind": "good", "num_pipelines": 1, "random_shuffle": True, "pad_last_batch": True}
    data["sharding"] = "rotating"
    first = make(files, data, PLAIN, {})
    next(first), next(first)
    resumed = make(files, data, PLAIN, {})
    resumed.load_state_dict(first.state_dict())
    iter(resumed)
    assert len(list(resumed)) == 2
    assert (len(list(resumed)), resumed.epoch) == (4, 1)
    resumed.load_state_dict(first.state_dict())
    resumed.reset()
    assert (len(list(resumed)), resumed.epoch) == (4, 1)
    assert not caplog.records


def test_restart_requires_the_beginning_of_the_epoch(files: dict[str, Any]) -> None:
    def iterator(batch_size: int) -> BaseIterator:
        pipeline = reading(files, {"batch_size": batch_size, "device_id": None, "num_threads": 1})
        return BaseIterator(
            pipeline, ["label", "uniform", "normal"], ListAdapter(), reader_name="reader"
        )

    before = iterator(4)
    next(before)
    resumed = iterator(2)
    resumed.load_state_dict(before.state_dict())
    with pytest.raises(PipelineStateError, match=r"iterator\.restart: .*another batch size"):
        resumed.restart()
    assert len(list(resumed)) == 4
    resumed.reset()
    rest = len(list(resumed))
    resumed.restart()
    assert len(list(resumed)) == rest


def test_lazy_readers_stay_lazy(files: dict[str, Any], tmp_path: Path) -> None:
    """An iterator that does not need the data yet does not request it."""
    with Pipeline(2, 1, None) as pipeline:
        _, labels = fn.readers.file(file_root=tmp_path / "later", lazy_init=True)
        pipeline.set_outputs(labels)
    iterator = BaseIterator(pipeline, ["label"], ListAdapter(), size=3, prepare_first_batch=False)
    (tmp_path / "later" / "class").mkdir(parents=True)
    for number in range(3):
        (tmp_path / "later" / "class" / f"{number}.jpg").write_bytes(b"x")
    state = json.dumps(iterator.state_dict())
    assert len(list(iterator)) == 2
    iterator.load_state_dict(json.loads(state))
    assert len(list(iterator)) == 2


def test_closed_pipelines_have_no_state(files: dict[str, Any]) -> None:
    pipeline = reading(files, {"device_id": None, "num_threads": 1})
    state = pipeline.state_dict()
    pipeline.close()
    with pytest.raises(PipelineStateError, match="must be open"):
        pipeline.state_dict()
    with pytest.raises(PipelineStateError, match="must be open"):
        pipeline.load_state_dict(state)
