"""A CUDA driver on the host's memory, for tests on machines without a GPU.

``libcuda.so.1`` of this folder has the functions of the driver that the library calls. Memory of a
device is memory of the host, streams are threads, and kernels are the library's own ``.cu`` files,
compiled by the host's compiler. It is not part of the library and is never packaged.

Use
---
From a test: :func:`run_program` builds the driver if necessary, and runs a file below
``tests/cuda/programs`` with it::

    output = run_program("memory/pinned_memory", devices=2, delay=0.01)

The program imports the bindings, and controls the driver by :mod:`.control`. :func:`run_simulated`
does the same for programs of a few lines.

By hand: ``python -m tests.cuda.simulated_driver.build`` prints the path of the library; then
``LD_LIBRARY_PATH=build/simulated_driver python program.py``. Further folders with kernels are
arguments of the build. Frameworks must not use this driver, hence the separate processes.

Set by environment variables
----------------------------
DALI_CORE_SIMULATED_DEVICES
    Number of devices, 1 by default.
DALI_CORE_SIMULATED_COMPUTE_CAPABILITY
    Of all of them, ``9.0`` by default.
DALI_CORE_SIMULATED_MEMORY
    Bytes of each, 8 GiB by default.
DALI_CORE_SIMULATED_DELAY
    Seconds before each copy, fill, kernel and function in a stream, 0 by default.
DALI_CORE_SIMULATED_HOST_PAGE_TABLES
    ``1`` for devices that use the host's page tables, as those of GH200 do: pageable memory is read
    and written in stream order, as pinned memory is.
DALI_CORE_SIMULATED_KERNELS
    ``0`` to launch kernels without running them, to measure the host.
DALI_CORE_SIMULATED_SANITIZE
    ``1`` for the build with AddressSanitizer, where a test does not choose.

So ``DALI_CORE_SIMULATED_DELAY=0.005 pytest tests/cuda`` detects missing synchronization, and
``DALI_CORE_SIMULATED_SANITIZE=1 pytest tests/cuda`` memory errors, in all tests.

What it detects
---------------
- Each stream executes its work in order, in a thread, after a delay. If a wait is missing, data are
  wrong: new memory is 0xCD bytes (in a pool in stream order), freed memory is 0xDD bytes.
- A stream that is held (:func:`.control.held`) executes nothing, so tests of order are reliable.
- Pinned memory is read in stream order, pageable memory immediately, unless devices use the host's
  page tables.
- Copies out of bounds, freed memory, handles of other or destroyed contexts return the driver's
  errors. Kernels with addresses that their device cannot access invalidate the context, as
  on a device.
- Writing directly after an allocation aborts the process with a message when the memory is freed;
  with AddressSanitizer (``sanitize=True``) any access out of bounds aborts it with the kernel's
  line.
- Streams, events and kernels require a current context in each thread that uses them, as the
  driver's manual allows; destroying them does not.
- Using a stream or an event that was destroyed, which is undefined, aborts the process with a
  message.
- While another thread captures a graph (:func:`.control.captured`), calls that allocate or wait
  outside of streams fail in threads of the global mode. Which calls these are is our reading of the
  manual, which has examples only; captures themselves are not simulated.
- In :mod:`.control`: calls that fail on demand, numbers of calls, live resources, limits.

What it does not support
------------------------
Graphs, textures, arrays, IPC, managed and virtual memory. Blocks run one after the other in the
stream's thread; those of kernels with barriers as fibers, which is slow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.hanging import HANG_SECONDS

PROGRAMS = Path(__file__).parents[1] / "programs"


def run_program(name: str, **options: Any) -> str:
    """Run a program in a process that uses the simulated driver.

    Parameters
    ----------
    name : str
        Its path below ``tests/cuda/programs``, without the suffix.
    **options
        Those of :func:`run_simulated`.

    Returns
    -------
    str
        Its output.
    """
    return run_simulated(PROGRAMS / f"{name}.py", **options)


def run_simulated(
    program: str | Path,
    *,
    arguments: Sequence[object] = (),
    devices: int = 1,
    delay: float | None = None,
    memory_limit: int | None = None,
    sanitize: bool | None = None,
    kernels: Sequence[Path] = (),
    env: Mapping[str, str] | None = None,
    expect_failure: bool = False,
    timeout: float = HANG_SECONDS,
) -> str:
    """Run a Python program in a process that uses the simulated driver.

    The process is forked from one that has imported the library, and not loaded the driver.

    Parameters
    ----------
    program : str or path
        Its source, which may be indented, or its file.
    arguments : sequence
        Values that the program receives as JSON, in ``sys.argv``.
    devices : int
        Number of devices.
    delay : float, optional
        Seconds before each copy, fill, kernel and function in a stream.
    memory_limit : int, optional
        Bytes that each device has.
    sanitize : bool, optional
        Whether to use the build with AddressSanitizer.
    kernels : paths
        Folders with ``.cu`` files, besides those of the library and of ``tests/cuda/kernels``.
    env : mapping, optional
        Further environment variables, but for those that are read when an interpreter starts or
        the library is imported.
    expect_failure : bool
        Whether the program has to exit with an error.
    timeout : float
        Timeout in seconds.

    Returns
    -------
    str
        Its output; with `expect_failure`, followed by its standard error.
    """
    import json
    import os
    import textwrap

    import pytest

    from tests.cuda.simulated_driver import build, programs

    if sanitize is None:
        sanitize = os.getenv("DALI_CORE_SIMULATED_SANITIZE", "0") == "1"
    if lacks := build.missing(sanitize=sanitize):
        pytest.skip(lacks)
    folder = build.build_once(sanitize=sanitize, kernels=tuple(kernels))
    at_start = {
        "LD_LIBRARY_PATH": os.pathsep.join(
            filter(None, [str(folder), os.getenv("LD_LIBRARY_PATH")])
        ),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(build.ROOT), os.getenv("PYTHONPATH")])),
    }
    if sanitize:
        at_start["LD_PRELOAD"] = build.sanitizer_runtime()
        # The interpreter does not free all memory when it exits.
        at_start["ASAN_OPTIONS"] = "detect_leaks=0:handle_segv=1"
    variables = {"DALI_CORE_SIMULATED_DEVICES": str(devices)}
    if delay is not None:
        variables["DALI_CORE_SIMULATED_DELAY"] = str(delay)
    if memory_limit is not None:
        variables["DALI_CORE_SIMULATED_MEMORY"] = str(memory_limit)
    file = program if isinstance(program, Path) else None
    source = file.read_text("utf-8") if file else textwrap.dedent(str(program))
    command = [str(file or "-c"), *map(json.dumps, arguments)]
    done = programs.run(source, command, at_start, variables | dict(env or {}), timeout)
    __tracebackhide__ = True
    everything = done.stdout + done.stderr
    assert (done.returncode != 0) == expect_failure, f"exit status {done.returncode}\n{everything}"
    return everything if expect_failure else done.stdout
