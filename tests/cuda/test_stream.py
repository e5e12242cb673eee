"""Streams and events."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def test_streams_and_events() -> None:
    run_simulated(
        """
        import gc
        from dali_core import cuda, errors
        from tests.cuda.leaks import expect_nothing_left
        from tests.cuda.simulated_driver import control

        expect_nothing_left(2)
        stream = cuda.Stream(1)
        assert (stream.device_id, stream.priority, stream.is_own) == (1, 0, True)
        assert stream.__cuda_stream__() == (0, stream.handle)
        assert repr(stream) == f"Stream(device_id=1, handle={stream.handle:#x})"
        # The range is the device's.
        assert cuda.Stream(1, -1).priority == -1
        assert cuda.Stream(1, priority=-1000).priority > -1000
        assert stream.is_idle()
        event = cuda.Event(1)
        assert event.device_id == 1
        assert event.is_done()
        for wrong in (3, None, "stream"):
            try:
                stream.wait(wrong)
            except errors.ArgumentTypeError as error:
                assert "Stream.wait: other must be an Event or a Stream" in str(error)
            else:
                raise AssertionError
        # Events serve again and again.
        del event
        for _ in range(100):
            stream.record().synchronize()
        assert control.counts()["cuEventCreate"] == 1
        events = [stream.record() for _ in range(600)]
        events[-1].synchronize()
        events.clear()
        assert control.live()["events"] == 256
        # Nobody waited for all of a device.
        assert control.device_wide() == {} or set(control.device_wide().values()) == {0}
        """,
        devices=2,
    )


def test_order_across_streams_and_devices() -> None:
    """Without its waits, each copy would run before its source is computed."""
    run_simulated(
        """
        import ctypes
        from dali_core import cuda
        from dali_core._cuda import memory
        from tests.cuda.leaks import expect_nothing_left
        from tests.cuda.simulated_driver import control

        expect_nothing_left(2)
        size = 1000
        first, second, third = cuda.Stream(0), cuda.Stream(0), cuda.Stream(1)
        blocks = [memory.Buffer(stream, size) for stream in (first, second, third)]
        given = (ctypes.c_char * size)(*b"abc" * 300)
        result = (ctypes.c_char * size)()
        for stream in (first, second, third): stream.synchronize()
        control.set_delay(0.05, first.handle)

        with control.held(first.handle):
            memory.copy_pointers(blocks[0].pointer, ctypes.addressof(given), size, first)
            event = first.record()
            assert not first.is_idle()
            assert not event.is_done()
            second.wait(event)
            second.wait(second)
            memory.copy_pointers(blocks[1].pointer, blocks[0].pointer, size, second)
            third.wait(second)
            memory.copy_pointers(blocks[2].pointer, blocks[1].pointer, size, third)
        memory.copy_pointers(ctypes.addressof(result), blocks[2].pointer, size, third)
        third.synchronize()
        assert event.is_done()
        assert result.raw == given.raw
        """,
        devices=2,
    )


def test_streams_are_destroyed_after_their_work() -> None:
    run_simulated(
        """
        import ctypes
        from dali_core import cuda
        from dali_core._cuda import memory
        from tests.cuda.leaks import expect_nothing_left
        from tests.cuda.simulated_driver import control

        expect_nothing_left()
        stream = cuda.Stream(0)
        block = memory.Buffer(stream, 100)
        given = (ctypes.c_char * 100)(*b"x" * 100)
        result = (ctypes.c_char * 100)()
        control.set_delay(0.03)
        memory.copy_pointers(block.pointer, ctypes.addressof(given), 100, stream)
        memory.copy_pointers(ctypes.addressof(result), block.pointer, 100, stream)
        event = stream.record()
        # The block still has it.
        del stream
        assert control.live()["streams"] == 1
        del block
        assert control.live()["streams"] == 0
        event.synchronize()
        assert result.raw == given.raw
        """
    )


def test_streams_of_other_libraries() -> None:
    run_simulated(
        """
        import ctypes, gc, weakref
        from importlib.metadata import version
        from cuda.bindings import driver
        from dali_core import cuda, errors
        from dali_core._cuda import memory
        from tests.cuda.leaks import expect_nothing_left
        from tests.cuda.simulated_driver import control

        class Foreign:
            def __init__(self, **attributes):
                self.__dict__.update(attributes)

        class Protocol:
            def __init__(self, version, handle):
                self.answer = version, handle

            def __cuda_stream__(self):
                return self.answer

        expect_nothing_left(2)
        theirs = cuda.Stream(0)
        handle = theirs.handle
        for stream in (
            handle, ctypes.c_void_p(handle), Foreign(cuda_stream=handle), Foreign(ptr=handle),
            Foreign(handle=handle), Protocol(0, handle), Foreign(__cuda_stream__=(0, handle)),
        ):
            wrapped = cuda.Stream.wrap(stream, 0)
            assert (wrapped.handle, wrapped.device_id, wrapped.is_own) == (handle, 0, False)
            wrapped.record().synchronize()
        # The default stream, also that of a thread.
        for stream in (None, 0, 1, 2, ctypes.c_void_p(), ctypes.c_void_p(2), Protocol(0, 0)):
            assert cuda.Stream.wrap(stream, 1).handle == 1
        assert cuda.Stream.wrap(theirs, 0) is theirs

        for wrong in ("3", 2.5, True, -1, object(), Foreign(ptr="x")):
            try:
                cuda.Stream.wrap(wrong, 0)
            except errors.ArgumentTypeError as error:
                assert "Stream.wrap: stream must be a handle" in str(error)
            else:
                raise AssertionError(wrong)
        # Version 13 takes parameters before.
        first = () if version("cuda-bindings").startswith("12.") else (None,)
        status, context = driver.cuCtxCreate(*first, 0, 0)
        status, elsewhere = driver.cuStreamCreate(0)
        driver.cuCtxPopCurrent()
        for wrong, device in (
            (theirs, 1), (handle, 1), (Protocol(1, handle), 0), (int(elsewhere), 0)
        ):
            try:
                cuda.Stream.wrap(wrong, device)
            except errors.ArgumentValueError as error:
                assert "Stream.wrap: " in str(error)
            else:
                raise AssertionError(wrong)
        driver.cuCtxDestroy(context)

        # It lives for as long as memory that is to be given back there.
        stream = Protocol(0, handle)
        seen = weakref.ref(stream)
        block = memory.Buffer(cuda.Stream.wrap(stream, 0), 100)
        del stream, wrapped
        assert seen() is not None
        del block
        assert seen() is None
        # Ours are destroyed by us, theirs by them.
        assert control.live()["streams"] == 1
        """,
        devices=2,
    )


def test_synchronize_releases_the_gil() -> None:
    run_simulated(
        """
        import sys, threading
        from dali_core import cuda
        from dali_core._cuda import memory
        from tests.cuda.simulated_driver import control

        stream = cuda.Stream(0)
        block = memory.Buffer(stream, 8)
        stream.synchronize()
        sys.setswitchinterval(3600)  # nobody else gets the GIL unless this thread waits

        def hold_until(queued, waits):
            with control.held(stream.handle):
                queued.set()
                waits.wait()

        for wait in (lambda event: event.synchronize(), lambda event: stream.synchronize()):
            held, waits = threading.Event(), threading.Event()
            thread = threading.Thread(target=hold_until, args=(held, waits))
            thread.start()
            held.wait()
            memory.copy_pointers(block.pointer, block.pointer + 4, 4, stream)
            event = stream.record()
            assert not event.is_done()
            waits.set()
            wait(event)
            thread.join()
        """
    )


def test_work_is_complete_after_failed_record_or_wait() -> None:
    # Whoever gets the error frees what the device would still read.
    run_simulated(
        """
        import pytest
        from dali_core import cuda
        from dali_core._cuda import memory
        from dali_core.errors import CudaError
        from tests.cuda.simulated_driver import control

        stream = cuda.Stream(0)
        block = memory.Buffer(stream, 8)
        kept = stream.record()  # the next event is not created, but taken again
        control.set_delay(0.05)
        for function in ("cuEventCreate", "cuEventRecord", "cuEventSynchronize"):
            for _ in range(4):
                memory.copy_pointers(block.pointer, block.pointer + 4, 4, stream)
            control.fail(function, "CUDA_ERROR_UNKNOWN")
            with pytest.raises(CudaError, match="CUDA_ERROR_UNKNOWN"):
                stream.record().synchronize()
            assert stream.is_idle(), function
        """
    )
