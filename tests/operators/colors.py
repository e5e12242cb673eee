"""Expected results of colour operators, in double precision and with NumPy's linear algebra."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

COLOR_TYPES = ["uint8", "int16", "int32", "float16", "float32"]
OTHER_TYPES = ["int8", "uint16", "uint32", "int64", "uint64", "float64", "bool"]

RGB_TO_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])


def turned(pixels: npt.ArrayLike, degrees: float = 0.0, saturation: float = 1.0) -> Numbers:
    """Turn the hue and multiply the saturation of RGB pixels."""
    yiq = np.asarray(pixels, dtype=np.float64) @ RGB_TO_YIQ.T
    chroma = (yiq[..., 1] + 1j * yiq[..., 2]) * saturation * np.exp(-1j * np.deg2rad(degrees))
    changed = np.stack([yiq[..., 0], chroma.real, chroma.imag], axis=-1)
    return np.linalg.solve(RGB_TO_YIQ, changed[..., np.newaxis])[..., 0]


def check_rounded(result: np.ndarray, exact: Numbers, dtype: str) -> None:
    """Check that a result is `exact`, rounded and saturated; halves may be rounded either way."""
    assert result.dtype == dtype
    largest = max(1.0, float(np.abs(exact).max(initial=0.0)))
    if result.dtype.kind == "f":
        precision = 2.0**-10 if dtype == "float16" else 1e-5
        np.testing.assert_allclose(result, exact, rtol=precision, atol=largest * precision)
        return
    limits = np.iinfo(result.dtype)
    clipped = np.clip(exact, limits.min, limits.max)
    assert np.abs(result - clipped).max(initial=0.0) <= 0.5 + largest * 1e-5
