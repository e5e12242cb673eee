"""Files that are no supported images: the error names what they are."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import SampleError

KINDS = {
    "a GIF image": b"GIF89a" + bytes(40),
    "an AVIF image": b"\0\0\0\x20ftypavif" + bytes(40),
    "an HEIC image": b"\0\0\0\x20ftypheic" + bytes(40),
    "an MP4 file": b"\0\0\0\x20ftypisom" + bytes(40),
    "a JPEG XL image": b"\xff\x0a" + bytes(40),
    "a file compressed by gzip": gzip.compress(bytes(40), mtime=0),
    "a ZIP archive": b"PK\x03\x04" + bytes(40),
    "a PDF document": b"%PDF-1.7" + bytes(40),
    "an SVG or XML document": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    "a page of HTML": b"<!DOCTYPE html><html></html>",
}


def error_of(content: bytes) -> str:
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        data = [np.frombuffer(content, np.uint8)]
        pipeline.set_outputs(fn.decoders.image(fn.external_source(lambda: data)))
    with pipeline, pytest.raises(SampleError) as caught:
        pipeline.run()
    return str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_kind_is_named(kind: str) -> None:
    content = KINDS[kind]
    assert f"(got {kind} of {len(content)} bytes). Use JPEG, PNG" in error_of(content)


@pytest.mark.parametrize("content", [b"GIF", b"PK", b"\xff", b"\0" * 11, b"text", b"<svgg"[:3]])
def test_short_and_other_bytes_have_no_kind(content: bytes) -> None:
    assert f"(got {len(content)} bytes that start like no known format)" in error_of(content)


def raised(define: Callable[[], Any]) -> str:
    with Pipeline(batch_size=1, num_threads=1, device_id=None) as pipeline:
        with pipeline:
            pipeline.set_outputs(define())
        with pytest.raises(SampleError) as caught:
            pipeline.run()
    return str(caught.value)


COMPRESSED = {
    "gzip": gzip.compress(bytes(3000)),
    "bzip2": bz2.compress(bytes(3000)),
    "xz": lzma.compress(bytes(3000)),
}


@pytest.mark.parametrize("kind", COMPRESSED)
def test_compressed_archives_and_arrays(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "compressed"
    path.write_bytes(COMPRESSED[kind])
    expected = f"(got a file compressed by {kind}"
    assert expected in raised(lambda: fn.readers.webdataset(paths=[str(path)], ext=["jpg"]))
    assert expected in raised(lambda: fn.readers.numpy(files=[str(path)]))


@pytest.mark.parametrize("kind", COMPRESSED)
def test_compressed_sounds(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("soundfile", reason="not available: soundfile")
    path = tmp_path / "sound.wav"
    path.write_bytes(COMPRESSED[kind])
    message = raised(lambda: fn.decoders.audio(fn.readers.file(files=[str(path)])[0])[0])
    assert f"FLAC, Ogg or MP3 (got a file compressed by {kind})" in message


def test_compressed_videos(tmp_path: Path) -> None:
    pytest.importorskip("av", reason="not available: PyAV")
    path = tmp_path / "video.mp4"
    path.write_bytes(COMPRESSED["gzip"])
    message = raised(lambda: fn.readers.video(filenames=[str(path)], sequence_length=2))
    assert "a file compressed by gzip" in message
