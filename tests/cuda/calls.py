"""Shared functions of programs that call the driver directly."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy
from cuda.bindings import driver

PIECES = (ctypes.c_int, ctypes.c_longlong, ctypes.c_float, ctypes.c_void_p)


def done(result: tuple[Any, ...]) -> Any:
    """Return the result of a call, which must have succeeded."""
    code, *values = result
    assert code == driver.CUresult.CUDA_SUCCESS, code.name
    return values[0] if len(values) == 1 else tuple(values)


def error(result: tuple[Any, ...]) -> str:
    """Return the error of a call, without the prefix ``CUDA_ERROR_``."""
    name: str = result[0].name
    return name.removeprefix("CUDA_ERROR_")


def use_device(ordinal: int = 0) -> Any:
    """Make the primary context of a device current, and return it."""
    done(driver.cuInit(0))
    context = done(driver.cuDevicePrimaryCtxRetain(done(driver.cuDeviceGet(ordinal))))
    done(driver.cuCtxSetCurrent(context))
    return context


def image_of(*kernels: str, target: int = 75) -> bytes:
    """Return an image with the names of kernels; the simulated driver does not read code."""
    entries = "".join(f".visible .entry {name}(\n)\n{{\n}}\n" for name in kernels)
    return f"//\n.version 8.0\n.target sm_{target}\n.address_size 64\n{entries}".encode()


def kernel(name: str) -> Any:
    """Load a kernel into the current context."""
    return done(driver.cuModuleGetFunction(load(name), name.encode()))


def load(*kernels: str) -> Any:
    """Load a module with these kernels into the current context."""
    return done(driver.cuModuleLoadData(image_of(*kernels)))


def launch(
    function: Any,
    values: Sequence[Any],
    types: Sequence[Any],
    *,
    grid: int = 1,
    block: int = 256,
    shared: int = 0,
    stream: Any = 0,
) -> tuple[Any, ...]:
    """Launch a kernel, and return the result of the call."""
    plain = tuple(int(one) if isinstance(one, driver.CUdeviceptr) else one for one in values)
    arguments = (plain, tuple(types))
    result: tuple[Any, ...] = driver.cuLaunchKernel(
        function, grid, 1, 1, block, 1, 1, shared, stream, arguments, 0
    )
    return result


def copy_in(pointer: Any, array: Any) -> None:
    """Copy an array to a device, and wait."""
    done(driver.cuMemcpyHtoD(pointer, array.ctypes.data, array.nbytes))


def copy_out(pointer: Any, count: int, dtype: str) -> Any:
    """Copy elements from a device, and wait."""
    array = numpy.zeros(count, dtype)
    done(driver.cuMemcpyDtoH(array.ctypes.data, pointer, array.nbytes))
    return array


def pinned(count: int, dtype: str) -> Any:
    """Return an array of zeros in pinned memory, which is never freed."""
    size = count * numpy.dtype(dtype).itemsize
    address = done(driver.cuMemHostAlloc(size, 0))
    memory = memoryview((ctypes.c_char * size).from_address(address)).cast("B")
    array = numpy.frombuffer(memory, dtype)
    array[:] = 0
    return array
