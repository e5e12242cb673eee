"""The CUDA layer on a real GPU: behaviour that the driver simulation only imitates."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from dali_core import cuda, errors
from dali_core._cuda import load

pytestmark = pytest.mark.gpu
SIZE = 1 << 20


class RowCopy(ctypes.Structure):
    _fields_ = [
        ("source", ctypes.c_void_p),
        ("target", ctypes.c_void_p),
        ("rows", ctypes.c_int64),
        ("bytes", ctypes.c_int64),
        ("pitches", ctypes.c_int64 * 2),
    ]


def bytes_of(number: int) -> ctypes.Array[ctypes.c_char]:
    return (ctypes.c_char * SIZE).from_buffer_copy(bytes([number]) * SIZE)


def copy_by_kernel(to: Any, from_: Any, stream: cuda.Stream) -> None:
    memory, module = load("memory"), load("module")
    table = memory.Buffer(stream, ctypes.sizeof(RowCopy))
    entry = RowCopy(from_.pointer, to.pointer, 1, SIZE)
    memory.copy_pointers(table.pointer, ctypes.addressof(entry), ctypes.sizeof(entry), stream)
    arguments = [ctypes.c_void_p(table.pointer), ctypes.c_int(1)]
    module.launch_kernel("copy_rows", (64,), (256,), arguments, stream)


def read(block: Any, stream: cuda.Stream) -> bytes:
    result = bytes_of(0)
    load("memory").copy_pointers(ctypes.addressof(result), block.pointer, SIZE, stream)
    stream.synchronize()
    return result.raw


@pytest.mark.parametrize("priority", [0, -1])
def test_kernels_copies_and_order(priority: int) -> None:
    memory = load("memory")
    first, second = cuda.Stream(0, priority), cuda.Stream(0)
    source, target = memory.Buffer(first, SIZE), memory.Buffer(second, SIZE)
    for number in range(1, 30):
        given = bytes_of(number)
        first.wait(second)
        memory.copy_pointers(source.pointer, ctypes.addressof(given), SIZE, first)
        second.wait(first)
        copy_by_kernel(target, source, second)
        source.record_stream(second)
        source = memory.Buffer(first, SIZE)
        assert read(target, second) == given.raw
    event = second.record()
    event.synchronize()
    assert event.is_done()
    assert second.is_idle()


def test_freed_memory_is_returned() -> None:
    memory = load("memory")
    before = cuda.memory_stats()["used_bytes"]
    stream = cuda.Stream(0)
    with pytest.raises(errors.OutOfDeviceMemoryError, match="bytes free on the device"):
        memory.Buffer(stream, 1 << 50)
    block = memory.Buffer(stream, SIZE)
    assert cuda.memory_stats()["used_bytes"] == before + SIZE
    del block
    stream.synchronize()
    cuda.release_unused_memory()
    assert cuda.memory_stats()["used_bytes"] == before


def test_streams_of_pytorch() -> None:
    torch = pytest.importorskip("torch", reason="not available: torch")
    if not torch.cuda.is_available():
        pytest.skip("not available: torch with CUDA")
    memory = load("memory")
    theirs = torch.cuda.Stream()
    stream = cuda.Stream.wrap(theirs, 0)
    assert stream.handle == theirs.cuda_stream
    assert cuda.Stream.wrap(torch.cuda.default_stream(), 0).handle == 1
    cuda.set_allocator(cuda.pytorch_allocator())
    try:
        before = torch.cuda.memory_allocated()
        block = memory.Buffer(stream, SIZE)
        assert torch.cuda.memory_allocated() >= before + SIZE
        given = bytes_of(5)
        memory.copy_pointers(block.pointer, ctypes.addressof(given), SIZE, stream)
        assert read(block, stream) == given.raw
        del block
        assert torch.cuda.memory_allocated() == before
    finally:
        cuda.set_allocator(None)
