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


def test_an_input_takes_a_short_way_into_the_graph() -> None:
    files = measures.calls_of_cast()
    assert files[0].startswith("dali_core/_graph/")
    assert "dali_core/_call/bind.py" in files
    assert len(measures.stays(files)) <= 12, measures.stays(files)
    assert measures.climbs(files) <= 2


def test_an_iterator_is_divided_among_few_files() -> None:
    pytest.importorskip("torch", reason="not available: torch")
    pytest.importorskip("dali_core_pytorch", reason="not available: dali_core_pytorch")
    assert len(set(measures.files_of_iterators())) <= 6


def test_stays_are_changes_of_file_and_climbs_are_ways_up() -> None:
    graph, call = "dali_core/_graph/graph.py", "dali_core/_call/bind.py"
    assert measures.stays([graph, graph, call, graph]) == [graph, call, graph]
    assert measures.climbs([graph, call, graph, call]) == 1
    assert measures.stays([]) == []
    assert measures.climbs([]) == 0
