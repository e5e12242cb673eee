"""Calls that are accepted though a part of what they are given has no use."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import dali_core
from dali_core.errors import SampleError
from tests.conformance.comparing import check, check_refused, numbers, reference, run

PHOTO = numbers("uint8", (4, 2, 3))
IDS = {"in_ids": [np.array([0], np.int32)]}


@pytest.mark.parametrize("size", [[6, 5], [6, 5, 3], [6, 5, 1], [6, 5, 0], [6, 5, 3, 3]])
def test_multi_paste_uses_two_extents(size: list[int]) -> None:
    check("multi_paste", ([PHOTO], "HWC"), per_sample=IDS, output_size=size)
    per_sample = {**IDS, "output_size": [np.array(size, np.int32)]}
    check("multi_paste", ([PHOTO], "HWC"), per_sample=per_sample)


def test_multi_paste_needs_two_extents() -> None:
    check_refused("multi_paste", ([PHOTO], "HWC"), per_sample=IDS, output_size=[6])


@pytest.mark.parametrize("value", [[1, 2, 3], [[1, 2], [3, 4]], [[[7]]], 5])
def test_full_without_a_shape(value: Any) -> None:
    for dtype in (np.int32, np.float32, np.uint8):
        check("full", ([np.array(value, dtype)], ""))
        check("full", ([np.array(value, dtype)], ""), shape=[])


def test_full_of_no_elements() -> None:
    """The reference reads memory beyond the value."""
    with pytest.raises(SampleError, match="fill_value must have"):
        run(dali_core, "full", [([np.zeros(0, np.int32)], "")], {}, {})


@pytest.mark.parametrize(
    "ends",
    [
        {"from_start": [0.0, 0.0], "from_end": [0.0, 1.0]},
        {"from_start": [1.0, 0.0], "from_end": [1.0, 1.0], "to_start": [2.0, 3.0]},
        {"from_start": [5.0, 0.0], "from_end": [5.0, 1.0], "to_start": [7.0, 0.0], "to_end": 7.0},
        {"from_start": 1.0, "from_end": 1.0, "to_start": 1.0, "to_end": 1.0},
        {"from_start": [0.0, 0.0], "from_end": [0.0, 1.0], "absolute": True},
    ],
)
def test_crop_transform_of_equal_ends(ends: dict[str, Any]) -> None:
    results = []
    for library in (dali_core, reference):
        pipeline = library.Pipeline(1, 1, None)
        with pipeline:
            pipeline.set_outputs(library.fn.transforms.crop(**ends))
        pipeline.build()
        results.append(np.array(pipeline.run()[0].at(0)))
    np.testing.assert_array_equal(*results)


def keep(outs: Any, ins: Any) -> None:
    """Set no extents."""


def set_first(outs: Any, ins: Any) -> None:
    outs[0][0][1] = 2
    outs[0][0][0] = 1


def ones(out: Any, data: Any) -> None:
    out[:] = 1


def numba_outputs(library: Any, setup: Any) -> list[Any]:
    name = f"{library.__name__}.plugin.numba.fn.experimental"
    function = importlib.import_module(name).numba_function
    kinds = [library.types.UINT8]
    pipeline = library.Pipeline(3, 1, None)
    with pipeline:
        data = library.fn.external_source(lambda: [np.zeros((2, 3), np.uint8)] * 3)
        node = function(
            data,
            run_fn=ones,
            setup_fn=setup,
            in_types=kinds,
            out_types=kinds,
            ins_ndim=[2],
            outs_ndim=[2],
            device="cpu",
        )
        pipeline.set_outputs(node)
    pipeline.build()
    (batch,) = pipeline.run()
    return [np.array(batch.at(number)) for number in range(3)]


@pytest.mark.parametrize("setup", [keep, set_first])
def test_setup_that_sets_not_all_extents(setup: Any) -> None:
    pytest.importorskip("numba", reason="not available: Numba")
    ours, theirs = numba_outputs(dali_core, setup), numba_outputs(reference, setup)
    for mine, expected in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine, expected, strict=True)
