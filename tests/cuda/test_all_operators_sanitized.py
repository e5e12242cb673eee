"""Kernels access only their memory: otherwise AddressSanitizer aborts the process."""

from __future__ import annotations

import pytest

from tests.cuda.operator_log import EVERY_ITEM, OperatorLog

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> OperatorLog:
    checks = ("outputs_on_the_device", "arguments_of_samples", "chains")
    return OperatorLog(tmp_path_factory.mktemp("log") / "log", *checks, sanitize=True)


@EVERY_ITEM
def test_kernels_stay_within_their_memory(log: OperatorLog, number: int) -> None:
    log.check(number)


def test_process_exits_without_errors(log: OperatorLog) -> None:
    assert not log.ending
