"""Runs the checks of `operators_on_device.py` in a process that uses the simulated driver."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cuda.operators_on_device import all_items
from tests.cuda.simulated_driver import run_simulated
from tests.hanging import HANG_SECONDS

ITEMS = list(enumerate(all_items()))
EVERY_ITEM = pytest.mark.parametrize(
    "number", [pytest.param(number, id=f"{name}-{each.name}") for number, (name, each) in ITEMS]
)
PROGRAM = """
from tests.cuda.operators_on_device import main
from tests.cuda.small_pipeline import left

main({!r}, *{!r}, left=left)
"""


class OperatorLog:
    """The results of one process for all examples, so that each is a separate test."""

    def __init__(self, path: Path, *checks: str, sanitize: bool = False) -> None:
        self.ending = ""
        try:
            program = PROGRAM.format(str(path), checks)
            run_simulated(program, sanitize=sanitize, timeout=6 * HANG_SECONDS)
        except AssertionError as error:
            self.ending = str(error)
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        self.lines = [json.loads(line) for line in lines]

    def check(self, number: int) -> None:
        """Check the result for an example."""
        __tracebackhide__ = True
        operator, example = ITEMS[number][1]
        assert number < len(self.lines), f"the process ended before: {self.ending}"
        assert self.lines[number][:2] == [operator, example.name]
        assert not self.lines[number][2], self.lines[number][2]
        if missing := self.lines[number][3]:
            pytest.skip(missing)
