"""one_hot, cast_like and get_property: identical to NVIDIA DALI, except for 16-bit floats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dali_core
from tests.conformance.comparing import (
    FLOATS,
    INTEGERS,
    check,
    check_refused,
    numbers,
    reference,
)

NUMBERS = [np.random.default_rng(i).integers(-1, 5, (2, 3)) for i in range(2)]
TYPE_NAMES = [{"float32": "FLOAT"}.get(dtype, dtype.upper()) for dtype in INTEGERS + FLOATS]


@pytest.mark.parametrize("dtype", [*INTEGERS, "float32", "float64"])
def test_input_types(dtype: str) -> None:
    samples = [np.clip(sample, 0, None).astype(dtype) for sample in NUMBERS]
    check("one_hot", (samples, ""), num_classes=4)
    if dtype.startswith("float"):
        check("one_hot", ([np.array([0.9, 1.5, -0.5, -1.5, 3.0], dtype)], ""), num_classes=3)


@pytest.mark.parametrize("dtype", [name for name in TYPE_NAMES if name != "FLOAT16"])
def test_output_types(dtype: str) -> None:
    for values in ({}, {"on_value": 2.6, "off_value": -1.5}, {"on_value": 300.0}):
        check("one_hot", (NUMBERS, ""), num_classes=4, dtype=dtype, **values)


@pytest.mark.parametrize("axis", [-1, 0, 1, 2])
@pytest.mark.parametrize("layout", ["", "HW"])
def test_axes(layout: str, axis: int) -> None:
    check("one_hot", (NUMBERS, layout), num_classes=5, axis=axis)
    if layout:
        check("one_hot", (NUMBERS, layout), num_classes=5, axis=axis, axis_name="C")


@pytest.mark.parametrize(
    "samples",
    [
        [np.int32(1), np.int32(2)],
        [np.int32([1]), np.int32([2])],
        [np.int32([[1]]), np.int32([[2]])],
        [np.int32([1]), np.int32([2, 0])],
        [np.int32([]), np.int32([2])],
        [np.int32([]), np.int32([])],
    ],
)
def test_single_numbers(samples: list[np.ndarray]) -> None:
    check("one_hot", (samples, ""), num_classes=4)
    check("one_hot", (samples, ""), num_classes=4, axis=0)
    check("one_hot", (samples, ""), num_classes=4, axis=-1)
    if all(sample.size == 1 for sample in samples):
        check("one_hot", (samples, ""), num_classes=4, axis_name="C")


def test_no_classes() -> None:
    check("one_hot", (NUMBERS, ""))


@pytest.mark.parametrize(
    "arguments",
    [
        {"num_classes": -1},
        {"axis": -2},
        {"axis": 3},
        {"axis_name": "CC"},
        {"axis_name": ""},
        {"axis_name": "C"},
    ],
)
def test_invalid_arguments_raise_in_both(arguments: dict[str, Any]) -> None:
    check_refused("one_hot", (NUMBERS, ""), **arguments)


@pytest.mark.parametrize("target", [*INTEGERS, *FLOATS, "bool"])
def test_cast_like(target: str) -> None:
    like = ([np.zeros((2, 0), target)] * 2, "")
    relative = 2.0**-10 if target == "float16" else 0
    for dtype in ("uint8", "int32", "float32"):
        samples = [numbers(dtype, (4, 5), i) for i in range(2)]
        if target == "float16":  # the reference overflows to infinity in another way
            samples = [np.clip(sample, -60000, 60000).astype(dtype) for sample in samples]
        check("cast_like", (samples, "HW"), like, relative=relative)


@pytest.mark.parametrize("layout", ["", "HW", "XY"])
def test_get_property_of_arrays(layout: str) -> None:
    check("get_property", (NUMBERS, layout), key="layout")
    check("get_property", (NUMBERS, layout), key="source_info")


def test_get_property_of_files(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "data.jpg").write_bytes(b"12345678")
    found = []
    for library in (reference, dali_core):
        pipeline = library.Pipeline(batch_size=2, num_threads=1, device_id=None)
        with pipeline:
            data, _ = library.fn.readers.file(file_root=str(tmp_path))
            other = library.fn.external_source(source=lambda: [np.zeros(2, np.uint8)] * 2)
            values = (
                data,
                library.fn.reshape(data, shape=[2, 4], layout="HW"),
                library.fn.cat(other, data),
                library.fn.slice(data, start=2, end=5, axes=0),
                library.fn.normalize(data),
                library.fn.one_hot(data, num_classes=3),
            )
            pipeline.set_outputs(
                *(library.fn.get_property(value, key="source_info") for value in values)
            )
        pipeline.build()
        found.append(
            [[np.array(batch.at(i)).tobytes() for i in range(2)] for batch in pipeline.run()]
        )
    assert found[0] == found[1] == [[b"a/data.jpg", b"b/data.jpg"]] * 6


@pytest.mark.parametrize("key", ["", "shape"])
def test_unknown_property(key: str) -> None:
    check_refused("get_property", (NUMBERS, ""), key=key)
