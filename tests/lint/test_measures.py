"""Bounds of the measures of structure, which only ever become smaller."""

from __future__ import annotations

import pytest

from tests.lint import measures
from tests.test_layout import PACKAGE


def test_graph_room_is_small() -> None:
    assert len(list((PACKAGE / "_graph").rglob("*.py"))) <= 20


def test_batch_size_is_known_to_batching() -> None:
    uses = measures.uses_of_batch_size()
    assert uses.total() <= 60, uses
    assert "dali_core/pipeline/_pipeline.py" in uses  # its argument


@pytest.mark.parametrize("name", measures.FORMATS)
def test_formats_are_known_to_few_files(name: str) -> None:
    found = measures.files_that_name(name)
    assert 1 <= len(found) <= 12, found


def test_changes_of_file_are_counted() -> None:
    assert measures.changes_of_file(["a", "a", "b", "a"]) == 2
    assert measures.changes_of_file([]) == 0
