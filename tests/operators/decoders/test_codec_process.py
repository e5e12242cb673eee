"""nvImageCodec in a worker process: files that crash it are an error of their sample only."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from dali_core import fn
from dali_core.errors import ArgumentValueError, SampleError
from dali_core.operators.decoders import backends
from tests.children import children
from tests.fuzz.small_images import damaged, others, pngs
from tests.generated_images import encode, photo_like, png
from tests.operators.decoders.decoding import decode, decode_one, failure
from tests.operators.suite import pipeline

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


def test_killed_process_is_replaced() -> None:
    sample = np.frombuffer(png(PHOTO), np.uint8)
    with pipeline(batch_size=1, num_threads=1, prefetch_queue_depth=1) as made:
        with made:
            data = fn.external_source(source=lambda: [sample])
            made.set_outputs(fn.decoders.image(data))
        before = set(children())
        for _ in range(3):
            np.testing.assert_array_equal(np.array(made.run()[0].at(0)), PHOTO)
            started = set(children()) - before
            assert len(started) == 1
            of_it = Path(f"/proc/{min(started)}/task/{min(started)}/children").read_text()
            for child in [*started, *map(int, of_it.split())]:
                os.kill(child, signal.SIGKILL)


def test_processes_end_with_the_pipeline() -> None:
    before = set(children())
    decode([png(PHOTO)] * 8)
    assert set(children()) <= before


def test_large_images_after_small_ones() -> None:
    # The shared memory grows between the header and the pixels.
    sizes = [(3, 4), (900, 700), (5, 6), (1200, 800)]
    for image in (photo_like(*size) for size in sizes):
        np.testing.assert_array_equal(decode_one(png(image)), image)
        np.testing.assert_array_equal(
            decode_one(png(image), "image_crop", crop=(2, 3), crop_pos_x=0.0, crop_pos_y=1.0),
            image[-2:, :3],
        )


def test_same_pixels_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_file_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(backends.SECONDS_VARIABLE, "1")
    message = failure(slow_file())
    assert "must be decoded in at most 1 s of processor time (got more)" in message
    assert message.endswith("made to cost time.")
    # The replacement process works.
    np.testing.assert_array_equal(decode_one(png(PHOTO)), PHOTO)


@pytest.mark.parametrize("value", ["0", "1.5", "", "-1", "100000", "ten"])
def test_wrong_time(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
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


FORKED = """
import os
import numpy as np
from dali_core import Pipeline, fn
file = np.frombuffer(bytes.fromhex({file!r}), np.uint8)

def decode():
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        pipeline.set_outputs(fn.decoders.image(fn.external_source(source=lambda: [file])))
    total = int(np.array(pipeline.run()[0].at(0)).sum())
    return total

first = decode()
child = os.fork()
if child == 0:
    os._exit(0 if decode() == first else 1)
assert os.waitpid(child, 0)[1] == 0
assert decode() == first
print(first)
"""


def test_forked_child_starts_its_own() -> None:
    code = FORKED.format(file=png(PHOTO).hex())
    command = [sys.executable, "-W", "ignore", "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(result.stdout) == int(PHOTO.sum())
