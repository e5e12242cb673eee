"""`--conformance-report=FILE` writes the comparisons of the tests, and the differences, as JSON."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dali_core.plugin import iterator_state


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--conformance-report",
        metavar="FILE",
        type=Path,
        help="write what was compared with NVIDIA DALI to a JSON file",
    )


def pytest_configure(config: pytest.Config) -> None:
    # The option is not registered if this folder is not passed on the command line.
    if config.getoption("--conformance-report", default=None) is not None:
        if config.getoption("numprocesses", default=None):
            raise pytest.UsageError(
                "--conformance-report: must be written by one process (got several). Add -n 0."
            )
        config.pluginmanager.register(Recorder(config.getoption("--conformance-report")))


@pytest.fixture
def _no_garbage_in_children() -> Iterator[None]:
    """Keep what is there from being collected in children of a test that forks.

    A pipeline of the reference waits there for threads that only its own process has.
    """
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


class Recorder:
    """Records both libraries in all tests and writes the report at the end."""

    def __init__(self, path: Path) -> None:
        import nvidia.dali
        import nvidia.dali.fn

        import dali_core
        from tests.conformance.recording import Watch, our_origins
        from tests.conformance.recording_report import Report

        self._path = path
        self._reference = nvidia.dali
        self._watches = (
            Watch(nvidia.dali.fn, nvidia.dali.Pipeline),
            Watch(dali_core.fn, dali_core.Pipeline, our_origins),
        )
        self._report = Report()
        self._patch = pytest.MonkeyPatch()
        for watch in self._watches:
            watch.start(self._patch)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        for watch in self._watches:
            watch.clear()
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        from tests.conformance.recording import pairs

        # The tests of the report itself create batches that differ.
        is_own = "test_recording" in report.nodeid
        if report.when == "call" and report.passed and not is_own:
            self._report.add(pairs(*self._watches))

    def pytest_sessionfinish(self) -> None:
        self._patch.undo()
        found: dict[str, Any] = self._report.as_dict(self._reference)
        self._path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


@pytest.fixture(autouse=True)
def _iterators_as_in_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have iterators begin epochs as they do under the name of the reference."""
    monkeypatch.setattr(iterator_state, "stands_in_for_reference", lambda: True)
