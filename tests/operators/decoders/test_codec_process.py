"""nvImageCodec in a worker process: files that crash it are an error of their sample only."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from dali_core import fn
from dali_core.errors import ArgumentValueError, SampleError
from dali_core.operators.decoders import backends
from tests.children import children, children_of, codec_servers, is_running
from tests.fuzz.small_images import damaged, others, pngs
from tests.generated_images import encode, photo_like, png
from tests.operators.decoders.decoding import decode, decode_one, failure
from tests.operators.suite import pipeline
from tests.process.programs import finish, started
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(
    not backends.backend_arguments().get("codec_process"), reason="not available: nvImageCodec"
)

PHOTO = photo_like(37, 53)
JP2 = encode(PHOTO, "JPEG2000")
# Place and size in the segment SIZ, whose marker is FF51.
BREAKING = {"no tile width": (20, 4), "no tile height": (24, 4)}


def breaking(name: str) -> bytes:
    """Return a file on which nvImageCodec divides by zero."""
    start, count = BREAKING[name]
    place = JP2.index(b"\xff\x51") + 2 + start
    return JP2[:place] + bytes(count) + JP2[place + count :]


@pytest.mark.parametrize("name", BREAKING)
def test_file_that_breaks_the_codec(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    message = failure(breaking(name))
    assert "breaks down on" in message
    assert f"signal {int(signal.SIGFPE)}" in message
    assert message.endswith(".")
    assert capfd.readouterr() == ("", "")


def test_sound_files_next_to_breaking_ones() -> None:
    sound = np.frombuffer(JP2, np.uint8)
    bad = np.frombuffer(breaking("no tile width"), np.uint8)
    numbers = iter(range(1000))
    with pipeline(batch_size=1, num_threads=2) as made:
        with made:
            data = fn.external_source(source=lambda: [bad if next(numbers) % 3 else sound])
            made.set_outputs(fn.decoders.image(data))
        for number in range(30):
            if number % 3:
                with pytest.raises(SampleError, match="breaks down on"):
                    made.run()
            else:
                np.testing.assert_array_equal(np.array(made.run()[0].at(0)), PHOTO)


def test_damaged_tiff_is_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    file = encode(PHOTO, "TIFF", compression="tiff_lzw")
    num_refused = 0
    for seed in range(40):
        try:
            decode_one(damaged(file, seed))
        except SampleError:
            num_refused += 1
    assert num_refused > 5
    assert capfd.readouterr() == ("", "")


def ended(processes: list[int]) -> bool:
    return not any(map(is_running, processes))


@pytest.mark.parametrize(
    "victims",
    ["server", "watcher", "decoder", "watcher and decoder", "server, watcher and decoder"],
)
def test_killed_processes_are_replaced(victims: str) -> None:
    sample = np.frombuffer(png(PHOTO), np.uint8)
    before = set(children())
    with pipeline(batch_size=1, num_threads=1, prefetch_queue_depth=1) as made:
        with made:
            data = fn.external_source(source=lambda: [sample])
            made.set_outputs(fn.decoders.image(data))
        for _ in range(3):
            np.testing.assert_array_equal(np.array(made.run()[0].at(0)), PHOTO)
            (server,) = codec_servers()
            # Those of one that was killed have another parent.
            processes = {"server": server}
            for watcher in set(children()) - before:
                (decoder,) = children_of(watcher)
                processes |= {"watcher": watcher, "decoder": decoder}
            killed = [number for name, number in processes.items() if name in victims]
            for number in killed:
                os.kill(number, signal.SIGKILL)
            wait_until(partial(ended, killed))
            left = set(children())
            np.testing.assert_array_equal(decode_one(png(PHOTO)), PHOTO)
            # A process has closed what it had a moment before it is gone.
            wait_until(lambda left=left: set(children()) <= left, children)
            assert (codec_servers() == [server]) == ("server" not in victims)
    wait_until(lambda: set(children()) <= before, children)


def test_decoders_end_with_the_pipeline() -> None:
    decode_one(png(PHOTO))
    servers = codec_servers()
    before = set(children())
    decode([png(PHOTO)] * 8)
    # A process has closed what it had a moment before it is gone.
    wait_until(lambda: set(children()) <= before, children)
    assert len(servers) == 1
    assert codec_servers() == servers


def test_large_images_after_small_ones() -> None:
    # The shared memory grows between the header and the pixels.
    sizes = [(3, 4), (900, 700), (5, 6), (1200, 800)]
    for image in (photo_like(*size) for size in sizes):
        np.testing.assert_array_equal(decode_one(png(image)), image)
        np.testing.assert_array_equal(
            decode_one(png(image), "image_crop", crop=(2, 3), crop_pos_x=0.0, crop_pos_y=1.0),
            image[-2:, :3],
        )


def test_same_pixels_without_codec_process(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [*pngs().values(), *others().values()]
    expected = decode(files)
    monkeypatch.setenv(backends.PROCESS_VARIABLE, "0")
    assert "codec_process" not in backends.backend_arguments()
    for one, other in zip(expected, decode(files), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def slow_file() -> bytes:
    """Make a TIFF file of little more than 300,000 pixels, whose tiles inflate to 21 GB."""
    height, tile_width, tile_height = 320_000, 65_536, 16
    count = height // tile_height
    tile = zlib.compress(bytes(tile_width * tile_height), 9)
    directory, tables = 8 + 2 + 10 * 12 + 4, count * 4
    short, long = 3, 4
    tags = [
        *((256, long, 1, 1), (257, long, 1, height), (258, short, 1, 8), (259, short, 1, 8)),
        *((262, short, 1, 1), (277, short, 1, 1), (322, long, 1, tile_width)),
        *((323, long, 1, tile_height), (324, long, count, directory)),
        (325, long, count, directory + tables),
    ]
    entries = b"".join(struct.pack("<HHII", *tag) for tag in tags)
    offsets = struct.pack("<I", directory + 2 * tables) * count
    head = b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + bytes(4)
    return head + offsets + struct.pack("<I", len(tile)) * count + tile


def test_timeout_of_a_slow_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(backends.SECONDS_VARIABLE, "1")
    message = failure(slow_file())
    assert "must be decoded in at most 1 s of processor time (got more)" in message
    assert message.endswith("made to cost time.")
    # The replacement process works.
    np.testing.assert_array_equal(decode_one(png(PHOTO)), PHOTO)


@pytest.mark.parametrize("value", ["0", "1.5", "", "-1", "100000", "ten"])
def test_invalid_timeout_raises(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(backends.SECONDS_VARIABLE, value)
    with pytest.raises(ArgumentValueError, match="must be a whole number of seconds"):
        backends.backend_arguments()


def test_wrong_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(backends.PROCESS_VARIABLE, "off")
    with pytest.raises(ArgumentValueError, match="must be 0 or 1 \\(got 'off'\\)"):
        backends.backend_arguments()


def test_program_that_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "_process", lambda: ["/no/such/program"])
    message = failure(png(PHOTO))
    assert "must be able to start" in message
    assert backends.PROCESS_VARIABLE in message


PROGRAM = """
import os, signal, threading, time
import numpy as np
from dali_core import Pipeline, fn
from tests.children import children, children_of, codec_servers
from tests.waiting import wait_until
file = np.frombuffer(bytes.fromhex({file!r}), np.uint8)

def started(num_threads=1):
    pipeline = Pipeline(batch_size=4, num_threads=num_threads, device_id=None)
    with pipeline:
        images = fn.decoders.image(fn.external_source(source=lambda: [file] * 4))
        pipeline.set_outputs(images)
    return pipeline, total(pipeline)

def total(pipeline):
    return int(np.array(pipeline.run()[0].at(0)).sum())

def decode(num_threads=1):
    pipeline, found = started(num_threads)
    pipeline.close()
    return found

def descriptors():
    return len(os.listdir("/proc/self/fd"))
"""


@contextmanager
def program(code: str) -> Iterator[subprocess.Popen[str]]:
    """Start a program of its own that decodes ``PHOTO``."""
    code = PROGRAM.format(file=png(PHOTO).hex()) + code
    # Forking a process with threads is what some of these programs are about.
    with started([sys.executable, "-W", "ignore", "-c", code]) as process:
        yield process


def output(code: str) -> str:
    with program(code) as process:
        printed, _ = finish(process)
    assert process.returncode == 0
    return printed


def test_forked_children_start_their_own() -> None:
    code = """
open_one, first = started()
servers = codec_servers()
ends = threading.Event()
results = []

def decode_on():
    while not ends.is_set():
        results.append(decode() == first)

# Forks come at any time of what other threads do.
others = [threading.Thread(target=decode_on) for _ in range(2)]
for other in others:
    other.start()
for _ in range(8):
    child = os.fork()
    if child == 0:
        signal.alarm(100)
        os._exit(0 if not codec_servers() and decode() == first and codec_servers() else 1)
    assert os.waitpid(child, 0)[1] == 0
ends.set()
for other in others:
    other.join()
assert all(results) and total(open_one) == first
assert codec_servers() == servers and len(servers) == 1
print(first)
"""
    assert int(output(code)) == int(PHOTO.sum())


def test_threads_share_one_server() -> None:
    code = """
pipelines, open_files = [], []
before = descriptors()
for _ in range(3):
    threads = [threading.Thread(target=lambda: pipelines.append(started(2))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 6 <= len(children()) <= 12  # a thread starts its decoder with its first image
    print(*codec_servers(), {found for _, found in pipelines})
    while pipelines:
        pipelines.pop()[0].close()
    wait_until(lambda: not children(), children)
    open_files.append(descriptors() - before)
print(open_files)
"""
    *rounds, open_files = output(code).splitlines()
    assert len(rounds) == 3
    assert {line.split(maxsplit=1)[1] for line in rounds} == {f"{{{int(PHOTO.sum())}}}"}
    assert len({*rounds}) == 1
    assert open_files == "[1, 1, 1]"  # the server's socket


def test_processes_end_with_a_killed_program() -> None:
    code = """
open_one, first = started()
(watcher,) = children()
print(*codec_servers(), watcher, *children_of(watcher), flush=True)
time.sleep(1000)
"""
    with program(code) as process:
        assert process.stdout is not None
        numbers = [int(word) for word in process.stdout.readline().split()]
        assert len(numbers) == 3
        assert all(map(is_running, numbers))
        process.kill()
    wait_until(partial(ended, numbers))


def test_forked_child_does_not_keep_the_server() -> None:
    code = """
decode()
child = os.fork()
if child:
    print(*codec_servers(), child, flush=True)
time.sleep(1000)
"""
    with program(code) as process:
        assert process.stdout is not None
        server, child = map(int, process.stdout.readline().split())
        try:
            process.kill()
            wait_until(lambda: not is_running(server))
            assert is_running(child)
        finally:
            os.kill(child, signal.SIGKILL)


def test_library_that_cannot_be_loaded(tmp_path: Path) -> None:
    (tmp_path / "extensions").mkdir()
    for name in ("libnvimgcodec.so", "extensions/libtiff_ext.so"):
        (tmp_path / name).touch()
    code = f"""
from pathlib import Path
from dali_core.errors import SampleError
from dali_core.operators.decoders import backends
found = backends._codec_folder
backends._codec_folder = lambda: Path({str(tmp_path)!r})
for _ in range(2):
    try:
        decode(2)
    except SampleError as error:
        print("nvImageCodec must be loadable (got {tmp_path}" in error.message)
    print(len(codec_servers()))
backends._codec_folder = found
print(decode())
"""
    assert output(code).split() == ["True", "1"] * 2 + [str(int(PHOTO.sum()))]
