"""Names are compared with NVIDIA DALI in a folder with an unusual path, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unusual_folder import copy_of_checkout, run_tests

pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")


def test_undecodable_and_unusual_file_names(tmp_path: Path) -> None:
    assert " passed" in run_tests(
        copy_of_checkout(tmp_path), "tests/conformance/test_public_names.py"
    )
