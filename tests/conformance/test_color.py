"""Operators on colours: within one grey level of NVIDIA DALI, in float within one in 10 000."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.types

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

TYPES = ["uint8", "int16", "int32", "float32"]
MATRIX_TYPES = [*TYPES, "float16"]
OTHER_TYPES = ["int8", "uint16", "uint32", "int64", "uint64", "float64", "bool"]
COLOR_SPACES = ["RGB", "BGR", "GRAY", "YCbCr"]
MATRIX_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("color_twist", {}),
    ("color_twist", {"brightness": 1.3}),
    ("color_twist", {"contrast": 0.0}),
    ("color_twist", {"hue": -45.0, "saturation": 1.7}),
    ("color_twist", {"brightness": 1.5, "contrast": 0.7, "saturation": 0.3, "hue": 70.0}),
    ("hsv", {}),
    ("hsv", {"hue": 400.0}),
    ("hsv", {"hue": 20.0, "saturation": 0.4, "value": 1.4}),
    ("hue", {"hue": 120.0}),
    ("saturation", {"saturation": 0.0}),
    ("saturation", {"saturation": -1.5}),
]
SCALE_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("brightness", {}),
    ("brightness", {"brightness": 0.6, "brightness_shift": 0.25}),
    ("brightness", {"brightness": -1.0, "brightness_shift": 1.0}),
    ("contrast", {"contrast": 0.0}),
    ("contrast", {"contrast": 1.8}),
    ("contrast", {"contrast": 0.5, "contrast_center": 10.0}),
    ("brightness_contrast", {"brightness": 1.2, "contrast": 0.8, "brightness_shift": -0.1}),
    ("brightness_contrast", {"brightness": 0.5, "contrast": 1.5, "contrast_center": 90.0}),
]
Result = tuple[list[np.ndarray], str, str]


def run(
    library: Any,
    operator: str,
    samples: Sequence[np.ndarray],
    layout: str,
    per_sample: Mapping[str, Sequence[Any]],
    constants: Mapping[str, Any],
) -> Result:
    """Return the outputs, their layout and their type."""
    constants = {
        name: getattr(library.types, value) if isinstance(value, str) else value
        for name, value in constants.items()
    }

    def batch_of(values: Sequence[Any], **keywords: Any) -> Any:
        return library.fn.external_source(source=lambda: list(values), **keywords)

    pipeline = library.Pipeline(batch_size=len(samples), num_threads=1, device_id=None, seed=1)
    with pipeline:
        data = batch_of(samples, **({"layout": layout} if layout else {}))
        arguments = {name: batch_of(values) for name, values in per_sample.items()}
        pipeline.set_outputs(getattr(library.fn, operator)(data, **arguments, **constants))
    pipeline.build()
    (batch,) = pipeline.run()
    arrays = [np.array(batch.at(i)) for i in range(len(samples))]
    return arrays, batch.layout(), batch.dtype.name


def check(
    operator: str,
    samples: Sequence[np.ndarray],
    layout: str = "HWC",
    per_sample: Mapping[str, Sequence[Any]] | None = None,
    **constants: Any,
) -> None:
    """Run both libraries and compare."""
    expected, *described = run(reference, operator, samples, layout, per_sample or {}, constants)
    ours, *our_described = run(dali_core, operator, samples, layout, per_sample or {}, constants)
    assert our_described == described
    for mine, theirs in zip(ours, expected, strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        wide, reference_wide = mine.astype(np.float64), theirs.astype(np.float64)
        # Channels cancel: rounding errors depend on the size of the terms, not of the sum.
        largest = np.abs(reference_wide).max(initial=1.0)
        tolerance = largest * (2**-9 if mine.dtype == np.float16 else 1e-5)
        if mine.dtype.kind in "iu":
            tolerance = max(1.0, tolerance if mine.dtype.itemsize > 2 else 1.0)
            # Only numbers that are halves up to the last bit may round differently.
            assert np.mean(mine != theirs) < 0.1 or mine.dtype.itemsize > 2
        np.testing.assert_allclose(wide, reference_wide, rtol=1e-4, atol=tolerance)


def check_refused(
    operator: str, samples: Sequence[np.ndarray], layout: str, **constants: Any
) -> None:
    """Both libraries reject the call, when it is built or run."""
    for library in (reference, dali_core):
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            run(library, operator, samples, layout, {}, constants)


def images(dtype: str, layout: str = "HWC", channels: int = 3) -> list[np.ndarray]:
    """Make samples of odd sizes with numbers from the range of brightness."""
    random = np.random.default_rng(7)
    samples = []
    for height, width in ((31, 17), (1, 1), (40, 64)):
        sizes = {"H": height, "W": width, "C": channels, "F": 2, "D": 3}
        shape = [sizes[letter] for letter in layout or "HWC"]
        if np.dtype(dtype).kind == "f":
            samples.append(random.uniform(0, 1, shape).astype(dtype))
        elif dtype == "bool":
            samples.append(random.integers(0, 2, shape).astype(bool))
        else:
            high = min(int(np.iinfo(dtype).max), 10_000)
            samples.append(random.integers(0, high, shape, dtype=dtype, endpoint=True))
    return samples


def dali_name(dtype: str) -> str:
    return {"float32": "FLOAT"}.get(dtype, dtype.upper())


@pytest.mark.parametrize(("operator", "arguments"), MATRIX_CALLS)
@pytest.mark.parametrize("dtype", MATRIX_TYPES)
def test_matrix_types(operator: str, arguments: dict[str, Any], dtype: str) -> None:
    check(operator, images(dtype), **arguments)
    for output in MATRIX_TYPES:
        check(operator, images(dtype), dtype=dali_name(output), **arguments)


@pytest.mark.parametrize(("operator", "arguments"), SCALE_CALLS)
@pytest.mark.parametrize("dtype", TYPES)
def test_scale_types(operator: str, arguments: dict[str, Any], dtype: str) -> None:
    check(operator, images(dtype), **arguments)
    for output in TYPES:
        check(operator, images(dtype), dtype=dali_name(output), **arguments)


@pytest.mark.parametrize("layout", ["", "HWC", "FHWC", "DHWC"])
@pytest.mark.parametrize(("operator", "arguments"), [*MATRIX_CALLS, *SCALE_CALLS])
def test_layouts(operator: str, arguments: dict[str, Any], layout: str) -> None:
    check(operator, images("uint8", layout), layout, **arguments)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize(("operator", "arguments"), SCALE_CALLS)
def test_scale_any_number_of_channels(
    operator: str, arguments: dict[str, Any], channels: int
) -> None:
    check(operator, images("uint8", channels=channels), **arguments)


@pytest.mark.parametrize(("operator", "arguments"), [*MATRIX_CALLS, *SCALE_CALLS])
def test_per_sample(operator: str, arguments: dict[str, Any]) -> None:
    values = {
        name: [np.float32(value * factor) for factor in (1.0, 0.5, 1.1)]
        for name, value in arguments.items()
    }
    check(operator, images("uint8"), "HWC", values)


@pytest.mark.parametrize("image_type", ["RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA"])
@pytest.mark.parametrize("operator", ["color_twist", "hue", "saturation"])
def test_image_type_has_no_effect(operator: str, image_type: str) -> None:
    argument = {"hue": {"hue": 30.0}}.get(operator, {"saturation": 0.5})
    check(operator, images("uint8"), image_type=image_type, **argument)


@pytest.mark.parametrize("operator", ["color_twist", "hsv", "hue", "saturation"])
@pytest.mark.parametrize("dtype", OTHER_TYPES)
def test_matrix_errors(operator: str, dtype: str) -> None:
    check_refused(operator, images(dtype), "HWC")
    check_refused(operator, images("uint8"), "HWC", dtype=dali_name(dtype))


@pytest.mark.parametrize("operator", ["brightness", "contrast", "brightness_contrast"])
@pytest.mark.parametrize("dtype", OTHER_TYPES)
def test_scale_errors(operator: str, dtype: str) -> None:
    check_refused(operator, images(dtype), "HWC")
    check_refused(operator, images("uint8"), "HWC", dtype=dali_name(dtype))


@pytest.mark.parametrize("layout", ["CHW", "HW", "WHC", "FCHW", "FDHWC"])
@pytest.mark.parametrize("operator", ["color_twist", "hsv", "brightness", "contrast"])
def test_layout_errors(operator: str, layout: str) -> None:
    check_refused(operator, images("uint8", layout), layout)


# The reference rejects a conversion to the same colour space; ours passes the image through.
@pytest.mark.parametrize(("source", "target"), list(itertools.permutations(COLOR_SPACES, 2)))
def test_color_spaces(source: str, target: str) -> None:
    for layout in ("HWC", "FHWC", "DHWC", "FDHWC", ""):
        samples = images("uint8", layout, 1 if source == "GRAY" else 3)
        check("color_space_conversion", samples, layout, image_type=source, output_type=target)


def test_color_space_errors() -> None:
    call = {"image_type": "RGB", "output_type": "GRAY"}
    check_refused("color_space_conversion", images("float32"), "HWC", **call)
    check_refused("color_space_conversion", images("uint8", channels=4), "HWC", **call)
    check_refused("color_space_conversion", images("uint8", "CHW"), "CHW", **call)
    check_refused(
        "color_space_conversion",
        images("uint8"),
        "HWC",
        image_type="RGB",
        output_type="ANY_DATA",
    )
