"""Operators on sequences, in both libraries.

Where this library differs on purpose:

* Sequences of scalars may be rearranged, and their elements extracted.
* clahe, paste, sphere and water accept sequences, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dali_core

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

Call = Callable[..., Any]
Outputs = list[tuple[list[np.ndarray], str]]

FRAMES = 4
CLIPS = [
    np.random.default_rng(number).integers(0, 256, (FRAMES, 24, 30 + number, 3), dtype=np.uint8)
    for number in range(2)
]
NUMBERS = [np.arange(6, dtype=np.int32).reshape(3, 2), np.arange(8, dtype=np.int32).reshape(4, 2)]


def run(
    library: Any, call: Call, data: list[np.ndarray], layout: str | None, values: Any = ()
) -> Outputs:
    """Run a call with sequences and per-frame arguments."""
    pipeline = library.Pipeline(batch_size=len(data), num_threads=1, device_id=None, seed=3)
    fn = library.fn
    with pipeline:
        nodes = [fn.external_source(source=_always(data), layout=layout)]
        for value in values:
            source = fn.external_source(source=_always([value] * len(data)))
            nodes.append(fn.per_frame(source))
        outputs = call(fn, library.types, *nodes)
        outputs = outputs if isinstance(outputs, list | tuple) else [outputs]
        pipeline.set_outputs(*outputs)
    pipeline.build()
    return [
        ([np.array(batch.at(i)) for i in range(len(data))], batch.layout())
        for batch in pipeline.run()
    ]


def _always(value: Any) -> Callable[[], Any]:
    return lambda: value


def check(
    call: Call, data: list[np.ndarray], layout: str | None, values: Any = (), tolerance: int = 0
) -> None:
    ours = run(dali_core, call, data, layout, values)
    theirs = run(reference, call, data, layout, values)
    assert [layout for _, layout in ours] == [layout for _, layout in theirs]
    for (mine, _), (expected, _) in zip(ours, theirs, strict=True):
        for one, other in zip(mine, expected, strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            np.testing.assert_allclose(
                one.astype(np.float64), other.astype(np.float64), rtol=1e-5, atol=tolerance
            )


def check_refused(call: Call, data: list[np.ndarray], layout: str | None, values: Any = ()) -> None:
    for library in (dali_core, reference):
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            run(library, call, data, layout, values)


WHOLE: dict[str, tuple[Call, int]] = {
    "crop": (lambda fn, types, x: fn.crop(x, crop=(10, 12), crop_pos_x=0.2), 0),
    "crop of frames": (lambda fn, types, x: fn.crop(x, crop=(2, 10, 12)), 0),
    "channels first": (
        lambda fn, types, x: fn.crop_mirror_normalize(
            x, crop=(10, 12), mean=[1, 2, 3], std=[4, 5, 6], mirror=1, output_layout="FCHW"
        ),
        0,
    ),
    "channels before frames": (
        lambda fn, types, x: fn.crop_mirror_normalize(x, output_layout="CFHW"),
        0,
    ),
    "resize": (lambda fn, types, x: fn.resize(x, size=(15, 17)), 1),
    "flip": (lambda fn, types, x: fn.flip(x, vertical=1), 0),
    "slice": (lambda fn, types, x: fn.slice(x, start=[2, 3], shape=[9, 9], axis_names="HW"), 0),
    "slice of frames": (lambda fn, types, x: fn.slice(x, start=[1], shape=[2], axis_names="F"), 0),
    "brightness": (lambda fn, types, x: fn.brightness(x, brightness=1.2), 1),
    "hue": (lambda fn, types, x: fn.hue(x, hue=30), 1),
    "rotate": (lambda fn, types, x: fn.rotate(x, angle=30, fill_value=1), 1),
    "gaussian_blur": (lambda fn, types, x: fn.gaussian_blur(x, sigma=1.2), 1),
    "transpose": (lambda fn, types, x: fn.transpose(x, perm=[3, 0, 1, 2]), 0),
    "cast": (lambda fn, types, x: fn.cast(x, dtype=types.FLOAT16), 0),
    "mean": (lambda fn, types, x: fn.reductions.mean(x, axis_names="HW"), 0),
    "erase": (
        lambda fn, types, x: fn.erase(x, anchor=[2.0, 3.0], shape=[5.0, 6.0], axis_names="HW"),
        0,
    ),
}
FACTORS = np.float32([0.5, 1, 1.5, 0])
ANGLES = np.float32([0, 30, 90, 200])
MATRICES = np.float32([[[1, 0, i], [0.1 * i, 1, 0]] for i in range(FRAMES)])
PER_FRAME: dict[str, tuple[Call, Any]] = {
    "brightness": (lambda fn, types, x, a: fn.brightness(x, brightness=a), [FACTORS]),
    "contrast": (lambda fn, types, x, a: fn.contrast(x, contrast=a), [FACTORS]),
    "brightness_contrast": (
        lambda fn, types, x, a, b: fn.brightness_contrast(x, contrast=a, brightness_shift=b),
        [FACTORS, FACTORS[::-1].copy()],
    ),
    "hue": (lambda fn, types, x, a: fn.hue(x, hue=a), [ANGLES]),
    "saturation": (lambda fn, types, x, a: fn.saturation(x, saturation=a), [FACTORS]),
    "hsv": (lambda fn, types, x, a: fn.hsv(x, value=a), [FACTORS]),
    "color_twist": (lambda fn, types, x, a: fn.color_twist(x, hue=a), [ANGLES]),
    "rotate": (lambda fn, types, x, a: fn.rotate(x, angle=a, keep_size=True), [ANGLES]),
    "warp_affine": (lambda fn, types, x, a: fn.warp_affine(x, a), [MATRICES]),
    "gaussian_blur": (lambda fn, types, x, a: fn.gaussian_blur(x, sigma=a), [FACTORS + 0.5]),
    "one for all": (lambda fn, types, x, a: fn.brightness(x, brightness=a), [FACTORS[:1]]),
}


@pytest.mark.parametrize("name", WHOLE)
def test_sequences(name: str) -> None:
    call, tolerance = WHOLE[name]
    check(call, CLIPS, "FHWC", tolerance=tolerance)


@pytest.mark.parametrize("name", PER_FRAME)
def test_arguments_of_each_frame(name: str) -> None:
    call, values = PER_FRAME[name]
    check(call, CLIPS, "FHWC", values, tolerance=1)


@pytest.mark.parametrize(
    ("call", "values"),
    [
        (lambda fn, types, x, a: fn.crop(x, crop=(5, 5), crop_pos_x=a), FACTORS / 2),
        (lambda fn, types, x, a: fn.flip(x, horizontal=a), np.int32([0, 1, 0, 1])),
        (lambda fn, types, x, a: fn.resize(x, resize_x=a), np.float32([9] * FRAMES)),
        (lambda fn, types, x, a: fn.brightness(x, brightness=a), FACTORS[:3]),
    ],
)
def test_invalid_arguments_of_each_frame(call: Call, values: np.ndarray) -> None:
    check_refused(call, CLIPS, "FHWC", [values])


def test_layouts_without_frames_raise() -> None:
    check_refused(lambda fn, types, x: fn.crop_mirror_normalize(x), CLIPS, "FHWC")


@pytest.mark.parametrize("order", [[2, 0, 0], [1], 2, [0, 1, 2]])
@pytest.mark.parametrize("layout", ["FX", "FC", None])
def test_sequence_rearrange(layout: str | None, order: Any) -> None:
    check(lambda fn, types, x: fn.sequence_rearrange(x, new_order=order), NUMBERS, layout)


def test_order_of_each_sample() -> None:
    for orders in ([np.int32([1, 0]), np.int32([3])], [np.int32([2]), np.int32([0, 0, 1])]):
        check(
            lambda fn, types, x, orders=orders: fn.sequence_rearrange(
                x, new_order=fn.external_source(source=_always(orders))
            ),
            NUMBERS,
            "FX",
        )


@pytest.mark.parametrize(
    ("order", "layout"), [([], "FX"), ([3], "FX"), ([-1], "FX"), ([0], "XY"), ([0], "HWCF")]
)
def test_invalid_orders(order: list[int], layout: str) -> None:
    data = [np.zeros((2, 3, 4, 3), np.uint8)] if layout == "HWCF" else NUMBERS
    check_refused(lambda fn, types, x: fn.sequence_rearrange(x, new_order=order), data, layout)


def test_orders_that_are_empty_for_a_sample() -> None:
    orders = [np.zeros(0, np.int32), np.int32([0])]
    check_refused(
        lambda fn, types, x: fn.sequence_rearrange(
            x, new_order=fn.external_source(source=_always(orders))
        ),
        NUMBERS,
        "FX",
    )


@pytest.mark.parametrize("elements", [[2, 0], [1, 1, 1], [2], 2])
@pytest.mark.parametrize("layout", ["FX", "FC", None])
def test_element_extract(layout: str | None, elements: Any) -> None:
    check(lambda fn, types, x: fn.element_extract(x, element_map=elements), NUMBERS, layout)


@pytest.mark.parametrize(
    ("elements", "layout"), [([], "FX"), ([3], "FX"), ([-1], "FX"), ([0], "XY")]
)
def test_invalid_elements(elements: list[int], layout: str) -> None:
    check_refused(lambda fn, types, x: fn.element_extract(x, element_map=elements), NUMBERS, layout)
