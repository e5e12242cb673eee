"""Device code is compiled when something that it was made from has changed, and only then."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

import build_cubins
from build_cubins import CubinError, build, find_headers, find_nvrtc

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

needs_nvrtc = pytest.mark.skipif(find_nvrtc() is None, reason="NVRTC 12.9 is not installed")


def write_module(root: Path, stem: str, kernel: str, group: str = "numbers") -> Path:
    folder = root / "dali_core" / "operators" / group
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{stem}.hpp").write_text(RULE)
    (folder / f"{stem}.cu").write_text(KERNEL.format(stem=stem, kernel=kernel))
    return folder


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a library of two modules, for two architectures so that tests are quick."""
    monkeypatch.setattr(build_cubins, "ARCHITECTURES", (80, 90))
    shims = "dali_core/_cuda/nvrtc_headers"
    shutil.copytree(ROOT / shims, tmp_path / shims)
    shared = tmp_path / "dali_core" / "include" / "dali_core"
    shared.mkdir(parents=True)
    (shared / "numbers.hpp").write_text(SHARED)
    write_module(tmp_path, "one", "first")
    write_module(tmp_path, "two", "second")
    return tmp_path


def compiled(root: Path, target: Path) -> list[str]:
    """Build, and tell which modules were compiled."""
    cache = root / "build" / "cubins"
    before = {folder.name for folder in cache.iterdir()} if cache.exists() else set()
    build(root, target)
    return sorted(
        folder.name.partition("-")[0] for folder in cache.iterdir() if folder.name not in before
    )


@needs_nvrtc
def test_compiles_what_has_changed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    assert compiled(root, target) == ["one", "two"]
    assert json.loads((target / "kernels.json").read_text()) == {"first": "one", "second": "two"}
    assert sorted(file.name for file in target.glob("one.*")) == [
        *("one.ptx", "one.sm_80.cubin", "one.sm_90.cubin"),
    ]
    first = {file: file.stat().st_mtime_ns for file in target.iterdir()}
    for file in (root / "dali_core").rglob("*.*"):
        os.utime(file)
    assert compiled(root, target) == []
    assert {file: file.stat().st_mtime_ns for file in target.iterdir()} == first

    rule = root / "dali_core" / "operators" / "numbers" / "one.hpp"
    rule.write_text(RULE.replace("1.f", "3.f"))
    assert compiled(root, target) == ["one"]
    shared = root / "dali_core" / "include" / "dali_core" / "numbers.hpp"
    shared.write_text(SHARED.replace("x / 2", "x / 4"))
    assert compiled(root, target) == ["one", "two"]
    shim = root / "dali_core" / "_cuda" / "nvrtc_headers" / "limits"
    shim.write_text(shim.read_text().replace("0x1p-23f", "0x1p-22f"))
    assert compiled(root, target) == ["one", "two"]
    monkeypatch.setattr(build_cubins, "OPTIONS", (*build_cubins.OPTIONS, "--dopt=on"))
    assert compiled(root, target) == ["one", "two"]
    assert len(list((root / "build" / "cubins").iterdir())) == 2


@needs_nvrtc
def test_what_has_no_source_any_more_goes(root: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    build(root, target)
    (root / "dali_core" / "operators" / "numbers" / "one.cu").unlink()
    build(root, target)
    assert not list(target.glob("one.*"))
    assert json.loads((target / "kernels.json").read_text()) == {"second": "two"}


@needs_nvrtc
def test_a_version_of_its_own_is_compiled_for_another_nvrtc(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvrtc = find_nvrtc()
    assert nvrtc is not None
    source = root / "dali_core" / "operators" / "numbers" / "one.cu"
    newer = build_cubins.Nvrtc("12.9.999", nvrtc.folder)
    digests = {build_cubins.digest(root, source, each) for each in (nvrtc, newer)}
    assert len(digests) == 2


def test_headers_are_found_through_headers(root: Path) -> None:
    source = root / "dali_core" / "operators" / "numbers" / "one.cu"
    names = [header.name for header in find_headers(root, source)]
    assert set(names) >= {"one.hpp", "numbers.hpp", "limits", "type_traits", "cstddef"}
    assert len(set(names)) == len(names)


@needs_nvrtc
def test_errors_tell_file_and_line(root: Path, tmp_path: Path) -> None:
    rule = root / "dali_core" / "operators" / "numbers" / "one.hpp"
    rule.write_text(RULE + "float other() { return nothing; }\n")
    with pytest.raises(CubinError, match=r'one\.hpp\(4\): error: identifier "nothing"'):
        build(root, tmp_path / "out")
    rule.write_text(RULE + "DC_HOST_DEV void other() { int unused; }\n")
    with pytest.raises(CubinError, match=r"one\.hpp\(4\): warning"):
        build(root, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    rule.write_text(RULE)
    assert compiled(root, tmp_path / "out") == ["one"]


@needs_nvrtc
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('extern "C" ', ""), 'kernels must be extern "C" (got _Z'),
        (("__global__", "__device__"), "there must be a kernel"),
        (("first", "second"), "second is the name of a kernel in one.cu"),
    ],
    ids=["mangled", "none", "twice"],
)
def test_kernels_must_be_found_by_name(
    root: Path, tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    source = root / "dali_core" / "operators" / "numbers" / "one.cu"
    source.write_text(source.read_text().replace(*change))
    with pytest.raises(CubinError) as caught:
        build(root, tmp_path / "out")
    assert message in str(caught.value)


def test_stems_must_differ(root: Path, tmp_path: Path) -> None:
    write_module(root, "one", "third", group="others")
    with pytest.raises(CubinError, match="must differ in name"):
        build_cubins.find_sources(root)


def test_switch(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def installed(package: str) -> str:
        if version == "none":
            raise build_cubins.importlib.metadata.PackageNotFoundError(package)
        return version

    target = tmp_path / "out"
    target.mkdir()
    (target / "stale.sm_80.cubin").touch()
    monkeypatch.setattr(build_cubins.importlib.metadata, "version", installed)
    for version in ("none", "12.1.105", "13.0.1"):
        monkeypatch.setenv("DALI_CORE_WITH_CUDA", "1")
        with pytest.raises(CubinError, match=rf"12\.9\.\* \(installed: {version}\)"):
            build(root, target)
        monkeypatch.setenv("DALI_CORE_WITH_CUDA", "")
        build(root, target)
        assert capsys.readouterr().out.count("\n") == 1
    assert not list(target.iterdir())
    monkeypatch.setenv("DALI_CORE_WITH_CUDA", "0")
    monkeypatch.delattr(build_cubins.importlib.metadata, "version")
    build(root, target)
    assert not list(target.iterdir())
    assert capsys.readouterr().out == ""
