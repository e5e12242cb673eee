"""Device code is compiled if its inputs have changed, and only then."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from building import cubins, cuda_compilers
from building.cubins import find_headers, find_sources, list_kernels
from building.cuda_compilers import CubinError, find_compilers
from building.ninja_file import CUBINS, NinjaFile
from tests.hanging import HANG_SECONDS

ROOT = Path(__file__).parents[2]
KERNEL = """
#include "{stem}.hpp"
extern "C" __global__ void {kernel}(float* to) {{ to[threadIdx.x] = value(); }}
"""
RULE = """#pragma once
#include "dali_core/numbers.hpp"
DC_HOST_DEV float value() { return half(1.f); }
"""
SHARED = """#pragma once
#include <limits>
#define DC_HOST_DEV __host__ __device__ inline
DC_HOST_DEV float half(float x) { return x / 2 + std::numeric_limits<float>::epsilon(); }
"""

needs_compilers = pytest.mark.skipif(
    find_compilers() is None, reason="not available: NVRTC and ptxas 12.9"
)


def write_module(root: Path, stem: str, kernel: str, group: str = "numbers") -> Path:
    folder = root / "dali_core" / "operators" / group
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{stem}.hpp").write_text(RULE)
    (folder / f"{stem}.cu").write_text(KERNEL.format(stem=stem, kernel=kernel))
    return folder


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a library of two modules, and change to its folder."""
    shims = "dali_core/_cuda/nvrtc_headers"
    shutil.copytree(ROOT / shims, tmp_path / shims)
    shutil.copytree(ROOT / "building", tmp_path / "building")
    shared = tmp_path / "dali_core" / "include" / "dali_core"
    shared.mkdir(parents=True)
    (shared / "numbers.hpp").write_text(SHARED)
    write_module(tmp_path, "one", "first")
    write_module(tmp_path, "two", "second")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compiled(root: Path) -> list[str]:
    """Build, and return the modules that were compiled."""
    status, output = run_ninja(root)
    assert status == 0, output
    return sorted(re.findall(r"CUDA dali_core/operators/\w+/(\w+)\.cu", output))


def run_ninja(root: Path) -> tuple[int, str]:
    file = NinjaFile()
    file.add_cubins(root)
    (root / "build").mkdir(exist_ok=True)
    (root / "build" / "cubins.ninja").write_text(file.text())
    done = subprocess.run(
        [sys.executable, "-m", "ninja", "-f", "build/cubins.ninja"],
        cwd=root,
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )
    return done.returncode, done.stdout + done.stderr


@needs_compilers
def test_only_changed_kernels_are_compiled(root: Path) -> None:
    assert compiled(root) == ["one", "two"]
    listed = json.loads((root / CUBINS / "kernels.json").read_text())
    assert listed == {"first": "one", "second": "two"}
    made = {file.name for file in (root / CUBINS).glob("one.*")}
    assert made == {*cubins.outputs("one"), "one.d"}
    assert compiled(root) == []

    rule = root / "dali_core" / "operators" / "numbers" / "one.hpp"
    rule.write_text(RULE.replace("1.f", "3.f"))
    assert compiled(root) == ["one"]
    shared = root / "dali_core" / "include" / "dali_core" / "numbers.hpp"
    shared.write_text(SHARED.replace("x / 2", "x / 4"))
    assert compiled(root) == ["one", "two"]
    shim = root / "dali_core" / "_cuda" / "nvrtc_headers" / "limits"
    shim.write_text(shim.read_text().replace("0x1p-23f", "0x1p-22f"))
    assert compiled(root) == ["one", "two"]


@needs_compilers
def test_a_renamed_module_leaves_no_kernels(root: Path) -> None:
    compiled(root)
    folder = root / "dali_core" / "operators" / "numbers"
    (folder / "one.cu").rename(folder / "other.cu")
    assert compiled(root) == ["other"]
    listed = json.loads((root / CUBINS / "kernels.json").read_text())
    assert listed == {"first": "other", "second": "two"}


@needs_compilers
def test_new_options_compile_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled(root) == ["one", "two"]
    monkeypatch.setattr(cubins, "OPTIONS", (*cubins.OPTIONS, "--dopt=on"))
    assert compiled(root) == ["one", "two"]


def test_headers_are_found_through_headers(root: Path) -> None:
    source = root / "dali_core" / "operators" / "numbers" / "one.cu"
    names = [header.name for header in find_headers(root, source)]
    assert set(names) >= {"one.hpp", "numbers.hpp", "limits", "type_traits", "cstddef"}
    assert len(set(names)) == len(names)


@needs_compilers
def test_errors_name_file_and_line(root: Path) -> None:
    rule = root / "dali_core" / "operators" / "numbers" / "one.hpp"
    rule.write_text(RULE + "float other() { return nothing; }\n")
    status, output = run_ninja(root)
    assert status != 0
    assert re.search(r'one\.hpp\(4\): error: identifier "nothing"', output)
    rule.write_text(RULE + "DC_HOST_DEV void other() { int unused; }\n")
    status, output = run_ninja(root)
    assert status != 0
    assert re.search(r"one\.hpp\(4\): warning", output)
    assert not list((root / CUBINS).glob("one.*.cubin.gz"))
    rule.write_text(RULE)
    assert "one" in compiled(root)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["_Z5firstPf"], 'one.cu: kernels must be extern "C" (got _Z5firstPf)'),
        ([], "one.cu: there must be a kernel"),
        (["second"], "two.cu: second is the name of a kernel in one.cu"),
    ],
    ids=["mangled", "none", "twice"],
)
def test_kernels_must_be_found_by_name(tmp_path: Path, names: list[str], message: str) -> None:
    for stem, kernels in (("one", names), ("two", ["second"])):
        text = "".join(f".visible .entry {name}(\n" for name in kernels)
        (tmp_path / f"{stem}.ptx.gz").write_bytes(gzip.compress(text.encode()))
    with pytest.raises(CubinError) as caught:
        list_kernels(tmp_path)
    assert message in str(caught.value)


def test_stems_must_differ(root: Path) -> None:
    write_module(root, "one", "third", group="others")
    with pytest.raises(CubinError, match="must differ in name"):
        find_sources(root)


def test_environment_variable_switches_cubins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def installed(package: str) -> str:
        if version == "none":
            raise cuda_compilers.importlib.metadata.PackageNotFoundError(package)
        return version

    monkeypatch.setattr(cuda_compilers.importlib.metadata, "version", installed)
    for version in ("none", "12.1.105", "13.0.1"):
        monkeypatch.setenv("DALI_CORE_WITH_CUDA", "1")
        with pytest.raises(CubinError, match=rf"12\.9\.\* \(installed: {version}\)"):
            find_compilers()
        monkeypatch.setenv("DALI_CORE_WITH_CUDA", "")
        assert find_compilers() is None
        assert capsys.readouterr().out.count("\n") == 1
    monkeypatch.setenv("DALI_CORE_WITH_CUDA", "0")
    monkeypatch.delattr(cuda_compilers.importlib.metadata, "version")
    assert find_compilers() is None
    assert capsys.readouterr().out == ""
