"""Memory of tensors: copies, pickles, many threads, and leaks."""

from __future__ import annotations

import copy
import ctypes
import gc
import pickle
import random
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

from dali_core import Pipeline, fn, types
from dali_core.tensors import TensorCPU, TensorListCPU
from tests.hanging import HANG_SECONDS
from tests.runtime.dlpack_producer import Producer

# Copies and pickles


def read_files(folder: Path, batch_size: int = 2) -> TensorListCPU:
    """Read a batch of files, whose names the samples remember."""
    for number in range(batch_size):
        (folder / "a").mkdir(exist_ok=True)
        (folder / "a" / f"{number}.jpg").write_bytes(bytes([number] * (number + 1)))
    pipeline = Pipeline(batch_size=batch_size, num_threads=1, prefetch_queue_depth=1)
    with pipeline:
        files, _ = fn.readers.file(file_root=folder)
        pipeline.set_outputs(files)
    (batch,) = pipeline.run()
    pipeline.close()
    return batch


def test_copies_share_memory_and_deep_copies_do_not() -> None:
    data = numpy.zeros((2, 3))
    for value in (TensorCPU(data, "HW"), TensorListCPU(data, "W")):
        shallow, deep = copy.copy(value), copy.deepcopy(value)
        assert shallow.layout() == deep.layout() == value.layout()
        assert shallow.data_ptr() == value.data_ptr() == data.ctypes.data
        assert deep.data_ptr() != data.ctypes.data
        shallow.set_layout(None)
        assert value.layout() != ""
        data[:] = 7
        first = deep if isinstance(deep, TensorCPU) else deep.as_tensor()
        assert not numpy.asarray(first).any()
        data[:] = 0


def test_deep_copies_of_read_only_memory_may_be_written() -> None:
    tensor = copy.deepcopy(TensorCPU(b"abc"))
    numpy.asarray(tensor)[0] = ord("x")
    assert bytes(tensor) == b"xbc"


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_pickles_keep_everything(tmp_path: Path, protocol: int) -> None:
    batch = read_files(tmp_path)
    batch.set_layout("X")
    again: TensorListCPU = pickle.loads(pickle.dumps(batch, protocol))
    assert (again.layout(), again.dtype, again.shape()) == ("X", batch.dtype, batch.shape())
    assert [sample.source_info() for sample in again] == ["a/0.jpg", "a/1.jpg"]
    assert [bytes(sample) for sample in again] == [b"\0", b"\1\1"]
    sample: TensorCPU = pickle.loads(pickle.dumps(batch[1], protocol))
    assert (sample.source_info(), sample.layout(), bytes(sample)) == ("a/1.jpg", "X", b"\1\1")
    empty = pickle.loads(pickle.dumps(TensorListCPU(numpy.zeros((0, 3), numpy.int16), "X")))
    assert (len(empty), empty.dtype, empty.ndim(), empty.layout()) == (0, types.INT16, 1, "X")


def test_large_pickles_need_no_copy_in_memory() -> None:
    data = numpy.arange(1000)
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps(TensorCPU(data), 5, buffer_callback=buffers.append)
    assert len(text) < 1000
    assert memoryview(buffers[0]).nbytes == data.nbytes


def test_source_info_is_propagated(tmp_path: Path) -> None:
    batch = read_files(tmp_path)
    expected = ["a/0.jpg", "a/1.jpg"]
    for other in (
        TensorListCPU(batch),
        TensorListCPU(list(batch)),
        TensorListCPU(list(batch), contiguous=False),
        copy.copy(batch),
        copy.deepcopy(batch),
        batch[:],
    ):
        assert [sample.source_info() for sample in other] == expected
    assert [sample.source_info() for sample in batch[::-1]] == expected[::-1]
    assert TensorListCPU.broadcast(batch[1], 2)[0].source_info() == "a/1.jpg"


@pytest.mark.parametrize("layout", ["", "X"])
def test_fed_batches_keep_layout_and_source_info(tmp_path: Path, layout: str) -> None:
    batch = read_files(tmp_path)
    batch.set_layout(layout)

    def outputs(node: Callable[[], Any], feed: bool = False) -> TensorListCPU:
        pipeline = Pipeline(batch_size=2, num_threads=1, prefetch_queue_depth=1)
        with pipeline:
            pipeline.set_outputs(node())
        if feed:
            pipeline.feed_input("fed", batch)
        (result,) = pipeline.run()
        pipeline.close()
        return result

    for result in (
        outputs(lambda: fn.external_source(name="fed"), feed=True),
        outputs(lambda: fn.external_source(lambda: batch)),
        outputs(lambda: fn.external_source(lambda: list(batch))),
        outputs(lambda: fn.external_source(lambda info: batch[info.idx_in_batch], batch=False)),
    ):
        assert result.layout() == layout
        assert [sample.source_info() for sample in result] == ["a/0.jpg", "a/1.jpg"]
        assert [bytes(sample) for sample in result] == [b"\0", b"\1\1"]


# Parts of a batch


def test_slices_share_memory() -> None:
    data = numpy.arange(10).reshape(5, 2)
    batch = TensorListCPU(data, "X")
    part = batch[1:4]
    assert (len(part), part.layout(), part.data_ptr()) == (3, "X", data[1].ctypes.data)
    assert part.as_array().tolist() == [[2, 3], [4, 5], [6, 7]]
    assert batch[::-2].as_array().tolist() == [[8, 9], [4, 5], [0, 1]]
    empty = batch[5:]
    assert (len(empty), empty.dtype, empty.layout()) == (0, types.INT64, "X")


@pytest.mark.parametrize("wrong", [1.0, "0", (0, 1), None])
def test_other_indices_raise(wrong: Any) -> None:
    batch = TensorListCPU(numpy.zeros((2, 3)))
    with pytest.raises(TypeError, match="index must be an integer"):
        batch[wrong]


def test_an_address_is_followed_by_all_samples() -> None:
    parts = [numpy.full(size, size, numpy.uint8) for size in (3, 0, 2)]
    batch = TensorListCPU(parts, contiguous=False)
    held = batch[0]
    address = batch.data_ptr()
    assert list((ctypes.c_uint8 * 5).from_address(address)) == [3, 3, 3, 2, 2]
    assert batch.as_reshaped_tensor([5]).data_ptr() == address
    assert held.data_ptr() == parts[0].ctypes.data, "what was taken before stays where it was"


def test_reshaping_affects_one_object() -> None:
    batch = TensorListCPU(numpy.zeros((2, 1, 3), numpy.float32), "HW")
    sample, whole, other = batch[0], batch.as_tensor(), TensorListCPU(batch)
    view = numpy.asarray(sample)
    sample.squeeze()
    sample.set_layout("X")
    sample.reinterpret(types.INT32)
    batch.set_layout("AB")
    batch.reinterpret(types.UINT32)
    assert (view.shape, view.dtype) == ((1, 3), numpy.float32)
    assert (whole.layout(), whole.dtype, whole.shape()) == ("NHW", types.FLOAT, [2, 1, 3])
    assert (other.layout(), other.dtype) == ("HW", types.FLOAT)
    assert (batch.layout(), batch.dtype, batch[0].shape()) == ("AB", types.UINT32, [1, 3])


def test_reset_leaves_views_alone() -> None:
    data = numpy.arange(6.0).reshape(2, 3)
    owner = weakref.ref(data)
    batch = TensorListCPU(data)
    del data
    views = [batch[0], batch.at(1), batch.as_tensor(), batch.as_array(), TensorListCPU(batch)]
    batch.reset()
    batch.reset()
    gc.collect()
    assert (len(batch), batch.dtype, batch.layout()) == (0, types.NO_TYPE, "")
    assert [numpy.asarray(view).sum() for view in views] == [3, 12, 15, 15, 15]
    del views
    gc.collect()
    assert owner() is None


def test_tensors_can_be_referred_to_weakly() -> None:
    tensor, batch = TensorCPU([1]), TensorListCPU([[1]])
    references = weakref.ref(tensor), weakref.ref(batch)
    assert (references[0]() is tensor, references[1]() is batch) == (True, True)
    del tensor, batch
    assert [reference() for reference in references] == [None, None]


# Threads and leaks

CYCLE: dict[str, Callable[[], Any]] = {
    "array": lambda: TensorCPU(numpy.zeros(100_000)),
    "capsules": lambda: TensorCPU(TensorCPU(numpy.zeros(100_000)).__dlpack__()),
    "unused capsules": lambda: TensorCPU(numpy.zeros(100_000)).__dlpack__(max_version=(1, 0)),
    "strides": lambda: TensorCPU(numpy.zeros((500, 400))[::2, ::-1]),
    "strides of others": lambda: TensorCPU(Producer(numpy.zeros((500, 400))[::2, ::-1])),
    "list": lambda: TensorListCPU([numpy.zeros(20_000) for _ in range(5)]),
    "list apart": lambda: TensorListCPU(
        [numpy.zeros(20_000) for _ in range(5)], contiguous=False
    ).as_tensor(),
    "buffers": lambda: memoryview(TensorListCPU(numpy.zeros((5, 20_000))).as_tensor()),
    "copies": lambda: copy.deepcopy(TensorListCPU(numpy.zeros((5, 20_000)))),
    "pickles": lambda: pickle.loads(pickle.dumps(TensorListCPU(numpy.zeros((5, 20_000))))),
    "texts": lambda: str(TensorCPU(numpy.zeros(100_000))),
    "refusals": lambda: refuse(Producer(numpy.zeros(100_000), device=2)),
}


def refuse(producer: Producer) -> None:
    with pytest.raises(TypeError, match="host memory"):
        TensorCPU(producer)


def resident_bytes() -> int:
    # The memory that the C allocator caches differs from run to run.
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is on Linux only")
@pytest.mark.parametrize("make", CYCLE.values(), ids=CYCLE)
def test_no_memory_is_leaked(make: Callable[[], Any]) -> None:
    def repeat(times: int) -> int:
        for number in range(times):
            make()
            if number % 10 == 9:
                gc.collect()
        return resident_bytes()

    # What the allocator keeps differs, but a leak grows in every round. One leaked block of 800 kB
    # in twenty would be detected.
    sizes = [repeat(20)]
    while len(sizes) < 2 or sizes[-1] - sizes[-2] >= 2_000_000:
        assert len(sizes) < 10, sizes
        sizes.append(repeat(50))


def test_many_threads_read_and_change_one_batch() -> None:
    parts = [numpy.full((3, 100), number, numpy.int32) for number in range(8)]
    batch = TensorListCPU(parts, "AB", contiguous=False)
    expected = numpy.stack(parts)
    wrong: list[Any] = []
    start = threading.Barrier(8)

    def work(seed: int) -> None:
        chance = random.Random(seed)
        target = numpy.empty_like(expected)
        actions: list[Callable[[], Any]] = [
            batch.as_array,
            lambda: numpy.stack([numpy.asarray(sample) for sample in batch]),
            lambda: numpy.from_dlpack(batch.as_tensor()),
            lambda: (batch.copy_to_external(target.ctypes.data), target)[1],
            lambda: (batch.set_layout(chance.choice(["AB", "XY"])), batch.as_array())[1],
            lambda: copy.deepcopy(batch).as_array(),
            lambda: TensorListCPU(list(batch)).as_array(),
            lambda: (batch.data_ptr(), TensorListCPU(batch).as_array())[1],
        ]
        start.wait()
        try:
            for _ in range(60):
                found = chance.choice(actions)()
                if not numpy.array_equal(found, expected):
                    wrong.append(found)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG_SECONDS)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []


def test_tensors_are_released_in_other_threads() -> None:
    producers = [Producer(numpy.zeros(10)) for _ in range(200)]
    tensors: list[TensorCPU | None] = [TensorCPU(producer) for producer in producers]

    def drop(first: int) -> None:
        for index in range(first, len(tensors), 4):
            tensors[index] = None

    threads = [threading.Thread(target=drop, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG_SECONDS)
    assert {producer.num_returned for producer in producers} == {1}
