"""Crop, flip, crop_mirror_normalize and cast: identical to NVIDIA DALI, except 16-bit floats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.types

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

LAYOUTS = ("HWC", "CHW", "DHWC", "CDHW", "FHWC", "FCHW", "CFHW")
NUMBER_TYPES = [
    "uint8",
    "int8",
    "uint16",
    "int16",
    "uint32",
    "int32",
    "uint64",
    "int64",
    "float16",
    "float32",
    "float64",
    "bool",
]


def run(
    library: Any,
    operator: str,
    samples: Sequence[np.ndarray],
    layout: str,
    per_sample: Mapping[str, Sequence[np.ndarray]],
    constants: Mapping[str, Any],
) -> tuple[list[np.ndarray], str, str]:
    """Return the outputs, their layout and their type."""
    constants = {
        name: getattr(library.types, value) if name == "dtype" else value
        for name, value in constants.items()
    }

    def batch_of(arrays: Sequence[np.ndarray], **keywords: Any) -> Any:
        return library.fn.external_source(source=lambda: list(arrays), **keywords)

    pipeline = library.Pipeline(batch_size=len(samples), num_threads=1, device_id=None, seed=1)
    with pipeline:
        data = batch_of(samples, **({"layout": layout} if layout else {}))
        arguments = {name: batch_of(values) for name, values in per_sample.items()}
        pipeline.set_outputs(getattr(library.fn, operator)(data, **arguments, **constants))
    pipeline.build()
    (batch,) = pipeline.run()
    arrays = [np.array(batch.at(i)) for i in range(len(samples))]
    return arrays, batch.layout(), batch.dtype.name


def check(
    operator: str,
    samples: Sequence[np.ndarray],
    layout: str = "",
    per_sample: Mapping[str, Sequence[np.ndarray]] | None = None,
    **constants: Any,
) -> None:
    """Run both libraries and compare."""
    expected, expected_layout, expected_type = run(
        reference, operator, samples, layout, per_sample or {}, constants
    )
    ours, our_layout, our_type = run(
        dali_core, operator, samples, layout, per_sample or {}, constants
    )
    assert (our_layout, our_type) == (expected_layout, expected_type)
    for mine, theirs in zip(ours, expected, strict=True):
        if mine.dtype == np.float16:
            # The reference rounds ties away from zero; we round them to even, as in hardware.
            np.testing.assert_allclose(mine, theirs, rtol=2**-10)
            assert mine.dtype == theirs.dtype
        else:
            np.testing.assert_array_equal(mine, theirs, strict=True)


def check_refused(
    operator: str, samples: Sequence[np.ndarray], layout: str, **constants: Any
) -> None:
    """Both libraries reject the call, when it is built or run."""
    with pytest.raises((RuntimeError, ValueError, TypeError)):
        run(reference, operator, samples, layout, {}, constants)
    with pytest.raises((RuntimeError, ValueError, TypeError)):
        run(dali_core, operator, samples, layout, {}, constants)


def images(layout: str, dtype: str = "uint8", seed: int = 0, count: int = 2) -> list[np.ndarray]:
    """Return samples of different odd sizes."""
    random = np.random.default_rng(seed)
    samples = []
    for _ in range(count):
        extents = {
            "F": random.integers(2, 4),
            "D": random.integers(2, 6),
            "H": random.integers(5, 12),
            "W": random.integers(5, 40),
            "C": 3,
        }
        shape = [int(extents[letter]) for letter in layout]
        samples.append(numbers(dtype, shape, random))
    return samples


def numbers(dtype: str, shape: Sequence[int], random: np.random.Generator) -> np.ndarray:
    """Return numbers over most of the range of a dtype."""
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if np.dtype(dtype).kind == "f":
        return (random.standard_normal(shape) * 200).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"crop": (3, 4)},
        {"crop": (2, 3, 4), "crop_pos_z": 1.0},
        {"crop_h": 4.7, "crop_w": 5.0, "crop_pos_x": 0.3, "crop_pos_y": 0.9},
        {"crop_h": 0, "crop_w": 5, "rounding": "truncate"},
        {"crop": (13, 4), "out_of_bounds_policy": "pad", "fill_values": [1.0, 2.5, -3.0]},
        {"crop": (14, 45), "out_of_bounds_policy": "constant", "fill_values": 7.0},
        {"crop": (7, 13, 4), "out_of_bounds_policy": "trim_to_shape", "crop_pos_y": 0.1},
    ],
)
def test_crop_windows(layout: str, arguments: dict[str, Any]) -> None:
    check("crop", images(layout), layout, **arguments)


@pytest.mark.parametrize(
    "policy", ["edge", "clamp", "reflect", "reflect_101", "reflect101", "wrap"]
)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_crop_repeats_the_image(layout: str, policy: str) -> None:
    check("crop", images(layout), layout, crop=(8, 40, 60), out_of_bounds_policy=policy)
    check("crop", images(layout), layout, crop=(3, 60), out_of_bounds_policy=policy)


@pytest.mark.parametrize("dtype", NUMBER_TYPES[:-1])
def test_crop_types(dtype: str) -> None:
    samples = images("HWC", dtype)
    check(
        "crop", samples, "HWC", crop=(4, 45), out_of_bounds_policy="pad", fill_values=[2.7, -1, 99]
    )
    for output in ("UINT8", "FLOAT", "FLOAT16"):
        check("crop", samples, "HWC", crop=(4, 3), dtype=output)


@pytest.mark.parametrize("rounding", ["round", "truncate"])
def test_crop_positions(rounding: str) -> None:
    column = np.arange(40, dtype=np.uint8).reshape(40, 1, 1)
    positions = [np.float32(i / 20) for i in range(21)]
    for extent in (25, 33, 39):
        check(
            "crop",
            [column] * len(positions),
            "HWC",
            {"crop_pos_y": list(map(np.asarray, positions))},
            crop=(extent, 1),
            rounding=rounding,
        )


def test_crop_per_sample() -> None:
    samples = images("HWC", count=3)
    extents = [np.float32([2, 3]), np.float32([5, 1]), np.float32([1, 5])]
    check("crop", samples, "HWC", {"crop": extents})
    separate = {
        "crop_h": [np.asarray(pair[0]) for pair in extents],
        "crop_w": [np.asarray(pair[1]) for pair in extents],
    }
    check("crop", samples, "HWC", separate)


@pytest.mark.parametrize("operator", ["crop", "crop_mirror_normalize"])
@pytest.mark.parametrize(
    "arguments",
    [
        {"crop": (13, 4)},
        {"crop": 3},
        {"crop_w": 3},
        {"crop": (3, 3), "crop_w": 3, "crop_h": 3},
        {"crop": (3, 3), "crop_pos_x": 1.5},
        {"crop": (3, 3), "rounding": "up"},
        {"crop": (3, 3), "out_of_bounds_policy": "foo"},
        {"crop": (13, 4), "out_of_bounds_policy": "pad", "fill_values": [1.0, 2.0]},
    ],
)
def test_crop_errors(operator: str, arguments: dict[str, Any]) -> None:
    check_refused(operator, images("HWC"), "HWC", **arguments)


@pytest.mark.parametrize(
    "layout", ["", "HWC", "CHW", "DHWC", "CDHW", "FHWC", "FCHW", "FDHWC", "FCDHW"]
)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "int64"])
def test_flip(layout: str, dtype: str) -> None:
    samples = images(layout or "HWC", dtype)
    for flags in range(8):
        check(
            "flip",
            samples,
            layout,
            horizontal=flags & 1,
            vertical=flags >> 1 & 1,
            depthwise=flags >> 2,
        )


def test_flip_per_sample() -> None:
    samples = images("FHWC", count=4)
    flags = {
        "horizontal": [np.asarray(i % 2, dtype=np.int32) for i in range(4)],
        "vertical": [np.asarray(i // 2, dtype=np.int32) for i in range(4)],
    }
    check("flip", samples, "FHWC", flags)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["FLOAT", "FLOAT16", "UINT8", "INT8"])
def test_crop_mirror_normalize_layouts(layout: str, dtype: str) -> None:
    samples = images(layout)
    orders = {"", layout, layout[::-1], layout[1:] + layout[0]}
    statistics = {"mean": [110.0, 120.0, 130.5], "std": [55.1, 60.2, 3.3]}
    for output_layout in sorted(orders):
        for mirror in (0, 1):
            check(
                "crop_mirror_normalize",
                samples,
                layout,
                **statistics,
                dtype=dtype,
                output_layout=output_layout,
                mirror=mirror,
                pad_output=mirror == 1,
            )


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "int32", "float16", "float32"])
@pytest.mark.parametrize("output", ["FLOAT", "FLOAT16", "UINT8", "INT8"])
def test_crop_mirror_normalize_types(dtype: str, output: str) -> None:
    for output_layout in ("HWC", "CHW"):
        check(
            "crop_mirror_normalize",
            images("HWC", dtype),
            "HWC",
            mean=[1.5, 100.0, -2.0],
            std=[2.0, 3.7, 90.0],
            scale=1.7,
            shift=12.25,
            dtype=output,
            output_layout=output_layout,
        )


@pytest.mark.parametrize("fill", [9.0, [7.0, -8.0, 9.5]])
@pytest.mark.parametrize("policy", ["pad", "trim_to_shape"])
@pytest.mark.parametrize("dtype", ["FLOAT", "UINT8"])
@pytest.mark.parametrize("output_layout", ["HWC", "CHW", "WHC"])
def test_crop_mirror_normalize_out_of_bounds(
    fill: Any, policy: str, dtype: str, output_layout: str
) -> None:
    for crop in ((3, 4), (20, 5), (3, 50), (20, 50)):
        check(
            "crop_mirror_normalize",
            images("HWC"),
            "HWC",
            {"mirror": [np.asarray(i, dtype=np.int32) for i in range(2)]},
            crop=crop,
            crop_pos_x=0.2,
            fill_values=fill,
            out_of_bounds_policy=policy,
            mean=[1.0, 2.0, 3.0],
            std=[2.0, 2.0, 3.0],
            dtype=dtype,
            output_layout=output_layout,
            pad_output=policy == "pad",
        )


@pytest.mark.parametrize("output", ["UINT8", "FLOAT", "FLOAT16"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
def test_crop_mirror_normalize_channels(channels: int, output: str) -> None:
    random = np.random.default_rng(channels)
    samples = [numbers("uint8", (5, width, channels), random) for width in (1, 17, 40)]
    statistics = [np.float32(random.uniform(1, 9, channels)) for _ in samples]
    for output_layout in ("HWC", "CHW"):
        check(
            "crop_mirror_normalize",
            samples,
            "HWC",
            {"mean": statistics, "std": statistics[::-1]},
            dtype=output,
            output_layout=output_layout,
            pad_output=True,
        )


def test_crop_mirror_normalize_errors() -> None:
    samples = images("HWC")
    check_refused("crop_mirror_normalize", samples, "HWC", mean=[1.0, 2.0])
    check_refused("crop_mirror_normalize", samples, "HWC", output_layout="FCHW")
    check_refused("crop_mirror_normalize", samples, "HWC", output_layout="HHC")


INTEGER_EDGES = sorted(
    {0, 1, -1}
    | {
        sign * 2**power + offset
        for power in (7, 8, 15, 16, 31, 32, 53, 63)
        for sign in (1, -1)
        for offset in (-1, 0, 1)
    }
)
FRACTIONS = [0.25, 0.49999997, 0.5, 0.75, 1.5, 2.5, 126.5, 127.5, 254.5, 255.5, 65503.9, 65519.9]


def edges(dtype: str) -> np.ndarray:
    """Return the numbers at which conversions are error-prone."""
    if dtype == "bool":
        return np.array([False, True])
    if np.dtype(dtype).kind == "f":
        values = [*FRACTIONS, *(-number for number in FRACTIONS), np.inf, -np.inf]
        values += [float(number) for number in INTEGER_EDGES]
        with np.errstate(over="ignore"):
            return np.array(values).astype(dtype)
    limits = np.iinfo(dtype)
    return np.array([n for n in INTEGER_EDGES if limits.min <= n <= limits.max], dtype=dtype)


@pytest.mark.parametrize("dtype", NUMBER_TYPES)
def test_cast(dtype: str) -> None:
    samples = [edges(dtype), numbers(dtype, (37,), np.random.default_rng(1))]
    for name in NUMBER_TYPES:
        output = {"float32": "FLOAT"}.get(name, name.upper())
        check("cast", samples, dtype=output)


def test_cast_keeps_shape_and_layout() -> None:
    check("cast", images("FHWC"), "FHWC", dtype="INT32")
    check("cast", [np.float32(3.5), np.float32(-3.5)], dtype="INT32")


@pytest.mark.parametrize("operator", ["uniform", "coin_flip"])
@pytest.mark.parametrize(
    "arguments",
    [{}, {"shape": 5}, {"shape": (2, 3)}, {"shape": []}, {"dtype": "INT32"}, {"dtype": "UINT8"}],
)
def test_random_shapes_and_types(operator: str, arguments: dict[str, Any]) -> None:
    described = []
    for library in (reference, dali_core):
        pipeline = library.Pipeline(batch_size=3, num_threads=1, device_id=None, seed=1)
        given = {
            name: getattr(library.types, value) if name == "dtype" else value
            for name, value in arguments.items()
        }
        with pipeline:
            function = getattr(library.fn.random, operator)
            like = library.fn.external_source(
                source=lambda: [np.zeros((1, 2), np.int16)] * 3, layout="HW"
            )
            pipeline.set_outputs(function(**given), function(like))
        pipeline.build()
        described.append(
            [(batch.dtype.name, batch.layout(), list(batch.shape())) for batch in pipeline.run()]
        )
    assert described[0] == described[1]
