"""An adapter in a separate distribution is found, works, and passes the suite."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dali_core
from tests.hanging import HANG_SECONDS

PACKAGE = Path(__file__).parent / "numpy_adapter"
USE = """
import numpy
from dali_core import Pipeline, fn
from dali_core.adapters import get_adapter, list_adapters


pipeline = Pipeline(batch_size=2, num_threads=1)
with pipeline:
    source = [numpy.full((2, 3), value, numpy.uint8) for value in range(4)]
    pipeline.set_outputs(fn.external_source(source=source))
print("numpy" in list_adapters())
for batch in get_adapter("numpy").iterator(pipeline, ["data"]):
    print(type(batch[0]["data"]).__name__, batch[0]["data"][0, 0])
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment variables that make the installed example package importable."""
    # Built from a copy, since a build leaves files next to the sources.
    source = shutil.copytree(PACKAGE, tmp_path_factory.mktemp("source") / "numpy_adapter")
    target = tmp_path_factory.mktemp("target")
    install = ["pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    run([*install, "--disable-pip-version-check", "--target", str(target), str(source)])
    core = Path(dali_core.__file__).parents[1]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(target), str(core)])}


def run(arguments: list[str], environment: dict[str, str] | None = None) -> str:
    """Run a Python module and return its output."""
    result = subprocess.run(
        [sys.executable, "-m", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_entry_point_adapter_is_found_and_works(environment: dict[str, str]) -> None:
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", USE],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )
    assert result.stdout.splitlines() == ["True"] + [f"ndarray {value}" for value in range(4)], (
        result.stderr
    )


def test_passes_the_suite(environment: dict[str, str]) -> None:
    test = PACKAGE / "test_conformance.py"
    options = ["-q", "-p", "no:cacheprovider", "-W", "error", "--rootdir", str(PACKAGE)]
    output = run(["pytest", *options, "-c", os.devnull, str(test)], environment)
    assert "passed" in output
    assert "skipped" not in output
