"""``dali-core show`` and ``dali-core trace``, which run pipelines of scripts."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from dali_core import Pipeline
from dali_core.__main__ import main
from tests.forgotten_modules import forgotten_modules

SCRIPT = """
from dali_core import fn, pipeline_def, types

@pipeline_def
def numbers(size=3, low=0.0, kind="a"):
    assert kind in "ab"
    return fn.random.uniform(range=[low, 1.0], shape=[size])

@pipeline_def(batch_size=5, num_threads=1, device_id=None)
def images():
    image = fn.random.uniform(range=[0, 255], shape=[6, 8, 3], dtype=types.UINT8)
    return fn.flip(image)

def made(scale):
    return numbers(batch_size=scale)

def nothing():
    return None

@pipeline_def(batch_size=5)
def wrong():
    return fn.flip(no_such_name)

@pipeline_def(batch_size=5)
def refused():
    return fn.flip(fn.random.coin_flip(), horizontal="x")

@pipeline_def(batch_size=2, device_id=None)
def short():
    batches = iter([[[1.0], [2.0]]] * 3)
    return fn.external_source(batches)
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loaders.py").write_text(SCRIPT)
    with forgotten_modules(tmp_path):
        yield "loaders.py"


Shown = list[tuple[Pipeline, str, object, int]]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """Note what is drawn, in the place of drawing it."""
    calls: Shown = []

    def show(pipeline: Pipeline, samples: int = 4, epoch: int = 0) -> SimpleNamespace:
        return SimpleNamespace(save=lambda path: calls.append((pipeline, "show", path, samples)))

    def report(pipeline: Pipeline, path: object, samples: int = 4) -> None:
        calls.append((pipeline, "report", path, samples))

    monkeypatch.setattr(Pipeline, "show", show, raising=False)
    monkeypatch.setattr(Pipeline, "report", report, raising=False)
    return calls


def test_show(script: str, shown: Shown, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{script}:images", "--samples", "2", "--out", "a.png"]) == 0
    assert main(["show", f"{script}:images", "--report"]) == 0
    assert capsys.readouterr().out == "a.png\nreport.html\n"
    (picture, *first), (_, *second) = shown
    assert first == ["show", Path("a.png"), 2]
    assert second == ["report", Path("report.html"), 4]
    assert (picture.max_batch_size, picture.num_threads) == (5, 1)


def test_arguments_of_the_function(script: str, shown: Shown) -> None:
    assert main(["show", f"{script}:numbers"]) == 0
    options = ["--batch-size", "7", "--num-threads", "3", "--arg", "size=9", "--arg", "kind=b"]
    assert main(["show", f"{script}:numbers", *options]) == 0
    assert main(["show", "loaders:made", "--arg", "scale=6"]) == 0
    default, chosen, made = (pipeline for pipeline, *_ in shown)
    assert (default.max_batch_size, chosen.max_batch_size, made.max_batch_size) == (4, 7, 6)
    assert chosen.num_threads == 3
    assert chosen.run()[0].as_array().shape == (7, 9)


@pytest.mark.parametrize("name", ["loader", "make_loader"])
def test_loaders_stand_for_their_pipelines(
    name: str, script: str, shown: Shown, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """
from dali_core import Loader
from loaders import images

loader = Loader(images(), steps_per_epoch=3)

def make_loader():
    return loader
"""
    Path("training.py").write_text(text)
    assert main(["show", f"training.py:{name}", "--out", "a.png"]) == 0
    assert [pipeline.max_batch_size for pipeline, *_ in shown] == [5]
    assert main(["trace", f"training.py:{name}", "--batches", "2", "--out", "run.json"]) == 0
    assert "random.uniform" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("loaders.py", "the target must be SCRIPT:NAME"),
        ("none.py:images", "the script must be a file (got 'none.py')"),
        ("no_such_module:images", "No module named 'no_such_module'"),
        (
            "loaders.py:none",
            "must have a function, a pipeline or a loader 'none' (got numbers, images",
        ),
        ("loaders.py:nothing", "nothing must return a Pipeline or a Loader (got NoneType)"),
        (
            "loaders.py:made",
            "made must be given its arguments scale (got none). Add --arg scale",
        ),
        (
            "loaders.py:wrong",
            "loaders.py:22: the script must not raise an exception (got NameError",
        ),
        ("loaders.py:refused", "argument 'horizontal' must be int"),
        ("picture.jpg:images", "in a file with the suffix .py (got 'picture.jpg', JPEG)"),
        ("ends.py:images", "ends.py:1: the script must not raise an exception (got SystemExit: 3)"),
    ],
)
def test_errors(
    target: str, message: str, script: str, shown: Shown, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("ends.py").write_text("raise SystemExit(3)\n")
    Path("picture.jpg").write_bytes(b"\xff\xd8\xff\xe0")
    for command in (["show"], ["trace", "--out", "run.json"]):
        assert main([*command, target]) == 2
        error = capsys.readouterr().err
        assert error.startswith("dali-core: error: ")
        assert error.count("\n") == 1
        assert message in error
    assert shown == []
    assert not Path("run.json").exists()


def test_trace(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", f"{script}:images", "--out", "run.json", "--batches", "6"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("6 batches in ")
    assert any(line.startswith("flip ") for line in lines)
    events = json.loads(Path("run.json").read_text())["traceEvents"]
    taken = [event["args"]["batch"] for event in events if event["name"] == "take a batch"]
    assert taken == list(range(6))


def test_trace_stops_at_the_end_of_data(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", f"{script}:short", "--out", "run.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["consumer"]["batches"] == 3
