"""Sizes and token counts of images for vision-language models."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import fn
from dali_core.errors import DaliCoreError
from tests.operators.suite import Example, Input, pipeline

EXAMPLES = [
    Example("default", [Input(lambda number: np.int64([300 + 40 * number, 700, 3]))]),
    Example(
        "small",
        [Input(lambda number: np.int32([30 + number, 20]))],
        {"patch": 16, "merge": 1, "min_pixels": 4096, "max_pixels": 10_000},
    ),
]


def run(shapes: list[Any], **arguments: Any) -> tuple[np.ndarray, np.ndarray]:
    with pipeline(batch_size=len(shapes)) as made:
        with made:
            data = fn.external_source(source=lambda: [np.int64(shape) for shape in shapes])
            made.set_outputs(*fn.image_tokens(data, **arguments))
        size, tokens = made.run()
        return np.array(size.as_array()), np.array(tokens.as_array())


def expected(
    height: int, width: int, factor: int, min_pixels: int, max_pixels: int
) -> tuple[int, int]:
    rows, columns = round(height / factor), round(width / factor)
    if rows * columns * factor**2 > max_pixels:
        scale = math.sqrt(height * width / max_pixels)
        rows, columns = (max(1, math.floor(s / scale / factor)) for s in (height, width))
    elif rows * columns * factor**2 < min_pixels:
        scale = math.sqrt(min_pixels / (height * width))
        rows, columns = (math.ceil(s * scale / factor) for s in (height, width))
    return rows, columns


@given(
    shapes=st.lists(
        st.tuples(st.integers(20, 4000), st.integers(20, 4000)), min_size=1, max_size=20
    ),
    patch=st.sampled_from([14, 16]),
    merge=st.integers(1, 2),
    least=st.integers(1, 100_000),
    factor=st.integers(1, 20),
)
@settings(max_examples=25, deadline=None)
def test_rule(
    shapes: list[tuple[int, int]], patch: int, merge: int, least: int, factor: int
) -> None:
    bounds = {"min_pixels": least, "max_pixels": least * factor}
    size, tokens = run(shapes, patch=patch, merge=merge, **bounds)
    for shape, found, count in zip(shapes, size, tokens, strict=True):
        rows, columns = expected(*shape, patch * merge, least, least * factor)
        assert found.tolist() == [rows * patch * merge, columns * patch * merge]
        assert count == rows * columns


def test_values_of_the_documented_rule() -> None:
    # 42 and 70 are half way between multiples of 28: both become an even multiple.
    size, tokens = run([(42, 70), (560, 840), (28, 28)])
    assert size.tolist() == [[56, 56], [560, 840], [56, 56]]
    assert tokens.tolist() == [h * w // 28**2 for h, w in size.tolist()]


@pytest.mark.parametrize(
    ("shape", "arguments", "message"),
    [
        ((1, 201), {}, "at most 200 times the shorter one"),
        ((0, 5), {}, "sides of an image"),
        ((2**40, 2**40), {}, "sides of an image"),
        (5, {}, "must be the shape of an image"),
        ((5, 5), {"min_pixels": 5, "max_pixels": 4}, "min_pixels must be at most max_pixels"),
    ],
)
def test_invalid(shape: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DaliCoreError, match=message):
        run([shape], **arguments)
