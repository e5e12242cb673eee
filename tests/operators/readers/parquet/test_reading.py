"""`fn.readers.parquet`: files, orders, memory, bad samples and states."""

from __future__ import annotations

import itertools
import json
import threading
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

pytest.importorskip("pyarrow", reason="not available: pyarrow")
pytest.importorskip("fsspec", reason="not available: fsspec")

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq

from dali_core import samplers
from dali_core._readers.block_cache import Block, BlockCache
from dali_core._readers.formats.parquet import RowGroups
from dali_core._readers.read_ahead import ReadingAhead
from dali_core._storage import Storage
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    SampleError,
    StateMismatchError,
)
from tests.hanging import HANG_SECONDS
from tests.operators.readers.parquet.tables import make, numbered, numbers, write


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Return three files with 14 rows in 6 row groups; one is empty."""
    return [
        write(tmp_path / "a.parquet", numbered(7), 3),
        write(tmp_path / "b.parquet", numbered(0), 3),
        write(tmp_path / "c.parquet", numbered(7, 7), 3),
    ]


@pytest.fixture
def reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the row groups of files of this test that are read from now on.

    Threads of other tests may still read theirs ahead.
    """
    found: list[int] = []
    read = RowGroups.read_block

    def noting(self: RowGroups, block: int) -> Any:
        if str(tmp_path) in self.block_name(block):
            found.append(block)
        return read(self, block)

    monkeypatch.setattr(RowGroups, "read_block", noting)
    return found


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 6), min_size=1, max_size=4).filter(any),
    row_group_size=st.integers(1, 4),
    order=st.sampled_from(["files", "rows", "row groups"]),
    shards=st.integers(1, 3),
    interleaved=st.booleans(),
    max_cached_bytes=st.sampled_from([1, 100, 1 << 20]),
)
def test_all_rows_come_once(
    tmp_path_factory: pytest.TempPathFactory,
    sizes: list[int],
    row_group_size: int,
    order: str,
    shards: int,
    interleaved: bool,
    max_cached_bytes: int,
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    starts = list(itertools.accumulate(sizes, initial=0))
    paths = [
        write(folder / f"{i}.parquet", numbered(size, starts[i]), row_group_size)
        for i, size in enumerate(sizes)
    ]
    total = sum(sizes)
    arguments: dict[str, Any] = {
        "files": {},
        "rows": {"random_shuffle": True},
        "row groups": {"sampler": samplers.Blocks(2)},
    }[order]
    # Shards of one sample a batch have the same number of batches only if they are padded.
    found = [
        numbers(
            1,
            -(-total // shards),
            paths=paths,
            num_shards=shards,
            shard_id=shard,
            interleaved_shards=interleaved,
            pad_last_batch=True,
            max_cached_bytes=max_cached_bytes,
            **arguments,
        )
        for shard in range(shards)
    ]
    assert set(itertools.chain(*found)) == set(range(total))
    assert sum(map(len, found)) == -(-total // shards) * shards
    if order == "files" and shards == 1:
        assert found[0] == list(range(total))


def test_blocks_read_each_row_group_once(files: list[str], reads: list[int]) -> None:
    epoch = numbers(
        2, 7, paths=files, sampler=samplers.Blocks(2), options={"prefetch_queue_depth": 1}
    )
    assert sorted(epoch) == list(range(14))
    assert sorted(reads) == list(range(6))


def test_row_groups_are_read_ahead(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, begun, gate = RowGroups.read_block, threading.Event(), threading.Event()
    readers: dict[int, str] = {}

    def noting(self: RowGroups, block: int) -> Any:
        # Threads of other tests may still read theirs ahead.
        if str(tmp_path) in self.block_name(block):
            readers[block] = threading.current_thread().name
            if block == 1:
                begun.set()
                assert gate.wait(HANG_SECONDS)
        return read(self, block)

    monkeypatch.setattr(RowGroups, "read_block", noting)
    options = {"prefetch_queue_depth": 1}
    pipeline = make(3, options, paths=files, columns=["number"], pad_last_batch=True)
    assert pipeline.run()[0].as_array().tolist() == [0, 1, 2]
    assert begun.wait(HANG_SECONDS)  # nobody has asked for the next batch yet
    gate.set()
    for first in (3, 6, 9):
        assert pipeline.run()[0].as_array().tolist() == list(range(first, first + 3))
    assert readers[1] == "dali_core blocks" != readers[0]
    pipeline.close()


def test_a_plan_is_replaced() -> None:
    begun, gate, reads = threading.Event(), threading.Event(), []

    def read(number: int) -> int:
        reads.append(number)
        if number == 0:
            begun.set()
            assert gate.wait(HANG_SECONDS)
        if number == 9:
            raise ValueError("nine")
        return number

    ahead = ReadingAhead(read)
    ahead.plan([0, 1, 2])
    assert begun.wait(HANG_SECONDS)
    ahead.plan([0, 9])
    gate.set()
    assert ahead.take(0) == 0
    with pytest.raises(ValueError, match="nine"):
        ahead.take(9)
    assert reads == [0, 9]
    assert ahead.take(1) == 1
    assert reads == [0, 9, 1]


def test_the_reading_thread_may_collect_the_reader() -> None:
    """Garbage is collected anywhere, also where the thread holds its lock."""
    begun, gate = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def read(number: int) -> int:
        threads.append(threading.current_thread())
        begun.set()
        assert gate.wait(HANG_SECONDS)
        return number

    readers = [ReadingAhead(read)]
    readers[0].plan([0, 1])
    assert begun.wait(HANG_SECONDS)
    (thread,) = threads
    work = readers[0]._work

    def collect() -> None:
        with work._lock:
            readers.clear()

    collecting = threading.Thread(target=collect, daemon=True)
    collecting.start()
    collecting.join(HANG_SECONDS)
    assert not collecting.is_alive()
    gate.set()
    thread.join(HANG_SECONDS)
    assert not thread.is_alive()
    assert [*work._results] == [0]  # nobody wants the other


def test_few_of_many_tiny_rows_are_looked_at() -> None:
    source = MagicMock(RowGroups, blocks=[1000] * 10_000)
    source.read_block.return_value = Block(lambda places: [()] * len(places), 1000)
    asked: list[int] = []

    def upcoming(count: int) -> NDArray[np.int64]:
        asked.append(count)
        return np.empty(0, np.int64)

    cache = BlockCache(source, 1 << 30)
    cache.expect(upcoming)
    cache.fetch_many([0, 1])
    assert len(asked) == 1
    assert 1000 < asked[0] < 100_000


def test_memory_is_bounded(files: list[str], reads: list[int]) -> None:
    options = {"prefetch_queue_depth": 1}
    order = [0, 3, 1, 4, 2, 5]
    numbers(1, 6, paths=files, sampler=order, options=options)
    assert reads == [0, 1]
    reads.clear()
    numbers(1, 6, paths=files, sampler=order, options=options, max_cached_bytes=1)
    assert reads == [0, 1] * 3


def test_only_the_columns_that_are_asked_for_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    noise = np.random.default_rng(0).bytes(200_000)
    table = pa.table({"number": [0, 1, 2], "large": [noise] * 3})
    write(path, table)
    fsspec.filesystem("memory").pipe("columns/a.parquet", path.read_bytes())
    requested: list[int] = []
    read = Storage.read

    def noting(self: Storage, url: str, offset: int = 0, size: int = -1) -> Any:
        requested.append(size)
        return read(self, url, offset, size)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Storage, "read", noting)
        assert numbers(3, paths=["memory://columns/a.parquet"]) == [0, 1, 2]
    # Footers are read by their ends, which may be more than the whole of a small file.
    assert requested[-1] < 1000


def test_objects_are_cached_on_disk(tmp_path: Path) -> None:
    path = Path(write(tmp_path / "a.parquet", numbered(9)))
    memory = fsspec.filesystem("memory")
    memory.pipe("cached/a.parquet", path.read_bytes())
    url = "memory://cached/a.parquet"
    cache = str(tmp_path / "cache")
    assert numbers(9, paths=[url], cache_dir=cache) == list(range(9))
    assert [entry for entry in (tmp_path / "cache").rglob("*") if entry.is_file()]
    with pytest.raises(ArgumentValueError, match=r"'memory://cached/b.parquet': there is no such"):
        numbers(1, paths=["memory://cached/b.parquet"])


def damage(path: str, row_group: int) -> None:
    """Change the last byte of the column of numbers."""
    column = pq.read_metadata(path).row_group(row_group).column(0)
    data = bytearray(Path(path).read_bytes())
    data[column.data_page_offset + column.total_compressed_size - 1] ^= 255
    Path(path).write_bytes(data)


def test_damaged_row_groups_are_bad_samples(files: list[str], reads: list[int]) -> None:
    damage(files[0], 1)
    pipeline = make(
        7,
        {"on_sample_error": "replace", "max_bad_samples": 1.0, "prefetch_queue_depth": 1},
        paths=files,
        columns=["number"],
    )
    assert pipeline.run()[0].as_array().tolist() == [0, 1, 2, 6, 6, 6, 6]
    assert [bad.source for bad in pipeline.bad_samples] == ["index 3", "index 4", "index 5"]
    assert all("row group 1" in bad.message for bad in pipeline.bad_samples)
    assert reads == [0, 1, 2]  # the damaged one is not tried once for each row
    pipeline.close()
    with pytest.raises(
        SampleError, match=r"a\.parquet', row group 1: the row group must be readable"
    ):
        numbers(7, paths=files)


def test_nulls_are_bad_samples(tmp_path: Path) -> None:
    table = pa.table({"number": pa.array([0, None, 2, 3], pa.int8())})
    path = write(tmp_path / "a.parquet", table, 2)
    pipeline = make(4, {"on_sample_error": "replace"}, paths=[path], columns=["number"])
    assert pipeline.run()[0].as_array().tolist() == [0, 2, 2, 3]
    (bad,) = pipeline.bad_samples
    assert "column 'number' must have a value in each row (got null in row 1)" in bad.message
    pipeline.close()


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_damaged_files_are_typed_errors(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "a.parquet"
    write(path, numbered(7))
    content = bytearray(path.read_bytes())
    kind = data.draw(st.sampled_from(["cut", "empty", "text", "end"]))
    if kind == "cut":
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    elif kind == "empty":
        content.clear()
    elif kind == "text":
        content[:] = b"this is not a file in Parquet"
    else:
        content[-1] ^= 255
    path.write_bytes(content)
    with pytest.raises(ArgumentValueError, match=r"paths must be files in Parquet .*a\.parquet"):
        numbers(1, paths=[str(path)])


def test_a_file_that_vanishes_is_a_bad_sample(files: list[str]) -> None:
    pipeline = make(
        2,
        {"on_sample_error": "replace", "max_bad_samples": 1.0, "prefetch_queue_depth": 1},
        paths=files,
        columns=["number"],
        sampler=[0, 7],
        max_cached_bytes=1,
    )
    pipeline.build()
    Path(files[2]).unlink()
    assert pipeline.run()[0].as_array().tolist() == [0, 0]
    assert "c.parquet', row group 0" in pipeline.bad_samples[0].message
    pipeline.close()


@pytest.mark.parametrize("window", [1, 2, 9])
def test_resumes_at_every_step(files: list[str], window: int) -> None:
    arguments = {"paths": files, "columns": ["number", "points"], "seed": 5}
    arguments |= {"num_shards": 2, "shard_id": 1, "sampler": samplers.Blocks(window)}

    def take(pipeline: Any) -> Any:
        number, points = pipeline.run()
        return number.as_array().tolist(), [points.at(i).tolist() for i in range(2)]

    first = make(2, **arguments)
    states, batches = [], []
    for _ in range(12):
        states.append(json.dumps(first.state_dict()))
        batches.append(take(first))
    for step, state in enumerate(states[:11]):
        other = make(2, **arguments)
        other.load_state_dict(json.loads(state))
        assert [take(other) for _ in range(2)] == batches[step : step + 2]
        other.close()
    other = make(2, **{**arguments, "sampler": samplers.Blocks(window + 1)})
    if window < 6:
        with pytest.raises(StateMismatchError, match="the sampler of fn.readers.parquet"):
            other.load_state_dict(json.loads(states[3]))
    other.close()
    first.close()


def test_windows_are_of_neighbors(files: list[str]) -> None:
    epoch = numbers(14, paths=files, sampler=samplers.Blocks(1))
    blocks = [number // 7 * 3 + number % 7 // 3 for number in epoch]
    assert [block for block, _ in itertools.groupby(blocks)] != sorted(set(blocks))
    assert len(list(itertools.groupby(blocks))) == 6
    assert epoch != numbers(14, paths=files, sampler=samplers.Blocks(1), seed=1)


def test_files_must_agree(tmp_path: Path) -> None:
    first = write(tmp_path / "a.parquet", pa.table({"x": pa.array([1], pa.int8())}))
    other = write(tmp_path / "b.parquet", pa.table({"x": pa.array([1], pa.int16())}))
    with pytest.raises(ArgumentTypeError, match=r"int16 in '.*b\.parquet', and int8 in '.*a\.p"):
        numbers(1, paths=[first, other], columns=["x"])
    lacking = write(tmp_path / "c.parquet", pa.table({"y": [1]}))
    with pytest.raises(
        ArgumentValueError, match=r"those of '.*c\.parquet' \(got 'x'; there are 'y'"
    ):
        numbers(1, paths=[first, lacking], columns=["x"])
    empty = write(tmp_path / "d.parquet", pa.table({"x": pa.array([], pa.int8())}))
    with pytest.raises(ArgumentValueError, match="at least one row"):
        numbers(1, paths=[empty], columns=["x"])
    with pytest.raises(ArgumentValueError, match=r"got '.*e\.parquet'"):
        numbers(1, paths=[str(tmp_path / "e.parquet")], columns=["x"])
