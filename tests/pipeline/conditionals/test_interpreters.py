"""Programs are rewritten in the same way by all installed versions of Python."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from tests.pipeline.conditionals import rewritten_alone

VERSIONS = ["this one", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15"]


@pytest.mark.parametrize("version", VERSIONS)
def test_conditionals_on_every_python_version(version: str) -> None:
    python = sys.executable if version == "this one" else shutil.which(f"python{version}")
    if python is None or subprocess.run([python, "-V"], check=False).returncode != 0:
        pytest.skip(f"not available: Python {version}")
    command = [python, "-W", "error", rewritten_alone.__file__]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "41 programs\n"
