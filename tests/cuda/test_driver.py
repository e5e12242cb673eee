"""The driver: devices, contexts, errors, and machines without it."""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys

import pytest

from tests.cuda.simulated_driver import run_simulated
from tests.hanging import HANG_SECONDS

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def run(program: str) -> str:
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=HANG_SECONDS
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_does_not_load_cuda() -> None:
    names = run(
        "import sys, dali_core, dali_core.cuda, dali_core.backend, dali_core.pipeline\n"
        "dali_core.cuda.release_unused_memory()\n"
        "dali_core.backend.ReleaseUnusedMemory()\n"
        "print(*(n for n in sys.modules if n.startswith(('cuda.', 'torch', 'dali_core._cuda.'))))"
    )
    assert names.split() == []


def has_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


@pytest.mark.skipif(has_driver(), reason="not available: a machine without a driver")
def test_without_a_driver() -> None:
    output = run(
        "from dali_core import cuda, errors\n"
        "print(cuda.is_available())\n"
        "for use in (cuda.device_count, cuda.memory_stats, lambda: cuda.Stream(0)):\n"
        "    try: use()\n"
        "    except errors.CudaUnavailableError as error: print(error)\n"
    )
    first, *messages = output.splitlines()
    assert first == "False"
    assert len(messages) == 3
    for message in messages:
        assert message.startswith("CUDA: the driver's library, libcuda.so.1, must be there (got:")
        assert "Install NVIDIA's driver" in message


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("cuda", 'CUDA: the package cuda-bindings must be installed .* pip install "dali_core'),
        ("dali_core._cuda.driver", "must have been built with support for GPUs"),
    ],
)
def test_errors_of_missing_requirements(missing: str, message: str) -> None:
    output = run(
        f"import sys; sys.modules[{missing!r}] = None\n"
        "from dali_core import cuda, errors\n"
        "assert not cuda.is_available()\n"
        "try: cuda.device_count()\n"
        "except errors.CudaUnavailableError as error: print(error)\n"
    )
    assert re.search(message, output), output


def test_no_devices() -> None:
    run_simulated(
        """
        from dali_core import cuda, errors
        try:
            cuda.device_count()
        except errors.CudaUnavailableError as error:
            assert error.status == "CUDA_ERROR_NO_DEVICE", error.status
            assert "CUDA_VISIBLE_DEVICES" in str(error)
        else:
            raise AssertionError
        """,
        devices=0,
    )


def test_devices() -> None:
    run_simulated(
        """
        from dali_core import cuda, errors
        from dali_core._cuda import driver
        from tests.cuda.simulated_driver import control

        assert cuda.is_available()
        assert cuda.device_count() == 2
        assert cuda.device_name(1)
        assert driver.compute_capability(0) == (8, 6)
        # Asking costs nothing on the device.
        assert control.live()["primary_context_retains"] == 0
        for number in (-1, 2):
            try:
                cuda.Stream(number)
            except errors.CudaUnavailableError as error:
                assert f"device_id must be from 0 to 1, since this process sees 2 (got {number})" \
                    in str(error), error
            else:
                raise AssertionError
        """,
        devices=2,
        env={"DALI_CORE_SIMULATED_COMPUTE_CAPABILITY": "8.6"},
    )


def test_primary_context_is_retained_once_and_current_context_restored() -> None:
    run_simulated(
        """
        import threading
        from cuda.bindings import driver as bindings
        from dali_core import cuda, errors
        from dali_core._cuda import driver, memory, module
        from tests.cuda.leaks import expect_nothing_left
        from tests.cuda.simulated_driver import control

        def current():
            status, context = bindings.cuCtxGetCurrent()
            return int(context)

        def use(number):
            stream = cuda.Stream(number)
            block = memory.Buffer(stream, 100)
            stream.record().synchronize()

        def fail(number):
            stream = cuda.Stream(number)
            block = memory.Buffer(stream, 100)
            try:
                module.launch_kernel("no such kernel", (1,), (1,), [], stream)
            except errors.CudaError:
                pass
            control.fail("cuMemcpyAsync", "CUDA_ERROR_INVALID_VALUE")
            try:
                memory.copy_pointers(block.pointer, block.pointer + 50, 50, stream)
            except errors.CudaError as error:
                assert error.status == "CUDA_ERROR_INVALID_VALUE"
            else:
                raise AssertionError

        expect_nothing_left(2)
        assert current() == 0
        for number in (0, 1):
            use(number)
            fail(number)
        assert current() == 0
        status, mine = bindings.cuDevicePrimaryCtxRetain(0)
        bindings.cuCtxPushCurrent(mine)
        for number in (1, 0):
            use(number)
            fail(number)
        assert current() == int(mine)
        bindings.cuCtxPopCurrent()
        bindings.cuDevicePrimaryCtxRelease(0)
        seen = []
        def in_thread(number):
            use(number % 2)
            seen.append(current())
        threads = [threading.Thread(target=in_thread, args=(i,)) for i in range(6)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert seen == [0] * 6
        # Two of the test, one each of the library.
        assert control.live()["primary_context_retains"] == 4
        assert control.counts()["cuInit"] == 2
        """,
        devices=2,
    )


def test_concurrent_initialization_happens_once() -> None:
    run_simulated(
        """
        import threading
        from dali_core import cuda
        from tests.cuda.simulated_driver import control

        start = threading.Barrier(8)
        streams = []
        def begin():
            start.wait()
            streams.append(cuda.Stream(0))
        threads = [threading.Thread(target=begin) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert len({stream.handle for stream in streams}) == 8
        assert control.counts()["cuInit"] == 1
        assert control.live()["primary_context_retains"] == 1
        """
    )


def test_objects_that_outlive_modules_are_released() -> None:
    """Objects that are deleted at interpreter shutdown release their resources."""
    output = run_simulated(
        """
        import builtins
        from cuda.bindings import driver
        from dali_core import cuda
        from dali_core._cuda import memory
        from tests.cuda.simulated_driver import control

        library = control._library()

        class Last:
            def __init__(self):
                self.keep = memory.Buffer(cuda.Stream(0), 1000)

            def __del__(self, live=library.simulated_live):
                del self.keep
                print(live().decode())

        driver.cuInit(0)
        driver.cuDevicePrimaryCtxRetain(0)
        builtins.last = Last()
        """
    )
    assert '"allocations": 0' in output
    assert '"streams": 0' in output
    assert '"events": 0' in output
    assert '"pools": 0' in output
    assert '"primary_context_retains": 1' in output


def test_forked_children() -> None:
    run_simulated(
        """
        import gc, os
        from dali_core import cuda, errors
        from dali_core._cuda import memory
        from tests.cuda.simulated_driver import control

        def in_child(function):
            child = os.fork()
            if child == 0:
                try:
                    function()
                    os._exit(0)
                finally:
                    os._exit(1)
            assert os.waitpid(child, 0)[1] == 0

        # A child may use GPUs before its parent does,
        in_child(lambda: memory.Buffer(cuda.Stream(0), 10))

        stream = cuda.Stream(0)
        held = [memory.Buffer(stream, 100), stream.record()]
        memory.preallocate_host(100)
        control.set_delay(0.01)

        def use_inherited():
            calls = control.counts()
            for use in (stream.synchronize, stream.record, held[1].is_done, cuda.memory_stats,
                        cuda.device_count, lambda: memory.Buffer(stream, 1)):
                try:
                    use()
                except errors.CudaError as error:
                    assert "its parent used before the fork" in str(error)
                    assert "spawn" in str(error)
                else:
                    raise AssertionError
            assert not cuda.is_available()
            # and what it has inherited is not its own to give back.
            held.clear()
            globals().pop("stream")
            gc.collect()
            assert control.counts() == calls

        in_child(use_inherited)
        held[0] = None
        stream.synchronize()
        """
    )


def test_first_device_failure_is_reported_once() -> None:
    run_simulated(
        """
        from dali_core import cuda, errors
        from dali_core._cuda import memory
        from tests.cuda.simulated_driver import control

        def message_of(use):
            try:
                use()
            except errors.CudaError as error:
                return str(error), error.status
            raise AssertionError

        stream, other = cuda.Stream(0), cuda.Stream(1)
        control.fail("cuStreamSynchronize", "CUDA_ERROR_ILLEGAL_ADDRESS", sticky=True)
        first, status = message_of(stream.synchronize)
        assert status == "CUDA_ERROR_ILLEGAL_ADDRESS"
        assert first.startswith("CUDA device 0: waiting for a stream must succeed (got CUDA_ERROR")
        assert "compute-sanitizer" in first
        for use in (stream.synchronize, stream.record, lambda: cuda.Stream(0),
                    lambda: memory.Buffer(stream, 1), cuda.release_unused_memory):
            later, status = message_of(use)
            assert later.startswith("CUDA device 0: work must not follow an error"), later
            assert first in later
        # The others are well.
        other.synchronize()
        """,
        devices=2,
    )
