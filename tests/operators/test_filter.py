"""Filtering with windows of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import fn, types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.neighbourhoods import NUMBER_TYPES, PADDING, check_close, run_framed
from tests.operators.suite import Example, Input, images, numbers, pipeline, run, type_of


def window(*extents: int, seed: int = 0) -> np.ndarray:
    """Return a window whose sums stay near the range of the input."""
    random = np.random.default_rng([seed, *extents])
    return (random.uniform(-1, 2, extents) / np.prod(extents)).astype(np.float32)


def windows(*extents: int) -> Input:
    return Input(lambda number: window(*extents, seed=number))


FILL = Input(lambda number: np.uint8(number * 20))
EXAMPLES = [
    Example("bytes", [images(), windows(3, 3)], {"anchor": [-1, -1]}),
    Example("anchor", [images("FCHW"), windows(4, 5)], {"anchor": [0, 4], "border": "wrap"}),
    Example("fill", [images("CHW"), windows(2, 6), FILL], {"anchor": 1, "border": "constant"}),
    Example(
        "valid",
        [images("HWC", "float32", smallest=8), windows(8, 3)],
        {"anchor": [3, 1], "mode": "valid"},
    ),
    Example(
        "volume",
        [images("DHWC", "int16", extents={"D": 4}), windows(3, 2, 3)],
        {"anchor": [2, -1, 0], "border": "clamp", "dtype": types.FLOAT},
    ),
]


def correlate(
    values: np.ndarray,
    filters: np.ndarray,
    first_axis: int = 0,
    *,
    anchor: Any = -1,
    border: str = "reflect_101",
    fill: float = 0,
    mode: str = "same",
) -> np.ndarray:
    """Correlate in float64, by shifting the padded input."""
    n = filters.ndim
    anchors = [
        extent // 2 if place < 0 else place
        for place, extent in zip(np.broadcast_to(anchor, n), filters.shape, strict=True)
    ]
    padded = values.astype(np.float64)
    if mode == "same":
        for i, (place, extent) in enumerate(zip(anchors, filters.shape, strict=True)):
            axis = first_axis + i
            padding = [(0, 0)] * padded.ndim
            padding[axis] = (place, extent - 1 - place)
            kind = PADDING[border]
            if kind == "reflect" and padded.shape[axis] == 1:
                kind = "edge"
            constant = {"constant_values": fill} if kind == "constant" else {}
            padded = np.pad(padded, padding, kind, **constant)
    extents = [padded.shape[first_axis + i] - filters.shape[i] + 1 for i in range(n)]
    total = 0
    for place in np.ndindex(*filters.shape):
        part = padded
        for i in range(n):
            part = np.take(part, range(place[i], place[i] + extents[i]), first_axis + i)
        total = total + part * float(filters[place])
    return np.asarray(total)


def filtered(
    values: np.ndarray,
    filters: np.ndarray,
    layout: str,
    fill: np.ndarray | None = None,
    *,
    filter_layout: str = "",
    fill_layout: str = "",
    **arguments: Any,
) -> np.ndarray:
    inputs = [Input(lambda _: values, layout), Input(lambda _: filters, filter_layout)]
    if fill is not None:
        inputs.append(Input(lambda _: fill, fill_layout))
    example = Example("call", inputs)
    result = run("filter", example, arguments, num_samples=1, batch_size=1)
    return result.samples[0][0]


@pytest.mark.parametrize("dtype", NUMBER_TYPES)
def test_types(dtype: str) -> None:
    values = numbers(dtype, (7, 90, 3), 1)
    filters = window(3, 4)
    for arguments in ({}, {"dtype": types.FLOAT}, {"dtype": type_of(dtype)}):
        target = "float32" if arguments.get("dtype") == types.FLOAT else dtype
        result = filtered(values, filters, "HWC", **arguments)
        check_close(result, correlate(values, filters), target, values)


@pytest.mark.parametrize(
    "layout", ["", "HW", "HWC", "CHW", "FHW", "FHWC", "FCHW", "CFHW", "FFHW", "XY"]
)
def test_layouts(layout: str) -> None:
    extents = {"F": 2, "C": 3}
    shape = [extents.get(letter, 5 + i) for i, letter in enumerate(layout or "HW")]
    first = next((i for i, letter in enumerate(layout) if letter not in "FC"), 0)
    values = numbers("float32", shape, 2)
    exact = correlate(values, window(3, 2), first)
    check_close(filtered(values, window(3, 2), layout), exact, "float32", values)


@pytest.mark.parametrize("layout", ["DHW", "DHWC", "CDHW", "FDHW", "FCDHW"])
def test_volumes(layout: str) -> None:
    extents = {"F": 2, "C": 3}
    values = numbers("int8", [extents.get(letter, 4 + i) for i, letter in enumerate(layout)], 3)
    for border in PADDING:
        exact = correlate(
            values, window(3, 5, 2), layout.index("D"), border=border, anchor=[0, 1, 1]
        )
        result = filtered(
            values, window(3, 5, 2), layout, border=border, anchor=[0, 1, 1], dtype=types.FLOAT
        )
        check_close(result, exact, "float32", values)


@settings(max_examples=60, deadline=None)
@given(
    shape=st.lists(st.integers(1, 20), min_size=2, max_size=3),
    extents=st.lists(st.integers(1, 9), min_size=3, max_size=3),
    border=st.sampled_from([*PADDING]),
    data=st.data(),
)
def test_any_window_anywhere(
    shape: list[int], extents: list[int], border: str, data: st.DataObject
) -> None:
    extents = extents[: len(shape)]
    anchor = [data.draw(st.integers(-1, extent - 1)) for extent in extents]
    values = numbers("float32", shape, 3)
    filters = window(*extents)
    result = filtered(values, filters, "", np.float32(50), border=border, anchor=anchor)
    exact = correlate(values, filters, anchor=anchor, border=border, fill=50)
    check_close(result, exact, "float32", values)


def test_valid_mode() -> None:
    values = numbers("uint8", (6, 9, 3), 4)
    for extents in ((1, 1), (6, 9), (2, 5)):
        filters = window(*extents)
        result = filtered(values, filters, "HWC", mode="valid", dtype=types.FLOAT)
        check_close(result, correlate(values, filters, mode="valid"), "float32", values)


def test_halves_round_to_even_and_numbers_saturate() -> None:
    values = np.uint8([[1, 3, 5, 7, 255]])
    assert filtered(values, np.float32([[0.5]]), "HW").tolist() == [[0, 2, 2, 4, 128]]
    assert filtered(values, np.float32([[100]]), "HW").tolist() == [[100, 255, 255, 255, 255]]
    assert filtered(values, np.float32([[-1]]), "HW").tolist() == [[0] * 5]
    for dtype in ("int16", "int32", "int64"):
        signed = np.array([[-1, -3, -5, 8, 3]], dtype)
        assert filtered(signed, np.float32([[0.5]]), "HW").tolist() == [[0, -2, -2, 4, 2]]
    limits = np.iinfo(np.int16)
    wide = filtered(np.int16([[30_000, -30_000]]), np.float32([[2]]), "HW")
    assert wide.tolist() == [[limits.max, limits.min]]


def test_zeros_of_the_filter_do_not_count() -> None:
    values = np.float32([[np.nan, 1, 2]])
    result = filtered(values, np.float32([[0, 0, 3]]), "HW", border="clamp")
    assert result.tolist() == [[3, 6, 6]]
    assert filtered(values, np.zeros((3, 3), np.float32), "HW").tolist() == [[0, 0, 0]]


def test_filters_of_each_frame() -> None:
    values = numbers("float32", (2, 5, 6, 3), 5)
    filters = np.stack([window(3, 3, seed=seed) for seed in range(2)])
    result = filtered(values, filters, "FHWC", filter_layout="FHW")
    for frame in range(2):
        check_close(result[frame], correlate(values[frame], filters[frame]), "float32", values)


def test_an_image_becomes_a_sequence_with_a_sequence_of_filters() -> None:
    values = numbers("uint8", (3, 5, 6), 5)
    filters = np.stack([window(3, 3, seed=seed) for seed in range(2)])
    fill = np.uint8([7, 200])
    inputs = [Input(lambda _: values, "CHW"), Input(lambda _: filters, "FHW")]
    example = Example("frames", [*inputs, Input(lambda _: fill, "F")])
    result = run("filter", example, {"border": "constant"}, num_samples=1)
    assert result.layouts == [{"FCHW"}]
    for frame in range(2):
        exact = correlate(values, filters[frame], 1, border="constant", fill=float(fill[frame]))
        check_close(result.samples[0][0][frame], exact, "uint8", values)


def test_anchors_of_each_frame() -> None:
    values = numbers("float32", (2, 5, 6), 5)
    anchors = np.int32([[0, 2], [-1, 1]])
    result = run_framed("filter", values, "FHW", window(2, 3), anchor=anchors)
    for frame in range(2):
        exact = correlate(values[frame], window(2, 3), anchor=anchors[frame])
        check_close(result[frame], exact, "float32", values)


@pytest.mark.parametrize("shape", [(0, 4, 3), (4, 0, 3), (4, 4, 0)])
def test_empty_arrays(shape: tuple[int, ...]) -> None:
    assert filtered(np.zeros(shape, np.uint8), window(3, 3), "HWC").shape == shape


def test_a_number_for_all_samples_as_fill_value() -> None:
    values = numbers("float32", (4, 4), 0)
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [values], layout="HW")
            filters = fn.external_source(source=lambda: [window(3, 3)])
            made.set_outputs(fn.filter(data, filters, 2.5, border="constant"))
        (batch,) = made.run()
    exact = correlate(values, window(3, 3), border="constant", fill=2.5)
    check_close(np.array(batch.at(0)), exact, "float32", values)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"border": "isolated"}, r"border must be .* \(got 'isolated'\)"),
        ({"border": ""}, "border must be"),
        ({"mode": "full"}, "mode must be 'same' or 'valid'"),
    ],
)
def test_wrong_constants(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        filtered(np.zeros((4, 4), np.uint8), window(3, 3), "HW", **arguments)


@pytest.mark.parametrize(
    ("layout", "filters", "arguments", "message"),
    [
        ("HW", window(3, 3), {"anchor": 3}, "anchor must be a place in the filter"),
        ("HW", window(3, 3), {"anchor": -2}, "anchor must be a place in the filter"),
        ("HW", window(3, 3), {"anchor": [0, 0, 0]}, "anchor must have one number, or one for"),
        ("HW", window(3, 3), {"anchor": [3, 0], "mode": "valid"}, "anchor must be a place"),
        ("HW", window(5, 1), {"mode": "valid"}, "the filter must fit into the input"),
        ("HW", window(3, 3), {"dtype": types.INT16}, "dtype must be FLOAT or the type"),
        ("HW", window(3), {}, "the filter must have a dimension for each of the 2"),
        ("HW", window(3, 3, 3), {}, "the filter must have a dimension for each of the 2"),
        ("HW", window(3, 0), {}, "the filter must have numbers"),
        ("HW", np.ones((3, 3)), {}, "the filter must be of type float32"),
        ("FW", window(3, 3), {}, "the input must have two or three data axes"),
        ("WF", window(3, 3), {}, "the input must have frames first"),
    ],
)
def test_wrong_for_the_sample(
    layout: str, filters: np.ndarray, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(SampleError, match=message):
        filtered(np.zeros((4, 4), np.uint8), filters, layout, **arguments)


def test_wrong_inputs() -> None:
    image = np.zeros((3, 4, 4), np.uint8)
    with pytest.raises(SampleError, match="inputs with frames must have as many"):
        filtered(image, window(2, 3, 3), "FHW", filter_layout="FHW")
    with pytest.raises(SampleError, match="the fill value must be one number"):
        filtered(image, window(3, 3), "FHW", np.uint8([1, 2, 3]))
    with pytest.raises(SampleError, match="which bool has not"):
        filtered(image.astype(bool), window(3, 3), "FHW")
