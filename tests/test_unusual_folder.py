"""The library and its tests work in a folder with an unusual path, from reading to workers."""

from __future__ import annotations

from pathlib import Path

from tests.unusual_folder import copy_of_checkout, run_tests

TESTS = (
    *("tests/test_stubs.py", "tests/runtime/test_workers.py"),
    *("tests/operators/readers/test_file.py", "tests/operators/readers/test_webdataset.py"),
    *("tests/operators/readers/test_saved_folders.py", "tests/commands/test_index.py"),
    *("tests/pipeline/test_serialization.py", "tests/operators/video/test_video_processes.py"),
    "tests/inspection/test_drawing.py",
)
"""What handles paths: sources, caches, processes, programs that are started."""


def test_an_unusual_folder(tmp_path: Path) -> None:
    printed = run_tests(copy_of_checkout(tmp_path), *TESTS)
    assert " passed" in printed
