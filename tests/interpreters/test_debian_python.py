"""Interpreters of Debian: errors where they cannot be fetched, and the ones in the cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interpreters import debian_python
from tests.interpreters.__main__ import main
from tests.interpreters.debian_python import NotAvailableError, cache_folder, find_or_fetch

# Nothing listens there.
UNREACHABLE = "http://127.0.0.1:9/debian"
PROGRAM = """
import json, os, subprocess, sys, sysconfig
child = [sys.executable, "-c", "import sys; print(sys.version_info[:2])"]
print(json.dumps({
    "version": "%d.%d" % sys.version_info[:2],
    "child": subprocess.run(child, capture_output=True, text=True).stdout.strip(),
    "headers": [
        os.path.isfile(os.path.join(sysconfig.get_path("include"), name))
        for name in ("Python.h", "pyconfig.h")
    ],
}))
"""


def test_missing_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian_python, "_search_path", lambda: str(tmp_path))
    with pytest.raises(NotAvailableError, match="there is no apt-get"):
        find_or_fetch("3.15", tmp_path / "cache")


def make_program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.mark.parametrize(
    "answer",
    [
        # apt-get update ends with success where it could not connect.
        "echo 'W: Failed to fetch http://deb.debian.org' >&2; exit 0",
        "echo 'E: Unable to locate package python3.99' >&2; exit 100",
    ],
)
def test_debian_that_cannot_be_reached(
    answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("dpkg", "patchelf"):
        make_program(programs / name, "exit 0")
    make_program(programs / "apt-get", answer)
    key = tmp_path / "keyring"
    key.touch()
    monkeypatch.setattr(debian_python, "KEYRING", key)
    path = os.pathsep.join([str(programs), "/usr/bin", "/bin"])
    monkeypatch.setattr(debian_python, "_search_path", lambda: path)
    said = answer.split("'")[1]
    for _ in range(2):  # a folder that is left unfinished is not taken for an interpreter
        with pytest.raises(NotAvailableError, match=said):
            find_or_fetch("3.99", tmp_path / "cache", UNREACHABLE)


def test_versions_that_are_not_available(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(debian_python, "_search_path", lambda: str(tmp_path))
    main(["3.99", f"{sys.version_info.major}.{sys.version_info.minor}"])
    printed = capsys.readouterr()
    assert printed.out == f"{os.environ['PATH']}\n"
    assert printed.err == "not available: Python 3.99 of Debian: there is no apt-get\n"


@pytest.mark.parametrize("version", ["3.14", "3.15"])
def test_fetched_interpreters_are_programs_with_headers(version: str) -> None:
    if not (cache_folder() / f"python-{version}" / "finished").is_file():
        pytest.skip(f"not available: Python {version} of Debian in the cache")
    python = find_or_fetch(version)
    result = subprocess.run(
        [python, "-c", PROGRAM], capture_output=True, text=True, check=False, env={}
    )
    assert result.returncode == 0, result.stderr
    major, minor = version.split(".")
    assert json.loads(result.stdout) == {
        "version": version,
        "child": f"({major}, {minor})",
        "headers": [True, True],
    }
