"""The simulated driver itself, by programs that call it through the bindings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cuda.simulated_driver import run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")
HERE = Path(__file__).parent
KERNELS = HERE / "kernels" / "simulated.cu"
OLDER = {"DALI_CORE_SIMULATED_COMPUTE_CAPABILITY": "8.6"}


def run(name: str, **options: Any) -> str:
    return run_simulated((HERE / "programs" / f"{name}.py").read_text("utf-8"), **options)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("devices", {"devices": 2, "memory_limit": 1 << 30, "env": OLDER}),
        ("memory", {"devices": 2, "memory_limit": 1 << 30}),
        ("pools", {"devices": 2}),
        ("streams", {"devices": 2}),
        ("kernels", {"env": OLDER}),
        ("faults", {}),
        # The stacks of threads that wait for one another are known to the sanitizer.
        pytest.param("kernels", {"env": OLDER, "sanitize": True}, id="kernels-sanitized"),
    ],
)
def test_program(name: str, options: dict[str, Any]) -> None:
    assert run(name, **options) == ""


def test_images_of_the_compiler() -> None:
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc", reason="not available: cuda-bindings")
    try:
        nvrtc.nvrtcVersion()
    except RuntimeError:
        pytest.skip("not available: NVRTC (package nvidia-cuda-nvrtc-cu12)")
    assert run("images", env=OLDER) == ""


READ_TOO_FAR = """
    import ctypes
    from cuda.bindings import driver
    from tests.cuda.calls import done, kernel, launch, use_device
    use_device()
    values, output = (done(driver.cuMemAlloc(4 * 64)) for _ in range(2))
    neighbours = kernel("simulated_neighbours")
    types = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int
    done(launch(neighbours, (values, output, 63), types))
    done(driver.cuCtxSynchronize())
    print("well until here", flush=True)
    done(launch(neighbours, (values, output, 64), types))
    done(driver.cuCtxSynchronize())
"""


def test_the_sanitizer_names_the_line_that_reads_too_far() -> None:
    lines = KERNELS.read_text("utf-8").splitlines()
    (line,) = (number for number, text in enumerate(lines, 1) if "input[index + 1]" in text)
    output = run_simulated(READ_TOO_FAR, sanitize=True, expect_failure=True)
    before, _, after = output.partition("well until here")
    assert before == ""
    assert "heap-buffer-overflow" in after
    assert f"{KERNELS.name}:{line}" in after


def test_writing_too_far_is_found_when_the_memory_is_freed() -> None:
    output = run_simulated(
        """
        import ctypes
        from cuda.bindings import driver
        from tests.cuda.calls import done, kernel, launch, use_device
        use_device()
        pointer = done(driver.cuMemAlloc(4 * 64))
        types = ctypes.c_void_p, ctypes.c_longlong, ctypes.c_float
        done(launch(kernel("simulated_fill_float"), (pointer, 66, 0.0), types))
        driver.cuMemFree(pointer)
        """,
        expect_failure=True,
    )
    assert "wrote byte 0 behind an allocation of 256 bytes" in output


def test_default_streams_of_threads() -> None:
    program = """
        from cuda.bindings import driver
        from tests.cuda.calls import done, use_device
        use_device()
        ids = [done(driver.cuStreamGetId(driver.CUstream(handle))) for handle in (0, 1, 2)]
        print(ids.index(ids[0], 1))
    """
    assert run_simulated(program) == "1\n"
    per_thread = {"CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM": "1"}
    assert run_simulated(program, env=per_thread) == "2\n"
