"""Device memory and pinned host memory."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

MIB = 1 << 20


def test_memory_statistics() -> None:
    run_simulated(
        """
        from dali_core import backend, cuda
        from dali_core._cuda import memory
        from tests.cuda.leaks import expect_nothing_left
        from tests.cuda.simulated_driver import control

        expect_nothing_left(2)
        stream = cuda.Stream(1)
        blocks = [memory.Buffer(stream, size) for size in (0, 0, 1, 1000, 1 << 20)]
        assert len({block.pointer for block in blocks}) == 5
        assert all(block.pointer % 256 == 0 and block.pointer for block in blocks)
        assert [block.nbytes for block in blocks] == [0, 0, 1, 1000, 1 << 20]
        stats = cuda.memory_stats(1)
        assert stats["used_bytes"] == stats["used_high_bytes"] == 1001 + (1 << 20)
        assert stats["reserved_bytes"] >= stats["used_bytes"]
        assert cuda.memory_stats(0)["used_bytes"] == 0

        # What is given back stays in the pool,
        blocks.clear()
        stream.synchronize()
        after = cuda.memory_stats(1)
        assert after["used_bytes"] == 0
        assert after["used_high_bytes"] == stats["used_bytes"]
        assert after["reserved_bytes"] == stats["reserved_bytes"]
        # until that is asked to return it.
        cuda.release_unused_memory(1)
        assert cuda.memory_stats(1)["reserved_bytes"] == 0
        assert cuda.memory_stats(1)["reserved_high_bytes"] == stats["reserved_bytes"]

        backend.PreallocateDeviceMemory(3 << 20, 0)
        assert cuda.memory_stats(0)["reserved_bytes"] >= 3 << 20
        backend.PreallocatePinnedMemory(1 << 20)
        assert cuda.memory_stats()["host_used_bytes"] == 0
        assert cuda.memory_stats()["host_idle_bytes"] == 1 << 20
        backend.ReleaseUnusedMemory()
        assert cuda.memory_stats()["reserved_bytes"] == 0
        assert cuda.memory_stats()["host_idle_bytes"] == 0
        assert control.live()["host_allocations"] == 0
        """,
        devices=2,
    )


CONSUMERS = """
import contextlib, ctypes
from dali_core import cuda, errors
from dali_core._cuda import memory
from tests.cuda.simulated_driver import control

size = 1000
old = (ctypes.c_char * size)(*b"o" * size)
own = cuda.Stream(0)
slow = cuda.Stream(0)
control.set_delay(0.05, slow.handle)
default = cuda.Stream.wrap(None, 0)

def what_is_read(note, consumers):
    block = memory.Buffer(own, size)
    memory.copy_pointers(block.pointer, ctypes.addressof(old), size, own)
    results = []
    # Its own stream waits for consumers that are noted, so these are slow, and others do nothing.
    with contextlib.nullcontext() if note else control.held(slow.handle):
        for consumer in consumers:
            consumer.wait(slow.record())
            consumer.wait(own)
            results.append(memory.Buffer(consumer, size))
            memory.copy_pointers(results[-1].pointer, block.pointer, size, consumer)
            for _ in range(note):
                block.record_stream(consumer)
        del block
        # What the simulated driver takes back is overwritten when the stream gets there.
        own.synchronize()
    read = []
    for result, consumer in zip(results, consumers):
        text = (ctypes.c_char * size)()
        memory.copy_pointers(ctypes.addressof(text), result.pointer, size, consumer)
        consumer.synchronize()
        read.append(text.raw)
    return read
"""


def test_memory_is_not_reused_before_recorded_streams() -> None:
    run_simulated(
        CONSUMERS
        + """
assert what_is_read(1, [slow]) == [old.raw]
assert what_is_read(2, [slow, own]) == [old.raw, old.raw]
before = sum(control.device_wide().values())
assert what_is_read(1, [slow, cuda.Stream(0)]) == [old.raw, old.raw]
assert sum(control.device_wide().values()) == before
# Per-thread default streams run in step with the default stream.
per_thread = cuda.Stream.wrap(2, 0)
assert what_is_read(1, [default, per_thread]) == [old.raw, old.raw]
"""
    )


def test_memory_is_reused_without_record_stream() -> None:
    """The previous test would detect a missing wait."""
    run_simulated(
        CONSUMERS
        + """
try:
    assert what_is_read(0, [slow]) != [old.raw]
except errors.CudaError as error:
    assert error.status == "CUDA_ERROR_ILLEGAL_ADDRESS"
"""
    )


def test_streams_outlive_their_buffers() -> None:
    run_simulated(
        """
        import gc

        from cuda.bindings import driver
        from dali_core import cuda
        from dali_core._cuda import memory
        from tests.cuda.leaks import expect_nothing_left
        from tests.cuda.simulated_driver import control

        expect_nothing_left()
        own = cuda.Stream(0)
        block = memory.Buffer(own, 100)
        other = cuda.Stream(0)
        # By its handle first: the object that keeps it alive counts, whichever comes first.
        block.record_stream(cuda.Stream.wrap(other.handle, 0))
        block.record_stream(other)
        block.record_stream(cuda.Stream.wrap(other.handle, 0))
        streams = control.live()["streams"]
        del other
        assert control.live()["streams"] == streams
        del block
        assert control.live()["streams"] == streams - 1
        assert control.device_wide().get("cuCtxSynchronize", 0) == 0
        own.synchronize()
        assert control.live()["allocations"] == 0

        # So do objects of other libraries.
        class Theirs:
            def __init__(self):
                self.own = cuda.Stream(0)

            def __cuda_stream__(self):
                return (0, self.own.handle)

        block = memory.Buffer(own, 100)
        block.record_stream(cuda.Stream.wrap(Theirs(), 0))
        gc.collect()
        assert control.live()["streams"] == streams
        del block
        gc.collect()
        assert control.live()["streams"] == streams - 1
        block = memory.Buffer(cuda.Stream.wrap(Theirs(), 0), 100)
        gc.collect()
        assert control.live()["streams"] == streams
        del block
        gc.collect()
        assert control.live()["allocations"] == 0
        """
    )


def test_out_of_device_memory() -> None:
    run_simulated(
        """
        import ctypes
        from dali_core import cuda, errors
        from dali_core._cuda import memory
        from tests.cuda.leaks import expect_nothing_left
        from tests.cuda.simulated_driver import control

        MIB = 1 << 20
        expect_nothing_left()
        stream, other, busy = (cuda.Stream(0) for _ in range(3))
        block = memory.Buffer(stream, 40 * MIB)
        kept = memory.Buffer(busy, 4 * MIB)

        def expect_shortage(size):
            try:
                memory.Buffer(stream, size)
            except errors.OutOfDeviceMemoryError as error:
                assert isinstance(error, MemoryError)
                assert error.status == "CUDA_ERROR_OUT_OF_MEMORY"
                return str(error)
            raise AssertionError

        message = expect_shortage(30 * MIB)
        assert message.startswith(f"CUDA device 0: {30 * MIB} bytes of memory must be left (got "
            f"{44 * MIB} bytes in use here, "), message
        assert f" of {64 * MIB} bytes free on the device" in message
        assert "Use smaller batches" in message
        assert cuda.memory_stats()["used_bytes"] == 44 * MIB

        # What is idle in the pool goes first,
        del block
        stream.synchronize()
        block = memory.Buffer(stream, 56 * MIB)
        # then what is on its way back, in the streams that it comes from, and in no other.
        control.set_delay(0.1, stream.handle)
        with control.held(busy.handle):
            small = memory.Buffer(stream, 1000)
            memory.copy_pointers(small.pointer, small.pointer + 500, 500, stream)
            memory.copy_pointers(kept.pointer, kept.pointer + 500, 500, busy)
            del block
            block = memory.Buffer(other, 56 * MIB)
            # Also if the stream has gone.
            del block
            memory.copy_pointers(small.pointer, small.pointer + 500, 500, stream)
            block = memory.Buffer(stream, 56 * MIB)
            memory.copy_pointers(small.pointer, small.pointer + 500, 500, stream)
            del block, small, stream
            block = memory.Buffer(other, 58 * MIB)
            assert not busy.is_idle()
        assert control.counts().get("cuCtxSynchronize", 0) == 0
        stream = other
        expect_shortage(1 << 50)
        memory.Buffer(other, MIB)
        busy.synchronize()
        """,
        memory_limit=64 * MIB,
    )


@pytest.mark.parametrize("has_default_pool", [True, False])
def test_devices_without_pools(has_default_pool: bool) -> None:
    run_simulated(
        f"""
        import ctypes
        from dali_core import cuda
        from dali_core._cuda import memory
        from tests.cuda.leaks import expect_nothing_left
        from tests.cuda.simulated_driver import control

        expect_nothing_left()
        control.fail("cuMemPoolCreate", "CUDA_ERROR_NOT_SUPPORTED")
        if not {has_default_pool}:
            control.fail("cuDeviceGetDefaultMemPool", "CUDA_ERROR_NOT_SUPPORTED")
        stream, other = cuda.Stream(0), cuda.Stream(0)
        control.set_delay(0.03, stream.handle)
        given = (ctypes.c_char * 1000)(*b"x" * 1000)
        result = (ctypes.c_char * 1000)()
        for _ in range(3):
            block = memory.Buffer(stream, 1000)
            memory.copy_pointers(block.pointer, ctypes.addressof(given), 1000, stream)
            memory.copy_pointers(ctypes.addressof(result), block.pointer, 1000, stream)
            del block
            memory.Buffer(other, 1000)
            stream.synchronize()
            assert result.raw == given.raw
        assert cuda.memory_stats()["used_bytes"] == 0
        other.synchronize()
        cuda.release_unused_memory()
        assert control.live()["allocations"] == 0
        assert (control.counts().get("cuMemAlloc", 0) == 0) == {has_default_pool}
        assert control.live()["pools"] == 0

        # Blocks that are on their way when a shortage comes are waited for.
        if not {has_default_pool}:
            block = memory.Buffer(stream, 40 << 20)
            memory.copy_pointers(block.pointer, ctypes.addressof(given), 1000, stream)
            del block
            memory.Buffer(other, 40 << 20)
        """,
        memory_limit=64 * MIB,
    )


def test_pinned_memory() -> None:
    run_simulated(
        """
        from dali_core import cuda, errors
        from dali_core._cuda import memory
        from tests.cuda.leaks import expect_nothing_left
        from tests.cuda.simulated_driver import control

        expect_nothing_left(3)
        stream = cuda.Stream(2)
        memory.preallocate_host(5000)
        # It is made for all devices, in the context of one that is in use.
        assert control.live()["primary_context_retains"] == 3 + 1
        assert cuda.memory_stats(2)["host_idle_bytes"] >= 5000
        memory.preallocate_host(5000)
        assert control.counts()["cuMemHostAlloc"] == 1

        control.fail("cuMemHostAlloc", "CUDA_ERROR_OUT_OF_MEMORY", times=2)
        try:
            memory.preallocate_host(1 << 20)
        except errors.OutOfDeviceMemoryError as error:
            assert "the host must have 1048576 bytes of pinned memory left" in str(error)
        else:
            raise AssertionError
        control.fail("cuMemHostAlloc", "CUDA_ERROR_NOT_PERMITTED", times=2)
        try:
            memory.preallocate_host(1 << 20)
        except errors.CudaError as error:
            assert error.status == "CUDA_ERROR_NOT_PERMITTED"
        else:
            raise AssertionError
        memory.preallocate_host(1 << 20)
        """,
        devices=3,
    )


def test_threads_share_memory() -> None:
    run_simulated(
        """
        import ctypes, random, threading
        from dali_core import cuda
        from dali_core._cuda import memory
        from tests.cuda.leaks import expect_nothing_left
        from tests.cuda.simulated_driver import control

        expect_nothing_left(2)
        handed_over = []
        failures = []

        def work(number):
            generator = random.Random(number)
            stream = cuda.Stream(number % 2)
            given = (ctypes.c_char * 500)(*bytes([number]) * 500)
            result = (ctypes.c_char * 500)()
            for _ in range(60):
                block = memory.Buffer(stream, generator.randrange(500, 3000))
                memory.copy_pointers(block.pointer, ctypes.addressof(given), 500, stream)
                memory.copy_pointers(ctypes.addressof(result), block.pointer, 500, stream)
                handed_over.append(block)
                del block
                if len(handed_over) > 10:
                    handed_over.pop(0)
                stream.record().synchronize()
                if result.raw != given.raw:
                    failures.append(number)

        def started():
            threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()

        started()
        before = control.counts()
        started()
        after = control.counts()
        assert failures == []
        handed_over.clear()
        assert cuda.memory_stats(0)["used_bytes"] == cuda.memory_stats(1)["used_bytes"] == 0
        # A steady loop neither waits for a device nor asks for more.
        assert sum(control.device_wide().values()) == 0
        for name in ("cuMemAlloc", "cuMemPoolCreate", "cuDevicePrimaryCtxRetain"):
            assert before.get(name, 0) == after.get(name, 0)
        """,
        devices=2,
    )
