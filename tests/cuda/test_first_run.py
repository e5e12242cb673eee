"""The program for the first machine with a GPU runs its steps, and records what happened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from docs.generator import benchmarks
from tests.cuda.simulated_driver import run_simulated
from tests.gpu import first_run
from tests.hanging import HANG_SECONDS

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "tests" / "gpu" / "first_run.py"


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """Lay out a folder as if the library were installed there."""
    folder = tmp_path / "packages"
    (folder / "checkout").mkdir(parents=True)
    (folder / "dali_core").symlink_to(ROOT / "dali_core")
    for name in first_run.COPIED:
        (folder / "checkout" / name).symlink_to(ROOT / name)
    return folder


def make_wheel(folder: Path, name: str, files: dict[str, str], tag: str = "py3-none-any") -> None:
    about = f"{name}-1.0.dist-info"
    record = {
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{about}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n",
        f"{about}/RECORD": "",
    }
    with zipfile.ZipFile(folder / f"{name}-1.0-{tag}.whl", "w") as wheel:
        for path, text in (files | record).items():
            wheel.writestr(path, text)


def start(packages: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the program without any driver."""
    return subprocess.run(
        [sys.executable, PROGRAM, *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=packages.parent,
        env=os.environ | {"DALI_CORE_PACKAGES": str(packages), "LD_LIBRARY_PATH": ""},
        timeout=HANG_SECONDS,
    )


# Installing


@pytest.mark.parametrize("others_have_a_file", [False, True])
def test_installing_hides_no_package_of_cuda(tmp_path: Path, others_have_a_file: bool) -> None:
    """JAX takes the first `nvidia.cu13` of the path, which must be the one with CUDA."""
    wheels, packages, others = (tmp_path / name for name in ("wheels", "packages", "others"))
    wheels.mkdir()
    library = (
        "class cuda:\n  device_name = staticmethod(lambda number: f'device {number}')\n"
        "import sys; sys.modules['dali_core.cuda'] = cuda\n"
    )
    make_wheel(wheels, "dali_core", {"dali_core/__init__.py": library})
    codec = {"nvidia/__init__.py": "", "nvidia/nvimgcodec/__init__.py": "found = True"}
    make_wheel(wheels, "nvidia_nvimgcodec_cu13", codec)
    make_wheel(wheels, "nvidia_nvjpeg", {"nvidia/cu13/lib/libnvjpeg.so.13": "nvJPEG"})
    done = start(packages, "install", wheels)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"{packages / 'dali_core' / '__init__.py'} (device 0)"
    assert (packages / "checkout" / "tests" / "gpu" / "first_run.py").exists()
    assert not (packages / "checkout" / "dali_core").exists()
    assert (packages / "nvidia/nvimgcodec/.libs/libnvjpeg.so.13").read_text() == "nvJPEG"
    (others / "nvidia" / "cu13" / "lib").mkdir(parents=True)
    if others_have_a_file:
        (others / "nvidia" / "__init__.py").touch()
    program = "import nvidia.cu13, nvidia.nvimgcodec as n; print(nvidia.cu13.__path__[0], n.found)"
    found = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(packages), str(others)])},
    )
    assert found.stdout.split() == [str(others / "nvidia" / "cu13"), "True"]


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ([], "must have one wheel of dali_core (found no wheels)"),
        (["cp36-cp36m-linux_x86_64"], "is for Python 3.6 (this is 3."),
        (["py2-none-any"], "pip must install the wheels"),
        (["py2-none-any", "py3-none-any"], "must have one wheel of dali_core (found dali_core-1"),
    ],
    ids=["no wheel", "another Python", "another system", "two wheels"],
)
def test_wrong_wheels_are_errors(tmp_path: Path, tags: list[str], message: str) -> None:
    for tag in tags:
        make_wheel(tmp_path, "dali_core", {"dali_core/__init__.py": ""}, tag)
    done = start(tmp_path / "packages", "install", tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("packages*"))


# Steps


def run_step(packages: Path, *arguments: str) -> dict[str, Any]:
    """Run a step with the simulated driver, and return its record."""
    results = packages.parent / "results"
    command = [sys.executable, str(PROGRAM), *arguments, "--results", str(results)]
    run_simulated(
        f"import subprocess\nsubprocess.run({command!r}, check=True)\n",
        env={"DALI_CORE_PACKAGES": str(packages)},
    )
    record: dict[str, Any] = json.loads((results / f"{arguments[0]}.json").read_text("utf-8"))
    return record


def test_step_is_recorded(packages: Path, tmp_path: Path) -> None:
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    record = run_step(packages, "kernels", "--quick")
    assert record["exit_status"] == 0
    assert record["device"] == "Simulated device"
    assert "of a copy" in record["printed"]
    page = benchmarks.page(pictures, packages.parent / "results" / "benchmarks")
    assert "## GPU kernels, " in page
    assert "- Simulated device, driver for CUDA " in page
    assert "| transpose to CHW, kernel | bytes per second | " in page


def test_gpu_tests_need_only_listed_packages(packages: Path) -> None:
    """Without PyAV and others, the tests of the operators that need them are skipped."""
    hidden = packages.parent / "hidden"
    for name in ("av", "astropy"):
        (hidden / name).mkdir(parents=True)
        (hidden / name / "__init__.py").write_text(
            f"raise ModuleNotFoundError('no {name}', name={name!r})\n"
        )
    program = """
from tests.cuda.operators_on_device import items_here
items, missing = items_here()
print(len(items) > 200, missing["decoders.video"], missing["experimental.readers.fits"], sep="|")
"""
    found = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(hidden), str(ROOT)])},
        timeout=HANG_SECONDS,
    )
    assert found.stdout.strip() == "True|not available: PyAV|not available: Astropy"


def test_without_a_device(packages: Path, tmp_path: Path) -> None:
    done = start(packages, "order")
    assert done.returncode == 2
    assert "There must be a GPU (got " in done.stdout
    record = json.loads((tmp_path / "results" / "order.json").read_text("utf-8"))
    assert record["exit_status"] == 2
    assert record["device"].startswith("none (")


def test_results_that_cannot_be_written(packages: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = start(packages, "order", "--results", tmp_path / "file")
    assert done.returncode == 2
    assert "must be a folder that can be written" in done.stderr
    # All that is written there is lost: the disk is full.
    (tmp_path / "full").mkdir()
    for name in ("order.log", "order.json"):
        (tmp_path / "full" / name).symlink_to("/dev/full")
    done = start(packages, "order", "--results", tmp_path / "full")
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    printed = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert json.loads(printed[0])["exit_status"] == 2  # the whole record


def test_library_from_another_folder_is_an_error(packages: Path) -> None:
    (packages / "dali_core").unlink()
    done = start(packages, "order")
    assert done.returncode == 2
    assert f"the library must come from {packages}" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "install or a step"),
        (["order_and_more"], "invalid choice: 'order_and_more'"),
        (["order"], "install WHEELS` must come first"),
    ],
)
def test_wrong_uses_are_errors(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = start(tmp_path / "packages", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


# What a command may do


@pytest.fixture
def follow(
    packages: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[[str, float], tuple[int, str]]:
    """Run a shell command as a step does, and return its status and what it printed."""
    monkeypatch.setattr(first_run, "PACKAGES", packages)

    def run(script: str, seconds: float) -> tuple[int, str]:
        output = first_run.Output(tmp_path / "log")
        status = first_run.run_command(["sh", "-c", script], output, seconds)
        output.close()
        assert (tmp_path / "log").read_text("utf-8") == output.kept
        return status, output.kept

    return run


def test_command_output_is_logged_until_timeout(
    follow: Callable[[str, float], tuple[int, str]],
) -> None:
    assert follow("echo first; echo second >&2; exit 3", HANG_SECONDS) == (3, "first\nsecond\n")
    # A child that outlives its parent does not delay the end.
    assert follow("sleep 1000 & echo done", HANG_SECONDS) == (0, "done\n")
    status, printed = follow("echo begun; sleep 1000 & sleep 1000", 1)
    assert status == first_run.TIMED_OUT
    assert printed == "begun\n\nThe step was ended after 1 seconds.\n"


def test_interrupted_command_is_recorded(
    follow: Callable[[str, float], tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    status, printed = follow(f"kill -TERM {os.getpid()}; sleep 1000", HANG_SECONDS)
    assert status == first_run.INTERRUPTED
    assert printed.endswith("The step was interrupted (SIGTERM).\n")
