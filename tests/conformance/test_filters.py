"""Operators on neighbourhoods: integers within one of NVIDIA DALI, floats within rounding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import dali_core
from tests.conformance.comparing import (
    FLOATS,
    INTEGERS,
    Samples,
    always,
    check_refused,
    numbers,
    reference,
    run,
)

SIZES = {"C": 3, "F": 2}
LAYOUTS = [
    *("", "W", "CW", "FW", "FWC", "CFW", "HW", "HWC", "CHW", "FHW", "FHWC", "FCHW", "CFHW"),
    *("WHC", "DHW", "DHWC", "CDHW", "FDHWC", "FCDHW", "CFDHW", "XYZ"),
]
WRONG_LAYOUTS = ["C", "F", "FC", "HCW", "HWF", "ABDE", "ABCDE"]
BORDERS = ["reflect_101", "reflect_1001", "wrap", "clamp", "constant"]
ALIASES = {
    "reflect_101": ("reflect101", "101", "Reflect101"),
    "reflect_1001": ("reflect1001", "1001", "reflect"),
    "clamp": ("edge",),
    "constant": ("fill", "pad"),
}
BLURS: list[dict[str, Any]] = [
    {"sigma": 1.0},
    {"sigma": 0.3},
    {"window_size": 5},
    {"sigma": 2.5, "window_size": 7},
    {"sigma": 7.0},
    {"window_size": 1},
    {"sigma": 1e-3},
]
LAPLACIANS: list[dict[str, Any]] = [
    {},
    {"window_size": 5},
    {"window_size": 7, "smoothing_size": 1},
    {"window_size": 3, "smoothing_size": 5},
    {"scale": -0.5},
    {"window_size": 9, "normalized_kernel": True},
    {"window_size": 31, "normalized_kernel": True},
    {"window_size": 5, "smoothing_size": 3, "normalized_kernel": True},
]


def images(layout: str, dtype: str = "uint8", sizes: Sequence[int] = (9, 1, 14)) -> Samples:
    """Make samples whose data axes have different extents."""
    return [
        numbers(dtype, [SIZES.get(letter, size + i) for i, letter in enumerate(layout or "HWC")])
        for size in sizes
    ]


def check(
    operator: str,
    *inputs: tuple[Samples, str],
    per_sample: Mapping[str, Samples] | None = None,
    **constants: Any,
) -> None:
    """Compare, with the tolerance of sums in float32."""
    (theirs,), (ours,) = (
        run(library, operator, inputs, per_sample or {}, constants)
        for library in (reference, dali_core)
    )
    largest = max(np.abs(sample.astype(np.float64)).max(initial=1) for sample in inputs[0][0])
    # For 16-bit floats, the reference also stores 16-bit intermediates between the axes.
    relative = 2e-3 if inputs[0][0][0].dtype == np.float16 else 2e-6
    compare(ours.samples, theirs.samples, relative * largest)
    assert (ours.layout, ours.dtype) == (theirs.layout, theirs.dtype)


def compare(ours: Samples, theirs: Samples, least_tolerance: float = 0) -> None:
    for mine, expected in zip(ours, theirs, strict=True):
        assert (mine.dtype, mine.shape) == (expected.dtype, expected.shape)
        wide = expected.astype(np.float64)
        finite = np.isfinite(wide)
        tolerance = max(least_tolerance, 2e-6 * np.abs(wide[finite]).max(initial=1))
        if mine.dtype.kind in "iu":
            tolerance = max(1, tolerance)
            # Halves may round to either side.
            assert np.mean(mine != expected) < 0.05 or mine.dtype.itemsize > 2
        np.testing.assert_allclose(mine.astype(np.float64), wide, rtol=1e-3, atol=tolerance)


# Gaussian blur and Laplacian


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize("operator", ["gaussian_blur", "laplacian"])
def test_types(operator: str, dtype: str) -> None:
    if operator == "laplacian" and dtype == "float64":
        check_laplacian_of_doubles()
        return
    arguments = {"sigma": 1.5} if operator == "gaussian_blur" else {"scale": 0.125}
    check(operator, (images("HWC", dtype), "HWC"), **arguments)
    check(operator, (images("HWC", dtype), "HWC"), dtype="FLOAT", **arguments)
    own = {"float32": "FLOAT"}.get(dtype, dtype.upper())
    check(operator, (images("HWC", dtype), "HWC"), dtype=own, **arguments)


def check_laplacian_of_doubles() -> None:
    """The reference rejects these; ours computes in float32, as for all other types."""
    samples = images("HWC", "float64")
    with pytest.raises(RuntimeError, match="Unsupported data type"):
        run(reference, "laplacian", [(samples, "HWC")], {}, {})
    singles = [sample.astype(np.float32) for sample in samples]
    (ours,) = run(dali_core, "laplacian", [(samples, "HWC")], {}, {})
    (theirs,) = run(reference, "laplacian", [(singles, "HWC")], {}, {})
    compare([sample.astype(np.float32) for sample in ours.samples], theirs.samples)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    for dtype in ("uint8", "float32"):
        samples = images(layout, dtype, (7, 2) if "D" in layout else (9, 1))
        check("gaussian_blur", (samples, layout), sigma=1.2)
        check("laplacian", (samples, layout), window_size=5, dtype="FLOAT")


@pytest.mark.parametrize("layout", WRONG_LAYOUTS)
@pytest.mark.parametrize("operator", ["gaussian_blur", "laplacian"])
def test_wrong_layouts(operator: str, layout: str) -> None:
    arguments = {"sigma": 1.0} if operator == "gaussian_blur" else {}
    check_refused(operator, (images(layout), layout), **arguments)


@pytest.mark.parametrize("arguments", BLURS)
def test_blurs(arguments: dict[str, Any]) -> None:
    # The samples range from one pixel to much more than a window.
    for dtype in ("uint8", "float32"):
        check("gaussian_blur", (images("HW", dtype, (1, 2, 5, 90)), "HW"), **arguments)


@pytest.mark.parametrize("arguments", LAPLACIANS)
def test_laplacians(arguments: dict[str, Any]) -> None:
    for dtype in ("uint8", "float32"):
        samples = images("HWC", dtype, (1, 2, 5, 50))
        check("laplacian", (samples, "HWC"), dtype="FLOAT", **arguments)
    check("laplacian", (images("DHW", "float32", (7,)), "DHW"), **arguments)
    check("laplacian", (images("W", "float32", (40,)), "W"), **arguments)


@pytest.mark.parametrize(
    ("operator", "arguments"),
    [
        ("gaussian_blur", {"sigma": [1.0, 2.0, 0.5]}),
        ("gaussian_blur", {"window_size": [3, 5, 7]}),
        ("gaussian_blur", {"sigma": [1.0, 0.0, 2.0], "window_size": [0, 3, 5]}),
        ("gaussian_blur", {"sigma": 1.0, "window_size": [0, 3, 5]}),
        ("laplacian", {"window_size": [3, 5, 7]}),
        ("laplacian", {"smoothing_size": [1, 3, 7]}),
        ("laplacian", {"scale": [1.0, -2.0, 0.25]}),
        (
            "laplacian",
            {"window_size": [7, 5, 3], "smoothing_size": [1, 3, 5], "normalized_kernel": True},
        ),
    ],
)
def test_one_value_for_each_axis(operator: str, arguments: dict[str, Any]) -> None:
    constants = {**arguments, "dtype": "FLOAT"}
    check(operator, (images("DHWC", sizes=(8, 3)), "DHWC"), **constants)
    tensors = {
        name: [np.array(values, np.float32 if name in ("sigma", "scale") else np.int32)] * 2
        for name, values in arguments.items()
        if name != "normalized_kernel"
    }
    constants = {name: value for name, value in constants.items() if name not in tensors}
    check(operator, (images("DHWC", sizes=(8, 3)), "DHWC"), per_sample=tensors, **constants)


@pytest.mark.parametrize(
    ("operator", "arguments"),
    [
        ("gaussian_blur", {}),
        ("gaussian_blur", {"sigma": 0.0}),
        ("gaussian_blur", {"sigma": -1.0}),
        ("gaussian_blur", {"sigma": float("nan")}),
        ("gaussian_blur", {"sigma": -1.0, "window_size": 3}),
        ("gaussian_blur", {"sigma": [1.0, 0.0]}),
        ("gaussian_blur", {"sigma": [1.0, 1.0, 1.0]}),
        ("gaussian_blur", {"sigma": []}),
        ("gaussian_blur", {"window_size": 4}),
        ("gaussian_blur", {"window_size": -3}),
        ("gaussian_blur", {"sigma": 1.0, "window_size": 4}),
        ("gaussian_blur", {"sigma": 1.0, "dtype": "INT16"}),
        ("gaussian_blur", {"sigma": 1.0, "dtype": "FLOAT64"}),
        ("laplacian", {"window_size": 1}),
        ("laplacian", {"window_size": 4}),
        ("laplacian", {"window_size": 33}),
        ("laplacian", {"window_size": [3, 3, 3]}),
        ("laplacian", {"smoothing_size": 0}),
        ("laplacian", {"smoothing_size": 2}),
        ("laplacian", {"smoothing_size": -1}),
        ("laplacian", {"smoothing_size": 33}),
        ("laplacian", {"scale": [1.0, 1.0, 1.0]}),
        ("laplacian", {"scale": 1.0, "normalized_kernel": True}),
        ("laplacian", {"dtype": "FLOAT16"}),
    ],
)
def test_wrong_arguments(operator: str, arguments: dict[str, Any]) -> None:
    check_refused(operator, (images("HW"), "HW"), **arguments)


def test_bool_is_no_number() -> None:
    check_refused("gaussian_blur", (images("HW", "bool"), "HW"), sigma=1.0)
    check_refused("laplacian", (images("HW", "bool"), "HW"))
    window = [np.ones((3, 3), np.float32)] * 3
    check_refused("filter", (images("HW", "bool"), "HW"), (window, ""))


def run_per_frame(
    library: Any, operator: str, layout: str, name: str, values: np.ndarray
) -> np.ndarray:
    pipeline = library.Pipeline(batch_size=1, num_threads=1, device_id=None)
    source = library.fn.external_source
    with pipeline:
        data = source(source=always(images(layout, "float32", (8,))), layout=layout)
        marked = source(source=always([values]), layout="F" + "A" * (values.ndim - 1))
        inputs = [data]
        if operator == "filter":
            inputs.append(source(source=always([numbers("float32", (4, 3))])))
        pipeline.set_outputs(getattr(library.fn, operator)(*inputs, **{name: marked}))
    pipeline.build()
    (batch,) = pipeline.run()
    return np.array(batch.at(0))


@pytest.mark.parametrize("layout", ["FHW", "FHWC", "FCHW", "CFHW"])
@pytest.mark.parametrize(
    ("operator", "name", "values"),
    [
        ("gaussian_blur", "sigma", np.float32([1, 2])),
        ("gaussian_blur", "sigma", np.float32([[1, 2], [2, 0.5]])),
        ("gaussian_blur", "sigma", np.float32([1.5])),
        ("gaussian_blur", "window_size", np.int32([3, 5])),
        ("laplacian", "window_size", np.int32([[3, 5], [7, 3]])),
        ("laplacian", "smoothing_size", np.int32([1, 5])),
        ("laplacian", "scale", np.float32([[1, 2], [3, 4]])),
        ("filter", "anchor", np.int32([[0, 1], [3, 0]])),
    ],
)
def test_arguments_of_each_frame(operator: str, layout: str, name: str, values: np.ndarray) -> None:
    if operator == "filter" and layout == "CFHW":
        return  # frames come first there; ours does not require that
    theirs, ours = (
        run_per_frame(library, operator, layout, name, values) for library in (reference, dali_core)
    )
    compare([ours], [theirs])


# Filter


def windows(*extents: int, seed: int = 0) -> np.ndarray:
    """Return a filter whose sums mostly stay in the range of the images."""
    random = np.random.default_rng([seed, *extents])
    return (random.uniform(-1, 2, extents) / np.prod(extents)).astype(np.float32)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32"])
def test_filter_types(dtype: str) -> None:
    inputs = ((images("HWC", dtype), "HWC"), ([windows(3, 5)] * 3, ""))
    check("filter", *inputs)
    check("filter", *inputs, dtype="FLOAT")
    own = {"float32": "FLOAT"}.get(dtype, dtype.upper())
    check("filter", *inputs, dtype=own, border="constant")


@pytest.mark.parametrize("layout", ["", "HW", "HWC", "CHW", "FHW", "FHWC", "FCHW", "WHC", "FFHW"])
def test_filter_layouts(layout: str) -> None:
    samples = images(layout or "HW")
    for border in ("reflect_101", "constant"):
        check("filter", (samples, layout), ([windows(3, 4)] * 3, ""), border=border)


@pytest.mark.parametrize("layout", [*WRONG_LAYOUTS, "W", "FW", "CW", "WC"])
def test_filter_wrong_layouts(layout: str) -> None:
    check_refused("filter", (images(layout), layout), ([windows(3, 3)] * 3, ""))


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_filter_borders(border: str, dtype: str) -> None:
    samples = images("HWC", dtype, (1, 3, 20))
    for extents in ((1, 1), (1, 4), (5, 2), (8, 9), (13, 14)):
        filters = [windows(*extents, seed=seed) for seed in range(3)]
        check("filter", (samples, "HWC"), (filters, ""), border=border)
        check("filter", (samples, "HWC"), (filters, ""), border=border.upper(), anchor=0)
        for alias in ALIASES.get(border, ()):
            check("filter", (samples, "HWC"), (filters, ""), border=alias)
    fill = [numbers(dtype, ()) for _ in range(3)]
    check("filter", (samples, "HWC"), (filters, ""), (fill, ""), border=border)


@pytest.mark.parametrize("anchor", [-1, 0, 2, [0, 4], [2, -1], [-1, -1], [1, 3]])
def test_filter_anchors(anchor: Any) -> None:
    inputs = ((images("HW"), "HW"), ([windows(3, 5)] * 3, ""))
    for border in BORDERS:
        check("filter", *inputs, anchor=anchor, border=border)
    values = [np.int32(anchor)] * 3
    check("filter", *inputs, per_sample={"anchor": values}, border="constant")


def test_filter_valid_mode() -> None:
    samples = images("FHWC", sizes=(5, 9, 30))
    for extents in ((1, 1), (2, 3), (5, 7), (6, 4)):
        filters = [windows(*extents)] * 3
        check("filter", (samples, "FHWC"), (filters, ""), mode="valid")
        check("filter", (samples, "FHWC"), (filters, ""), mode="Valid", anchor=0)
    check("filter", (samples, "FHWC"), ([windows(n, 2) for n in (1, 4, 9)], ""), mode="valid")


def test_filter_rounds_halves_to_even() -> None:
    for dtype in ("uint8", "int16", "uint16"):
        sample = np.arange(-100 if dtype == "int16" else 0, 120).reshape(1, -1).astype(dtype)
        for factor in (0.5, 1.5, 0.25, -0.5, 1e6, -1e6):
            (theirs,), (ours,) = (
                run(library, "filter", [([sample], "HW"), ([np.float32([[factor]])], "")], {}, {})
                for library in (reference, dali_core)
            )
            np.testing.assert_array_equal(ours.samples[0], theirs.samples[0])


def test_filter_of_each_frame() -> None:
    samples = images("FHWC", sizes=(6,))
    filters = [np.stack([windows(3, 3, seed=seed) for seed in range(2)])]
    check("filter", (samples, "FHWC"), (filters, "FHW"))
    # An image becomes a sequence if the filter or the fill value is one.
    check("filter", (images("HW", sizes=(6,)), "HW"), (filters, "FHW"))
    fill = ([np.uint8([3, 200])], "F")
    for layout in ("HW", "FHW"):
        check(
            "filter",
            (images(layout, sizes=(6,)), layout),
            ([windows(3, 3)], ""),
            fill,
            border="constant",
        )


@pytest.mark.parametrize(
    ("filters", "layout"),
    [
        (np.ones((3,), np.float32), ""),
        (np.ones((2, 3, 3), np.float32), ""),
        (np.ones((3, 3, 3), np.float32), "FHW"),
        (np.ones((1, 3, 3), np.float32), "FHW"),
        (np.ones((0, 3), np.float32), ""),
        (np.ones((3, 3), np.float64), ""),
        (np.ones((3, 3), np.int32), ""),
    ],
)
def test_wrong_filters(filters: np.ndarray, layout: str) -> None:
    check_refused("filter", (images("FHW", sizes=(5,)), "FHW"), ([filters], layout))


@pytest.mark.parametrize(
    "arguments",
    [
        {"anchor": 3},
        {"anchor": -2},
        {"anchor": [0, 5]},
        {"anchor": [0, 0, 0]},
        {"anchor": []},
        {"anchor": [5, 5], "mode": "valid"},
        {"border": "isolated"},
        {"border": ""},
        {"mode": "full"},
        {"dtype": "FLOAT16"},
    ],
)
def test_wrong_filter_arguments(arguments: dict[str, Any]) -> None:
    check_refused("filter", (images("HW"), "HW"), ([windows(3, 4)] * 3, ""), **arguments)


def test_filter_too_large_for_valid_mode() -> None:
    check_refused("filter", (images("HW"), "HW"), ([windows(30, 1)] * 3, ""), mode="valid")
