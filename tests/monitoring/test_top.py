"""``dali-core top``, and what processes publish for it."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dali_core import Pipeline
from dali_core.__main__ import main
from dali_core.commands import top
from dali_core.errors import ArgumentValueError
from dali_core.monitoring import publication
from dali_core.monitoring.publication import published_processes, published_states, state_folder
from dali_core.monitoring.snapshot import Snapshot
from dali_core.statistics import PipelineStatistics
from tests.forgotten_modules import forgotten_modules
from tests.hanging import HANG_SECONDS
from tests.monitoring.test_monitor import numbers, snapshot
from tests.waiting import wait_until

SCRIPT = """
from dali_core import fn, pipeline_def

@pipeline_def(batch_size=3, num_threads=1, device_id=None)
def numbers(size):
    return fn.random.uniform(range=[0, 1], shape=[size])

@pipeline_def(batch_size=2, device_id=None)
def short():
    return fn.external_source([[[1.0], [2.0]]] * 2, cycle=False)
"""


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("DALI_CORE_MONITOR", "1")
    monkeypatch.setattr(publication, "INTERVAL", 0.02)
    return tmp_path / "dali_core"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loaders.py").write_text(SCRIPT)
    with forgotten_modules(tmp_path):
        yield "loaders.py"


def run_until_published(pipeline: Pipeline, folder: Path) -> Path:
    before = set(folder.glob("*.json")) if folder.exists() else set()
    pipeline.run()
    wait_until(lambda: len(set(folder.glob("*.json")) - before) == 1)
    (file,) = set(folder.glob("*.json")) - before
    return file


def test_running_pipelines_are_published(session: Path) -> None:
    first, second = numbers(), numbers(7)
    files = [run_until_published(pipeline, session) for pipeline in (first, second)]
    assert stat.S_IMODE(session.stat().st_mode) == 0o700
    assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600, 0o600]
    assert published_processes() == [os.getpid()]

    def counts() -> list[tuple[int, int]]:
        return [(state.batches, state.samples) for state in published_states(os.getpid())]

    # A state may have been written before the batch was returned.
    wait_until(lambda: counts() == [(1, 4), (1, 7)], lambda: str(counts()))
    second.run()
    wait_until(lambda: published_states(os.getpid())[1].batches == 2)
    first.close()
    assert [state.samples for state in published_states(os.getpid())] == [14]
    del second
    wait_until(lambda: not list(session.glob("*.json")))
    assert published_processes() == []


def test_thread_that_writes_may_collect_the_pipeline(session: Path) -> None:
    """The collection of garbage in it runs what closes the pipeline, and must not wait for it."""
    statistics = numbers().statistics()
    ended = threading.Event()

    def read() -> PipelineStatistics:
        published.close()
        ended.set()
        return statistics

    published = publication.Publication(read)
    assert ended.wait(HANG_SECONDS)
    published.close()  # waits for the writer
    assert not list(session.glob("*.json"))


def test_nothing_is_published_unasked(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DALI_CORE_MONITOR")
    numbers().run()
    assert not session.exists()


def test_of_another_process(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = (
        "import sys; from dali_core import *; from dali_core.monitoring import publication\n"
        "publication.INTERVAL = 0.02\n"
        "with Pipeline(4, 1, None) as pipeline:\n"
        "    pipeline.set_outputs(fn.random.uniform(range=[0, 1]))\n"
        "while True: pipeline.run()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program])
    try:
        wait_until(lambda: published_processes() == [process.pid])
        assert main(["top", str(process.pid), "--updates", "2", "--interval", "0.05"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 2
        assert all(re.match(r"-c: [\d,]+ samples/s, ", line) for line in lines)
        assert main(["top", "--updates", "1"]) == 0
        assert capsys.readouterr().out.startswith("-c: ")
    finally:
        process.kill()
        process.wait()
    assert published_processes() == []
    (left,) = session.glob("*.json")
    assert main(["top", str(process.pid)]) == 2
    assert "(got none of its; these processes do: none). Start it with DALI_CORE_MONITOR=1" in (
        capsys.readouterr().err
    )
    assert main(["top"]) == 0
    assert capsys.readouterr().out == "No process publishes pipelines.\n"
    # The next process of the user removes what the killed one has left.
    pipeline = numbers()
    pipeline.run()
    wait_until(lambda: not left.exists())


def test_of_a_script(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--arg", "size=3", "--batches", "4", "--batch-size", "5"]
    assert main(["top", f"{script}:numbers", *given]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert "; 4 batches in " in line
    assert main(["top", f"{script}:short"]) == 0
    assert "; 2 batches in " in capsys.readouterr().out
    assert main(["top", f"{script}:numbers"]) == 2
    assert "Add --arg size=VALUE" in capsys.readouterr().err
    for wrong in ("0", "x", "nan", "inf"):
        with pytest.raises(SystemExit):
            main(["top", "1", "--interval", wrong])
        assert "positive number of seconds" in capsys.readouterr().err


def test_of_a_program(
    session: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    seen = tmp_path / "seen"
    update = top._View.update

    def update_and_say(view: top._View, states: list[Snapshot]) -> bool:
        is_new = update(view, states)
        seen.touch()
        return is_new

    monkeypatch.setattr(top._View, "update", update_and_say)
    program = tmp_path / "train it.py"
    program.write_text(
        "import sys, time; from dali_core import *; from dali_core.monitoring import publication\n"
        "publication.INTERVAL = 0.02\n"
        "with Pipeline(4, 1, None) as pipeline:\n"
        "    pipeline.set_outputs(fn.random.uniform(range=[0, 1]))\n"
        "print('begins', sys.argv[1:])\n"
        "pipeline.run()\n"
        "while not __import__('os').path.exists(sys.argv[2]): time.sleep(0.01)\n"
        "print('ends', file=sys.stderr)\n"
        "sys.exit(3)\n"
    )
    assert main(["top", "--interval", "0.02", str(program), "--", "--seen", str(seen)]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"begins ['--seen', {str(seen)!r}]"
    assert lines[-1] == "ends"
    assert any(re.match(r"train it\.py: [\d,]+ samples/s, ", line) for line in lines[1:-1])
    assert main(["top", str(tmp_path / "none.py")]) == 2
    assert "which does not exist" in capsys.readouterr().err


def replaced(change: Callable[[dict[str, object]], object]) -> bytes:
    document = json.loads(snapshot().to_json())
    change(document)
    return json.dumps(document).encode()


HOSTILE = {
    "empty": b"",
    "binary": bytes(range(256)),
    "list": b"[1]",
    "nested": b"[" * 100_000,
    "version": replaced(lambda document: document.update(version=2)),
    "missing": replaced(lambda document: document.pop("samples")),
    "unknown": replaced(lambda document: document.update(more=1)),
    "text": replaced(lambda document: document.update(batches="1")),
    "boolean": replaced(lambda document: document.update(batches=True)),
    "negative": replaced(lambda document: document.update(seconds=-1.0)),
    "infinite": snapshot(seconds=float("inf")).to_json(),
    "huge": replaced(lambda document: document.update(batches=1 << 70)),
    "long": replaced(lambda document: document.update(diagnosis="x" * 3000)),
    "operators": replaced(lambda document: document.update(operators={"a": "b"})),
    "many": replaced(
        lambda document: document.update(operators={str(i): 1.0 for i in range(2000)})
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_states_are_refused(
    name: str, session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ArgumentValueError, match=r"must be the state of a running pipeline \(got "):
        Snapshot.from_json(HOSTILE[name])
    session.mkdir()
    own = f"{os.getpid()}-{publication._start_of(os.getpid())}-0.json"
    (session / own).write_bytes(HOSTILE[name])
    assert main(["top", str(os.getpid())]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert len(error) < 3000


def test_states_are_the_same_after_reading() -> None:
    assert Snapshot.from_json(snapshot().to_json()) == snapshot()


def test_untrusted_files_are_not_read(session: Path, tmp_path: Path) -> None:
    session.mkdir(mode=0o700)
    process = os.getpid()
    own = f"{process}-{publication._start_of(process)}-0.json"
    (tmp_path / "elsewhere").write_bytes(snapshot().to_json())
    (session / own).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="it is a link"):
        published_states(process)
    (session / own).unlink()
    os.mkfifo(session / own)
    with pytest.raises(OSError, match="it is no regular file"):
        published_states(process)
    (session / own).unlink()
    (session / own).write_bytes(b" " * (2 << 20))
    with pytest.raises(ArgumentValueError, match="must have at most 1048576 bytes"):
        published_states(process)
    (session / own).write_bytes(snapshot().to_json())
    session.chmod(0o777)
    with pytest.raises(OSError, match="other users may write to it"):
        published_states(process)
    session.chmod(0o700)
    assert published_states(process) == [snapshot()]
    for other in ("x.json", f"{process}-1-0.json", f"{process}-1-0.json.0123", "1e3-1-0.json"):
        (session / other).write_bytes(b"")
    assert published_states(process) == [snapshot()]


def test_unwritable_folders_are_a_warning_not_an_error(session: Path) -> None:
    session.mkdir()
    session.chmod(0o777)
    pipeline = numbers()
    with pytest.warns(UserWarning, match=r"must be a folder of this user .*others? .*may write"):
        pipeline.run()
    assert pipeline.run()[0].as_array().shape == (4, 4, 4, 1)
    pipeline.close()
    assert not list(session.iterdir())


def test_folder_without_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("", "relative", "/no/such/folder"):
        monkeypatch.setenv("XDG_RUNTIME_DIR", value)
        assert re.fullmatch(rf"dali_core-{os.geteuid()}", state_folder().name)
