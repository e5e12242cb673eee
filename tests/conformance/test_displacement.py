"""Sphere and water displacement, compared with NVIDIA DALI.

In NVIDIA DALI a constant `mask` of 0 has no effect, only a per-sample one. Here both have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.types

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

WAVES = {
    "ampl_x": 3.0,
    "ampl_y": 2.0,
    "freq_x": 0.3,
    "freq_y": 0.2,
    "phase_x": 0.5,
    "phase_y": -0.7,
}
CALLS: list[tuple[str, dict[str, Any]]] = [
    (operator, {**waves, **options})
    for operator, waves in (("sphere", {}), ("water", {}), ("water", WAVES))
    for options in (
        {},
        {"fill_value": 42.0},
        {"interp_type": "INTERP_LINEAR"},
        {"interp_type": "INTERP_LINEAR", "fill_value": 42.0},
        {"mask": np.int32(0)},
        {"mask": np.int32(1)},
    )
]


def run(library: Any, operator: str, sample: np.ndarray, arguments: Mapping[str, Any]) -> Any:
    """Return the output and its layout."""
    pipeline = library.Pipeline(batch_size=1, num_threads=1, device_id=None, seed=1)

    def source(value: Any, **keywords: Any) -> Any:
        return library.fn.external_source(source=lambda: [value], **keywords)

    with pipeline:
        data = source(sample, layout="HWC")
        keywords = {
            name: source(np.asarray(value))
            if isinstance(value, np.generic)
            else getattr(library.types, value)
            if isinstance(value, str)
            else value
            for name, value in arguments.items()
        }
        pipeline.set_outputs(getattr(library.fn, operator)(data, **keywords))
    pipeline.build()
    (batch,) = pipeline.run()
    return np.array(batch.at(0)), batch.layout()


def check(operator: str, sample: np.ndarray, arguments: Mapping[str, Any]) -> None:
    theirs, layout = run(reference, operator, sample, arguments)
    ours, our_layout = run(dali_core, operator, sample, arguments)
    assert our_layout == layout
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    difference = np.abs(ours.astype(np.float64) - theirs)
    if "interp_type" not in arguments:
        # A coordinate between two pixels may be rounded to either.
        assert (difference > 0).mean() < 0.02
    elif ours.dtype == np.float32:
        # The reference's sines are up to 1e-4 off.
        assert difference.max() < 0.5
    else:
        assert difference.max() <= 1
        assert (difference == 0).mean() > 0.97


@pytest.mark.parametrize(("operator", "arguments"), CALLS)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_images(operator: str, arguments: dict[str, Any], dtype: str) -> None:
    random = np.random.default_rng(0)
    # A single pixel has no radius: the reference's sphere returns NaN or 0 then.
    for shape in ((71, 301, 3), (64, 40, 1), (1, 2, 3), (30, 31, 4)):
        check(operator, random.uniform(0, 255, shape).astype(dtype), arguments)


@pytest.mark.parametrize("operator", ["sphere", "water"])
def test_invalid_images_raise_in_both(operator: str) -> None:
    for library in (reference, dali_core):
        with pytest.raises((RuntimeError, ValueError)):
            run(library, operator, np.zeros((3, 3, 3), np.float64), {})
        with pytest.raises((RuntimeError, ValueError)):
            run(library, operator, np.zeros((3, 3, 3, 3), np.uint8), {})
        with pytest.raises((RuntimeError, ValueError)):
            run(library, operator, np.zeros((3, 3, 3), np.uint8), {"interp_type": "INTERP_CUBIC"})
