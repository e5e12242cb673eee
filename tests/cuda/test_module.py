"""Modules and launches of their kernels."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.cuda.simulated_driver import run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

CUBINS = Path(__file__).parents[2] / "dali_core" / "_cuda" / "cubins"
pytestmark = pytest.mark.skipif(
    not (CUBINS / "kernels.json").exists(), reason="not available: a build with device code"
)
KERNELS = ("simulated_fill_float", "simulated_fill_byte", "simulated_scale", "simulated_sum")
PTX = ".version 8.0\n.target sm_75\n.address_size 64\n" + "".join(
    f".visible .entry {name}()\n{{ ret; }}\n" for name in KERNELS
)


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    """Return a folder with a module of the kernels of the driver's own tests."""
    (tmp_path / "simulated.ptx.gz").write_bytes(gzip.compress(PTX.encode()))
    (tmp_path / "kernels.json").write_text(json.dumps(dict.fromkeys(KERNELS, "simulated")))
    return tmp_path


@pytest.mark.parametrize(
    ("capability", "chosen"),
    [("8.7", "sm_80.cubin"), ("10.0", "sm_100.cubin"), ("13.0", "ptx")],
)
def test_module_matches_the_compute_capability(capability: str, chosen: str) -> None:
    run_simulated(
        f"""
        from dali_core import cuda, errors
        from dali_core._cuda import module
        from tests.cuda.simulated_driver import control

        cuda.Stream(0)
        control.fail("cuModuleLoadDataEx", "CUDA_ERROR_FILE_NOT_FOUND")
        try:
            module.load_kernel("copy_rows", 0)
        except errors.CudaError as error:
            assert "loading module copy.{chosen} must succeed" in str(error), error
        else:
            raise AssertionError
        module.load_kernel("copy_rows", 0)
        """,
        env={"DALI_CORE_SIMULATED_COMPUTE_CAPABILITY": capability},
    )


def test_modules_are_loaded_once_per_device() -> None:
    run_simulated(
        """
        import threading
        from dali_core import cuda
        from dali_core._cuda import module
        from tests.cuda.leaks import expect_nothing_left
        from tests.cuda.simulated_driver import control

        expect_nothing_left(2)
        start = threading.Barrier(6)
        def load(number):
            start.wait()
            module.load_kernel("copy_rows", number % 2)
        threads = [threading.Thread(target=load, args=(number,)) for number in range(6)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        # If two threads loaded one, only one of the two is kept.
        assert control.live()["modules"] == 2
        loaded = control.counts()["cuModuleLoadDataEx"]
        for number in (0, 1, 0, 1):
            module.load_kernel("copy_rows", number)
        assert control.counts()["cuModuleLoadDataEx"] == loaded
        """,
        devices=2,
    )


def test_kernel_arguments(modules: Path) -> None:
    run_simulated(
        f"""
        import ctypes
        from pathlib import Path
        from dali_core import cuda, errors
        from dali_core._cuda import memory, module
        from tests.cuda.leaks import expect_nothing_left

        class Scale(ctypes.Structure):
            _fields_ = [("factor", ctypes.c_float), ("offset", ctypes.c_double)]

        expect_nothing_left()
        module.folders.append(Path({str(modules)!r}))
        stream = cuda.Stream(0)
        size = 1000
        blocks = [memory.Buffer(stream, size * 4) for _ in range(2)]
        source, target = (ctypes.c_void_p(block.pointer) for block in blocks)
        result = (ctypes.c_float * size)()

        module.launch_kernel("simulated_fill_float", (4,), (256,),
            [source, ctypes.c_longlong(size), ctypes.c_float(1.5)], stream)
        # A structure that is aligned to 8 bytes behind 4.
        module.launch_kernel("simulated_scale", (2, 1), (64, 1, 1),
            [source, target, ctypes.c_int(size), Scale(2, 0.25)], stream)
        memory.copy_pointers(ctypes.addressof(result), target.value, size * 4, stream)
        stream.synchronize()
        assert list(result) == [3.25] * size

        # Memory that threads of a block share.
        numbers = (ctypes.c_int * 64)(*range(64))
        totals = (ctypes.c_int * 3)()
        memory.copy_pointers(source.value, ctypes.addressof(numbers), 256, stream)
        memory.copy_pointers(target.value, ctypes.addressof(totals), 12, stream)
        module.launch_kernel("simulated_sum", (2,), (32,),
            [source, target, ctypes.c_void_p(target.value + 8)], stream, shared_bytes=128)
        memory.copy_pointers(ctypes.addressof(totals), target.value, 12, stream)
        stream.synchronize()
        assert list(totals) == [496, 1520, 2016]

        class Large(ctypes.Structure):
            _fields_ = [("bytes", ctypes.c_char * 250)]

        fill = "simulated_fill_float"
        for arguments, kind, message in (
            ([3], errors.ArgumentTypeError, "arguments must be objects of ctypes (got 3)"),
            ([ctypes.c_int(1)] * 17, errors.ArgumentValueError, "must be at most 16 (got 17)"),
            ([source, Large()], errors.ArgumentValueError, "at most 256 bytes"),
        ):
            try:
                module.launch_kernel(fill, (1,), (1,), arguments, stream)
            except kind as error:
                assert message in str(error), error
            else:
                raise AssertionError
        try:
            module.launch_kernel(fill, (1, 1, 1, 1), (1,), [], stream)
        except errors.ArgumentValueError as error:
            assert "one to three extents" in str(error)
        else:
            raise AssertionError
        """
    )


def test_failed_launches(modules: Path) -> None:
    run_simulated(
        f"""
        import ctypes
        from pathlib import Path
        from dali_core import cuda, errors
        from dali_core._cuda import memory, module
        from tests.cuda.simulated_driver import control

        def error_of(use, *arguments):
            try:
                use(*arguments)
            except errors.CudaError as error:
                return error
            raise AssertionError

        def launch(stream, blocks=1):
            block = memory.Buffer(stream, 100)
            arguments = [ctypes.c_void_p(block.pointer), ctypes.c_longlong(100), ctypes.c_byte(1)]
            module.launch_kernel("simulated_fill_byte", (blocks,), (128,), arguments, stream)

        module.folders.append(Path({str(modules)!r}))
        stream, other = cuda.Stream(0), cuda.Stream(1)
        error = error_of(module.launch_kernel, "nonsense", (1,), (1,), [], stream)
        assert "kernel 'nonsense' must be among those" in str(error)

        # One launch that is wrong harms nothing else.
        error = error_of(launch, stream, 0)
        assert error.status == "CUDA_ERROR_INVALID_VALUE"
        assert str(error).startswith("CUDA device 0: launching kernel 'simulated_fill_byte' with a "
            "grid of (0, 1, 1) and blocks of (128, 1, 1) threads must succeed"), error
        launch(stream)
        stream.synchronize()

        # A kernel that fails breaks its device, which is said once.
        control.fail("kernel", "CUDA_ERROR_ILLEGAL_ADDRESS")
        launch(stream)
        first = error_of(stream.synchronize)
        assert first.status == "CUDA_ERROR_ILLEGAL_ADDRESS"
        assert "the last kernel launched there is 'simulated_fill_byte'" in str(first)
        for use in (launch, cuda.Stream.synchronize, cuda.Stream.record):
            later = error_of(use, stream)
            assert str(later).startswith("CUDA device 0: work must not follow an error"), later
            assert str(first) in str(later)
        launch(other)
        other.synchronize()
        """,
        devices=2,
    )
