"""Affine transforms of coordinates, compared with NVIDIA DALI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

PLANE = np.float32([[1, 2, 3], [4, 5, 6]])
SPACE = np.float32([[1, 2, 3, 4], [0, 5, -6, 7], [0.5, 8, 9, 10]])
TWO = np.float32([[1.5, 2], [3, 4.25]])
# Name, inputs (an array, or an array and its layout), arguments (arrays are per sample).
Call = tuple[str, list[Any], dict[str, Any]]
ALONE: list[Call] = [
    ("translation", [], {"offset": [1, 2]}),
    ("translation", [], {"offset": 5.0}),
    ("translation", [], {"offset": [1, 2, 3, 4, 5, 6]}),
    ("translation", [], {"offset": np.float32([1, 2])}),
    ("translation", [], {"offset": (TWO, "F*")}),
    ("scale", [], {"scale": [2, 3]}),
    ("scale", [], {"scale": 2.0}),
    ("scale", [], {"scale": 2.0, "ndim": 3}),
    ("scale", [], {"scale": [2, 3], "ndim": 3}),
    ("scale", [], {"scale": [2, 3], "center": [10, 20]}),
    ("scale", [], {"scale": [2, 3], "center": 10.0}),
    ("scale", [], {"scale": 2.0, "center": [10, 20], "ndim": 2}),
    ("scale", [], {"scale": np.float32(3), "ndim": 2}),
    ("scale", [], {"scale": (TWO, "F*"), "center": np.float32([1, 2])}),
    ("scale", [], {"scale": [0.1, 0.3], "center": [1234.5678, 9.87654]}),
    ("rotation", [], {"angle": 30.0}),
    ("rotation", [], {"angle": 90.0, "center": [100, 200]}),
    ("rotation", [], {"angle": -400.0, "center": 7.0}),
    ("rotation", [], {"angle": 30.0, "axis": [1, 2, 3]}),
    ("rotation", [], {"angle": 30.0, "axis": [-1, 0.2, 0.3], "center": [4, 5, 6]}),
    ("rotation", [], {"angle": 30.0, "axis": 1.0}),
    ("rotation", [], {"angle": np.float32(30), "axis": np.float32([0, 1, 0])}),
    ("rotation", [], {"angle": (np.float32([30, 90]), "F")}),
    ("rotation", [], {"angle": 30.0, "axis": (np.float32([[1, 0, 0], [0, 0, 1]]), "F*")}),
    ("shear", [], {"shear": [2, 3]}),
    ("shear", [], {"shear": [2, 3, 4, 5, 6, 7], "center": [10, 20, 30]}),
    ("shear", [], {"shear": np.float32([[2, 3], [4, 5], [6, 7]])}),
    ("shear", [], {"angles": [30, 45], "center": [1, 2]}),
    ("shear", [], {"angles": [30, 45, -10, 20, 50, 60]}),
    ("shear", [], {"shear": (TWO, "F*"), "center": 3.0}),
    ("crop", [], {}),
    ("crop", [], {"from_start": [1, 2], "from_end": [3, 5], "to_start": [10, 20], "to_end": 90.0}),
    ("crop", [], {"from_start": [1, 2, 3], "from_end": [3, 5, 9]}),
    ("crop", [], {"from_start": [3, 2], "from_end": [1, 5]}),
    ("crop", [], {"from_start": [3, 2], "from_end": [1, 5], "absolute": True}),
    ("crop", [], {"from_end": [3, 5], "to_start": [9, 9], "absolute": True}),
    ("crop", [], {"from_start": (TWO, "F*"), "from_end": np.float32([14, 15])}),
]
CHAINED: list[Call] = [
    ("translation", [PLANE], {"offset": [1, 2]}),
    ("translation", [PLANE], {"offset": (TWO, "F*")}),
    ("scale", [PLANE], {"scale": 2.0, "ndim": 3}),
    ("scale", [SPACE], {"scale": [2, 3, 4], "center": [1, 2, 3]}),
    ("rotation", [PLANE], {"angle": 30.0, "center": [4, 5]}),
    ("rotation", [SPACE], {"angle": 30.0, "axis": [1, 2, 3]}),
    ("shear", [PLANE], {"shear": [2, 3]}),
    ("shear", [SPACE], {"angles": [10, 20, 30, 40, 50, 60]}),
    ("crop", [PLANE], {"from_start": [1, 2], "from_end": [3, 5]}),
    ("combine", [PLANE, PLANE * 2, PLANE + 1], {}),
    ("combine", [SPACE, SPACE], {}),
    ("combine", [np.float32([[1, 2]]), np.float32([[3, 4]])], {}),
    ("combine", [PLANE, (np.stack([PLANE, PLANE * 2]), "FRC")], {}),
    ("combine", [(np.stack([PLANE, PLANE * 2]), "F**"), PLANE], {}),
]


def run(library: Any, calls: Sequence[Call]) -> list[tuple[np.ndarray, str]]:
    """Return the result and its layout for each call, all of one pipeline."""
    pipeline = library.Pipeline(batch_size=1, num_threads=1, device_id=None, seed=1)

    def source(value: Any) -> Any:
        array, layout = value if isinstance(value, tuple) else (value, "")
        keywords = {"layout": layout} if layout else {}
        return library.fn.external_source(source=lambda: [array], **keywords)

    def converted(value: Any) -> Any:
        is_sample = isinstance(value, (np.ndarray, tuple))
        return source(value) if is_sample else value

    with pipeline:
        pipeline.set_outputs(
            *(
                getattr(library.fn.transforms, name)(
                    *map(source, inputs),
                    **{key: converted(value) for key, value in arguments.items()},
                )
                for name, inputs, arguments in calls
            )
        )
    pipeline.build()
    return [(np.array(batch.at(0)), batch.layout()) for batch in pipeline.run()]


def check(calls: Sequence[Call]) -> None:
    expected, ours = run(reference, calls), run(dali_core, calls)
    for call, mine, theirs in zip(calls, ours, expected, strict=True):
        assert mine[1] == theirs[1], call
        assert mine[0].dtype == theirs[0].dtype == np.float32
        np.testing.assert_allclose(
            mine[0], theirs[0], rtol=1e-5, atol=1e-5 * np.abs(theirs[0]).max(), err_msg=str(call)
        )


def test_alone() -> None:
    check(ALONE)


@pytest.mark.parametrize(
    ("shape", "before", "replace"),
    [((3,), "", False), ((3, 2), "", False), ((3, 2), "FX", False), ((3, 2, 4), "CHW", True)],
)
def test_per_frame(shape: tuple[int, ...], before: str, replace: bool) -> None:
    data = np.zeros(shape, np.float32)
    layouts = set()
    for library in (reference, dali_core):
        pipeline = library.Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipeline:
            keywords = {"layout": before} if before else {}
            source = library.fn.external_source(source=lambda: [data], **keywords)
            pipeline.set_outputs(library.fn.per_frame(source, replace=replace))
        pipeline.build()
        layouts.add(pipeline.run()[0].layout())
    assert len(layouts) == 1


@pytest.mark.parametrize("reverse_order", [False, True])
def test_with_inputs(reverse_order: bool) -> None:
    check(
        [
            (name, inputs, {**arguments, "reverse_order": reverse_order})
            for name, inputs, arguments in CHAINED
        ]
    )


@pytest.mark.parametrize(
    "call",
    [
        ("translation", [], {"offset": []}),
        ("translation", [], {"offset": [0] * 7}),
        ("translation", [PLANE], {"offset": [1, 2, 3]}),
        ("translation", [PLANE.astype(np.float64)], {"offset": [1, 2]}),
        ("translation", [PLANE[:, :2]], {"offset": [1, 2]}),
        ("scale", [], {"scale": [1, 2], "center": [1, 2, 3]}),
        ("rotation", [], {"angle": 3.0, "axis": [1, 2]}),
        ("rotation", [SPACE], {"angle": 3.0}),
        ("shear", [], {}),
        ("shear", [], {"shear": [1, 2], "angles": [1, 2]}),
        ("shear", [], {"shear": 1.0}),
        ("shear", [], {"angles": [91, 0]}),
        ("crop", [], {"from_start": [1, 2], "from_end": [3, 4, 5]}),
        ("combine", [PLANE, SPACE], {}),
        ("combine", [PLANE], {}),
    ],
)
def test_invalid_arguments_raise_in_both(call: Call) -> None:
    for library in (reference, dali_core):
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            run(library, [call])
