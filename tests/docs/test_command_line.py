"""The commands of docs/command_line.md print what the page says."""

from __future__ import annotations

import doctest
import itertools
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from dali_core import Pipeline
from dali_core.__main__ import main
from dali_core.commands import bench
from docs.generator.pictures import make_photos, make_videos
from tests.forgotten_modules import forgotten_modules

PAGE = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text("utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"\d+(\.\d+)*(e-?\d+)?")
DIAGNOSIS = re.compile(r"^(The training loop|The loader|Too few batches) .*$", re.MULTILINE)
SHOWN = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
ROWS = [
    *("dali_core", "python", "numpy", "processor", "processors", "memory", "system", "driver"),
    *("decoded by", "JPEG", "PNG", "BMP", "TIFF", "WebP", "PNM", "JPEG 2000", "NumPy", "audio"),
    *("video", "FITS"),
]


def names_of(text: str) -> list[str]:
    """Return what the lines of a table begin with."""
    return [re.split(r"\s{2,}", line.strip())[0] for line in text.splitlines()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    pytest.importorskip("av", reason="not available: PyAV")
    make_photos(tmp_path)
    make_videos(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", ["python"])
    monkeypatch.setenv("DALI_CORE_VIDEO_CACHE", str(tmp_path / "cache"))
    # Another loader and drawing have tests of their own, which take longer.
    loader = ("torch 0 DataLoader, pillow 0", lambda *options: itertools.repeat(1))
    monkeypatch.setattr(bench, "_torch_loader", lambda: loader)
    preview = SimpleNamespace(save=lambda path: None)
    monkeypatch.setattr(Pipeline, "show", lambda pipeline, samples: preview, raising=False)
    with forgotten_modules(tmp_path):
        yield tmp_path


def test_documented_command_outputs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = BLOCK.findall(PAGE)
    damage, script = (text for language, text in blocks if language == "python")
    exec(damage, {})
    Path("loaders.py").write_text(script)
    commands = [
        (number, text) for number, (language, text) in enumerate(blocks) if language == "sh"
    ]
    assert len(commands) == 8
    checker = doctest.OutputChecker()
    for number, command in commands:
        words = command.split()
        assert words[:3] == ["python", "-m", "dali_core"]
        quickly = ["--seconds", "0", "--rounds", "1", "--max-threads", "2"]
        status = main(words[3:] + quickly * (words[3] == "bench"))
        assert status == (1 if words[3] == "check" else 0)
        printed = capsys.readouterr().out
        language, text = blocks[number + 1] if number + 1 < len(blocks) else ("", "")
        wanted = text if language == "text" else ""
        if words[3] == "info":
            # What is installed differs; these rows are there everywhere.
            assert [name for name in names_of(wanted) if name in ROWS] == ROWS
            assert [name for name in names_of(printed) if name in ROWS] == ROWS
            continue
        got, wanted = (
            NUMBER.sub("0", DIAGNOSIS.sub("", text)).replace("0 threads;", "0 thread;")
            for text in (printed, wanted)
        )
        assert checker.check_output(wanted, got, SHOWN), printed
    assert Path("run.json").stat().st_size > 1000
    assert list((folder / "cache").iterdir())
