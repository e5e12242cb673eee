"""The worker processes that decode videos: failures, and their end."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("av", reason="not available: PyAV")

from dali_core.errors import ArgumentValueError
from dali_core.operators.video import backends
from tests.hanging import HANG_SECONDS

WORKERS = pytest.mark.usefixtures("video_worker")

BEGIN = """
import os, signal, sys
from pathlib import Path
import numpy as np
from dali_core import Pipeline, fn
from dali_core.errors import SampleError
from tests.children import children

def decode(path, **arguments):
    data = np.fromfile(path, np.uint8)
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        encoded = fn.external_source(source=lambda: [data])
        pipeline.set_outputs(fn.decoders.video(encoded, **arguments))
    return np.array(pipeline.run()[0].at(0)).sum()

def workers():
    folders = "/video/worker", "/video/native_worker/"
    return [pid for pid, command in children().items() if any(name in command for name in folders)]

path = sys.argv[1]
"""


def run(program: str, path: Path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program, str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
        env={**os.environ, backends.CACHE_VARIABLE: "", **environment},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@WORKERS
def test_process_that_is_killed(video: Callable[[str], Path]) -> None:
    program = """
first = decode(path)
(worker,) = workers()
os.kill(worker, signal.SIGKILL)
assert decode(path, frames=list(range(30))) == first
(other,) = workers()
print("ok" if other != worker else "same")
"""
    assert run(program, video("h264.mp4")) == "ok\n"


@WORKERS
def test_forked_program(video: Callable[[str], Path]) -> None:
    program = """
first = decode(path)
child = os.fork()
if child == 0:
    os._exit(0 if decode(path) == first else 1)
assert os.waitpid(child, 0)[1] == 0
assert decode(path) == first
print(len(workers()))
"""
    assert run(program, video("h264.mp4")) == "1\n"


@WORKERS
def test_ends_with_the_program(video: Callable[[str], Path]) -> None:
    program = """
decode(path)
print(*workers(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program, str(video("h264.mp4"))],
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )
    (worker,) = map(int, done.stdout.split())
    # It is not joined, so it may have ended already.
    with contextlib.suppress(ProcessLookupError):
        descriptor = os.pidfd_open(worker)
        ended, _, _ = select.select([descriptor], [], [], HANG_SECONDS)
        os.close(descriptor)
        assert ended, "the worker goes on"


STAND_IN = """
import sys, types
sys.argv = ["worker", *sys.argv[1:]]
folder = {folder!r}
source = open(folder + "/__main__.py").read()
space = {{"__name__": "worker", "__file__": folder + "/__main__.py"}}
exec(compile(source, folder, "exec"), space)
space["_make_importable"](sys.argv[1])
from dali_core.operators.video.worker import decoder, serving
{changes}
sys.exit(serving.serve_frames(*sys.argv[3:]))
"""

BEGIN_STAND_IN = """
from dali_core.operators.video import backends
os.environ[backends.WORKER_VARIABLE] = "pyav"
real = backends.worker_command
def command(mode):
    start = real(mode)
    return [start[0], "-I", "-S", "-c", {program!r}, *start[4:]]
backends.worker_command = command
"""


def with_stand_in(changes: str) -> str:
    """Return the start of a program whose worker is patched."""
    folder = str(Path(backends.__file__).with_name("worker"))
    return BEGIN_STAND_IN.format(program=STAND_IN.format(folder=folder, changes=changes))


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("while True: pass", "takes more processor time than its pixels are worth"),
        ("import os; os.kill(os.getpid(), 11)", "breaks down, with signal 11"),
        ("raise MemoryError('no memory')", "cannot be decoded: no memory"),
        ("pass", "its last frames cannot be decoded"),
    ],
)
def test_codec_that_fails(what: str, message: str, video: Callable[[str], Path]) -> None:
    """A fake codec that crashes or hangs, as with malicious files."""
    changes = f"def frames(self, *_, **__):\n    {what}\ndecoder.Decoder.frames = frames"
    program = (
        with_stand_in(changes)
        + """
try:
    decode(path)
except SampleError as error:
    print(str(error))
"""
    )
    text = run(program, video("h264.mp4"), DALI_CORE_VIDEO_SECONDS="1")
    assert "the file must be a sound video (got " in text
    assert message in text


@pytest.mark.parametrize(
    "what",
    [
        "while True: pass",
        "import os; os.kill(os.getpid(), 11)",
        # As on a busy machine, where the processor time takes too long to be used up.
        "import os, select; select.select([3], [], []); os.kill(os.getpid(), 14)",
    ],
)
def test_codec_that_fails_ahead_of_requests(what: str, video: Callable[[str], Path]) -> None:
    """The next request is not affected: another process serves it."""
    changes = f"""
decoder.Decoder.may_read_ahead = lambda self: True
def read_ahead(self):
    {what}
decoder.Decoder.read_ahead = read_ahead
"""
    program = """
first = decode(path)
print("ok" if decode(path, frames=list(range(30))) == first else "different")
"""
    program = with_stand_in(changes) + program
    assert run(program, video("h264.mp4"), DALI_CORE_VIDEO_SECONDS="1") == "ok\n"


def test_process_that_ends_between_frames(video: Callable[[str], Path], tmp_path: Path) -> None:
    """Frames that were received are kept, and another process decodes the rest."""
    log = tmp_path / "log"
    changes = f"""
serving._READY_BYTES = 1
whole = decoder.Decoder.frames
def frames(self, wanted, take, **how):
    import os
    def take_some(number, frame):
        take(number, frame)
        if number == 20:
            os.kill(os.getpid(), 11)
    with open({str(log)!r}, "a+") as file:
        file.write(repr(list(wanted)) + chr(10))
        file.seek(0)
        is_first = len(file.readlines()) == 1
    whole(self, wanted, take_some if is_first else take, **how)
decoder.Decoder.frames = frames
"""
    program = """
again = decode(path)
assert again == decode(path, frames=list(range(30)))
print("ok")
"""
    assert run(with_stand_in(changes) + program, video("h264.mp4")) == "ok\n"
    everything, rest, *_ = log.read_text().splitlines()
    assert everything == repr(list(range(30)))
    assert rest == repr(list(range(21, 30)))


def test_process_that_sends_wrong_frames(video: Callable[[str], Path]) -> None:
    """It may be compromised, so its messages are not trusted."""
    changes = """
serving._READY_BYTES = 1
take = serving._Sender.take
serving._Sender.take = lambda self, number, frame: take(self, min(number, 4), frame)
"""
    program = """
assert decode(path, frames=[0, 2]) > 0
try:
    decode(path)
except SampleError as error:
    print(str(error))
"""
    text = run(with_stand_in(changes) + program, video("h264.mp4"))
    assert "the process that decodes it does not answer as it must" in text


def test_memory_that_is_too_small(video: Callable[[str], Path]) -> None:
    """Frames are received in parts, some of which are delayed."""
    changes = """
serving._READY_BYTES = 30000
memory = serving._Server._memory
serving._Server._memory = lambda self, command: memoryview(memory(self, command))[:100_000]
"""
    program = """
from tests.video_files import frames_of
data = np.fromfile(path, np.uint8)
pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
with pipeline:
    encoded = fn.external_source(source=lambda: [data])
    pipeline.set_outputs(fn.decoders.video(encoded))
found = np.array(pipeline.run()[0].at(0)).astype(int)
expected = np.array([frame.rgb() for frame in frames_of(Path(path))]).astype(int)
print("ok" if abs(found - expected).max() <= 1 else "different")
"""
    assert run(with_stand_in(changes) + program, video("h264.mp4")) == "ok\n"


@WORKERS
def test_second_process(video: Callable[[str], Path]) -> None:
    """It starts when threads wait for the first one, if a processor is available."""
    program = """
def read(num_threads, more):
    pipeline = Pipeline(batch_size=16, num_threads=num_threads, device_id=None)
    with pipeline:
        pipeline.set_outputs(fn.experimental.readers.video(
            filenames=[path], sequence_length=8, stride=3, step=1, random_shuffle=True))
    for _ in range(100):
        pipeline.run()
        if not more or len(workers()) > 1:
            return
read(1, False)
alone = len(workers())
read(2, True)
print(alone, len(workers()))
"""
    expected = min(2, len(os.sched_getaffinity(0)))
    assert run(program, video("h264.mp4")) == f"1 {expected}\n"


def test_program_that_cannot_start(video: Callable[[str], Path]) -> None:
    program = """
from dali_core.operators.video import backends
backends.worker_command = lambda mode: ["/no/such/program"]
try:
    decode(path)
except SampleError as error:
    print(str(error))
"""
    assert "must be able to start (got: No such file" in run(program, video("h264.mp4"))


def test_without_pyav(video: Callable[[str], Path]) -> None:
    program = """
from dali_core.operators.video import backends

backends.worker_command = lambda mode: []
try:
    decode(path)
except SampleError as error:
    print(str(error))
"""
    assert "pip install av" in run(program, video("h264.mp4"))


@pytest.mark.parametrize("variable", ["SECONDS", "OPEN_FILES", "MEMORY"])
def test_wrong_limit(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"DALI_CORE_VIDEO_{variable}", "many")
    with pytest.raises(ArgumentValueError, match="must be a whole number from 1 to"):
        backends.video_arguments()
