"""Selection of the decoder, and missing libraries."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dali_core._runtime import executor
from dali_core.errors import ArgumentValueError
from dali_core.operators.decoders import backends
from tests.generated_images import SAMPLINGS, cmyk_jpeg, jpeg, photo_like, png, sampled_jpeg
from tests.operators.decoders.decoding import (
    accepted_arguments,
    decode,
    decode_one,
    failure,
    has_libjpeg,
    use_jpeg_library,
)

PHOTO = photo_like(37, 53)

LOADED_LIBRARIES = """
import pathlib
import numpy as np
from dali_core import Pipeline, fn
from tests.children import children
from tests.waiting import wait_until

def loaded():
    return "nvimgcodec" in pathlib.Path("/proc/self/maps").read_text(), len(children())

files = [np.frombuffer(bytes.fromhex(text), np.uint8) for text in {files!r}]
states = [loaded()]
for file in files:
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        pipeline.set_outputs(fn.decoders.image(fn.external_source(source=lambda: [file])))
    pipeline.run()
    states.append(loaded())
    pipeline.close()
wait_until(lambda: not children(), children)
print([*states, loaded()])
"""


def links_libjpeg() -> bool:
    return b"libjpeg.so" in Path(executor.__file__).read_bytes()


def run_python(code: str) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_build_links_the_requested_jpeg_library() -> None:
    """An environment of the tests is for builds without libjpeg-turbo."""
    wanted = os.environ.get("DALI_CORE_WITH_LIBJPEG", "")
    assert has_libjpeg() == {"0": False, "1": True}.get(wanted, links_libjpeg())


def test_both_backends_give_the_same_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [sampled_jpeg(45, 70, sampling) for sampling in SAMPLINGS]
    files += [jpeg(PHOTO, progressive=True), jpeg(PHOTO[..., :1]), cmyk_jpeg(20, 30)]
    use_jpeg_library("libjpeg", monkeypatch)
    expected = decode(files)
    use_jpeg_library("nvimgcodec", monkeypatch)
    for one, other in zip(expected, decode(files), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def test_unknown_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(backends.JPEG_VARIABLE, "turbo")
    with pytest.raises(ArgumentValueError, match="must be own, libjpeg or nvimgcodec \\(got"):
        decode([jpeg(PHOTO)])


def test_without_nvimgcodec(monkeypatch: pytest.MonkeyPatch) -> None:
    use_jpeg_library("libjpeg", monkeypatch)
    expected = decode_one(jpeg(PHOTO))
    monkeypatch.setattr(backends, "_codec_folder", lambda: None)
    assert set(backends.backend_arguments()) == {"jpeg_backend"}
    np.testing.assert_array_equal(decode_one(jpeg(PHOTO)), expected)
    message = failure(png(PHOTO))
    assert "nvidia-nvimgcodec-cu12" in message
    assert message.endswith(".")


def test_paths_are_found_without_importing() -> None:
    code = (
        "import sys; from dali_core.operators.decoders.backends import backend_arguments; "
        "found = backend_arguments(); assert found['codec_library'] and found['codec_extensions'];"
        "print([name for name in sys.modules if 'nvimgcodec' in name])"
    )
    assert run_python(code) == "[]"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_nvimgcodec_is_loaded_when_first_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    use_jpeg_library("libjpeg", monkeypatch)
    code = LOADED_LIBRARIES.format(files=[jpeg(PHOTO).hex(), png(PHOTO).hex()])
    nothing = (False, 0)
    assert run_python(code) == str([nothing, nothing, (False, 1), nothing])
    monkeypatch.setenv(backends.PROCESS_VARIABLE, "0")
    assert run_python(code) == str([nothing, nothing, (True, 0), (True, 0)])


def test_decoders_take_the_same_arguments() -> None:
    crop = {"random_area", "random_aspect_ratio", "num_attempts"}
    cache = {name for name in accepted_arguments("image") if name.startswith("cache_")}
    only_whole = cache | {"scaled_decode"}
    assert (
        accepted_arguments("image_random_crop") - crop == accepted_arguments("image") - only_whole
    )
