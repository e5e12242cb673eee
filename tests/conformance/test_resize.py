"""resize and random_resized_crop like NVIDIA DALI: to one grey level, or 1e-4 of floats' range."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.types

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

FILTERS = ("NN", "LINEAR", "CUBIC", "LANCZOS3", "TRIANGULAR", "GAUSSIAN")
# Input and output sizes: enlarging, reducing, both at once, very small, equal.
SIZES = (
    ((20, 31), (41, 77)),
    ((41, 77), (20, 31)),
    ((23, 47), (50, 13)),
    ((60, 9), (17, 30)),
    ((1, 13), (5, 6)),
    ((13, 1), (4, 9)),
    ((1, 1), (3, 4)),
    ((2, 3), (1, 1)),
    ((33, 35), (33, 35)),
    ((97, 120), (8, 7)),
    ((16, 24), (8, 12)),
    ((30, 40), (31, 39)),
)
# Where an output is exactly between two input pixels, the last bit of a coordinate determines the
# result of INTERP_NN; this only happens with regions of interest.
TIES = 0.01

Values = Sequence[np.ndarray]


def run(
    library: Any, graph: Callable[..., Any], inputs: Sequence[tuple[Values, str]]
) -> list[tuple[list[np.ndarray], str]]:
    """Return the samples and the layout of each output of `graph(library, *inputs)`."""
    pipeline = library.Pipeline(batch_size=len(inputs[0][0]), num_threads=2, device_id=None, seed=5)
    with pipeline:
        nodes = [
            library.fn.external_source(
                source=itertools.repeat(list(samples)), **({"layout": layout} if layout else {})
            )
            for samples, layout in inputs
        ]
        results = graph(library, *nodes)
        pipeline.set_outputs(*(results if isinstance(results, (list, tuple)) else [results]))
    pipeline.build()
    return [
        ([np.array(batch.at(i)) for i in range(len(batch))], batch.layout())
        for batch in pipeline.run()
    ]


def compare(graph: Callable[..., Any], *inputs: tuple[Values, str], nearest: bool = False) -> None:
    """Run `graph` in both libraries and compare its outputs."""
    for (ours, our_layout), (theirs, their_layout) in zip(
        run(dali_core, graph, inputs), run(reference, graph, inputs), strict=True
    ):
        assert our_layout == their_layout
        assert [(mine.shape, mine.dtype) for mine in ours] == [
            (expected.shape, expected.dtype) for expected in theirs
        ]
        differences = [
            np.abs(mine.astype(np.float64) - expected.astype(np.float64)).ravel()
            for mine, expected in zip(ours, theirs, strict=True)
        ]
        everywhere = np.concatenate(differences)
        if nearest:
            assert np.mean(everywhere != 0) <= TIES
        elif theirs[0].dtype.kind == "f":
            for difference, expected in zip(differences, theirs, strict=True):
                assert difference.max() <= 1e-4 * np.abs(expected).max()
        else:
            assert everywhere.max() <= 1
            # One level in a few pixels is rounding; in all pixels it would be a shift.
            assert everywhere.mean() < 0.05


def constants(library: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Convert names of enumeration members to those of the library."""
    return {
        name: getattr(library.types, value)
        if (isinstance(value, str) and value.isupper()) or name == "dtype"
        else value
        for name, value in arguments.items()
    }


def image(shape: Sequence[int], dtype: str = "uint8", seed: int = 0) -> np.ndarray:
    """Return noise, the hardest input of a filter."""
    random = np.random.default_rng((seed, *shape))
    if np.dtype(dtype).kind == "f":
        return random.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def sized_images(
    layout: str, channels: int = 3, dtype: str = "uint8"
) -> tuple[tuple[list[np.ndarray], str], tuple[list[np.ndarray], str]]:
    """Return images of all input sizes, and the output sizes as a per-sample argument."""
    samples = []
    for (height, width), _ in SIZES:
        extent = {"F": 2, "H": height, "W": width, "C": channels}
        samples.append(image([extent[letter] for letter in layout], dtype))
    return (samples, layout), ([np.array(size, np.float32) for _, size in SIZES], "")


@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize(
    ("layout", "channels"), [("HWC", 3), ("HWC", 1), ("HWC", 4), ("CHW", 3), ("FHWC", 2)]
)
def test_filters_of_bytes(layout: str, channels: int, name: str, antialias: bool) -> None:
    compare(
        lambda library, images, size: library.fn.resize(
            images,
            size=size,
            interp_type=getattr(library.types, f"INTERP_{name}"),
            antialias=antialias,
        ),
        *sized_images(layout, channels),
    )


@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "float32"])
def test_filters_to_float(dtype: str, name: str, antialias: bool) -> None:
    compare(
        lambda library, images, size: library.fn.resize(
            images,
            size=size,
            interp_type=getattr(library.types, f"INTERP_{name}"),
            antialias=antialias,
            dtype=library.types.FLOAT,
        ),
        *sized_images("HWC", dtype=dtype),
    )


@pytest.mark.parametrize("layout", ["FCHW", "CFHW", "CHW", "HWC", "FHWC"])
@pytest.mark.parametrize("dtype", ["int16", "uint16", "float32"])
def test_layouts_of_other_types(layout: str, dtype: str) -> None:
    compare(
        lambda library, images, size: library.fn.resize(images, size=size),
        *sized_images(layout, dtype=dtype),
    )


@pytest.mark.parametrize("shape", [(29, 27, 3), (2, 29, 27, 3), (2, 3, 29, 27, 1)])
def test_data_without_layout(shape: tuple[int, ...]) -> None:
    compare(lambda library, images: library.fn.resize(images, size=14), ([image(shape)], ""))


@pytest.mark.parametrize("layout", ["DHWC", "CDHW", "FDHWC", "FCDHW", "CFDHW"])
@pytest.mark.parametrize(
    "arguments",
    [
        {"size": [3, 8, 13]},
        {"size": [9, 0, 0]},
        {"resize_x": 4, "resize_z": -11},
        {"resize_shorter": 7, "max_size": 9},
        {"size": [5, 6, 7], "roi_start": [1, 0, 9.5], "roi_end": [4.5, 6, 2]},
    ],
)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_volumes(layout: str, arguments: dict[str, Any], dtype: str) -> None:
    extent = {"F": 2, "D": 5, "H": 7, "W": 10, "C": 2}
    volume = image([extent[letter] for letter in layout], dtype)
    compare(lambda library, images: library.fn.resize(images, **arguments), ([volume], layout))


SIZE_ARGUMENTS: list[dict[str, Any]] = [
    {"resize_x": 17},
    {"resize_y": -9.5},
    {"resize_x": 12.3, "resize_y": 20},
    {"resize_x": 0},
    {"resize_x": 30, "mode": "stretch"},
    {"resize_shorter": 16},
    {"resize_shorter": 40.5, "max_size": 55},
    {"resize_longer": -21},
    {"resize_longer": 50, "max_size": [30, 45]},
    {"size": 11.5},
    {"size": [0, 0], "max_size": 9},
    {"size": [13.25, 21.75], "subpixel_scale": False},
    {"size": [13, 0], "mode": "stretch"},
    {"size": [19, 26], "mode": "not_larger"},
    {"size": [19, -26], "mode": "not_smaller"},
    {"size": [19.5, 26], "mode": "not_smaller", "max_size": 28},
    {"size": [70, 80], "max_size": [31, 29]},
    {"size": [0.2, 0.3]},
    {"size": [15, 15], "min_filter": "INTERP_CUBIC", "mag_filter": "INTERP_GAUSSIAN"},
]


@pytest.mark.parametrize("arguments", SIZE_ARGUMENTS, ids=str)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_sizes(arguments: dict[str, Any], dtype: str) -> None:
    images, _ = sized_images("HWC", dtype=dtype)
    compare(
        lambda library, images: library.fn.resize(images, **constants(library, arguments)), images
    )


@pytest.mark.parametrize("mode", ["default", "stretch", "not_larger", "not_smaller"])
@pytest.mark.parametrize("max_size", [None, 31, [20, 45]])
def test_rounding_of_sizes(mode: str, max_size: Any) -> None:
    # Many small integers: most possible halves occur.
    random = np.random.default_rng(7)
    sizes = random.integers(1, 60, (200, 2))
    wanted = random.integers(0, 90, (200, 2)).astype(np.float32)
    limit = {} if max_size is None else {"max_size": max_size}

    def shapes(library: Any, images: Any, size: Any) -> Any:
        return library.fn.resize(
            images, size=size, mode=mode, interp_type=library.types.INTERP_NN, **limit
        )

    inputs = (([image((h, w, 1)) for h, w in sizes], "HWC"), (list(wanted), ""))
    ((ours, _),) = run(dali_core, shapes, inputs)
    ((theirs, _),) = run(reference, shapes, inputs)
    assert [sample.shape for sample in ours] == [sample.shape for sample in theirs]


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_regions(name: str, relative: bool, dtype: str) -> None:
    random = np.random.default_rng(3)
    inputs, sizes = sized_images("HWC", dtype=dtype)
    extents = np.array([size for size, _ in SIZES])
    corners = random.uniform(0, 1, (2, len(SIZES), 2)) * (1 if relative else extents)
    regions = [(list(corner.astype(np.float32)), "") for corner in corners]
    compare(
        lambda library, images, size, start, end: library.fn.resize(
            images,
            size=size,
            roi_start=start,
            roi_end=end,
            roi_relative=relative,
            interp_type=getattr(library.types, f"INTERP_{name}"),
        ),
        inputs,
        sizes,
        *regions,
        nearest=name == "NN",
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"roi_start": [4, 5], "roi_end": [12, 17]},
        {"roi_start": [12, 5], "roi_end": [4, 17]},
        {"roi_start": [-3, -5], "roi_end": [22, 30]},
        {"roi_start": 3, "roi_end": 9},
        {"roi_start": [4, 4], "roi_end": [4, 4]},
    ],
    ids=str,
)
@pytest.mark.parametrize("size", [{"size": [11, 9]}, {"resize_x": -8.5}, {"resize_shorter": 5}])
def test_constant_regions(arguments: dict[str, Any], size: dict[str, Any]) -> None:
    compare(
        lambda library, images: library.fn.resize(images, **arguments, **size),
        ([image((19, 25, 3), "float32")], "HWC"),
    )


def test_filters_differ_by_sample() -> None:
    filters = [np.array(i % 6, np.int32) for i in range(len(SIZES))]
    compare(
        lambda library, images, size, chosen: library.fn.resize(
            images,
            size=size,
            min_filter=library.fn.cast(chosen, dtype=library.types.INTERP_TYPE)
            if library is reference
            else chosen,
            mag_filter=library.types.INTERP_CUBIC,
        ),
        *sized_images("HWC"),
        (filters, ""),
    )


def test_saved_shape() -> None:
    compare(
        lambda library, images: library.fn.resize(images, size=5, save_attrs=True),
        ([image((9, 7, 3)), image((4, 11, 3))], "HWC"),
    )


@pytest.mark.parametrize("arguments", [{"size": 7}, {"size": [5, 9], "dtype": "FLOAT"}])
@pytest.mark.parametrize("layout", ["HWC", "CHW", "FHWC", "FCHW", "CFHW"])
def test_random_crop_of_everything(layout: str, arguments: dict[str, Any]) -> None:
    # With the area fixed to the whole of a square, nothing is random.
    extent = {"F": 2, "H": 19, "W": 19, "C": 3}
    compare(
        lambda library, images: library.fn.random_resized_crop(
            images,
            random_area=[1.0, 1.0],
            random_aspect_ratio=[1.0, 1.0],
            **constants(library, arguments),
        ),
        ([image([extent[letter] for letter in layout])], layout),
    )


@pytest.mark.parametrize("height_width", [(300, 300), (200, 500), (400, 150)])
@pytest.mark.parametrize("arguments", [{}, {"num_attempts": 1}, {"random_area": [0.5, 1.0]}])
def test_distribution_of_random_windows(
    height_width: tuple[int, int], arguments: dict[str, Any]
) -> None:
    # Coordinates as an image: the borders of the result show the window.
    count = 600
    rows, columns = np.meshgrid(*(np.arange(n) for n in height_width), indexing="ij")
    coordinates = np.stack([rows, columns], -1).astype(np.float32)

    def windows(library: Any) -> np.ndarray:
        ((results, _),) = run(
            library,
            lambda library, images: library.fn.random_resized_crop(
                images,
                size=2,
                interp_type=library.types.INTERP_LINEAR,
                antialias=False,
                **arguments,
            ),
            [([coordinates] * count, "HWC")],
        )
        ends = np.stack(results)
        extent = 2 * (ends[:, 1, 1] - ends[:, 0, 0])
        centre = (ends[:, 1, 1] + ends[:, 0, 0]) / 2
        area = extent.prod(1) / np.prod(height_width)
        ratio = np.log(extent[:, 1] / extent[:, 0])
        return np.stack([area, ratio, *centre.T], 1)

    # The Kolmogorov-Smirnov distance of two samples of 600 exceeds 0.12 with a probability of 4e-4.
    for mine, theirs in zip(windows(dali_core).T, windows(reference).T, strict=True):
        grid = np.sort(np.concatenate([mine, theirs])) + 1e-4
        shares = [
            np.searchsorted(np.sort(values), grid, side="right") / count
            for values in (mine, theirs)
        ]
        assert np.abs(shares[0] - shares[1]).max() < 0.12
