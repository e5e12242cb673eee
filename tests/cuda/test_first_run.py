"""The script for the first machine with a GPU runs its steps, and records what happened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.cuda.simulated_driver import run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tests" / "gpu" / "first_run.sh"


def make_wheel(folder: Path, name: str, files: dict[str, str]) -> None:
    about = f"{name}-1.0.dist-info"
    record = {
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": "",
    }
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        for path, text in (files | record).items():
            wheel.writestr(path, text)


def test_installing_hides_no_package_of_cuda(tmp_path: Path) -> None:
    wheels, packages = tmp_path / "wheels", tmp_path / "packages"
    wheels.mkdir()
    make_wheel(wheels, "dali_core", {"dali_core/__init__.py": ""})
    make_wheel(wheels, "codec", {"nvidia/__init__.py": "", "nvidia/codec/__init__.py": ""})
    subprocess.run(
        [SCRIPT, "install", str(wheels)],
        check=True,
        capture_output=True,
        env=os.environ | {"PYTHON": sys.executable, "DALI_CORE_PACKAGES": str(packages)},
        timeout=120,
    )
    assert (packages / "nvidia" / "codec" / "__init__.py").exists()
    assert not (packages / "nvidia" / "__init__.py").exists()
    assert (packages / "checkout" / "tests" / "gpu" / "first_run.sh").exists()
    assert not (packages / "checkout" / "dali_core").exists()


def test_a_step_is_recorded(tmp_path: Path) -> None:
    checkout = tmp_path / "packages" / "checkout"
    checkout.mkdir(parents=True)
    for name in ("tests", "benchmarks", "building", "examples", "pyproject.toml", "dali_core"):
        (checkout / name).symlink_to(ROOT / name)
    run_simulated(
        f"""
import subprocess
subprocess.run([{str(SCRIPT)!r}, "kernels", {str(tmp_path / "results")!r}], check=True)
""",
        env={
            "PYTHON": sys.executable,
            "DALI_CORE_PACKAGES": str(checkout.parent),
            "DALI_CORE_QUICK": "1",
        },
    )
    record = json.loads((tmp_path / "results" / "kernels.json").read_text("utf-8"))
    assert record["exit_status"] == 0
    assert "Simulated" in record["device"]
    assert "of a copy" in record["printed"]


@pytest.mark.parametrize("arguments", [[], ["order_and_more"]])
def test_unknown_steps_are_errors(arguments: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [SCRIPT, *arguments],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"DALI_CORE_PACKAGES": str(tmp_path)},
        timeout=60,
    )
    assert done.returncode == 2
    assert "correctness operators order kernels pipeline frameworks" in done.stderr
