"""Cropping, mirroring, normalising and reordering in one pass."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import (
    ALL_TYPES,
    Example,
    images,
    numbers,
    run_on,
    shares_memory,
    type_of,
)

MEAN = [123.675, 116.28, 103.53]
STD = [58.395, 57.12, 57.375]

EXAMPLES = [
    Example(
        "photo",
        [images(smallest=6)],
        {
            "crop": (5, 6),
            "mirror": 1,
            "mean": MEAN,
            "std": STD,
            "crop_pos_x": 0.3,
            "crop_pos_y": 1.0,
        },
    ),
    Example(
        "channels_last",
        [images(smallest=3)],
        {
            "crop_h": 3,
            "crop_w": 2,
            "dtype": types.FLOAT16,
            "output_layout": "HWC",
            "pad_output": True,
        },
    ),
    Example(
        "video",
        [images("FHWC", "int16")],
        {
            "crop_d": 2,
            "crop_h": 20,
            "crop_w": 9,
            "crop_pos_z": 1.0,
            "output_layout": "CFHW",
            "out_of_bounds_policy": "pad",
            "fill_values": [1, 2, 3],
            "dtype": types.INT8,
            "scale": 0.01,
            "shift": 3.5,
        },
    ),
    *(
        Example(
            f"{dtype.name}_{layout}_{mirror}",
            [images()],
            {"dtype": dtype, "output_layout": layout, "mirror": mirror, "mean": MEAN, "std": STD},
        )
        for dtype in (types.FLOAT, types.FLOAT16, types.UINT8)
        for layout in ("HWC", "CHW")
        for mirror in (0, 1)
    ),
]

WIDTHS = (1, 2, 15, 16, 17, 31, 47, 64, 65, 300)


def normalize(image: np.ndarray, layout: str = "HWC", **arguments: Any) -> np.ndarray:
    return run_on("crop_mirror_normalize", [image], layout, **arguments)[0]


def expected(
    image: np.ndarray, mean: Any, std: Any, scale: float = 1.0, shift: float = 0.0, axis: int = -1
) -> np.ndarray:
    """Normalise with the operations in the order in which the library documents them."""
    mean, std = (np.atleast_1d(np.float32(values)) for values in (mean, std))
    scale, shift = np.float32(scale), np.float32(shift)
    moved = mean - shift.astype(np.float64) * std.astype(np.float64) / scale.astype(np.float64)
    values = np.moveaxis(image.astype(np.float32), axis, -1)
    result = (values - moved.astype(np.float32)) * (scale / std)
    return np.moveaxis(result, -1, axis)


@pytest.mark.parametrize("dtype", ALL_TYPES)
@pytest.mark.parametrize("mirror", [0, 1])
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
def test_inputs_of_all_types(dtype: str, mirror: int, channels: int) -> None:
    mean, std = np.linspace(5, 100, channels), np.linspace(3, 50, channels)
    for width, layout in itertools.product(WIDTHS, ("HWC", "CHW", "WHC")):
        image = numbers(dtype, (2, width, channels), width)
        result = normalize(
            image, mean=mean.tolist(), std=std.tolist(), output_layout=layout, mirror=mirror
        )
        wanted = expected(image[:, ::-1] if mirror else image, mean, std)
        axes = ["HWC".index(letter) for letter in layout]
        np.testing.assert_array_equal(result, wanted.transpose(axes), strict=True)


@pytest.mark.parametrize("dtype", ALL_TYPES)
@pytest.mark.parametrize("output_layout", ["HWC", "CHW", "WCH"])
def test_outputs_of_all_types(dtype: str, output_layout: str) -> None:
    target = type_of(dtype)
    image = numbers("uint8", (7, 45, 3), 0)
    settings = {"mean": MEAN, "std": STD, "scale": 60.0, "shift": 100.0}
    result = normalize(image, dtype=target, output_layout=output_layout, **settings)
    values = expected(image, **settings).transpose(
        ["HWC".index(letter) for letter in output_layout]
    )
    converted = run_on("cast", [values], dtype=target)[0]
    np.testing.assert_array_equal(result, converted, strict=True)


@pytest.mark.parametrize(
    ("layout", "output_layout"),
    [
        (layout, "".join(order))
        for layout in ("HWC", "CHW", "FHWC")
        for order in itertools.permutations(layout)
    ]
    + [("CDHW", "DHWC"), ("FCDHW", "DFHWC"), ("HW", "WH"), ("CHW", "")],
)
@pytest.mark.parametrize("mirror", [0, 1])
def test_layouts(layout: str, output_layout: str, mirror: int) -> None:
    extents = {"H": 5, "W": 17, "C": 3, "F": 2, "D": 4}
    image = numbers("uint8", [extents[letter] for letter in layout], 0)
    mean, std = (MEAN, STD) if "C" in layout else ([3.0], [2.0])
    result = normalize(
        image, layout, mean=mean, std=std, output_layout=output_layout, mirror=mirror
    )
    mirrored = np.flip(image, layout.index("W")) if mirror else image
    wanted = expected(mirrored, mean, std, axis=layout.find("C"))
    axes = [layout.index(letter) for letter in output_layout or layout]
    np.testing.assert_array_equal(result, wanted.transpose(axes))


@given(
    size=st.tuples(st.integers(1, 9), st.integers(1, 40)),
    window=st.tuples(st.integers(1, 20), st.integers(1, 60)),
    position=st.tuples(st.floats(0, 1, width=32), st.floats(0, 1, width=32)),
    mirror=st.booleans(),
    output_layout=st.sampled_from(["HWC", "CHW", "WHC"]),
    pad_output=st.booleans(),
    dtype=st.sampled_from([types.FLOAT, types.UINT8]),
)
@settings(max_examples=150, deadline=None)
def test_windows_that_reach_outside(
    size: tuple[int, int],
    window: tuple[int, int],
    position: tuple[float, float],
    mirror: bool,
    output_layout: str,
    pad_output: bool,
    dtype: types.DALIDataType,
) -> None:
    image = numbers("uint8", (*size, 3), 0)
    fill = [7.0, 8.5, 250.0]
    result = normalize(
        image,
        crop=window,
        crop_pos_y=position[0],
        crop_pos_x=position[1],
        mirror=int(mirror),
        out_of_bounds_policy="pad",
        fill_values=fill,
        mean=MEAN,
        std=2.0,
        dtype=dtype,
        output_layout=output_layout,
        pad_output=pad_output,
    )
    wanted = np.tile(np.float32(fill), (*window, 1))
    if dtype == types.UINT8:
        wanted = np.trunc(wanted)
    normalized = expected(image, MEAN, 2.0)
    if dtype == types.UINT8:
        normalized = run_on("cast", [normalized], dtype=dtype)[0]
    anchors = [
        where * (extent - cut) for where, extent, cut in zip(position, size, window, strict=True)
    ]
    y, x = (int(np.trunc(anchor + np.copysign(0.5, anchor))) for anchor in anchors)
    rows, columns = (
        slice(max(0, -start), min(cut, extent - start))
        for start, cut, extent in zip((y, x), window, size, strict=True)
    )
    wanted[rows, columns] = normalized[
        rows.start + y : rows.stop + y, columns.start + x : columns.stop + x
    ]
    if mirror:
        wanted = wanted[:, ::-1]
    if pad_output:
        wanted = np.concatenate([wanted, np.zeros((*window, 1), np.float32)], axis=2)
    axes = ["HWC".index(letter) for letter in output_layout]
    np.testing.assert_array_equal(result, wanted.transpose(axes))


@pytest.mark.parametrize("channels", range(1, 10))
@pytest.mark.parametrize("output_layout", ["HWC", "CHW", "CWH"])
@pytest.mark.parametrize("dtype", [types.FLOAT, types.FLOAT16, types.UINT8])
def test_padding_channels(channels: int, output_layout: str, dtype: types.DALIDataType) -> None:
    image = numbers("uint8", (3, 20, channels), 0)
    axes = ["HWC".index(letter) for letter in output_layout]
    plain = normalize(image, dtype=dtype, output_layout=output_layout, mean=3.0)
    padded = normalize(image, dtype=dtype, output_layout=output_layout, mean=3.0, pad_output=True)
    padded, plain = (array.transpose(np.argsort(axes)) for array in (padded, plain))
    total = 1 << (channels - 1).bit_length()
    assert padded.shape == (3, 20, total)
    np.testing.assert_array_equal(padded[..., :channels], plain)
    assert (padded[..., channels:] == 0).all()
    filled = normalize(
        image,
        dtype=dtype,
        output_layout="HWC",
        mean=3.0,
        pad_output=True,
        out_of_bounds_policy="pad",
        fill_values=9.0,
    )
    np.testing.assert_array_equal(filled[..., :channels], plain)
    assert (filled[..., channels:] == 9).all()


def test_statistics_of_padding_channels_may_be_given() -> None:
    image = numbers("uint8", (3, 20, 3), 0)
    four = normalize(image, mean=[*MEAN, 1.0], std=[*STD, 1.0], pad_output=True)
    np.testing.assert_array_equal(four, normalize(image, mean=MEAN, std=STD, pad_output=True))


def test_zero_copy_if_unchanged() -> None:
    same = {"output_layout": "HWC", "dtype": types.UINT8}
    assert shares_memory("crop_mirror_normalize", **same)
    for change in (
        {"mirror": 1},
        {"mean": 1.0},
        {"std": 2.0},
        {"shift": 1.0},
        {"pad_output": True},
    ):
        assert not shares_memory("crop_mirror_normalize", **{**same, **change})


def test_empty_image() -> None:
    assert normalize(np.zeros((0, 5, 3), np.uint8)).shape == (3, 0, 5)
    assert normalize(np.zeros((4, 5, 0), np.uint8)).shape == (0, 4, 5)


def test_zero_std_divides_by_zero() -> None:
    result = normalize(np.uint8([[[0], [1], [2]]]), mean=1.0, std=0.0)
    np.testing.assert_array_equal(result.ravel(), [-np.inf, np.nan, np.inf])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scale": 0.0}, "scale must not be 0"),
        ({"out_of_bounds_policy": "edge"}, 'must be "error", "pad" or "trim_to_shape"'),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        normalize(np.zeros((4, 4, 3), np.uint8), **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mean": [1.0, 2.0]}, "mean must be one number or one for each of the 3 channels"),
        ({"std": [1.0] * 4}, "std must be one number or one for each of the 3 channels"),
        ({"output_layout": "CFHW"}, 'letters of the input\'s layout "HWC"'),
        ({"output_layout": "HHC"}, "output_layout must have the letters"),
        ({"crop": (5, 5)}, "the window must lie inside the input"),
        (
            {"crop": (5, 5), "out_of_bounds_policy": "pad", "fill_values": [1.0, 2.0]},
            "fill_values must be one number or one for each",
        ),
    ],
)
def test_invalid_samples(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        normalize(np.zeros((4, 4, 3), np.uint8), **arguments)
