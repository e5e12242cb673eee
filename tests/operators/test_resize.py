"""Resizing images, volumes and sequences."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import fn, types
from dali_core.errors import ArgumentTypeError, ArgumentValueError, SampleError
from tests.operators.suite import (
    ALL_TYPES,
    Example,
    images,
    numbers,
    pipeline,
    run_on,
    shares_memory,
)

FILTERS = [
    types.INTERP_NN,
    types.INTERP_LINEAR,
    types.INTERP_CUBIC,
    types.INTERP_LANCZOS3,
    types.INTERP_TRIANGULAR,
    types.INTERP_GAUSSIAN,
]
# The Gaussian is no interpolation: it blurs even where nothing moves.
SHARP_FILTERS = FILTERS[:-1]

EXAMPLES = [
    Example("bytes", [images()], {"size": (20, 30)}),
    Example("shrinking", [images()], {"resize_x": 3, "resize_y": 4}),
    Example("grey", [images(extents={"C": 1})], {"resize_shorter": 17.5, "max_size": 60}),
    Example("two_channels", [images(extents={"C": 2})], {"size": (9, 11)}),
    Example(
        "exclude_outside",
        [images("HWC", "float32")],
        {"size": (4, 17), "interp_type": types.INTERP_CUBIC, "exclude_outside": True},
    ),
    Example("many_channels", [images(extents={"C": 7})], {"size": (9, 11)}),
    Example("planes", [images("CHW")], {"size": (9, 11), "interp_type": types.INTERP_CUBIC}),
    Example(
        "planes_to_float",
        [images("CHW")],
        {"size": (7, 13), "antialias": False, "dtype": types.FLOAT},
    ),
    Example("sequence", [images("FHWC", "uint16")], {"resize_longer": 19}),
    Example("halves", [images(dtype="float16")], {"size": (6, 5)}),
    Example("integers", [images(dtype="int32")], {"size": (6, 5), "dtype": types.FLOAT}),
    Example("volumes", [images("DHWC", "int16", extents={"D": 5})], {"size": (4, 6, 5)}),
    Example("depth", [images("CDHW", extents={"D": 4})], {"resize_z": 7, "resize_y": 3}),
    Example(
        "region",
        [images("HWC", "float32")],
        {
            "size": (8, 9),
            "roi_start": (0.9, 0.1),
            "roi_end": (0.2, 0.7),
            "roi_relative": True,
            "interp_type": types.INTERP_LANCZOS3,
        },
    ),
    Example(
        "filters",
        [images()],
        {
            "size": (-12, 14),
            "min_filter": types.INTERP_GAUSSIAN,
            "mag_filter": types.INTERP_NN,
        },
    ),
    Example(
        "aspect", [images()], {"size": (14, 18), "mode": "not_larger", "subpixel_scale": False}
    ),
    Example("saved_shape", [images()], {"resize_x": 5, "save_attrs": True}),
    Example("many_taps", [images(smallest=90)], {"size": (2, 1)}),
    Example("whole", [images()], {"size": 0}),
]


def resize(image: np.ndarray, layout: str = "HWC", **arguments: Any) -> np.ndarray:
    return run_on("resize", [image], layout, **arguments)[0]


def row(values: Any, dtype: str = "float32") -> np.ndarray:
    """Make an image of one row and one channel."""
    return np.array(values, dtype)[None, :, None]


def weights(input_size: int, output_size: float, **arguments: Any) -> np.ndarray:
    """Return the weight of each input pixel (columns) in each output pixel (rows)."""
    # Each channel has another nonzero pixel.
    image = np.eye(input_size, dtype=np.float32)[None]
    return resize(image, size=(1, output_size), **arguments)[0]


@functools.cache
def triangle(input_size: int, output_size: int, *, antialias: bool = True) -> np.ndarray:
    """Return the weights of linear interpolation by its definition."""
    scale = input_size / output_size
    width = max(scale, 1) if antialias else 1
    found = np.zeros((output_size, input_size))
    for j in range(output_size):
        centre = (j + 0.5) * scale
        for i in range(-3 * input_size - 3, 4 * input_size + 3):
            weight = max(0, 1 - abs(i + 0.5 - centre) / width)
            found[j, np.clip(i, 0, input_size - 1)] += weight
    return found / found.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("dtype", ALL_TYPES)
@pytest.mark.parametrize("interp_type", SHARP_FILTERS)
def test_same_size_is_exact(dtype: str, interp_type: types.DALIInterpType) -> None:
    image = numbers(dtype, (5, 7, 3), 0)
    result = resize(image, size=(5, 7), interp_type=interp_type)
    np.testing.assert_array_equal(result, image, strict=True)
    flipped = resize(image, size=(-5, -7), interp_type=interp_type)
    np.testing.assert_array_equal(flipped, image[::-1, ::-1], strict=True)


def test_zero_copy_at_the_same_size() -> None:
    assert shares_memory("resize", size=0)
    assert shares_memory("resize", resize_x=7)
    assert not shares_memory("resize", resize_x=-7)
    assert not shares_memory("resize", size=0, dtype=types.FLOAT)
    assert not shares_memory("resize", size=0, interp_type=types.INTERP_GAUSSIAN)


@given(
    shape=st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(1, 5)),
    size=st.tuples(st.floats(0.5, 60, width=32), st.floats(0.5, 60, width=32)),
    interp_type=st.sampled_from(FILTERS),
    antialias=st.booleans(),
    value=st.integers(0, 255),
    dtype=st.sampled_from(["uint8", "int16", "float32"]),
)
@settings(max_examples=80, deadline=None)
def test_constant_image_stays_constant(
    shape: tuple[int, int, int],
    size: tuple[float, float],
    interp_type: types.DALIInterpType,
    antialias: bool,
    value: int,
    dtype: str,
) -> None:
    image = np.full(shape, value, dtype)
    result = resize(image, size=size, interp_type=interp_type, antialias=antialias)
    assert result.shape == (*(max(1, int(np.floor(s + 0.5))) for s in size), shape[2])
    if dtype == "float32":
        np.testing.assert_allclose(result, value, rtol=1e-5)
    else:
        assert (result == value).all()


@given(input_size=st.integers(1, 30), output_size=st.integers(1, 40), antialias=st.booleans())
@settings(max_examples=60, deadline=None)
def test_linear_weights(input_size: int, output_size: int, antialias: bool) -> None:
    expected = triangle(input_size, output_size, antialias=antialias)
    found = weights(input_size, output_size, antialias=antialias)
    np.testing.assert_allclose(found, expected, atol=2e-5)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "float32"])
@pytest.mark.parametrize("layout", ["HWC", "CHW", "FHWC"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("size", [(9, 23), (40, 50), (11, 47), (30, 5)])
def test_images_are_resampled_along_both_axes(
    dtype: str, layout: str, channels: int, size: tuple[int, int]
) -> None:
    extents = {"F": 2, "H": 19, "W": 31, "C": channels}
    image = numbers(dtype, [extents[letter] for letter in layout], 0)
    rows, columns = triangle(19, size[0]), triangle(31, size[1])
    letters = layout.lower()
    exact = np.einsum(
        f"{letters},yh,xw->{letters.replace('h', 'y').replace('w', 'x')}",
        image.astype(np.float64),
        rows,
        columns,
    )
    found = resize(image, layout, size=size)
    assert found.dtype == image.dtype
    if dtype == "float32":
        np.testing.assert_allclose(found, exact, atol=1e-4 * np.abs(image).max())
        return
    # Half a level is rounding; the rest is the error of sums in fixed point, or in single
    # precision.
    assert np.abs(found - exact).max() < 0.6
    as_float = resize(image, layout, size=size, dtype=types.FLOAT)
    np.testing.assert_allclose(as_float, exact, atol=1e-5 * np.abs(image.astype(float)).max())


def test_known_results() -> None:
    ramp = row([0, 10, 20, 30])
    assert resize(ramp, size=(1, 8)).ravel().tolist() == [0, 2.5, 7.5, 12.5, 17.5, 22.5, 27.5, 30]
    assert resize(ramp, size=(1, 2), antialias=False).ravel().tolist() == [5, 25]
    assert resize(ramp, size=(1, 2)).ravel().tolist() == [6.25, 23.75]
    square = np.array([[0, 100], [200, 44]], np.uint8)[:, :, None]
    assert resize(square, size=(1, 1), antialias=False).ravel().tolist() == [86]
    assert resize(square, size=(2, 4))[0].ravel().tolist() == [0, 25, 75, 100]
    nearest = resize(square, size=(4, 4), interp_type=types.INTERP_NN)
    np.testing.assert_array_equal(nearest, square.repeat(2, axis=0).repeat(2, axis=1))


def test_bytes_round_and_saturate() -> None:
    assert resize(row([1, 2], "uint8"), size=(1, 1), antialias=False).item() == 2
    assert resize(row([-1, -2], "int16"), size=(1, 1), antialias=False).item() == -2
    step = row([0] * 8 + [255] * 8, "uint8")
    overshooting = resize(step, size=(1, 64), interp_type=types.INTERP_LANCZOS3)
    exact = resize(step, size=(1, 64), interp_type=types.INTERP_LANCZOS3, dtype=types.FLOAT)
    assert exact.min() < -5
    assert exact.max() > 260
    assert np.abs(overshooting - np.clip(exact, 0, 255)).max() < 0.6


@pytest.mark.parametrize(
    ("interp_type", "value"),
    [
        (types.INTERP_CUBIC, lambda x: ((1.5 * x - 2.5) * x * x + 1) * (x < 1)
            + (((-0.5 * x + 2.5) * x - 4) * x + 2) * ((x >= 1) & (x < 2))),
        (types.INTERP_LANCZOS3, lambda x: np.sinc(x) * np.sinc(x / 3) * (x < 3)),
        (types.INTERP_GAUSSIAN, lambda x: np.exp(-4 * x * x) * (x < 1)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("shrink", [1, 2.5])
def test_curved_filters(
    interp_type: types.DALIInterpType, value: Callable[[np.ndarray], np.ndarray], shrink: float
) -> None:
    output_size = int(40 / shrink)
    shifted = {"roi_start": (0, 0.3), "roi_end": (1, 40.3)}
    found = weights(40, output_size, interp_type=interp_type, **shifted)
    middle = output_size // 2
    centre = (middle + 0.5) * shrink + 0.3
    expected = value(np.abs(np.arange(40) + 0.5 - centre) / shrink)
    np.testing.assert_allclose(found[middle], expected / expected.sum(), atol=1e-3)


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_nearest_copies_any_type(dtype: str) -> None:
    image = numbers(dtype, (4, 6, 3), 0)
    result = resize(image, size=(2, 12), interp_type=types.INTERP_NN)
    np.testing.assert_array_equal(result, image[1::2].repeat(2, axis=1), strict=True)
    converted = resize(image, size=(2, 12), interp_type=types.INTERP_NN, dtype=types.FLOAT)
    np.testing.assert_array_equal(converted, result.astype(np.float32), strict=True)


@pytest.mark.parametrize(
    ("arguments", "size"),
    [
        ({"resize_x": 30}, (20, 30)),
        ({"resize_y": 10}, (10, 15)),
        ({"resize_x": 30, "resize_y": 7.5}, (8, 30)),
        ({"resize_x": 30, "mode": "stretch"}, (40, 30)),
        ({"size": (20, 0)}, (20, 30)),
        ({"size": 9}, (9, 9)),
        ({"resize_shorter": 20}, (20, 30)),
        ({"resize_shorter": 20, "max_size": 24}, (16, 24)),
        ({"resize_longer": 30}, (20, 30)),
        ({"size": (10, 30), "mode": "not_larger"}, (10, 15)),
        ({"size": (10, 30), "mode": "not_smaller"}, (20, 30)),
        ({"size": (10, 30), "mode": "not_smaller", "max_size": (15, 99)}, (15, 23)),
        ({"size": (100, 30), "max_size": (50, 20)}, (50, 20)),
        ({"size": (0.1, 3)}, (1, 3)),
        ({"size": (0, 0), "max_size": 5}, (40, 60)),
        ({"size": (0, 30), "roi_start": (0, 0), "roi_end": (10, 20)}, (15, 30)),
        ({"size": (10, 30), "max_size": -1}, (10, 30)),
    ],
    ids=str,
)
def test_sizes(arguments: dict[str, Any], size: tuple[int, int]) -> None:
    assert resize(np.zeros((40, 60, 1), np.uint8), **arguments).shape == (*size, 1)


def test_scale_of_fractional_sizes() -> None:
    kept = weights(10, 4.5, antialias=False)
    # 5 outputs, 10 / 4.5 apart, around the centre of the image.
    centres = 5 + (np.arange(5) - 2) * 10 / 4.5
    found = kept @ (np.arange(10) + 0.5)
    np.testing.assert_allclose(found[1:-1], centres[1:-1], atol=1e-5)
    changed = weights(10, 4.5, antialias=False, subpixel_scale=False)
    np.testing.assert_allclose(changed, weights(10, 5, antialias=False), atol=1e-6)


def test_regions() -> None:
    ramp = row(np.arange(20))
    cut = resize(ramp, size=(1, 4), roi_start=(0, 3), roi_end=(1, 7))
    assert cut.ravel().tolist() == [3, 4, 5, 6]
    mirrored = resize(ramp, size=(1, 4), roi_start=(0, 7), roi_end=(1, 3))
    assert mirrored.ravel().tolist() == [6, 5, 4, 3]
    between = resize(ramp, size=(1, 2), roi_start=(0, 3.5), roi_end=(1, 5.5))
    assert between.ravel().tolist() == [3.5, 4.5]
    relative = resize(ramp, size=(1, 4), roi_start=(0, 0.15), roi_end=(1, 0.35), roi_relative=True)
    np.testing.assert_allclose(relative.ravel(), [3, 4, 5, 6], atol=1e-5)
    # Filters read beyond the region, and beyond the image its edge is repeated.
    grown = resize(ramp, size=(1, 4), roi_start=(0, 3), roi_end=(1, 5))
    assert grown.ravel().tolist() == [2.75, 3.25, 3.75, 4.25]
    outside = resize(ramp, size=(1, 3), roi_start=(0, -2), roi_end=(1, 1))
    assert outside.ravel().tolist() == [0, 0, 0]
    nowhere = resize(ramp, size=(1, 3), roi_start=(0, 40), roi_end=(1, 50))
    np.testing.assert_allclose(nowhere.ravel(), 19, rtol=1e-6)
    far = resize(ramp, size=(1, 3), roi_start=(0, -3e8), roi_end=(1, -3e8 + 64))
    assert far.ravel().tolist() == [0, 0, 0]
    point = resize(ramp, size=(1, 2), roi_start=(0, 5), roi_end=(1, 5))
    np.testing.assert_allclose(point.ravel(), 4.5, atol=1e-3)


def test_mirroring_by_size_and_by_region_cancel() -> None:
    image = numbers("float32", (9, 8, 2), 0)
    region = {"roi_start": (8, 1), "roi_end": (1, 7)}
    upright = resize(image, size=(5, 6), roi_start=(1, 1), roi_end=(8, 7))
    np.testing.assert_allclose(resize(image, size=(-5, 6), **region), upright, atol=1e-4)
    np.testing.assert_allclose(resize(image, size=(5, 6), **region), upright[::-1], atol=1e-4)


def test_filters_for_either_direction() -> None:
    image = numbers("uint8", (8, 8, 3), 0)
    chosen = {"min_filter": types.INTERP_NN, "mag_filter": types.INTERP_LINEAR}
    shrunk = resize(image, size=(4, 4), **chosen)
    np.testing.assert_array_equal(shrunk, resize(image, size=(4, 4), interp_type=types.INTERP_NN))
    grown = resize(image, size=(16, 16), **chosen)
    np.testing.assert_array_equal(grown, resize(image, size=(16, 16)))


def test_arguments_of_each_sample() -> None:
    samples = [numbers("uint8", (6, 9, 3), i) for i in range(3)]
    sizes = np.float32([[3, 4], [12, -5], [0, 18]])
    filters = [0, 1, 2]
    starts, ends = np.float32([[0, 0], [1, 2], [5, 1]]), np.float32([[6, 9], [4, 7], [2, 8]])
    with pipeline() as made:
        with made:
            made.set_outputs(
                fn.resize(
                    fn.external_source(source=lambda: samples, layout="HWC"),
                    size=fn.external_source(source=lambda: list(sizes)),
                    interp_type=fn.external_source(source=lambda: np.int32(filters)),
                    roi_start=fn.external_source(source=lambda: list(starts)),
                    roi_end=fn.external_source(source=lambda: list(ends)),
                )
            )
        (batch,) = made.run()
        found = [np.array(batch.at(i)) for i in range(3)]
    for i in range(3):
        expected = resize(
            samples[i],
            size=sizes[i].tolist(),
            interp_type=FILTERS[filters[i]],
            roi_start=starts[i].tolist(),
            roi_end=ends[i].tolist(),
        )
        np.testing.assert_array_equal(found[i], expected, strict=True)


@pytest.mark.parametrize("layout", ["DHWC", "CDHW", "FDHWC"])
@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32"])
def test_volumes(layout: str, dtype: str) -> None:
    extents = {"F": 2, "D": 6, "H": 5, "W": 9, "C": 2}
    volume = numbers("int16", [extents[letter] for letter in layout], 0) % 256
    volume = volume.astype(dtype)
    letters = layout.lower()
    exact = np.einsum(
        f"{letters},zd,yh,xw->{letters.translate(str.maketrans('dhw', 'zyx'))}",
        volume.astype(np.float64),
        triangle(6, 4),
        triangle(5, 7),
        triangle(9, 3),
    )
    found = resize(volume, layout, size=(4, 7, 3))
    assert found.dtype == volume.dtype
    assert np.abs(found - exact).max() < (1e-3 if dtype == "float32" else 0.6)
    flipped = resize(volume, layout, size=(-6, 5, 9))
    np.testing.assert_array_equal(flipped, np.flip(volume, layout.index("D")))


def test_sizes_of_volumes() -> None:
    volume = np.zeros((6, 5, 9, 1), np.uint8)
    assert resize(volume, "DHWC", resize_z=12).shape == (12, 10, 18, 1)
    # An axis without a size scales by the geometric mean of the others: 2 and 1 / 3.
    assert resize(volume, "DHWC", resize_z=12, resize_x=3).shape == (12, 4, 3, 1)
    assert resize(volume, "DHWC", size=(4, 0, 0), mode="stretch").shape == (4, 5, 9, 1)
    assert resize(volume, "DHWC", resize_shorter=10).shape == (12, 10, 18, 1)
    assert resize(volume[0], "HWC", resize_z=12, resize_x=3).shape == (2, 3, 1)


def test_original_size_as_second_output() -> None:
    samples = [numbers("uint8", shape, 0) for shape in ((3, 8, 5), (3, 2, 7))]
    with pipeline(batch_size=2) as made:
        with made:
            data = fn.external_source(source=lambda: samples, layout="CHW")
            resized, size = fn.resize(data, resize_x=3, save_attrs=True)
            made.set_outputs(resized, size)
        _, sizes = made.run()
        assert sizes.as_array().tolist() == [[8, 5], [2, 7]]
        assert sizes.dtype == types.INT32


@pytest.mark.parametrize("shape", [(0, 6, 2), (6, 0, 2), (6, 6, 0)])
def test_empty_images(shape: tuple[int, int, int]) -> None:
    result = resize(np.zeros(shape, np.uint8), size=(4, 5))
    assert result.shape == tuple(
        0 if extent == 0 else wanted for extent, wanted in zip(shape, (4, 5, 2), strict=True)
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "exactly one way"),
        ({"size": 3, "resize_x": 4}, "exactly one way"),
        ({"resize_shorter": 3, "resize_longer": 4}, "exactly one way"),
        ({"resize_shorter": 3, "mode": "stretch"}, "mode must be left out"),
        ({"size": 3, "mode": "bigger"}, "'mode' must be 'default'.*got 'bigger'"),
        ({"size": 3, "roi_start": (0, 0)}, "given together"),
    ],
    ids=str,
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        resize(np.zeros((4, 4, 1), np.uint8), **arguments)


def test_unknown_filter() -> None:
    with pytest.raises(ArgumentTypeError, match="interp_type"):
        resize(np.zeros((4, 4, 1), np.uint8), size=3, interp_type="cubic")


@pytest.mark.parametrize(
    ("layout", "shape", "arguments", "message"),
    [
        ("HWC", (4, 4, 1), {"size": (1, 2, 3)}, "size must be one number or one for each"),
        ("HWC", (4, 4, 1), {"size": 2, "max_size": (1, 2, 3)}, "max_size must be one number"),
        ("HWC", (4, 4, 1), {"size": float("nan")}, "'size', entry .* must be finite"),
        (
            "HWC",
            (4, 4, 1),
            {"size": 2, "roi_start": [0.0, 0.0], "roi_end": [4.0, 1e9]},
            "narrower than 10\\^8 pixels",
        ),
        ("HWC", (4, 4, 1), {"size": 2e9}, "less than 10"),
        ("HWC", (4, 4, 1), {"size": 9e8}, "at most 140737488355328 bytes"),
        ("HWC", (4, 4, 1), {"size": 2, "dtype": types.INT16}, "dtype must be FLOAT or"),
        ("WHC", (4, 4, 1), {"size": 2}, "layout must be HWC"),
        ("HCW", (4, 1, 4), {"size": 2}, "layout must be HWC"),
        ("", (4, 4, 4, 4, 4, 4), {"size": 2}, "of 2 to 5 dimensions"),
    ],
)
def test_invalid_samples(
    layout: str, shape: tuple[int, ...], arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises((ArgumentValueError, SampleError), match=message):
        resize(np.zeros(shape, np.uint8), layout, **arguments)


def test_filter_of_a_sample_out_of_range() -> None:
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [np.zeros((4, 4, 1), np.uint8)], layout="HWC")
            chosen = fn.external_source(source=lambda: np.int32([9]))
            made.set_outputs(fn.resize(data, size=2, interp_type=chosen))
        with pytest.raises(SampleError, match=r"'interp_type' must be from 0 to 5 \(got 9\)"):
            made.run()


@pytest.mark.parametrize("size", [5, 23])
def test_exclude_outside_divides_by_the_weights_inside(size: int) -> None:
    row = np.random.default_rng(0).random(11, np.float32)
    arguments = {"interp_type": types.INTERP_LINEAR, "exclude_outside": True}
    found = run_on("resize", [row[None, :, None]], "HWC", size=(1, size), **arguments)[0]
    scale = 11 / size
    centres = (np.arange(size)[:, None] + 0.5) * scale
    weights = np.maximum(1 - np.abs(np.arange(11) + 0.5 - centres) / max(scale, 1), 0)
    expected = weights @ row / weights.sum(1)
    np.testing.assert_allclose(found[0, :, 0], expected, rtol=1e-5)
