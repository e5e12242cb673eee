"""Planes of JPEG that are resized before colours are converted, against a model in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, types
from dali_core.errors import ArgumentValueError
from tests.generated_images import cmyk_jpeg, encode, photo_like, sampled_jpeg, with_orientation
from tests.huffman_jpegs import FACTORS
from tests.jpeg_writer import write_jpeg
from tests.operators.decoders.decoding import decode_one, use_jpeg_library

Steps = Callable[[Any, str], Any]

SIZE = (17, 21)


def resized(data: Any, chroma: str) -> Any:
    return fn.resize(fn.decoders.image(data, chroma=chroma), size=SIZE)


def make(
    files: list[bytes], steps: Steps, chroma: str = "resample", threads: int = 2, **options: Any
) -> list[np.ndarray]:
    """Decode files in one batch."""
    size = max(len(files), 1)
    with define(files, steps, chroma, batch_size=size, num_threads=threads, **options) as pipe:
        (batch,) = pipe.run()
        return [np.array(batch.at(i)) for i in range(len(batch))]


def define(files: list[bytes], steps: Steps, chroma: str, **options: Any) -> Pipeline:
    samples = [np.frombuffer(file, np.uint8) for file in files]
    pipe = Pipeline(device_id=None, seed=5, **options)
    with pipe:
        data = fn.external_source(
            source=lambda info: samples[info.idx_in_epoch % len(samples)], batch=False
        )
        pipe.set_outputs(steps(data, chroma))
    return pipe


def weights_of(count: int, begin: float, end: float, made: int) -> np.ndarray:
    """Weights of a triangular filter, as wide as the scale, from a part of `count` samples."""
    scale = (end - begin) / made
    width = max(scale, 1.0)
    centres = begin + (np.arange(made) + 0.5) * scale
    at = np.arange(-count, 2 * count)
    spread = np.maximum(0, 1 - np.abs(at + 0.5 - centres[:, None]) / width)
    weights = np.zeros((made, count))
    for place, column in zip(np.clip(at, 0, count - 1), spread.T, strict=True):
        weights[:, place] += column
    return weights / weights.sum(1, keepdims=True)


def model(planes: list[np.ndarray], factors: list[tuple[int, int]], step: int) -> np.ndarray:
    """Resize the planes of a file by their own scales, and convert colours after that."""
    height, width = planes[0].shape
    largest = tuple(max(each) for each in zip(*factors, strict=True))
    resampled = []
    for plane, (horizontal, vertical) in zip(planes, factors, strict=True):
        wider, taller = largest[0] // horizontal, largest[1] // vertical
        # A grey file has the same blocks as the component.
        sampled = plane[::taller, ::wider]
        samples = decode_one(write_jpeg([sampled], [(1, 1)], step=step), output_type=types.GRAY)
        rows = weights_of(samples.shape[0], 0, height / taller, SIZE[0])
        columns = weights_of(samples.shape[1], 0, width / wider, SIZE[1])
        resampled.append(rows @ samples[..., 0].astype(float) @ columns.T)
    luma, blue, red = resampled[0], resampled[1] - 128, resampled[2] - 128
    rgb = [luma + 1.402 * red, luma - 0.344136 * blue - 0.714136 * red, luma + 1.772 * blue]
    return np.clip(np.stack(rgb, 2), 0, 255)


@pytest.mark.parametrize("factors", FACTORS)
@pytest.mark.parametrize("shape", [(40, 48), (33, 71), (9, 5)])
def test_upsampling_matches_the_model(factors: tuple[int, int], shape: tuple[int, int]) -> None:
    image = photo_like(*shape, seed=3)
    planes = [np.ascontiguousarray(plane) for plane in np.moveaxis(image, 2, 0)]
    sampling = [factors, (1, 1), (1, 1)]
    file = write_jpeg(planes, sampling, step=2)
    (found,) = make([file], resized)
    # Three rounded values make a colour: a level of a difference is up to 1.8 of blue.
    difference = np.abs(found - model(planes, sampling, 2))
    assert difference.max() <= 1.9
    assert difference.mean() < 0.5


def random_window(data: Any, chroma: str) -> Any:
    image = fn.decoders.image_random_crop(data, chroma=chroma)
    image = fn.resize(image, size=SIZE, interp_type=types.INTERP_CUBIC)
    return fn.crop_mirror_normalize(image, mirror=fn.random.coin_flip(), std=[2.0])


def window(data: Any, chroma: str) -> Any:
    image = fn.decoders.image_crop(data, crop=(7, 9), chroma=chroma, output_type=types.BGR)
    return fn.flip(fn.resize(image, size=SIZE, antialias=False))


def sliced(data: Any, chroma: str) -> Any:
    image = fn.decoders.image_slice(
        data, rel_start=[0.1], rel_shape=[0.7], axis_names="W", chroma=chroma
    )
    return fn.brightness(fn.resize(image, size=SIZE), brightness=1.1)


def validation(data: Any, chroma: str) -> Any:
    image = fn.crop(fn.decoders.image(data, chroma=chroma), crop=(8, 8), crop_pos_x=0.3)
    return fn.crop(fn.resize(image, resize_shorter=30), crop=(20, 21))


def reduced(data: Any, chroma: str) -> Any:
    image = fn.decoders.image(data, chroma=chroma, scaled_decode=True)
    return fn.resize(image, size=(5, 6))


def beyond(data: Any, chroma: str) -> Any:
    # The last crop refuses some samples in a fused chain.
    image = fn.resize(fn.decoders.image(data, chroma=chroma), resize_shorter=12)
    return fn.crop(image, crop=(20, 13), out_of_bounds_policy="pad")


STEPS = (resized, random_window, window, sliced, validation, reduced, beyond)


def mixed_files() -> list[bytes]:
    """Files that are decoded as planes, and others."""
    files = [sampled_jpeg(31 + i, 50 - i, name) for i, name in enumerate(("420", "422", "444"))]
    files += [with_orientation(files[0], 6), sampled_jpeg(33, 40, "420", interleaved=False)]
    image = photo_like(35, 43, seed=8)
    files += [encode(image, "PNG"), encode(image[..., 0], "JPEG"), cmyk_jpeg(30, 41)]
    files.append(encode(image, "JPEG", progressive=True, quality=80))
    damaged = bytearray(files[0])
    damaged[len(damaged) * 3 // 4 : len(damaged) * 3 // 4 + 8] = b"\xff\0" * 4
    return [*files, bytes(damaged)]


FILES = mixed_files()


@pytest.mark.parametrize("steps", STEPS)
def test_same_pixels_however_it_is_run(steps: Steps) -> None:
    expected = make(FILES, steps, threads=1)
    runs = [make(FILES, steps, threads=3), make(FILES, steps, optimize=False)]
    with define(FILES, steps, "resample", batch_size=3, num_threads=2) as pipe:
        # The second time, places in the files are known.
        batches = [pipe.run()[0] for _ in range(7)]
        found = [np.array(batch.at(i)) for batch in batches for i in range(3)]
    if steps is not random_window:
        runs += [found[: len(FILES)], found[len(FILES) : 2 * len(FILES)]]
    else:
        runs.append(found[: len(FILES)])
    for run in runs:
        for one, other in zip(run, expected, strict=True):
            np.testing.assert_array_equal(one, other, strict=True)


@pytest.mark.parametrize("steps", STEPS)
def test_samples_by_themselves(steps: Steps) -> None:
    expected = make(FILES, steps)
    with define(FILES, steps, "resample", batch_size=len(FILES), num_threads=1) as pipe:
        for index in (0, 2, 8):
            *_, last = pipe.run_sample(index).values()
            np.testing.assert_array_equal(last.arrays[0], expected[index], strict=True)


@pytest.mark.parametrize("steps", STEPS)
def test_subsampled_files_change(steps: Steps) -> None:
    pairs = zip(make(FILES, steps), make(FILES, steps, "upsample"), strict=True)
    changed = [not np.array_equal(one, other) for one, other in pairs]
    # Three subsamplings and the progressive file.
    assert changed == [True] * 3 + [False] * 5 + [True, False]


def test_differences_are_small() -> None:
    # Chroma of these files is as sharp as luma, unlike that of photos.
    for one, other in zip(make(FILES, resized), make(FILES, resized, "upsample"), strict=True):
        assert np.abs(one.astype(int) - other).mean() < 6


def alone(data: Any, chroma: str) -> Any:
    return fn.decoders.image(data, chroma=chroma)


def mirrored_before(data: Any, chroma: str) -> Any:
    return fn.resize(fn.flip(fn.decoders.image(data, chroma=chroma)), size=SIZE)


def blurred_before(data: Any, chroma: str) -> Any:
    return fn.resize(fn.gaussian_blur(alone(data, chroma), sigma=1.0), size=SIZE)


def read_twice(data: Any, chroma: str) -> Any:
    image = alone(data, chroma)
    return fn.cat(fn.resize(image, size=SIZE), fn.resize(image, size=SIZE))


def of_floats(data: Any, chroma: str) -> Any:
    return fn.resize(alone(data, chroma), size=SIZE, dtype=types.FLOAT)


def grey(data: Any, chroma: str) -> Any:
    return fn.resize(fn.decoders.image(data, chroma=chroma, output_type=types.GRAY), size=SIZE)


@pytest.mark.parametrize(
    "steps", [alone, mirrored_before, blurred_before, read_twice, of_floats, grey]
)
@pytest.mark.parametrize("optimize", [True, False])
def test_setting_has_no_effect_without_subsampling(steps: Steps, optimize: bool) -> None:
    files = FILES[:2]
    expected = make(files, steps, "upsample", optimize=optimize)
    for one, other in zip(make(files, steps, optimize=optimize), expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def test_library_pixels_with_other_chroma_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    use_jpeg_library("libjpeg", monkeypatch)
    np.testing.assert_array_equal(
        make(FILES[:1], resized)[0], make(FILES[:1], resized, "upsample")[0], strict=True
    )


def test_resumes_with_the_setting() -> None:
    options = {"batch_size": 4, "num_threads": 2}
    with define(FILES, random_window, "resample", **options) as pipe:
        pipe.run()
        state = pipe.checkpoint()
        (expected,) = pipe.run()
        wanted = np.array(expected.as_array())
    with define(FILES, random_window, "resample", checkpoint=state, **options) as again:
        (found,) = again.run()
        np.testing.assert_array_equal(found.as_array(), wanted, strict=True)


def test_other_names_are_rejected() -> None:
    with (
        Pipeline(batch_size=1, num_threads=1, device_id=None),
        pytest.raises(ArgumentValueError, match="'chroma' must be 'upsample' or 'resample'"),
    ):
        fn.decoders.image(fn.external_source(source=list), chroma="planes")
