"""Data of the program: `ExternalSource`; and checkpoints of readers and generators."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dali_core.dynamic as dd
from dali_core.dynamic.checkpoint import Checkpoint, current
from dali_core.dynamic.random import RNG
from dali_core.errors import StateMismatchError


def _numbers() -> Any:
    yield from range(3)


@pytest.mark.parametrize("source", [[0, 1, 2], _numbers, range(3), (x for x in range(3))])
def test_items_come_once(source: Any) -> None:
    data = dd.ExternalSource(source)
    assert [data().item() for _ in range(3)] == [0, 1, 2]
    for _ in range(2):
        with pytest.raises(StopIteration):
            data()


@pytest.mark.parametrize("cycle", ["quiet", True])
def test_sources_that_start_over(cycle: Any) -> None:
    for source in ([0, 1, 2], _numbers):
        data = dd.ExternalSource(source, cycle=cycle)
        assert [data().item() for _ in range(7)] == [0, 1, 2, 0, 1, 2, 0]


def test_sources_that_start_over_after_the_end() -> None:
    data = dd.ExternalSource(_numbers, cycle="raise")
    for _ in range(2):
        assert [value.item() for value in data.captured()] == [0, 1, 2]


def test_callables_end_with_stop_iteration() -> None:
    data = dd.ExternalSource(iter([1]).__next__)
    assert data().item() == 1
    with pytest.raises(StopIteration):
        data()


def test_batches_of_a_source() -> None:
    items = [[[1], [2, 3]], np.zeros((2, 4)), dd.as_batch([1, 2])]
    data = dd.ExternalSource(items, dtype=dd.float32)
    shapes = [data(2).shape for _ in range(3)]
    assert shapes == [[(1,), (2,)], [(4,), (4,)], [(), ()]]
    with pytest.raises(ValueError, match="batch_size=3"):
        dd.ExternalSource([[1, 2]])(3)


def test_several_outputs() -> None:
    data = dd.ExternalSource([(1, [2.0])], num_outputs=2, dtype=[dd.int64, None])
    one, other = data()
    assert (str(one.dtype), str(other.dtype)) == ("i64", "f32")
    with pytest.raises(ValueError, match="2 parts"):
        dd.ExternalSource([(1,)], num_outputs=2)()


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"source": lambda i: i}, ValueError),
        ({"source": 3}, TypeError),
        ({"source": (x for x in [1]), "cycle": True}, TypeError),
        ({"source": lambda: 1, "cycle": "quiet"}, ValueError),
        ({"source": [1], "cycle": "loud"}, ValueError),
        ({"source": [1], "num_outputs": 2, "layout": ["A"]}, ValueError),
    ],
)
def test_wrong_sources(arguments: dict[str, Any], kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"test_sources\.py:\d+"):
        dd.ExternalSource(**arguments)


def _reader(folder: Path) -> Any:
    return dd.readers.File(file_root=str(folder), random_shuffle=True, seed=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data" / "a").mkdir(parents=True)
    for number in range(6):
        (tmp_path / "data" / "a" / f"{number}.png").write_bytes(bytes([number]))
    return tmp_path / "data"


def test_checkpoint_restores_readers_and_generators(folder: Path, tmp_path: Path) -> None:
    source, rng = _reader(folder), RNG(4)
    epoch = source.next_epoch(2)
    next(epoch)
    rng()
    checkpoint = Checkpoint()
    assert checkpoint.register(source, "reader") == "reader"
    assert checkpoint.register(rng) == "__op_1"
    assert checkpoint.register(rng) == "__op_1"
    checkpoint.collect()
    path = checkpoint.save(tmp_path / "state_{seq:03d}.json")
    assert Path(path).name == "state_000.json"
    expected = [[t[0].item() for t in data] for data, _ in epoch], rng()
    restored, other = _reader(folder), RNG(0)
    loading = Checkpoint()
    loading.load(tmp_path / "state_{seq:03d}.json")
    assert (loading.is_loaded, loading.is_complete) == (True, True)
    loading.register(restored, "reader")
    loading.register(other)
    found = [[t[0].item() for t in data] for data, _ in restored.next_epoch(2)], other()
    assert found == expected


def test_order_of_calls_of_a_checkpoint(tmp_path: Path) -> None:
    checkpoint = Checkpoint()
    with pytest.raises(RuntimeError, match="collect"):
        checkpoint.serialize()
    checkpoint.register(RNG(1), "a")
    checkpoint.collect()
    with pytest.raises(RuntimeError, match="clear"):
        checkpoint.register(RNG(2), "b")
    checkpoint.clear()
    checkpoint.register(RNG(2), "b")
    checkpoint.collect()
    assert json.loads(checkpoint.serialize())["version"] == 2
    for wrong in ("", "__op_7"):
        with pytest.raises(ValueError, match="name"):
            Checkpoint().register(RNG(1), wrong)
    with pytest.raises(TypeError, match="reader"):
        Checkpoint().register(3)
    with pytest.raises(KeyError, match="none"):
        Checkpoint().get_state("a")
    other = Checkpoint()
    other.deserialize(checkpoint.serialize())
    with pytest.raises(TypeError, match="File"):
        other.register(_reader(tmp_path), "a")
    with pytest.raises(FileNotFoundError):
        checkpoint.load(tmp_path / "none_{seq}.json")
    with pytest.raises(ValueError, match="seq"):
        checkpoint.save(tmp_path / "none.json")
    with dd.EvalContext() as context:
        assert current() is context.checkpoint


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"version": 1, "states": {}}',
        '{"version": 2, "states": {"a": 3}}',
        '{"version": 2, "states": {"a": {"state": 1, "type": "RNG"}}}',
        "[" * 100_000,
    ],
)
def test_damaged_checkpoints_are_refused(text: str) -> None:
    with pytest.raises(StateMismatchError, match="checkpoint|version|damaged"):
        Checkpoint().deserialize(text)


def test_checkpoints_are_numbered(tmp_path: Path) -> None:
    checkpoint = Checkpoint()
    checkpoint.register(RNG(1))
    checkpoint.collect()
    paths = [Path(checkpoint.save(tmp_path / "[x]{seq:02d}.json")).name for _ in range(3)]
    assert paths == ["[x]00.json", "[x]01.json", "[x]02.json"]
    assert Path(checkpoint.load(tmp_path / "[x]{seq:02d}.json")).name == "[x]02.json"
