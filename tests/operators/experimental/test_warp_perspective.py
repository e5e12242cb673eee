"""`fn.experimental.warp_perspective`: images seen from elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core.errors import ArgumentTypeError, ArgumentValueError, SampleError
from tests.operators.suite import Example, Input, images, numbers, pipeline, run_on

MATRIX = np.float32([[0.9, 0.1, 1.3], [-0.2, 1.1, 0.7], [0.004, -0.006, 1]])
FLAT = MATRIX.ravel().tolist()
IDENTITY = [1.0, 0, 0, 0, 1, 0, 0, 0, 1]
OPERATOR = "experimental.warp_perspective"

EXAMPLES = [
    Example("filled", (images(),), {"matrix": FLAT, "fill_value": [9.0, 300.0, -4.0]}),
    Example(
        "cubic",
        (images("CHW", "int16"),),
        {"matrix": FLAT, "interp_type": types.INTERP_CUBIC, "border_mode": "reflect_101"},
    ),
    Example(
        "nearest",
        (images("FHWC", "uint16"),),
        {"matrix": FLAT, "interp_type": types.INTERP_NN, "size": [7.0, 20.0]},
    ),
    Example(
        "inverted",
        (images("HW", "float32"),),
        {"matrix": FLAT, "inverse_map": False, "pixel_origin": "center", "border_mode": "wrap"},
    ),
    Example("input", (images(), Input(lambda number: MATRIX * (number + 1)))),
]


def warp(image: np.ndarray, layout: str = "HWC", **arguments: Any) -> np.ndarray:
    return run_on(OPERATOR, [image], layout, **arguments)[0]


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32"])
def test_identity_changes_nothing(dtype: str) -> None:
    for shape in ((5, 7, 3), (1, 1, 1), (33, 2, 6)):
        image = numbers(dtype, shape, 1)
        for interp_type in (types.INTERP_NN, types.INTERP_LINEAR, types.INTERP_CUBIC):
            for origin in ("corner", "center"):
                found = warp(image, matrix=IDENTITY, interp_type=interp_type, pixel_origin=origin)
                np.testing.assert_array_equal(found, image, strict=True)


@pytest.mark.parametrize(
    ("border", "mode"),
    [
        ("constant", "constant"),
        ("replicate", "edge"),
        ("reflect", "symmetric"),
        ("reflect_101", "reflect"),
        ("wrap", "wrap"),
    ],
)
def test_borders_are_those_of_numpy(border: str, mode: Any) -> None:
    image = numbers("uint8", (4, 5, 2), 1)
    expected = np.pad(image, ((11, 10), (7, 9), (0, 0)), mode)
    for interp_type in (types.INTERP_NN, types.INTERP_LINEAR, types.INTERP_CUBIC):
        found = warp(
            image,
            matrix=[1, 0, -7, 0, 1, -11, 0, 0, 1],
            size=[25, 21],
            border_mode=border,
            interp_type=interp_type,
        )
        np.testing.assert_array_equal(found, expected, strict=True)


def test_perspective_is_the_quotient() -> None:
    rows, columns = np.indices((40, 50)).astype(np.float32)
    image = np.stack([rows, columns], -1)
    y, x = np.indices((20, 20)) + 0.5
    places = np.stack([x, y, np.ones_like(x)], -1) @ MATRIX.T.astype(np.float64)
    expected = places[..., 1::-1] / places[..., 2:] - 0.5
    found = warp(image, matrix=FLAT, size=[20, 20], border_mode="replicate")
    inside = (expected >= 0).all(-1)
    assert inside.mean() > 0.7
    np.testing.assert_allclose(found[inside], expected[inside], atol=1e-4)


def test_inverse() -> None:
    image = numbers("float32", (20, 30, 1), 1)
    inverse = np.linalg.inv(MATRIX.astype(np.float64)).ravel().tolist()
    np.testing.assert_allclose(
        warp(image, matrix=FLAT, inverse_map=False),
        warp(image, matrix=inverse),
        atol=0.02,
    )


def test_each_frame_may_have_a_matrix() -> None:
    clip = numbers("uint8", (3, 8, 10, 2), 1)
    matrices = np.stack([MATRIX * (1 + number) + number / 50 for number in range(3)])
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [clip], layout="FHWC")
            each = fn.per_frame(fn.external_source(source=lambda: [matrices]))
            made.set_outputs(
                fn.experimental.warp_perspective(data, matrix=each),
                fn.experimental.warp_perspective(data, each),
            )
        for batch in made.run():
            for number, frame in enumerate(np.array(batch.at(0))):
                expected = warp(clip[number], matrix=matrices[number].ravel().tolist())
                np.testing.assert_array_equal(frame, expected, strict=True)


def test_extreme_matrices() -> None:
    image = numbers("uint8", (6, 7, 3), 1)
    for border in ("constant", "replicate", "reflect", "reflect_101", "wrap"):
        for scale in (0.0, 1e-38, 1e38):
            for matrix in (
                [scale] * 9,
                [scale, 0, 0, 0, scale, 0, 0, 0, 1],
                [1, 0, scale, 0, 1, -scale, 0, 0, 1],
                [1, 0, 0, 0, 1, 0, scale, -scale, 0],
            ):
                assert warp(image, matrix=matrix, border_mode=border).shape == image.shape


def test_empty_images() -> None:
    for border in ("constant", "wrap"):
        found = warp(
            np.zeros((0, 5, 3), np.uint8),
            matrix=FLAT,
            size=[2, 3],
            border_mode=border,
            fill_value=7,
        )
        np.testing.assert_array_equal(found, np.full((2, 3, 3), 7, np.uint8), strict=True)
    assert warp(np.zeros((0, 0, 3), np.uint8), matrix=FLAT).shape == (0, 0, 3)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({}, ArgumentValueError, "second input or as matrix .got none"),
        ({"matrix": [1.0] * 6}, SampleError, "3 rows and 3 columns"),
        ({"matrix": [1.0] * 9, "inverse_map": False}, SampleError, "invertible"),
        ({"matrix": FLAT, "size": [3]}, ArgumentValueError, "2 numbers"),
        ({"matrix": FLAT, "size": [0, 3]}, SampleError, "at least one pixel"),
        ({"matrix": FLAT, "fill_value": [1.0, 2]}, SampleError, "each of the 3 channels"),
        ({"matrix": FLAT, "border_mode": "x"}, ArgumentValueError, "'constant'"),
        ({"matrix": FLAT, "pixel_origin": "x"}, ArgumentValueError, "'corner'"),
        ({"matrix": FLAT, "interp_type": types.INTERP_GAUSSIAN}, ArgumentValueError, "CUBIC"),
        ({"matrix": "x"}, (ArgumentTypeError, ValueError), "must be float"),
    ],
)
def test_invalid_arguments_raise(arguments: dict[str, Any], kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message):
        warp(np.zeros((3, 4, 3), np.uint8), **arguments)


def test_other_data_raise() -> None:
    for image, layout in (
        (np.zeros((3, 4, 3), np.int32), "HWC"),
        (np.zeros((3, 4, 3), np.uint8), "HCW"),
        (np.zeros((2, 3, 4, 3), np.uint8), "DHWC"),
    ):
        with pytest.raises(SampleError, match=r"must (have type uint8|be \"HW\")"):
            warp(image, layout, matrix=FLAT)
