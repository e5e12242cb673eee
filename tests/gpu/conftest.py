"""Tests that need an NVIDIA GPU: ``tox -e gpu``.

Without one they are skipped; with ``DALI_CORE_REQUIRE_GPU=1``, which tox sets, they fail.
"""

from __future__ import annotations

import os

import pytest

from dali_core import cuda
from dali_core.errors import CudaError


@pytest.fixture(scope="session")
def missing_gpu() -> str:
    """Return the reason why there is no GPU; empty if there is one."""
    try:
        cuda.device_count()
    except CudaError as error:
        return f"not available: a GPU ({error})"
    return ""


@pytest.fixture(autouse=True)
def _needs_gpu(missing_gpu: str) -> None:
    if missing_gpu and os.environ.get("DALI_CORE_REQUIRE_GPU") == "1":
        pytest.fail(missing_gpu, pytrace=False)
    elif missing_gpu:
        pytest.skip(missing_gpu)
