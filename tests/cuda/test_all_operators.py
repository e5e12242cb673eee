"""Every operator that runs on a device returns the same there as on the host.

The checks are those of `operators_on_device.py`, with the simulated driver; `tests/gpu` runs them
on real hardware.
"""

from __future__ import annotations

import sys

import pytest

from dali_core._registry.specs import known_specs
from dali_core._runtime.native_code import registered_device_names
from dali_core._spec import OpSpec
from tests.cuda.operator_log import EVERY_ITEM, ITEMS, OperatorLog
from tests.cuda.operators_on_device import CHECKS

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

OPERATORS = "dali_core.operators."


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> OperatorLog:
    return OperatorLog(tmp_path_factory.mktemp("log") / "log", *CHECKS)


@EVERY_ITEM
def test_device_equals_host(log: OperatorLog, number: int) -> None:
    log.check(number)


def test_process_exits_without_errors(log: OperatorLog) -> None:
    assert not log.ending
    assert len(log.lines) == len(ITEMS)


def described() -> list[OpSpec]:
    """Return all operators, also those that only others use."""
    known = list(known_specs().values())
    rooms = [module for name, module in sys.modules.items() if name.startswith(OPERATORS)]
    hidden = [each for room in rooms for each in vars(room).values() if isinstance(each, OpSpec)]
    return known + hidden


def test_operators_that_run_on_a_device_have_code_for_it() -> None:
    claimed = {
        spec.native.name
        for spec in described()
        if "gpu" in spec.devices and spec.python_step is None
    }
    assert claimed == set(registered_device_names())
