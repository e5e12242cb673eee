"""`fn.readers.python`: samples of data sets in Python."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, types
from dali_core._readers.formats.user_data import PythonData
from dali_core._readers.protocol import DataSource, Fetcher
from dali_core._readers.user_data import UserData
from dali_core.errors import ArgumentTypeError, ArgumentValueError, DaliCoreError, SampleError
from dali_core.testing import ReaderSuite
from dali_core.testing.examples import list_of
from tests.operators.readers.lengths import declared_lengths
from tests.operators.suite import Example


class Squares:
    """A map-style data set, as PyTorch has them."""

    def __init__(self, length: int = 11, bad: tuple[int, ...] = ()) -> None:
        self.length = length
        self.bad = bad

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        if index in self.bad:
            raise LookupError(f"there is no {index}")
        return np.full((index % 3, 2), index**2, np.float32), np.int64(index)


class Fetched(Squares):
    """A data set with the methods that are ours."""

    def fetch(self, index: int) -> Any:
        return super().__getitem__(index)

    def __getitem__(self, index: int) -> Any:
        raise AssertionError("fetch is there")


class TestContract(ReaderSuite):
    """The reader keeps the contract of all readers in Python."""

    format = PythonData()
    num_samples = 11

    def write(self, folder: Path) -> dict[str, Any]:
        return {"source": Squares(), "num_outputs": 2}

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        arguments["source"].bad = (2, 10)
        return {2: "there is no 2", 10: "there is no 10"}

    def open(self, arguments: dict[str, Any]) -> tuple[DataSource, Fetcher]:
        source = UserData(arguments["source"])
        return source, source


class Batches(Squares):
    """A data set that only gives several samples at a time."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.requests: list[list[int]] = []

    def fetch_many(self, indices: list[int]) -> list[Any]:
        self.requests.append(indices)
        return [super(Batches, self).__getitem__(index) for index in indices]

    __getitem__ = None  # type: ignore[assignment]


class Single:
    """A data set whose samples are numbers."""

    def __len__(self) -> int:
        return 5

    def fetch(self, index: int) -> float:
        return index / 2


EXAMPLES = [
    Example("pairs", (), {"source": Squares(), "num_outputs": 2, "random_shuffle": True}),
    Example("single", (), {"source": Single(), "dtype": types.FLOAT64}),
    Example("batches", (), {"source": Batches(), "num_outputs": 2, "layout": ["AB"]}),
]


def make(source: Any, arguments: dict[str, Any] | None = None, **options: Any) -> Pipeline:
    given = {"num_outputs": 2, "name": "reader"} | (arguments or {})
    with Pipeline(**{"batch_size": 3, "num_threads": 2, "device_id": None} | options) as pipeline:
        pipeline.set_outputs(*fn.readers.python(source, **given))
    return pipeline


def take(pipeline: Pipeline) -> list[int]:
    """Return the indices of a batch, whose samples are checked."""
    data, labels = pipeline.run()
    found = [int(labels.at(place)) for place in range(len(labels))]
    for place, index in enumerate(found):
        np.testing.assert_array_equal(
            data.at(place), np.full((index % 3, 2), index**2, np.float32), strict=True
        )
        assert data[place].source_info() == f"index {index}"
    return found


@pytest.mark.parametrize("kind", [Squares, Fetched, Batches])
def test_all_samples_of_an_epoch_come_once(kind: type[Squares]) -> None:
    pipeline = make(kind(12), {"random_shuffle": True, "seed": 4})
    assert pipeline.epoch_size("reader") == 12
    epochs = [[index for _ in range(4) for index in take(pipeline)] for _ in range(2)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(12))] * 2
    assert epochs[0] != epochs[1]
    pipeline.close()


def test_shards_and_padding_are_those_of_all_readers() -> None:
    for shard in range(2):
        pipeline = make(
            Squares(11),
            {"num_shards": 2, "shard_id": shard, "pad_last_batch": True, "stick_to_shard": True},
        )
        found = [index for _ in range(2) for index in take(pipeline)]
        assert found == ([0, 1, 2, 3, 4, 4] if shard == 0 else [5, 6, 7, 8, 9, 10])
        assert pipeline.reader_meta("reader")["number_of_shards"] == 2
        pipeline.close()


@pytest.mark.parametrize("start_method", ["fork", "spawn", "thread"])
def test_workers_give_the_same(start_method: str) -> None:
    expected = make(Squares(), {"random_shuffle": True})
    parallel = make(
        Squares(),
        {"random_shuffle": True, "parallel": True},
        py_num_workers=2,
        py_start_method=start_method,
    )
    for _ in range(8):
        assert take(parallel) == take(expected)
    expected.close()
    parallel.close()


def test_workers_fetch_large_batches_in_parts() -> None:
    with Pipeline(600, 1, None, py_num_workers=1) as pipeline:
        pipeline.set_outputs(*fn.readers.python(Batches(700), num_outputs=2, parallel=True))
    assert [take(pipeline) for _ in range(2)] == [
        list(range(600)),
        [*range(600, 700), *range(500)],
    ]
    pipeline.close()


def test_workers_run_at_the_same_time() -> None:
    both = threading.Barrier(2)

    class Meeting(Single):
        def fetch(self, index: int) -> float:
            both.wait()
            return super().fetch(index)

    with Pipeline(2, 1, None, py_num_workers=2, py_start_method="thread") as pipeline:
        pipeline.set_outputs(fn.readers.python(Meeting(), parallel=True, pad_last_batch=True))
    assert pipeline.run()[0].as_array().tolist() == [0, 0.5]
    pipeline.close()


def test_several_samples_at_a_time() -> None:
    source = Batches(6)
    pipeline = make(source, prefetch_queue_depth=1, exec_pipelined=False)
    assert take(pipeline) + take(pipeline) == [0, 1, 2, 3, 4, 5]
    assert source.requests[:2] == [[0, 1, 2], [3, 4, 5]]
    pipeline.close()


@pytest.mark.parametrize("options", [{}, {"py_num_workers": 2}])
@pytest.mark.parametrize("kind", [Squares, Batches])
def test_resumes_at_every_step(kind: type[Squares], options: dict[str, Any]) -> None:
    arguments = {"random_shuffle": True, "parallel": bool(options)}

    def new() -> Pipeline:
        return make(
            kind(11, (3, 7)),
            arguments,
            on_sample_error="replace",
            max_bad_samples=1.0,
            **options,
        )

    first = new()
    states, given, bad = [], [], []
    for _ in range(6):
        states.append(json.dumps(first.state_dict()))
        bad.append(first.bad_samples)
        given.append(take(first))
    assert {sample.source for sample in first.bad_samples} == {"index 3", "index 7"}
    for step, state in enumerate(states):
        other = new()
        other.load_state_dict(json.loads(state))
        assert other.bad_samples == bad[step]
        assert [take(other) for _ in range(6 - step)] == given[step:], step
        other.close()
    first.close()


@pytest.mark.parametrize("options", [{}, {"py_num_workers": 2}])
def test_errors_name_the_index_and_the_line(options: dict[str, Any]) -> None:
    for kind in (Squares, Batches):
        pipeline = make(kind(9, (4,)), {"parallel": bool(options)}, **options)
        assert take(pipeline) == [0, 1, 2]
        with pytest.raises(SampleError, match="there is no 4") as caught:
            pipeline.run()
        assert caught.value.source == "index 4"
        assert ", sample 1, index 4: " in str(caught.value)
        assert caught.value.sample == 1
        assert "test_python.py" in caught.value.location
        assert isinstance(caught.value.__cause__, LookupError)
        assert take(pipeline) == [6, 7, 8]
        pipeline.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_outputs": 3}, "tuple of 3 arrays for a sample .*a tuple of 2"),
        ({"dtype": types.INT32}, "dtype DALIDataType.INT32"),
        ({"dtype": [None, np.float32]}, "dtype DALIDataType.FLOAT "),
        ({"layout": "HWC"}, "HWC"),
    ],
)
def test_samples_that_do_not_fit(arguments: dict[str, Any], message: str) -> None:
    pipeline = make(Squares(), arguments)
    with pytest.raises(SampleError, match=message):
        pipeline.run()
    pipeline.close()


class Forgetful(Batches):
    def fetch_many(self, indices: list[int]) -> list[Any]:
        return []


def test_too_few_samples() -> None:
    pipeline = make(Forgetful())
    with pytest.raises(SampleError, match=r"a sample for each index \(got 0 for one\)"):
        pipeline.run()
    pipeline.close()


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ((), ArgumentTypeError, "'source' must be given"),
        ((iter([1]),), ArgumentTypeError, "must have __len__"),
        (({},), ArgumentValueError, "at least one sample"),
        ((3,), ArgumentTypeError, "must have __len__"),
        (([1], 2), DaliCoreError, "at most source"),
        (([1], {"source": [1]}), ArgumentTypeError, "given once"),
        (([1], {"num_outputs": 0}), ArgumentValueError, "num_outputs"),
        (([1], {"num_shards": 0}), ArgumentValueError, "num_shards"),
        (([1], {"layout": ["A", "B"]}), ArgumentValueError, "at most one entry"),
        (([1], {"parallel": True, "py_num_workers": 0}), DaliCoreError, "py_num_workers"),
        (([1], {"random_shufle": True}), DaliCoreError, "random_shuffle"),
    ],
)
def test_invalid_calls(arguments: tuple[Any, ...], kind: type[Exception], message: str) -> None:
    keywords = dict(arguments[-1]) if arguments and isinstance(arguments[-1], dict) else {}
    positional = arguments[:-1] if keywords else arguments
    workers = keywords.pop("py_num_workers", 1)

    def build() -> None:
        with Pipeline(2, 1, None, py_num_workers=workers) as pipeline:
            outputs = fn.readers.python(*positional, **keywords)
            pipeline.set_outputs(*list_of(outputs))
        pipeline.build()

    with pytest.raises(kind, match=message):
        build()


def test_sequences_are_data_sets() -> None:
    with Pipeline(3, 1, None) as pipeline:
        pipeline.set_outputs(fn.readers.python([np.arange(3), np.arange(2), np.arange(1)]))
    assert [np.array(tensor).tolist() for tensor in pipeline.run()[0]] == [[0, 1, 2], [0, 1], [0]]
    pipeline.close()


def test_results_of_other_readers_are_aligned() -> None:
    with Pipeline(4, 2, None, seed=1) as pipeline:
        (first, _), (second, _) = (
            fn.readers.python(Squares(), num_outputs=2, random_shuffle=True, seed=2)
            for _ in range(2)
        )
        pipeline.set_outputs(first, second)
    for _ in range(4):
        ours, theirs = pipeline.run()
        assert [x.source_info() for x in ours] == [x.source_info() for x in theirs]
    pipeline.close()


def test_a_tuple_of_one_array_is_that_array() -> None:
    for source in ([(np.arange(3),)] * 2, [np.arange(3)] * 2):
        with Pipeline(2, 1, None) as pipeline:
            pipeline.set_outputs(fn.readers.python(source))
        assert pipeline.run()[0].as_array().tolist() == [[0, 1, 2]] * 2


class Texts(Squares):
    """A data set that knows how many tokens a sample has."""

    def __init__(self, tokens: Any) -> None:
        super().__init__(4)
        self.lengths = tokens


@pytest.mark.parametrize("tokens", [[3, 0, 7, 2], lambda: np.array([3, 0, 7, 2], np.int16)])
def test_the_reader_declares_the_lengths_of_its_data_set(tokens: Any) -> None:
    found = declared_lengths("readers.python", Texts(tokens), num_outputs=2)
    assert found is not None
    assert found.tolist() == [3, 0, 7, 2]
    kinds = np.arange(8).reshape(4, 2)
    found = declared_lengths("readers.python", Texts(kinds), num_outputs=2, random_shuffle=True)
    assert found is not None
    assert found.tolist() == kinds.tolist()


def test_lengths_are_unknown_unless_the_data_set_has_them() -> None:
    assert declared_lengths("readers.python", Squares(), num_outputs=2) is None
    assert declared_lengths("readers.python", [1, 2]) is None


def test_wrong_lengths_are_refused_only_where_they_are_asked_for() -> None:
    source = Texts([1, -2, 3, 4])
    pipeline = make(source)
    assert len(pipeline.run()) == 2
    pipeline.close()
    with pytest.raises(ArgumentValueError, match="got -2 for sample 1"):
        declared_lengths("readers.python", source, num_outputs=2)
