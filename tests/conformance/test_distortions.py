"""Operators that distort images: bitwise identical to NVIDIA DALI where nothing is random."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.types

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

Samples: TypeAlias = "Sequence[np.ndarray]"
Result: TypeAlias = "tuple[list[np.ndarray], str, str]"

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
SIZES = [(1, 1), (2, 3), (3, 4), (5, 6), (8, 8), (7, 90), (16, 16), (17, 23), (33, 48), (64, 61)]


def always(samples: Samples) -> Callable[[], list[np.ndarray]]:
    return lambda: list(samples)


def run(
    library: Any,
    operator: str,
    samples: Samples,
    layout: str = "",
    per_sample: Mapping[str, Samples] | None = None,
    **constants: Any,
) -> Result:
    """Return the outputs, their layout and their type."""
    constants = {
        name: getattr(library.types, value) if name == "dtype" else value
        for name, value in constants.items()
    }
    source = library.fn.external_source
    pipeline = library.Pipeline(batch_size=len(samples), num_threads=1, device_id=None, seed=1)
    function = library.fn
    for part in operator.split("."):
        function = getattr(function, part)
    with pipeline:
        data = source(source=always(samples), **({"layout": layout} if layout else {}))
        arguments = {
            name: source(source=always(values)) for name, values in (per_sample or {}).items()
        }
        pipeline.set_outputs(function(data, **arguments, **constants))
    pipeline.build()
    (batch,) = pipeline.run()
    arrays = [np.array(batch.at(i)) for i in range(len(samples))]
    return arrays, batch.layout(), batch.dtype.name


def check(
    operator: str,
    samples: Samples,
    layout: str = "",
    per_sample: Mapping[str, Samples] | None = None,
    tolerance: int = 0,
    **constants: Any,
) -> None:
    """Run both libraries and compare."""
    expected, *expected_kind = run(reference, operator, samples, layout, per_sample, **constants)
    ours, *our_kind = run(dali_core, operator, samples, layout, per_sample, **constants)
    assert our_kind == expected_kind
    for mine, theirs in zip(ours, expected, strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        if tolerance:
            difference = np.abs(mine.astype(np.int64) - theirs)
            assert difference.max(initial=0) <= tolerance
            assert (difference > 0).mean() < 0.15
        else:
            np.testing.assert_array_equal(mine, theirs)


def check_refused(operator: str, samples: Samples, layout: str = "", **constants: Any) -> None:
    """Both libraries reject the call, when it is built or run."""
    for library in (reference, dali_core):
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            run(library, operator, samples, layout, **constants)


def photo(height: int, width: int, channels: int = 3, seed: int = 0) -> np.ndarray:
    """Make an image with edges, gradients and noise."""
    random = np.random.default_rng([seed, height, width])
    y, x, c = np.mgrid[0:height, 0:width, 0:channels]
    image = (
        128 + 90 * np.sin(x / 7 + c) + 50 * np.cos(y / 5 * (c + 1)) + 60 * ((x // 9 + y) % 13 > 6)
    )
    return (image - 40 + random.normal(0, 12, image.shape)).clip(0, 255).astype(np.uint8)


def noise(shape: Sequence[int], dtype: str = "uint8") -> np.ndarray:
    return np.random.default_rng(list(shape)).integers(0, 120, shape).astype(dtype)


# erase

ERASE_ARGUMENTS: list[dict[str, Any]] = [
    {},
    {"shape": [2.0, 3.0]},
    {"anchor": [1.0, 2.0], "shape": [2.0, 3.0]},
    {"anchor": [1.5, 2.4], "shape": [2.5, 3.6]},
    {"anchor": [-1.0, -2.0], "shape": [2.0, 30.0]},
    {"anchor": [1.0, 2.0], "shape": [-2.0, 3.0]},
    {"anchor": [2.5, 4.5], "shape": [2.0, 3.0], "centered_anchor": True},
    {"anchor": [0.25, 0.3], "shape": [0.5, 0.45], "normalized": True},
    {"anchor": [0.5, 0.5], "shape": [0.4, 0.4], "normalized": True, "centered_anchor": True},
    {"anchor": [0.25, 0.25], "shape": [2.0, 3.0], "normalized_anchor": True},
    {"anchor": [1.0, 1.0], "shape": [0.4, 0.4], "normalized_shape": True},
    {"anchor": [1.0, 2.0], "shape": [2.0, 3.0], "axes": [1, 0]},
    {"anchor": [1.0, 2.0], "shape": [2.0, 3.0], "axes": [0, 0]},
    {"anchor": [0.0], "shape": [1.0], "axes": [2], "fill_value": [7.0, 8.0, 9.0]},
    {"anchor": [1.0, 2.0], "shape": [2.0, 3.0], "axes": [1, 0], "axis_names": "HW"},
    {"anchor": [1.0, 5.0], "shape": [2.0, 1.0], "axis_names": "W", "fill_value": [1.0, 2.0, 3.0]},
    {"anchor": [1.0, 2.0, 3.0, 4.0], "shape": [2.0, 3.0, 3.0, 3.0], "fill_value": 300.7},
    {"anchor": [1.0, 1.0], "shape": [2.0, 3.0], "fill_value": -3.7},
]


@pytest.mark.parametrize("arguments", ERASE_ARGUMENTS)
def test_erase(arguments: dict[str, Any]) -> None:
    check("erase", [noise((6, 8, 3)), noise((9, 5, 3))], "HWC", **arguments)


@pytest.mark.parametrize("dtype", [*INTEGERS, "float16", "float32"])
def test_erase_types(dtype: str) -> None:
    sample = noise((6, 8, 3), dtype)
    check("erase", [sample], "HWC", anchor=[1.0, 2.0], shape=[2.0, 3.0], fill_value=-1.7)


@pytest.mark.parametrize("layout", ["HW", "CHW", "DHWC", "FHWC", "XYZ", "FCHW"])
def test_erase_layouts(layout: str) -> None:
    sample = noise([5, 6, 7, 3][: len(layout)])
    count = len(layout) - layout.count("C")
    values = [float(i) for i in range(sample.shape[layout.find("C")])] if "C" in layout else 3.0
    check("erase", [sample], layout, anchor=[1.0] * count, shape=[2.0] * count, fill_value=values)
    check("erase", [sample], layout, anchor=[1.0], shape=[2.0], axis_names=layout[1])


def test_erase_per_sample() -> None:
    random = np.random.default_rng(0)
    count = 40
    check(
        "erase",
        [noise((30, 40, 3))] * count,
        "HWC",
        {
            "anchor": [random.uniform(-10, 40, 4).astype(np.float32) for _ in range(count)],
            "shape": [random.uniform(-3, 20, 4).astype(np.float32) for _ in range(count)],
            "fill_value": [random.uniform(0, 255, 3).astype(np.float32) for _ in range(count)],
        },
    )
    for arguments in ({}, {"centered_anchor": True}):
        check(
            "erase",
            [noise((30, 47, 3))] * count,
            "HWC",
            {
                "anchor": [random.uniform(-0.2, 1, 2).astype(np.float32) for _ in range(count)],
                "shape": [random.uniform(0, 1, 2).astype(np.float32) for _ in range(count)],
            },
            normalized=True,
            **arguments,
        )


@pytest.mark.parametrize(
    "arguments",
    [
        {"anchor": [1.0, 2.0]},
        {"anchor": [1.0, 2.0, 3.0], "shape": [2.0, 3.0, 3.0]},
        {"anchor": [1.0, 2.0, 3.0, 4.0], "shape": [2.0, 3.0]},
        {"anchor": [1.0, 2.0], "shape": [2.0, 3.0], "axis_names": "HX"},
        {"anchor": [1.0, 2.0], "shape": [2.0, 3.0], "fill_value": [1.0, 2.0]},
        {"anchor": [0.1, 0.2], "shape": [0.2, 0.3], "normalized": True, "normalized_shape": True},
    ],
)
def test_erase_errors(arguments: dict[str, Any]) -> None:
    check_refused("erase", [noise((6, 8, 3))], "HWC", **arguments)


# grid_mask


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "float32"])
def test_grid_mask_types(dtype: str) -> None:
    check("grid_mask", [noise((20, 30, 3), dtype)], "HWC", tile=7, ratio=0.4)
    check("grid_mask", [noise((20, 30, 3), dtype)], "", tile=7, angle=0.3)


def test_grid_mask() -> None:
    random = np.random.default_rng(0)
    count = 60
    straight = [np.float32(0)] * 30
    check(
        "grid_mask",
        [np.full((40, 50, 2), 9, np.uint8)] * count,
        "HWC",
        {
            "tile": [np.int32(random.integers(1, 40)) for _ in range(count)],
            "ratio": [np.float32(random.integers(0, 11) / 10) for _ in range(count)],
            "angle": straight + [np.float32(random.uniform(-4, 4)) for _ in range(30)],
            "shift_x": [np.float32(random.integers(-60, 60)) for _ in range(count)],
            "shift_y": [np.float32(random.uniform(-60, 60)) for _ in range(count)],
        },
    )
    check("grid_mask", [noise((120, 210, 3))], "HWC")
    check("grid_mask", [noise((120, 210, 3))], "HWC", ratio=2.0)
    check("grid_mask", [noise((120, 210, 3))], "HWC", ratio=-1.0)
    check_refused("grid_mask", [noise((12, 10, 3))], "HWC", tile=0)


# lookup_table

TABLE: dict[str, Any] = {
    "keys": [0, 2, 3, 4, 5, 3, 65535],
    "values": [0.2, 0.5, -2.5, 1.5, 300.7, 70000.0, 9.0],
    "default_value": -1.6,
}


@pytest.mark.parametrize("dtype", INTEGERS)
def test_lookup_table_inputs(dtype: str) -> None:
    limits = np.iinfo(dtype)
    numbers = [limits.min, -1, 0, 1, 2, 3, 4, 5, 6, 127, 65535, 65536, limits.max]
    samples = [np.array([n for n in numbers if limits.min <= n <= limits.max], dtype)]
    check("lookup_table", samples, **TABLE)
    check("lookup_table", samples, keys=3, values=7.0)
    check("lookup_table", samples, default_value=3.0)


@pytest.mark.parametrize(
    "dtype", [*map(str.upper, INTEGERS), "FLOAT16", "FLOAT", "FLOAT64", "BOOL"]
)
def test_lookup_table_outputs(dtype: str) -> None:
    check("lookup_table", [np.arange(12).reshape(2, 3, 2)], "HWC", dtype=dtype, **TABLE)


def test_lookup_table_errors() -> None:
    samples = [np.arange(3)]
    check_refused("lookup_table", samples, keys=[1, 2], values=[1.0])
    check_refused("lookup_table", samples, keys=[-1], values=[1.0])
    check_refused("lookup_table", samples, keys=[65536], values=[1.0])
    for dtype in ("float16", "float32", "float64", "bool"):
        check_refused("lookup_table", [np.zeros(3, dtype)])


# equalize


@pytest.mark.parametrize("layout", ["", "HW", "HWC", "CHW", "FHW", "FHWC", "FCHW"])
def test_equalize_layouts(layout: str) -> None:
    shapes = {"F": 2, "H": 13, "W": 21, "C": 3}
    samples = [
        (noise([shapes[letter] for letter in layout or "HWC"]) / scale + shift).astype(np.uint8)
        for scale, shift in ((1, 0), (3, 90), (200, 7))
    ]
    check("equalize", samples, layout)


def test_equalize() -> None:
    random = np.random.default_rng(0)
    samples = [
        random.normal(110, random.uniform(0, 60), random.integers(1, 60, 2)).clip(0, 255)
        for _ in range(50)
    ]
    check("equalize", [sample.astype(np.uint8) for sample in samples], "HW")
    check("equalize", [photo(31, 17, channels) for channels in (1,)], "HWC")
    check("equalize", [photo(31, 17, 7)], "HWC")


def test_equalize_errors() -> None:
    check_refused("equalize", [noise((4, 5, 3), "int16")], "HWC")
    check_refused("equalize", [noise((2, 4, 5, 3))], "DHWC")
    check_refused("equalize", [noise((4, 5, 3))], "WHC")


# clahe


@pytest.mark.parametrize("tiles", [(1, 1), (4, 4), (2, 5), (3, 1), (16, 16)])
@pytest.mark.parametrize("clip_limit", [2.0, 0.7, 4.3, 0.0, -1.0, 1e5])
def test_clahe(tiles: tuple[int, int], clip_limit: float) -> None:
    arguments = {"tiles_y": tiles[0], "tiles_x": tiles[1], "clip_limit": clip_limit}
    check("clahe", [photo(*size, 1) for size in SIZES], "HWC", **arguments)
    check("clahe", [photo(*size) for size in SIZES], "HWC", luma_only=False, **arguments)


def test_clahe_of_lightness() -> None:
    samples = [photo(*size) for size in SIZES if size[0] > 8]
    random = np.random.default_rng(0)
    samples.append(random.integers(0, 256, (100, 90, 3), dtype=np.uint8))
    check("clahe", samples, "HWC", tolerance=2, tiles_x=4, tiles_y=3, clip_limit=2.0)
    check("clahe", samples, "", tolerance=2, tiles_x=4, tiles_y=3, clip_limit=2.0, bins=64)


def test_clahe_errors() -> None:
    arguments = {"tiles_y": 2, "tiles_x": 2, "clip_limit": 2.0}
    check_refused("clahe", [noise((16, 16))], "HW", **arguments)
    check_refused("clahe", [noise((16, 16, 2))], "HWC", **arguments)
    check_refused("clahe", [noise((3, 16, 16))], "CHW", **arguments)
    # Sequences, which the reference rejects, are processed frame by frame: tests/operators.
    check_refused("clahe", [noise((16, 16, 3), "float32")], "HWC", **arguments)
    check_refused("clahe", [noise((16, 16, 3))], "HWC", tiles_x=2, clip_limit=2.0)


# jpeg_compression_distortion


@pytest.mark.parametrize("quality", [1, 3, 10, 25, 49, 50, 51, 75, 90, 95, 99, 100, 0])
def test_jpeg_compression_distortion(quality: int) -> None:
    random = np.random.default_rng(quality + 7)
    samples = [photo(*size) for size in SIZES]
    samples += [random.integers(0, 256, (30, width, 3), dtype=np.uint8) for width in range(1, 36)]
    samples += [
        255 * random.integers(0, 2, (height, 19, 3), dtype=np.uint8) for height in range(1, 36)
    ]
    check("jpeg_compression_distortion", samples, "HWC", quality=quality)


def test_jpeg_compression_distortion_layouts() -> None:
    frames = np.stack([photo(33, 47, seed=seed) for seed in range(3)])
    check("jpeg_compression_distortion", [frames], "FHWC", quality=30)
    check("jpeg_compression_distortion", [frames], "")
    check("jpeg_compression_distortion", [frames[0]], "")
    qualities = [np.int32(quality) for quality in (5, 50, 95)]
    check("jpeg_compression_distortion", [frames[0]] * 3, "HWC", {"quality": qualities})


def test_jpeg_compression_distortion_errors() -> None:
    operator = "jpeg_compression_distortion"
    check_refused(operator, [noise((9, 9, 1))], "HWC")
    check_refused(operator, [noise((3, 9, 9))], "CHW")
    check_refused(operator, [noise((2, 9, 9, 3))], "DHWC")
    check_refused(operator, [noise((9, 9, 3), "float32")], "HWC")


# Noise: the random numbers differ, their distribution does not.


def check_distribution(
    operator: str, sample: np.ndarray, per_sample: Mapping[str, Samples] | None = None, **more: Any
) -> None:
    """Compare mean, deviation and extremes of noise on many equal elements."""
    (theirs,), *expected_kind = run(reference, operator, [sample], "HWC", per_sample, **more)
    (ours,), *our_kind = run(dali_core, operator, [sample], "HWC", per_sample, **more)
    assert our_kind == expected_kind
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    mine, other = ours.astype(np.float64).ravel(), theirs.astype(np.float64).ravel()
    deviation = max(other.std(), 1e-6)
    error = deviation / np.sqrt(mine.size)
    assert abs(mine.mean() - other.mean()) < 7 * error
    assert abs(mine.std() - other.std()) < 0.05 * deviation
    # The Kolmogorov-Smirnov distance; channels may be equal, so pixels are counted.
    places = np.unique(np.concatenate([mine, other]))
    shares = [np.searchsorted(np.sort(values), places, "right") for values in (mine, other)]
    assert np.abs(shares[0] - shares[1]).max() < 1.9 * np.sqrt(2 * 3 / mine.size) * mine.size


@pytest.mark.parametrize("dtype", [*INTEGERS, "float32"])
def test_noise_types(dtype: str) -> None:
    sample = np.full((60, 70, 3), 60, dtype)
    check_distribution("noise.gaussian", sample, mean=3.0, stddev=8.0)
    check_distribution("noise.shot", sample, factor=4.0)
    check_distribution("noise.shot", sample)
    check_distribution("noise.salt_and_pepper", sample, prob=0.3, salt_val=9.0, pepper_val=2.0)


@pytest.mark.parametrize("factor", [0.01, 0.5, 2.0, 5.0, 40.0, 300.0])
def test_shot_noise(factor: float) -> None:
    check_distribution("noise.shot", np.full((90, 90, 3), 100, np.float32), factor=factor)
    check("noise.shot", [np.full((9, 9, 3), -3, np.int16)], "HWC", factor=2.0)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
def test_noise_without_chance(dtype: str) -> None:
    sample = noise((7, 9, 3), dtype)
    for mean in (0.5, -1.5, 300.0, -70000.0):
        check("noise.gaussian", [sample], "HWC", mean=mean, stddev=0.0)
    for share in (0.0, 1.0):
        check("noise.salt_and_pepper", [sample], "HWC", prob=1.0, salt_vs_pepper=share)
        values = {"salt_val": 300.5, "pepper_val": -3.7}
        check("noise.salt_and_pepper", [sample], "HWC", prob=1.0, salt_vs_pepper=share, **values)
    check("noise.salt_and_pepper", [sample], "HWC", prob=0.0)


def test_noise_errors() -> None:
    for operator in ("noise.gaussian", "noise.shot", "noise.salt_and_pepper"):
        check_refused(operator, [np.zeros((3, 3, 3), bool)], "HWC")
    for arguments in ({"prob": 1.5}, {"prob": -0.1}, {"salt_vs_pepper": 2.0}):
        check_refused("noise.salt_and_pepper", [noise((3, 3, 3))], "HWC", **arguments)


# paste


def test_paste() -> None:
    random = np.random.default_rng(0)
    count = 40

    def uniform(low: float, high: float) -> list[np.ndarray]:
        return [np.float32(random.uniform(low, high)) for _ in range(count)]

    samples = [photo(*random.integers(1, 30, 2)) for _ in range(count)]
    check(
        "paste",
        samples,
        "HWC",
        {
            "ratio": uniform(1, 4),
            "paste_x": uniform(0, 1),
            "paste_y": uniform(0, 1),
            "min_canvas_size": uniform(0, 50),
        },
        fill_value=[300, -5, 60],
    )
    check("paste", samples, "", ratio=1.5, fill_value=7)
    check("paste", samples, "HWC", ratio=1.0, fill_value=7)
    check("paste", [photo(9, 7, 1)], "HWC", ratio=2.5, fill_value=[7], n_channels=1)


@pytest.mark.parametrize(
    "arguments",
    [
        {"ratio": 0.5, "fill_value": 1},
        {"ratio": 2.0, "fill_value": [1, 2]},
        {"ratio": 2.0, "fill_value": 1, "paste_x": 1.1},
        {"ratio": 2.0, "fill_value": 1, "paste_y": -0.1},
        {"ratio": 2.0},
        {"fill_value": 1},
    ],
)
def test_paste_errors(arguments: dict[str, Any]) -> None:
    check_refused("paste", [photo(9, 7)], "HWC", **arguments)


# roi_random_crop

WINDOWS: list[dict[str, Any]] = [
    {"crop_shape": [10, 2], "roi_start": [10, 20], "roi_shape": [6, 4]},
    {"crop_shape": [10, 10], "roi_start": [10, 20], "roi_end": [16, 24], "in_shape": [18, 30]},
    {"crop_shape": [6, 4], "roi_start": [-3, 2], "roi_end": [3, 6]},
    {"crop_shape": 4, "roi_start": 5, "roi_shape": 0},
]


@pytest.mark.parametrize("arguments", WINDOWS)
def test_roi_random_crop(arguments: dict[str, Any]) -> None:
    results = []
    for library in (reference, dali_core):
        pipeline = library.Pipeline(batch_size=300, num_threads=1, device_id=None, seed=1)
        with pipeline:
            pipeline.set_outputs(library.fn.roi_random_crop(**arguments))
        pipeline.build()
        (batch,) = pipeline.run()
        results.append(np.stack([np.array(batch.at(i)) for i in range(300)]))
    theirs, ours = results
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    for mine, other in zip(ours.T, theirs.T, strict=True):
        np.testing.assert_array_equal(np.unique(mine), np.unique(other))
