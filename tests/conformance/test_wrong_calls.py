"""An `except` clause that catches an error of NVIDIA DALI for a wrong call catches ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.comparing import reference
from tests.conformance.wrong_calls import compare, right_calls

pytestmark = pytest.mark.filterwarnings("ignore")


def test_errors_of_all_operators(tmp_path: Path) -> None:
    num_refused = 0
    for right in right_calls(tmp_path):
        number, missed = compare(reference, right, 10)
        assert missed == []
        num_refused += number
    assert num_refused > 400
