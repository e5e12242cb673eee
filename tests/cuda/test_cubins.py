"""Every kernel of the sources is in the list of kernels, and compiled for all architectures."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from building.cubins import ARCHITECTURES, PTX_ARCHITECTURE, find_sources, outputs
from tests.cuda.cubin_symbols import CUDA_MACHINE, read_architecture, read_kernels, read_machine

ROOT = Path(__file__).parents[2]
CUBINS = ROOT / "dali_core" / "_cuda" / "cubins"
SOURCES = find_sources(ROOT)
WRITTEN_OUT = re.compile(
    r'extern "C"\s+__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\('
)

pytestmark = pytest.mark.skipif(
    not (CUBINS / "kernels.json").exists(), reason="the library was built without CUDA"
)


def kernels_of(stem: str) -> set[str]:
    kernels = json.loads((CUBINS / "kernels.json").read_text(encoding="utf-8"))
    return {name for name, module in kernels.items() if module == stem}


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_kernels_are_listed(source: Path) -> None:
    text = source.read_text(encoding="utf-8")
    without_macros = re.sub(r"^[ \t]*#[ \t]*define(?:.*\\\n)*.*$", "", text, flags=re.MULTILINE)
    listed = kernels_of(source.stem)
    assert listed
    assert set(WRITTEN_OUT.findall(without_macros)) <= listed


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_cubins_have_all_kernels(source: Path, architecture: int) -> None:
    cubin = gzip.decompress((CUBINS / f"{source.stem}.sm_{architecture}.cubin.gz").read_bytes())
    assert read_machine(cubin) == CUDA_MACHINE
    assert read_architecture(cubin) == architecture
    assert read_kernels(cubin) == kernels_of(source.stem)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_ptx_has_all_kernels(source: Path) -> None:
    ptx = gzip.decompress((CUBINS / f"{source.stem}.ptx.gz").read_bytes()).decode("ascii")
    assert f".target sm_{PTX_ARCHITECTURE}\n" in ptx
    assert all(f".visible .entry {name}(" in ptx for name in kernels_of(source.stem))


def test_no_other_kernels_exist() -> None:
    expected = {name for source in SOURCES for name in outputs(source.stem)}
    assert {file.name for file in CUBINS.iterdir()} == {*expected, "kernels.json"}
    kernels = json.loads((CUBINS / "kernels.json").read_text(encoding="utf-8"))
    assert set(kernels.values()) == {source.stem for source in SOURCES}
    assert kernels["copy_rows"] == "copy"
