"""Random programs of loops, breaks and states give what the model says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from dali_core import Pipeline
from dali_core.plugin.base_iterator import BaseIterator
from tests.plugin.epoch_model import PROGRAMS, Case, cases
from tests.plugin.random_programs import NAMES, SETTINGS, Values, check_program, write_files
from tests.state.listing import ListAdapter

# Epochs that are not the data set are allowed, too.
pytestmark = pytest.mark.filterwarnings(
    "ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning"
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return write_files(tmp_path_factory.mktemp("files"))


def make(pipelines: list[Pipeline], counting: dict[str, Any]) -> BaseIterator:
    return BaseIterator(pipelines, NAMES, ListAdapter(), **counting)


def values(iterator: BaseIterator, batch: Any) -> Values:
    return [
        [(label, uniform) for (label,), uniform in zip(part["label"], part["uniform"], strict=True)]
        for part in batch
    ]


@SETTINGS
@given(case=cases(), program=PROGRAMS)
def test_random_programs(files: list[str], case: Case, program: list[tuple[str, int]]) -> None:
    check_program(make, values, files, case, program)
