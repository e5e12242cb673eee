"""Modules and launches of their kernels."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.cuda.simulated_driver import run_program

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
    run_program(
        "module/module_matches_the_compute_capability",
        arguments=[chosen],
        env={"DALI_CORE_SIMULATED_COMPUTE_CAPABILITY": capability},
    )


def test_modules_are_loaded_once_per_device() -> None:
    run_program("module/modules_are_loaded_once_per_device", devices=2)


def test_kernel_arguments(modules: Path) -> None:
    run_program("module/kernel_arguments", arguments=[str(modules)])


def test_failed_launches(modules: Path) -> None:
    run_program("module/failed_launches", arguments=[str(modules)], devices=2)
