"""What all commands of ``dali-core`` share: help, errors, interrupts and pipes."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

from dali_core import commands
from dali_core.__main__ import main
from dali_core.commands import info
from dali_core.errors import ArgumentValueError

COMMANDS = [
    module.name
    for module in pkgutil.iter_modules(commands.__path__)
    if not module.name.startswith("_")
]


def test_commands_are_listed() -> None:
    known = ("bench", "check", "completion", "index", "info", "new", "show", "top", "trace")
    assert tuple(COMMANDS) == known


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_on_a_screen(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as caught:
        main([*command.split(), "--help"])
    assert caught.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert 5 < len(lines) <= 24
    assert max(map(len, lines)) <= 80


def test_an_error_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise ArgumentValueError("it must work (got nothing).")

    monkeypatch.setattr(info, "describe", fail)
    assert main(["info"]) == 2
    assert capsys.readouterr() == ("", "dali-core: error: it must work (got nothing).\n")
    assert main(["info", "--traceback"]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback (most recent call last):\n")
    assert "in fail\n" in shown
    assert shown.endswith("dali-core: error: it must work (got nothing).\n")


def test_wrong_arguments(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    missing = str(tmp_path / "none" / "report.json")
    for wrong in (
        ["no-command"],
        *([command, "--no-option"] for command in COMMANDS),
        ["check", str(tmp_path), "--num-threads", "0"],
        ["check", str(tmp_path), "--out", missing],
        ["show", "a:b", "--arg", "size"],
        ["trace", "a:b", "--out", missing],
    ):
        with pytest.raises(SystemExit) as caught:
            main(wrong)
        assert caught.value.code == 2
        assert "usage: dali-core" in capsys.readouterr().err


def test_an_interrupt_is_quiet(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(info, "describe", interrupt)
    assert main(["info"]) == 130
    assert capsys.readouterr() == ("", "")


def test_closed_stdout_is_quiet() -> None:
    command = [sys.executable, "-W", "error", "-m", "dali_core", "info"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        errors = process.stderr.read()
    assert errors == b""
    assert process.returncode == 141
