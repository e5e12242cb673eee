"""Names and texts of unknown origin: nothing that is printed obeys them, or is forged by them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dali_core import Pipeline, errors, fn
from dali_core.__main__ import main
from dali_core._messages import printable
from dali_core.commands import info
from dali_core.errors import DaliCoreError, SampleError
from tests.operators.readers.tar_files import sample_entries, write_tar

HARMFUL = (
    *("\x1b[31m", "\x1b]0;title\x07", "\x1b[2J", "\x9b1A", "\r", "\b", "\x7f", "\x85", "\a"),
    *("\nbad: forged.jpg: reason", "\n", "\v", "\u2028", "\u2029", "\u202e", "\u2066", "\u200f"),
    *("\udcff", "\udc80\udcfe", "<script>alert(1)</script>", "&lt;", "\\", "'", '"', "%s", "{0}"),
)
NAMES = st.lists(st.sampled_from((*HARMFUL, "a", "b ", "ä", "日本")), min_size=1, max_size=6).map(
    "".join
)
each_name = given(name=NAMES)
few = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def as_file(name: str) -> str:
    """Return a name of a file in a folder."""
    return name.replace("/", "|").strip(". ")[:80] or "a"


def printed(capsys: pytest.CaptureFixture[str], arguments: Iterable[str]) -> tuple[int, list[str]]:
    """Run a command; return its status, and its lines, none of which may have such characters."""
    try:
        status = main(list(arguments))
    except SystemExit as error:
        status = int(error.code or 0)
    out, err = capsys.readouterr()
    lines = [*out.split("\n"), *err.split("\n")]
    assert [line for line in lines if not line.isprintable()] == []
    return status, lines


@given(st.text() | NAMES)
def test_printable_text(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert printable(shown) == shown
    assert (shown == text) == text.isprintable()
    kept = printable(text, keeps_lines=True)
    assert kept.split("\n") == [printable(line) for line in text.split("\n")]


@few
@each_name
@example(name="a\nbad: forged.jpg: reason\x1b[31m")
def test_check(
    name: str, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path_factory.mktemp("check")
    folder = root / "data" / as_file(f"class {name}")
    folder.mkdir(parents=True)
    file = folder / f"{as_file(name)}.jpg"
    file.write_bytes(b"not an image")
    (folder / f"other.{as_file(name)}").write_bytes(b"x")
    reports = [f"--{kind}={root / kind}" for kind in ("bad-list", "state")]
    for _ in range(2):  # the second time, from the state
        status, lines = printed(capsys, ["check", str(root / "data"), *reports])
        assert status == 1
        assert sum(line.startswith("bad:") for line in lines) == 1
        assert "1 files: 0 good, 1 bad" in lines
    assert (root / "bad-list").read_bytes() == os.fsencode(file) + b"\0"
    assert main(["check", str(root / "data"), "--json", f"--out={root / 'json'}"]) == 1
    text = (root / "json").read_text("ascii")
    (bad,) = json.loads(text)["bad_files"]
    assert bad["path"] == str(file.relative_to(root / "data"))
    assert all(line.isprintable() for line in text.split("\n"))


@few
@each_name
def test_check_of_a_foreign_state(
    name: str, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path_factory.mktemp("state")
    file = root / "a.jpg"
    file.write_bytes(b"not an image")
    status = file.stat()
    entry = [status.st_size, status.st_mtime_ns, name, []]
    (root / "state").write_text(json.dumps({"version": 1, "files": {str(file): entry}}))
    code, lines = printed(capsys, ["check", str(root), f"--state={root / 'state'}"])
    assert code == 1
    assert sum(line.startswith("bad:") for line in lines) == 1


@few
@each_name
def test_index(
    name: str, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path_factory.mktemp("index")
    entries = [(f"{as_file(name)[:60]}.cls", b"1"), *sample_entries(0, 2)]
    path = write_tar(root / f"{as_file(name)}.tar", entries)
    printed(capsys, ["index", "wds", str(path), f"--output={root / 'made'}"])
    data = bytearray(path.read_bytes())
    data[3] ^= 1
    path.write_bytes(data)
    status, lines = printed(capsys, ["index", "wds", str(path), f"--output={root / 'made'}"])
    assert status in (1, 2)
    reported = ("dali-core: ", repr(str(root))[1:-1])  # errors, and what was written
    assert all(line.startswith(reported) for line in lines if line)
    for kind in ("tfrecord", "recordio", "video"):
        status, lines = printed(capsys, ["index", kind, str(path)])
        assert status in (1, 2)
        assert all(line.startswith(reported) for line in lines if line)


SCRIPT = """
from dali_core import fn, pipeline_def

TEXT = {text!r}

@pipeline_def(batch_size=1, num_threads=1, device_id=None)
def photos(path="", name=None):
    return fn.readers.file(files=[path], name=name)[0]

def failing():
    raise ValueError(TEXT)
"""


@few
@each_name
def test_show_and_trace(
    name: str, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("jinja2", reason="not available: Jinja2")
    root = tmp_path_factory.mktemp("show")
    script, file = root / "script.py", root / as_file(name)
    script.write_text(SCRIPT.format(text=name))
    file.write_bytes(b"content")
    out = root / f"{as_file(name)}.html"
    path = f"--arg=path={str(file)!r}"
    named = f"--arg=name={name!r}"
    shown = ["show", f"{script}:photos", f"--out={out}", "--report", path, named]
    status, lines = printed(capsys, shown)
    assert (status, len(lines)) == (0, 3)
    page = out.read_text("utf-8")
    assert "<script" not in page
    assert [line for line in page.split("\n") if not line.isprintable()] == []
    trace = ["trace", f"{script}:photos", f"--out={root / 'trace'}", "--batches=2", path, named]
    assert printed(capsys, trace)[0] == 0
    assert printed(capsys, [*trace, "--json"])[0] == 0
    for arguments in ([f"{script}:failing"], [f"{script}:{name}"], [f"{file}:photos"], [name]):
        for more in ([], ["--traceback"]):
            status, lines = printed(capsys, ["show", *arguments, *more])
            assert status == 2
            assert sum(line.startswith("dali-core: error: ") for line in lines) <= 1


@few
@each_name
def test_arguments_and_machines(
    name: str, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path_factory.mktemp("arguments")
    for wrong in (
        [name],
        ["bench", str(root / as_file(name))],
        ["check", str(root), f"--{name}"],
        ["check", str(root), "--num-threads", name],
        ["index", name, "a"],
        ["show", "a:b", "--arg", name],
        ["trace", f"a:{name}"],
    ):
        assert printed(capsys, wrong)[0] == 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(info, "_machine", lambda: {**MACHINE, "processor": name})
        patch.setattr(info, "_cuda_packages", lambda: {name: name})
        assert printed(capsys, ["info"])[0] == 0
        assert printed(capsys, ["info", "--json"])[0] == 0


MACHINE = {"processors": 1, "simd": "none", "memory_bytes": 1, "system": "Linux"}


def test_warnings_of_commands(tmp_path: Path) -> None:
    script = tmp_path / "warning.py"
    script.write_text(
        "import warnings\ndef made():\n    warnings.warn('a\\x1b[31m\\ndali-core: error: forged')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "dali_core", "show", f"{script}:made"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "a\\x1b[31m\\ndali-core: error: forged" in done.stderr
    assert [line for line in done.stderr.split("\n") if not line.isprintable()] == []


ERRORS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, DaliCoreError)
]


@pytest.mark.parametrize("kind", ERRORS)
def test_errors_are_one_line(kind: type[DaliCoreError]) -> None:
    text = str(kind("".join(HARMFUL)))
    lines = text.split("\n") if kind is errors.WorkerError else [text]
    assert all(line.isprintable() for line in lines)


@few
@each_name
def test_errors_of_pipelines(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("errors")
    file = root / as_file(name)
    listed = root / "list"
    listed.write_bytes(os.fsencode(name))

    def message_of(**arguments: Any) -> str:
        with Pipeline(1, 1, None) as pipeline:
            encoded, _ = fn.readers.file(**arguments)
            pipeline.set_outputs(fn.decoders.image(encoded))
        with pytest.raises(DaliCoreError) as caught:
            pipeline.run()
        if isinstance(caught.value, SampleError):
            (bad,) = caught.value.failures
            assert bad.source == arguments["files"][0]
            assert bad.message.isprintable()
            assert str(bad).isprintable()
            assert caught.value.where.isprintable()
        pipeline.close()
        return str(caught.value)

    messages = [message_of(files=[str(file)])]
    file.write_bytes(b"not an image")
    messages += [
        message_of(files=[str(file)]),
        message_of(file_root=str(file)),
        message_of(file_list=str(root / f"missing {as_file(name)}")),
    ]
    assert [message for message in messages if not message.isprintable()] == []


def test_locations_and_names_of_documents() -> None:
    with Pipeline(1, 1, None, prefetch_queue_depth=1) as made:
        data = fn.external_source(name="a\x1b[31m\nb")
        made.set_outputs(fn.flip(data))
    document = json.loads(made.serialize())
    document["operators"][1]["location"] = "a\x1b[31m\nb"
    pipeline = Pipeline.deserialize(json.dumps(document))
    for text in (pipeline.plan(), str(pipeline.statistics())):
        assert [line for line in text.split("\n") if not line.isprintable()] == []
        assert not any(line.startswith("b") for line in text.split("\n"))
    with pytest.raises(DaliCoreError) as caught:
        pipeline.run(**{"a\x1b[31m\nb": [[1.0]]})
    assert str(caught.value).isprintable()
    assert r"at a\x1b[31m\nb" in str(caught.value)


def test_names_in_graphs(tmp_path: Path) -> None:
    with Pipeline(1, 1, None) as pipeline:
        name = '\x1b[31m\n"]; evil \\'
        pipeline.set_outputs(fn.random.uniform(name=name))
    pipeline.save_graph_to_dot_file(tmp_path / "graph.dot", show_tensors=True)
    text = (tmp_path / "graph.dot").read_text()
    assert [line for line in text.split("\n") if not line.isprintable()] == []
    assert r'random.uniform\n\\x1b[31m\\n\"]; evil \\"' in text
    pipeline.save_graph_to_svg_file(tmp_path / "graph.svg")
    drawn = (tmp_path / "graph.svg").read_text()
    assert [line for line in drawn.split("\n") if not line.isprintable()] == []
