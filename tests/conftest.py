"""Settings of all tests."""

from __future__ import annotations

import faulthandler
import gc
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Neither a deadline nor a check of the speed, since both depend on the load of the machine.
# Examples are the same in every run, unless `--hypothesis-profile=random` draws others.
settings.register_profile("random", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("random"), derandomize=True)
settings.load_profile("same")

_passed = itertools.count(1)


@pytest.fixture(scope="session")
def video() -> Callable[[str], Path]:
    """Return the path of a video of `tests.video_files`; all environments share the files."""
    pytest.importorskip("av", reason="not available: PyAV")
    from tests.video_files import shared

    return shared


@pytest.fixture(scope="session", autouse=True)
def caches_of_indices(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep indices of files apart from those of the user and of other test runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DALI_CORE_VIDEO_CACHE", str(tmp_path_factory.mktemp("video_indices")))
        patch.setenv("DALI_CORE_INDEX_CACHE", str(tmp_path_factory.mktemp("record_indices")))
        yield


@pytest.fixture(scope="module", autouse=True)
def nothing_old_is_collected() -> None:
    """Exclude objects of other test files from garbage collections, for speed."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl
def pytest_report_teststatus(
    report: pytest.CollectReport | pytest.TestReport,
) -> tuple[str, str, str] | None:
    """Write one dot for twenty tests: each is written by itself, and starts a thread of tox."""
    # Tests that pass although they are expected to fail, and parts of tests, are reported as ever.
    is_plain = type(report) is pytest.TestReport and not hasattr(report, "wasxfail")
    if not is_plain or report.when != "call" or not report.passed or next(_passed) % 20 == 0:
        return None
    return "passed", "", "PASSED"


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """End a process that does not end by itself after its tests, and say where it was."""
    faulthandler.dump_traceback_later(300, exit=True, file=sys.__stderr__)
