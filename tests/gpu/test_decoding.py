"""Images that nvImageCodec decodes on a GPU equal those of the host, on real hardware."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, cuda, fn, types
from dali_core.operators.decoders.on_device.choice import (
    GPU_DECODER_VARIABLE,
    gpu_decoder_is_there,
)
from dali_core.operators.decoders.on_device.step import DecodeStep

pytestmark = pytest.mark.gpu
pytest.importorskip("PIL", reason="not available: Pillow")

MAX_DIFFERENCE = 2.0  # on average, of 255
CALLS: dict[str, Callable[..., Any]] = {
    "image": fn.decoders.image,
    "bgr": lambda data, device: fn.decoders.image(data, device=device, output_type=types.BGR),
    "gray": lambda data, device: fn.decoders.image(data, device=device, output_type=types.GRAY),
    "image_crop": lambda data, device: fn.decoders.image_crop(data, device=device, crop=(90, 70)),
    "image_slice": lambda data, device: fn.decoders.image_slice(
        data, device=device, start=(7, 9), shape=(50, 60)
    ),
    "image_random_crop": lambda data, device: fn.decoders.image_random_crop(data, device=device),
}


@pytest.fixture(autouse=True)
def _needs_nvjpeg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(GPU_DECODER_VARIABLE, "1")
    if "Simulated" in cuda.device_name(0) and "tests.cuda.image_codec" not in sys.modules:
        pytest.skip("not available: nvImageCodec with the simulated driver")
    if not gpu_decoder_is_there():
        pytest.skip("not available: nvJPEG (nvidia-nvjpeg-cu12, or nvidia-nvjpeg of CUDA 13)")


def _files() -> list[bytes]:
    from tests.generated_images import encode, jpeg, photo_like

    photos = [photo_like(100 + 31 * i, 180 - 23 * i, seed=i) for i in range(4)]
    files = [
        jpeg(photo, subsampling=number % 3, progressive=is_progressive)
        for is_progressive in (False, True)
        for number, photo in enumerate(photos)
    ]
    return [*files, encode(photos[0], "JPEG", "L"), encode(photos[1], "JPEG", "CMYK")]


def _results(make: Callable[..., Any], device: str, files: list[bytes]) -> list[np.ndarray]:
    pipeline = Pipeline(
        batch_size=len(files), num_threads=2, device_id=0 if device == "mixed" else None, seed=5
    )
    with pipeline:
        data = fn.external_source(source=lambda: [np.frombuffer(file, np.uint8) for file in files])
        image = make(data, device=device)
        pipeline.set_outputs(image.cpu() if device == "mixed" else image)
    found = [np.array(sample) for _ in range(3) for sample in pipeline.run()[0]]
    pipeline.close()
    return found


@pytest.mark.parametrize("name", CALLS)
def test_images_are_those_of_the_host(name: str) -> None:
    files = _files()
    pairs = zip(
        _results(CALLS[name], "mixed", files), _results(CALLS[name], "cpu", files), strict=True
    )
    for number, (found, expected) in enumerate(pairs):
        assert found.shape == expected.shape, number
        assert np.abs(found.astype(int) - expected).mean() <= MAX_DIFFERENCE, number


def test_gpu_decodes_all_but_cmyk(monkeypatch: pytest.MonkeyPatch) -> None:
    """It rejects only CMYK: nothing else falls back to the host unnoticed."""
    shapes: list[tuple[int, ...]] = []
    run = DecodeStep.run

    def watched(self: DecodeStep, context: Any, inputs: Any) -> Any:
        outputs = run(self, context, inputs)
        shapes.extend(outputs[0].samples.shape())  # type: ignore[union-attr]
        return outputs

    monkeypatch.setattr(DecodeStep, "run", watched)
    files = _files()
    _results(fn.decoders.image, "mixed", files)
    assert [shape[0] == 0 for shape in shapes[: len(files)]] == [False] * (len(files) - 1) + [True]
