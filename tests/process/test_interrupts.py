"""No Ctrl-C is lost, at any time: while pipelines are created, run, closed and deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.process.interrupted import NOTHING_LOST, REBUILT, rebuild


@pytest.mark.parametrize("kind", REBUILT)
def test_no_interrupt_is_lost(kind: str, root: Path) -> None:
    assert rebuild(root, kind, 60) == NOTHING_LOST
