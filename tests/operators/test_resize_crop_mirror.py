"""Resizing, cropping and mirroring at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import fn, types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import ALL_TYPES, Example, images, numbers, pipeline, run_on

EXAMPLES = [
    Example("bytes", [images()], {"size": (20, 30), "crop": (9, 11), "mirror": 1}),
    Example(
        "sides",
        [images("FCHW", "uint16")],
        {
            "resize_x": 21,
            "resize_y": 17,
            "crop_w": 15,
            "crop_h": 9,
            "crop_pos_x": 0.2,
            "crop_pos_y": 0.9,
            "mirror": 2,
            "antialias": False,
        },
    ),
    Example(
        "volumes",
        [images("DHWC", "int16", extents={"D": 5})],
        {
            "resize_x": 9,
            "resize_y": 8,
            "resize_z": 7,
            "crop_d": 3,
            "crop_w": 4,
            "crop_h": 5,
            "crop_pos_z": 1.0,
            "mirror": 7,
        },
    ),
    Example("shorter", [images()], {"resize_shorter": 13.5, "crop": (12, 12), "max_size": 60}),
    Example("longer", [images("CHW")], {"resize_longer": 19, "crop": (30, 12), "mirror": 3}),
    Example(
        "region",
        [images("HWC", "float32")],
        {
            "size": (8, -9),
            "crop": (8, 5),
            "roi_start": (0.9, 0.1),
            "roi_end": (0.2, 0.7),
            "roi_relative": True,
            "rounding": "truncate",
            "interp_type": types.INTERP_LANCZOS3,
            "dtype": types.FLOAT,
        },
    ),
    Example(
        "filters",
        [images()],
        {
            "size": (12, 14),
            "min_filter": types.INTERP_GAUSSIAN,
            "mag_filter": types.INTERP_NN,
            "mirror": 2,
        },
    ),
    Example("mirrored", [images()], {"size": 0, "mirror": 3}),
]


def run_both(
    array: np.ndarray,
    layout: str,
    resize: dict[str, Any],
    crop: dict[str, Any],
    mirror: int,
) -> list[np.ndarray]:
    """Run the operator, and the three that it is equivalent to."""
    flips = {"horizontal": mirror & 1, "vertical": mirror >> 1 & 1}
    if "D" in layout:
        flips["depthwise"] = mirror >> 2 & 1
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [array], layout=layout)
            made.set_outputs(
                fn.resize_crop_mirror(data, **resize, **crop, mirror=mirror),
                fn.flip(fn.crop(fn.resize(data, **resize), **crop), **flips),
            )
        return [np.array(batch.at(0)) for batch in made.run()]


FILTERS = [member for member in types.DALIInterpType if member is not types.INTERP_TRIANGULAR]


@given(
    extents=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    size=st.tuples(*[st.floats(1, 50, width=32) | st.floats(-50, -1, width=32)] * 2),
    crop=st.tuples(st.floats(0.1, 1), st.floats(0.1, 1)),
    position=st.tuples(st.floats(0, 1, width=32), st.floats(0, 1, width=32)),
    mirror=st.integers(0, 3),
    interp_type=st.sampled_from(FILTERS),
    layout=st.sampled_from(["HWC", "CHW", "HW", "FHWC"]),
    dtype=st.sampled_from(["uint8", "int16", "float32"]),
)
@settings(max_examples=80)
def test_equals_resize_crop_and_flip(
    extents: tuple[int, int],
    size: tuple[float, float],
    crop: tuple[float, float],
    position: tuple[float, float],
    mirror: int,
    interp_type: types.DALIInterpType,
    layout: str,
    dtype: str,
) -> None:
    shape = [dict(zip("HW", extents, strict=True)).get(letter, 3) for letter in layout]
    window = [
        max(1.0, np.floor(share * round(abs(s)))) for share, s in zip(crop, size, strict=True)
    ]
    at_once, one_by_one = run_both(
        numbers(dtype, shape, 0),
        layout,
        {"size": size, "interp_type": interp_type},
        {"crop": window, "crop_pos_y": position[0], "crop_pos_x": position[1]},
        mirror,
    )
    np.testing.assert_array_equal(at_once, one_by_one, strict=True)


@pytest.mark.parametrize("mirror", range(8))
@pytest.mark.parametrize("layout", ["DHWC", "CDHW", "FDHWC"])
def test_volumes(layout: str, mirror: int) -> None:
    extents = {"D": 5, "H": 6, "W": 7, "C": 2, "F": 2}
    at_once, one_by_one = run_both(
        numbers("uint8", [extents[letter] for letter in layout], 0),
        layout,
        {"size": (7, 4, 9)},
        {"crop": (4, 3, 6), "crop_pos_z": 0.3},
        mirror,
    )
    np.testing.assert_array_equal(at_once, one_by_one, strict=True)


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_types(dtype: str) -> None:
    for resize in ({"size": (9, 11)}, {"size": (9, 11), "dtype": types.FLOAT}):
        at_once, one_by_one = run_both(
            numbers(dtype, (7, 12, 3), 0), "HWC", resize, {"crop": (8, 4)}, 3
        )
        np.testing.assert_array_equal(at_once, one_by_one, strict=True)


def apply(array: np.ndarray, layout: str = "HWC", **arguments: Any) -> np.ndarray:
    return run_on("resize_crop_mirror", [array], layout, **arguments)[0]


@pytest.mark.parametrize("interp_type", [types.INTERP_NN, types.INTERP_LINEAR])
def test_windows_that_are_larger_than_the_image(interp_type: types.DALIInterpType) -> None:
    image = numbers("uint8", (6, 7, 3), 0)
    result = apply(image, size=(6, 7), crop=(10, 12), crop_pos_x=0, interp_type=interp_type)
    expected = np.pad(image, ((2, 2), (0, 5), (0, 0)), "edge")
    np.testing.assert_array_equal(result, expected)
    mirrored = apply(
        image, size=(6, 7), crop=(10, 12), crop_pos_x=0, mirror=3, interp_type=interp_type
    )
    np.testing.assert_array_equal(mirrored, expected[::-1, ::-1])


def test_frames_are_left_alone() -> None:
    frames = numbers("uint8", (4, 5, 6, 3), 0)
    result = apply(frames, "FHWC", size=(5, 6), crop=(2, 5, 3), mirror=5)
    np.testing.assert_array_equal(result, frames[:, :, 4:1:-1])


@pytest.mark.parametrize(("shape", "layout"), [((5, 6, 3), "HWC"), ((2, 5, 6, 3), "FHWC")])
def test_layout_where_none_is_given(shape: Sequence[int], layout: str) -> None:
    array = numbers("uint8", shape, 0)
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [array])
            made.set_outputs(fn.resize_crop_mirror(data, size=0, crop=(2, 2)))
        (batch,) = made.run()
    assert batch.layout() == layout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"crop": (3, 3)}, "the size must be given in exactly one way"),
        ({"size": 9, "resize_shorter": 8}, "the size must be given in exactly one way"),
        ({"size": 9, "crop_w": 3}, "crop_w and crop_h must be given together"),
        ({"size": 9, "crop": 3}, r"crop must be \(height, width\)"),
        ({"size": 9, "rounding": "up"}, "'rounding' must be"),
        ({"size": 9, "roi_start": 0}, "roi_start and roi_end must be given together"),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        apply(np.zeros((4, 4, 3), np.uint8), **arguments)


@pytest.mark.parametrize(
    ("shape", "layout", "arguments", "message"),
    [
        ((4, 4, 3), "HWC", {"crop": (3, 3), "crop_pos_x": 1.1}, "'crop_pos_x' must be from 0 to 1"),
        ((4, 4, 3), "HWC", {"dtype": types.INT16}, "dtype must be FLOAT or the input's type"),
        ((4, 0, 3), "HWC", {"crop": (3, 3)}, "at least one pixel"),
        ((4, 4, 3), "HCW", {}, "layout must be HWC, CHW"),
    ],
)
def test_invalid_samples(
    shape: tuple[int, ...], layout: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises((ArgumentValueError, SampleError), match=message):
        apply(np.zeros(shape, np.uint8), layout, size=8, **arguments)
