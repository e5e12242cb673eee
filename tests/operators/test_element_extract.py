"""Frames by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import DataNode, fn
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import ALL_TYPES, Example, Input, images, numbers, pipeline, run

EXAMPLES = [
    Example("one", [images("FHWC")], {"element_map": 1}),
    Example("several", [images("FCHW", "float32")], {"element_map": [2, 0, 2]}),
]


def extract(data: np.ndarray, layout: str, elements: Any) -> tuple[list[np.ndarray], list[str]]:
    example = Example("extract", [Input(lambda _: data, layout)])
    result = run("element_extract", example, {"element_map": elements}, num_samples=1)
    return [samples[0] for samples in result.samples], [min(found) for found in result.layouts]


@pytest.mark.parametrize("dtype", ALL_TYPES)
@pytest.mark.parametrize("shape", [(4,), (4, 3), (4, 2, 1, 3), (4, 0)])
def test_elements(shape: tuple[int, ...], dtype: str) -> None:
    data = numbers(dtype, shape, 0)
    for elements in ([3], [0, 2], [1, 1, 1]):
        results, _ = extract(data, "", elements)
        assert len(results) == len(elements)
        for element, result in zip(elements, results, strict=True):
            np.testing.assert_array_equal(result, data[element], strict=True)


@pytest.mark.parametrize(("before", "after"), [("", ""), ("FHW", "HW"), ("FXC", "XC")])
def test_layouts(before: str, after: str) -> None:
    assert extract(np.zeros((3, 2, 2)), before, [0, 1])[1] == [after, after]


def test_one_element_is_no_list() -> None:
    with pipeline() as made, made:
        data = fn.external_source(source=lambda: [np.zeros((2, 2))])
        assert isinstance(fn.element_extract(data, element_map=[1]), DataNode)
        assert isinstance(fn.element_extract(data, element_map=1), DataNode)
        assert isinstance(fn.element_extract(data, element_map=[1, 0]), list)


def test_zero_copy() -> None:
    # Outputs of one shape would be gathered in contiguous memory afterwards.
    samples = [numbers("uint8", (3, width, 2), 0) for width in (4, 5)]
    with pipeline(batch_size=2) as made:
        with made:
            data = fn.external_source(source=lambda: samples, layout="FWC")
            made.set_outputs(data, *fn.element_extract(data, element_map=[0, 2]))
        whole, first, last = made.run()
        for i, sample in enumerate(samples):
            begin = whole[i].data_ptr()
            assert first[i].data_ptr() == begin
            assert last[i].data_ptr() == begin + 2 * sample[0].nbytes


@pytest.mark.parametrize(
    ("elements", "layout", "message"),
    [
        ([3], "FX", r"element_map must have numbers of the 3 frames, from 0 on \(got 3\)"),
        ([0, -1], "FX", r"from 0 on \(got -1\)"),
        ([0], "XY", r"layout must start with F \(got \"XY\"\)"),
    ],
)
def test_invalid_samples(elements: list[int], layout: str, message: str) -> None:
    with pytest.raises(SampleError, match=message):
        extract(np.zeros((3, 2)), layout, elements)


def test_no_elements() -> None:
    with pytest.raises(ArgumentValueError, match="'element_map' must have at least 1 number"):
        extract(np.zeros((3, 2)), "", [])
