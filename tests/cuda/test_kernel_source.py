"""How the simulated driver parses the source of kernels, and how it is built."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cuda.simulated_driver import build
from tests.cuda.simulated_driver.kernel_source import KernelSource, find_kernels, for_host

SOURCE = """
namespace a { namespace { struct Point { int x; }; }
namespace b::c {
extern "C" __global__ void deep(int* p) { if (p) { *p = '}'; } }
}
extern "C" { __global__ void __launch_bounds__(256) in_braces(const float* const p, Point q) {} }
}
extern "C" __global__ void declared(int);
template <class T> __global__ void no_name(T* p) { __syncthreads(); }
void direct() { const char* text = "}"; __syncthreads(); }
void indirect(int n) { for (int i = 0; i < n; ++i) { direct(); } }
void harmless() { int directly = 1; }
extern "C" __global__ void waits() { __shfl_down_sync(1, 2, 3); }
extern "C" __global__ void waits_in_function() { indirect(3); }
extern "C" __global__ void does_not_wait() { harmless(); }
"""


def test_kernels_with_their_namespaces_and_barriers() -> None:
    assert find_kernels(SOURCE) == [
        KernelSource("deep", "a::b::c", has_barriers=False),
        KernelSource("in_braces", "a", has_barriers=False),
        KernelSource("waits", "", has_barriers=True),
        KernelSource("waits_in_function", "", has_barriers=True),
        KernelSource("does_not_wait", "", has_barriers=False),
    ]


def test_shared_memory_is_translated_for_the_host() -> None:
    source = "extern __shared__ unsigned char bytes[];\n__shared__  alignas(16) float tile[4];\n"
    assert for_host(source) == (
        "unsigned char* bytes = static_cast<unsigned char*>(::simulated::dynamic_shared());\n"
        "alignas(16)  __shared__ float tile[4];\n"
    )


def test_missing_requirement_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler -O1")
    assert build.missing() == "not available: no-such-compiler, to compile for the host"
    monkeypatch.setenv("CXX", "g++")
    monkeypatch.setattr(build, "headers", lambda: None)
    monkeypatch.setattr(shutil, "which", lambda name: name)
    assert build.missing() == "not available: cuda.h (package nvidia-cuda-runtime-cu12)"


def test_only_what_changed_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if lacks := build.missing():
        pytest.skip(lacks)
    build.build()
    commands = []
    run = subprocess.run

    def note(command: list[str], **options: object) -> object:
        commands.append(command)
        return run(command, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "run", note)

    def compiled() -> list[str]:
        folder = build.build(kernels=[tmp_path], into=tmp_path / "built")
        assert (folder / build.SONAME).stat().st_size > 0
        names = [Path(word).suffix for command in commands for word in command if word != "-E"]
        commands.clear()
        return sorted({name for name in names if name in (".cpp", ".new")})

    (tmp_path / "own.hpp").write_text("#define VALUE 1\n")
    kernel = 'extern "C" __global__ void own(int* p) { *p = VALUE; }\n'
    # Files may have functions of the same name, as they are modules of their own.
    kernel += "namespace simulated_tests { int sum_of_block(int*, int) { return VALUE; } }\n"
    (tmp_path / "own.cu").write_text('#include "own.hpp"\n' + kernel)
    assert compiled() == [".cpp", ".new"]
    assert compiled() == []
    # All that a kernel is compiled from is older than the headers of device code.
    built = tmp_path / "built"
    changed = next(built.glob("*.gch"), build.HERE / build.DEVICE).stat().st_mtime_ns
    for path in (*tmp_path.glob("own.*"), *built.glob("own*")):
        os.utime(path, ns=(changed - 1, changed - 1))
    assert compiled() == [".cpp", ".new"]
    (tmp_path / "own.hpp").write_text("#define VALUE 2\n")
    assert compiled() == [".cpp", ".new"]
    (tmp_path / "own.hpp").write_text("#define VALUE no_value\n")
    with pytest.raises(RuntimeError, match=r"own\.hpp:1:15: error: .no_value"):
        compiled()
    (tmp_path / "own.cu").unlink()
    commands.clear()
    assert compiled() == [".new"]
