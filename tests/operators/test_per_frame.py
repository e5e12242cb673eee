"""Marking tensors as sequences."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core import fn
from dali_core.errors import SampleError
from tests.operators.matrices import transforms
from tests.operators.suite import (
    ALL_TYPES,
    Example,
    Input,
    images,
    numbers,
    pipeline,
    run_on,
    shares_memory,
)

EXAMPLES = [
    Example("none", [Input(lambda number: numbers("float32", (number + 1, 2), number))]),
    Example("frames", [images("FHWC")]),
    Example("replaced", [images("DHWC")], {"replace": True}),
]


@pytest.mark.parametrize(
    ("shape", "before", "after"),
    [
        ((3,), "", "F"),
        ((3, 2), "", "F*"),
        ((0, 2, 2), "", "F**"),
        ((3, 2, 4), "FXY", "FXY"),
        ((3, 2, 4), "CHW", "FHW"),
    ],
)
def test_layouts(shape: tuple[int, ...], before: str, after: str) -> None:
    data = numbers("int16", shape, 0)
    result, layout = transforms("per_frame", data, layouts=[before], replace=before == "CHW")
    assert layout == after
    np.testing.assert_array_equal(result, data, strict=True)


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_types(dtype: str) -> None:
    data = numbers(dtype, (3, 2), 0)
    np.testing.assert_array_equal(run_on("per_frame", [data])[0], data, strict=True)


def test_zero_copy() -> None:
    assert shares_memory("per_frame", replace=True)
    assert shares_memory("per_frame", "FXY")


def test_argument_for_each_frame() -> None:
    frames = numbers("uint8", (4, 6, 6, 1), 0)
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [frames], layout="FHWC")
            angles = fn.external_source(source=lambda: [np.float32([0, 90, 180, 270])])
            made.set_outputs(fn.rotate(data, angle=fn.per_frame(angles)))
        (batch,) = made.run()
    for number, frame in enumerate(np.array(batch.at(0))):
        np.testing.assert_array_equal(frame, np.rot90(frames[number], number))


def test_invalid_samples() -> None:
    with pytest.raises(SampleError, match=r"must start with F \(got \"HWC\"\)"):
        run_on("per_frame", [np.zeros((2, 2, 3))], "HWC")
    with pytest.raises(SampleError, match="must have a dimension of frames"):
        run_on("per_frame", [np.float32(1)])
