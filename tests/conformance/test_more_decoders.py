"""Decoders of windows and of headers are bitwise identical to NVIDIA DALI.

Where this library differs on purpose:

* `peek_image_shape` of a JPEG of four components as ``ANY_DATA`` has the three channels of
  the decoded image.
* Windows of `random_crop_generator` are drawn by another generator: only their distribution is
  compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.types
from dali_core.testing.examples import list_of
from tests.generated_images import (
    SAMPLINGS,
    cmyk_jpeg,
    encode,
    jpeg,
    photo_like,
    png,
    pnm,
    sampled_jpeg,
    with_orientation,
)

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

PHOTO = photo_like(37, 53)
FILES = [
    *(sampled_jpeg(37, 53, name) for name in SAMPLINGS),
    *(sampled_jpeg(45, 31, name, progressive=True) for name in SAMPLINGS),
    *(with_orientation(jpeg(PHOTO), value) for value in range(1, 9)),
    jpeg(photo_like(150, 210)),
    jpeg(PHOTO[..., :1]),
    cmyk_jpeg(37, 53),
    png(PHOTO),
    encode(PHOTO, "BMP"),
    encode(PHOTO, "TIFF"),
    encode(PHOTO, "WEBP"),
    encode(PHOTO, "JPEG2000"),
    pnm(PHOTO),
]
ANY_CHANNELS = [*FILES[:-7], png(photo_like(20, 31, 1)), png(photo_like(20, 33, 4))]


def outputs_of(
    library: Any, samples: Sequence[np.ndarray], call: Callable[[Any, Any], Any]
) -> list[tuple[str, str, list[np.ndarray]]]:
    """Return type, layout and samples of each output of a call on encoded samples."""
    settings = {"batch_size": len(samples), "num_threads": 2, "device_id": None, "seed": 3}
    pipeline = library.Pipeline(**settings)
    with pipeline:
        data = library.fn.external_source(source=lambda: list(samples))
        outputs = call(library, data)
        pipeline.set_outputs(*list_of(outputs))
    pipeline.build()
    return [
        (batch.dtype.name, batch.layout(), [np.array(batch.at(i)) for i in range(len(samples))])
        for batch in pipeline.run()
    ]


def check(call: Callable[[Any, Any], Any], files: Sequence[bytes] = FILES) -> None:
    samples = [np.frombuffer(file, np.uint8) for file in files]
    ours, theirs = (outputs_of(library, samples, call) for library in (dali_core, reference))
    for one, other in zip(ours, theirs, strict=True):
        assert one[:2] == other[:2]
        for number, (mine, expected) in enumerate(zip(one[2], other[2], strict=True)):
            np.testing.assert_array_equal(mine, expected, err_msg=str(number), strict=True)


def check_refused(call: Callable[[Any, Any], Any]) -> None:
    for library in (dali_core, reference):
        with pytest.raises((RuntimeError, ValueError, TypeError, KeyError)):
            outputs_of(library, [np.frombuffer(FILES[0], np.uint8)], call)


def with_types(library: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    named = ("dtype", "output_type", "image_type")
    return {
        name: getattr(library.types, value) if name in named else value
        for name, value in arguments.items()
    }


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"crop": (9, 14)},
        {"crop": (9.7, 14.2), "crop_pos_x": 0.1, "crop_pos_y": 0.97},
        {"crop": (0, 5), "crop_pos_x": 1.0},
        {"crop": (3, 4, 5), "crop_pos_y": 0.0},
        {"crop_h": 11, "crop_w": 16.9, "crop_pos_x": 0.33, "rounding": "truncate"},
        {"crop_h": 11, "crop_w": 16.9, "crop_d": 2, "crop_pos_x": 0.33},
        {"crop": (20, 20), "output_type": "YCbCr", "dtype": "FLOAT"},
        {"crop": (20, 20), "output_type": "BGR", "adjust_orientation": False},
        {"crop": (20, 20), "use_fast_idct": True},
    ],
)
def test_image_crop(arguments: dict[str, Any]) -> None:
    check(
        lambda library, data: library.fn.decoders.image_crop(data, **with_types(library, arguments))
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"crop": (300, 4)},
        {"crop": 5},
        {"crop_h": 3},
        {"crop": (2, 2), "crop_h": 3, "crop_w": 3},
        {"crop": (2, 2), "crop_pos_x": 1.5},
        {"crop": (2, 2), "rounding": "up"},
        {"crop": (2, 2), "out_of_bounds_policy": "pad"},
    ],
)
def test_invalid_crops(arguments: dict[str, Any]) -> None:
    check_refused(lambda library, data: library.fn.decoders.image_crop(data, **arguments))


@pytest.mark.parametrize(
    "arguments",
    [
        {"start": [3, 2]},
        {"end": [3, 2]},
        {"shape": [9, 7]},
        {"start": [3], "end": [7]},
        {"start": [3, 2], "end": [9, 7]},
        {"start": [3, 2], "shape": [9, 7]},
        {"rel_start": [0.13, 0.27], "shape": [9, 7]},
        {"rel_start": [0.13, 0.27], "rel_end": [0.77, 0.83]},
        {"rel_start": [0.13, 0.27], "rel_shape": [0.77, 0.53]},
        {"start": [3, 2], "rel_shape": [0.5, 0.5]},
        {"start": [3, 2], "rel_end": [0.5, 0.5]},
        {"rel_start": 0.25, "rel_end": 0.75},
        {"start": [3], "end": [7], "axes": [0]},
        {"start": [3], "end": [7], "axes": [-2]},
        {"start": [3, 4], "end": [7, 8], "axes": [0, 1]},
        {"start": [3], "end": [7], "axis_names": "H"},
        {"start": [3, 4], "end": [7, 8], "axis_names": "HW", "output_type": "GRAY"},
    ],
)
def test_image_slice(arguments: dict[str, Any]) -> None:
    check(
        lambda library, data: library.fn.decoders.image_slice(
            data, **with_types(library, arguments)
        )
    )


@pytest.mark.parametrize("seed", range(6))
def test_relative_slices_are_rounded_alike(seed: int) -> None:
    # With extents of 20 and 50 pixels, many numbers are half way between pixels.
    files = [png(photo_like(20, 50))] * 40
    random = np.random.default_rng(seed)
    step = (0.05, 0.025, 0.01, 0.001, 0.125, 0.1)[seed]
    starts = (random.integers(0, int(0.5 / step), (40, 2)) * step).astype(np.float32)
    shapes = (random.integers(int(0.2 / step) + 1, int(0.5 / step) + 1, (40, 2)) * step).astype(
        np.float32
    )

    def named(library: Any, data: Any) -> Any:
        start = library.fn.external_source(source=lambda: list(starts))
        shape = library.fn.external_source(source=lambda: list(shapes))
        return library.fn.decoders.image_slice(data, rel_start=start, rel_shape=shape)

    def by_position(library: Any, data: Any) -> Any:
        start = library.fn.external_source(source=lambda: list(starts))
        shape = library.fn.external_source(source=lambda: list(shapes))
        return library.fn.decoders.image_slice(data, start, shape)

    def by_ends(library: Any, data: Any) -> Any:
        start = library.fn.external_source(source=lambda: list(starts))
        end = library.fn.external_source(source=lambda: list(starts + shapes))
        return library.fn.decoders.image_slice(data, rel_start=start, rel_end=end)

    for call in (named, by_position, by_ends):
        check(call, files)


@pytest.mark.parametrize(
    ("start", "shape", "arguments"),
    [
        (np.int32([1, 2]), np.int32([6, 5]), {}),
        (np.int64([1, 2]), np.int64([6, 5]), {"axis_names": "HW"}),
        (np.float32([0.1, 0.2]), np.float32([0.5, 0.25]), {}),
        (
            np.float32([1.6, 2.4]),
            np.float32([6.5, 5.5]),
            {"normalized_anchor": False, "normalized_shape": False},
        ),
        (np.float32([1.6, 2.4]), np.float32([0.5, 0.5]), {"normalized_anchor": False}),
        (np.float32([0.1, 0.2]), np.float32([6.5, 5.4]), {"normalized_shape": False}),
    ],
)
def test_slice_by_position(start: np.ndarray, shape: np.ndarray, arguments: dict[str, Any]) -> None:
    def call(library: Any, data: Any) -> Any:
        windows = [
            library.fn.external_source(source=itertools.repeat([value] * len(FILES)))
            for value in (start, shape)
        ]
        return library.fn.decoders.image_slice(data, *windows, **arguments)

    check(call)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"start": [3, 3], "end": [70, 7]},
        {"start": [-3, 3], "end": [7, 7]},
        {"start": [3, 3], "end": [3, 7]},
        {"start": [3, 3], "end": [2, 7]},
        {"start": [1, 1], "rel_start": [0.1, 0.1]},
        {"end": [9, 9], "shape": [3, 3]},
        {"end": [9, 9], "rel_end": [0.5, 0.5]},
        {"start": [0], "end": [1], "axis_names": "C"},
        {"start": [0, 1], "end": [1, 5], "axis_names": "HH"},
        {"start": [3], "end": [7], "axes": [2]},
        {"start": [1, 2, 3]},
    ],
)
def test_invalid_slices(arguments: dict[str, Any]) -> None:
    check_refused(lambda library, data: library.fn.decoders.image_slice(data, **arguments))


@pytest.mark.parametrize("image_type", ["RGB", "BGR", "GRAY", "YCbCr"])
@pytest.mark.parametrize("adjust_orientation", [True, False])
def test_peek_image_shape(image_type: str, adjust_orientation: bool) -> None:
    arguments = {"image_type": image_type, "adjust_orientation": adjust_orientation}
    check(lambda library, data: library.fn.peek_image_shape(data, **with_types(library, arguments)))


def test_peek_any_data() -> None:
    files = [file for file in ANY_CHANNELS if file != cmyk_jpeg(37, 53)]
    check(
        lambda library, data: library.fn.peek_image_shape(data, image_type=library.types.ANY_DATA),
        files,
    )


@pytest.mark.parametrize("dtype", ["INT32", "UINT32", "INT64", "UINT64", "FLOAT", "FLOAT64"])
def test_types_of_shapes(dtype: str) -> None:
    check(
        lambda library, data: library.fn.peek_image_shape(data, dtype=getattr(library.types, dtype))
    )


@pytest.mark.parametrize("dtype", ["UINT8", "INT16", "FLOAT16", "BOOL"])
def test_invalid_types_of_shapes(dtype: str) -> None:
    check_refused(
        lambda library, data: library.fn.peek_image_shape(data, dtype=getattr(library.types, dtype))
    )


def crop_windows(library: Any, shape: Sequence[int], **arguments: Any) -> np.ndarray:
    """Draw 4000 windows as (y, x, height, width)."""
    shapes = [np.array(shape, np.int64)] * 4000
    outputs = outputs_of(
        library, shapes, lambda _, data: library.fn.random_crop_generator(data, **arguments)
    )
    assert [output[:2] for output in outputs] == [("INT32", "")] * 2
    return np.concatenate([np.stack(output[2]) for output in outputs], axis=1)


@pytest.mark.parametrize(
    ("shape", "arguments"),
    [
        ((200, 300, 3), {}),
        ((300, 120), {"random_area": [0.2, 0.5], "random_aspect_ratio": [0.5, 2.0]}),
        ((40, 400), {"num_attempts": 3}),
    ],
)
def test_random_windows_have_the_same_distribution(
    shape: tuple[int, ...], arguments: dict[str, Any]
) -> None:
    ours, theirs = (crop_windows(library, shape, **arguments) for library in (dali_core, reference))
    for one, other in zip(ours.T, theirs.T, strict=True):
        values = np.union1d(one, other)
        steps = [np.searchsorted(np.sort(drawn), values, "right") / 4000 for drawn in (one, other)]
        # Two-sample Kolmogorov-Smirnov test, at a level of 0.001.
        assert np.abs(steps[0] - steps[1]).max() < 1.95 * np.sqrt(2 / 4000)


def test_windows_of_empty_images() -> None:
    for shape in ((0, 5), (7, 0, 3)):
        for library in (dali_core, reference):
            assert not crop_windows(library, shape).any()
