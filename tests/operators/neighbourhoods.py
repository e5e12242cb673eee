"""Shared parts of tests of neighbourhood operators: plain convolution, layouts, tolerances."""

from __future__ import annotations

from typing import Any

import numpy as np

from dali_core import fn
from tests.operators.suite import FLOATS, INTEGERS, function_of, pipeline

NUMBER_TYPES = [*INTEGERS, *FLOATS]
LAYOUTS = [
    *("", "W", "CW", "WC", "FW", "FWC", "HW", "HWC", "CHW", "FHW", "FHWC", "FCHW", "CFHW"),
    *("DHW", "DHWC", "CDHW", "FDHWC", "FCDHW", "XYZ"),
]
WRONG_LAYOUTS = ["C", "FC", "HCW", "HWF", "CHWC", "ABDE", "CCHW"]
PADDING: dict[str, Any] = {
    "reflect_101": "reflect",
    "reflect_1001": "symmetric",
    "wrap": "wrap",
    "clamp": "edge",
    "constant": "constant",
}


def shape_of(layout: str) -> list[int]:
    """Return different extents for all dimensions; three without a layout."""
    extents = {"F": 2, "C": 3}
    return [extents.get(letter, 5 + i) for i, letter in enumerate(layout or "XYZ")]


def data_axes_of(layout: str) -> list[int]:
    return [i for i, letter in enumerate(layout or "XYZ") if letter not in "FC"]


def along_axis(values: np.ndarray, window: np.ndarray, axis: int) -> np.ndarray:
    """Convolve along one axis with a symmetric window, mirrored at the outermost elements."""
    radius = len(window) // 2
    padding = [(radius, radius) if i == axis else (0, 0) for i in range(values.ndim)]
    padded = np.pad(values, padding, "reflect" if values.shape[axis] > 1 else "edge")
    extent = values.shape[axis]
    shifted = [np.take(padded, range(k, k + extent), axis) for k in range(len(window))]
    return np.sum([part * weight for part, weight in zip(shifted, window, strict=True)], axis=0)


def check_close(
    result: np.ndarray,
    exact: np.ndarray,
    dtype: str = "float32",
    values: np.ndarray | None = None,
) -> None:
    """Compare with exact sums, which float32 and then `dtype` round.

    `values` are the terms: their size bounds the errors if terms cancel.
    """
    assert (result.dtype, result.shape) == (np.dtype(dtype), exact.shape)
    largest = np.abs((exact if values is None else values).astype(np.float64)).max(initial=1)
    tolerance = largest * (2e-3 if dtype == "float16" else 2e-6)
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        exact = exact.clip(float(limits.min), float(limits.max))
        tolerance += 0.5
    np.testing.assert_allclose(result.astype(np.float64), exact, rtol=2e-6, atol=tolerance)


def run_framed(
    operator: str, values: np.ndarray, layout: str, *more: np.ndarray, **arguments: np.ndarray
) -> np.ndarray:
    """Run an operator on a sequence with per-frame arguments."""
    with pipeline(batch_size=1) as made:
        with made:

            def source(array: np.ndarray, letters: str) -> Any:
                return fn.external_source(source=lambda: [array], layout=letters or None)

            nodes = {
                name: source(array, "F" + "A" * (array.ndim - 1))
                for name, array in arguments.items()
            }
            inputs = [source(values, layout), *(source(array, "") for array in more)]
            made.set_outputs(function_of(operator)(*inputs, **nodes))
        (batch,) = made.run()
        return np.array(batch.at(0))
