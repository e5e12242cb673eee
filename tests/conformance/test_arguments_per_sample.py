"""Per-sample and rare arguments of warps, filters, noise and transforms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.conformance.graphs import check, check_distribution, feed, images

IMAGES = images((20, 30, 3), (17, 23, 3), (40, 35, 3))
KERNELS = [np.full((3, 3), 1 / 9, np.float32), np.eye(3, dtype=np.float32)] * 2
FLAT = [np.full((64, 64, 1), 100, np.uint8)] * 3


def scalars(library: Any, *values: float, dtype: str = "float32") -> Any:
    return feed(library, [np.array(value, dtype) for value in values])


def lists(library: Any, *values: Any, dtype: str = "float32") -> Any:
    return feed(library, [np.array(value, dtype) for value in values])


def photos(library: Any) -> Any:
    return feed(library, IMAGES, "HWC")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "arguments",
    [{}, {"anchor": [0, 1]}, {"border": "reflect_1001"}, {"mode": "valid"}, {"dtype": "FLOAT"}],
)
def test_former_filter(arguments: dict[str, Any]) -> None:
    def graph(library: Any) -> Any:
        given = dict(arguments)
        if "dtype" in given:
            given["dtype"] = getattr(library.types, given["dtype"])
        kernels = feed(library, KERNELS[:3])
        return library.fn.experimental.filter(photos(library), kernels, **given)

    check(graph, tolerance=1)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_anchor_of_each_sample() -> None:
    def graph(library: Any) -> Any:
        anchor = lists(library, [0, 1], [2, 2], [1, 0], dtype="int32")
        kernels = feed(library, KERNELS[:3])
        return library.fn.experimental.filter(photos(library), kernels, anchor=anchor)

    check(graph, tolerance=1)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_former_type_of_lookup_table() -> None:
    check(
        lambda library: library.fn.lookup_table(
            photos(library), keys=[1, 2], values=[5.5, 7.0], output_dtype=library.types.FLOAT
        )
    )


@pytest.mark.parametrize("dtype", ["UINT8", "FLOAT"])
def test_type_of_rotate(dtype: str) -> None:
    check(
        lambda library: library.fn.rotate(
            photos(library), angle=30.0, fill_value=7, dtype=getattr(library.types, dtype)
        ),
        tolerance=1,
    )


def test_slice() -> None:
    def graph(library: Any) -> Any:
        start = lists(library, [2, 3], [0, 0], [5, 1], dtype="int32")
        shape = lists(library, [5, 4], [7, 9], [1, 2], dtype="int32")
        return library.fn.slice(photos(library), start=start, shape=shape, axes=[0, 1])

    check(graph)


@pytest.mark.parametrize("per_channel", [False, True])
def test_salt_and_pepper(per_channel: bool) -> None:
    def graph(library: Any) -> Any:
        return library.fn.noise.salt_and_pepper(
            feed(library, FLAT, "HWC"),
            per_channel=per_channel,
            prob=scalars(library, 0.1, 0.5, 0.9),
            salt_vs_pepper=scalars(library, 0.5, 0.1, 0.7),
            salt_val=scalars(library, 250, 251, 252),
            pepper_val=scalars(library, 3, 2, 1),
        )

    check_distribution(graph, FLAT[0].size)


def test_gaussian_noise() -> None:
    def graph(library: Any) -> Any:
        mean, stddev = scalars(library, 0, 5, -9), scalars(library, 1, 8, 20)
        return library.fn.noise.gaussian(feed(library, FLAT, "HWC"), mean=mean, stddev=stddev)

    check_distribution(graph, FLAT[0].size)


def test_shot_noise() -> None:
    def graph(library: Any) -> Any:
        factor = scalars(library, 1, 8, 20)
        return library.fn.noise.shot(feed(library, FLAT, "HWC"), factor=factor)

    check_distribution(graph, FLAT[0].size)


TRANSFORMS: dict[str, dict[str, Any]] = {
    "crop": {
        "from_start": [[0, 0], [1, 2], [3, 4]],
        "from_end": [[10, 10], [11, 12], [13, 24]],
        "to_start": [[0, 1], [1, 0], [5, 5]],
        "to_end": [[1, 2], [7, 3], [9, 9]],
    },
    "rotation": {"angle": [30, 45, -10], "center": [[0, 1], [5, 6], [-7, 2]]},
    "shear": {"angles": [[30, 10], [0, -20], [5, 5]], "center": [[0, 1], [5, 6], [-7, 2]]},
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name: str) -> None:
    def graph(library: Any) -> Any:
        given = {key: lists(library, *values) for key, values in TRANSFORMS[name].items()}
        return getattr(library.fn.transforms, name)(**given)

    check(graph, tolerance=1e-5, relative=1e-5)


RESIZES: list[dict[str, Any]] = [
    {"resize_x": [20, 30, 25], "resize_y": [22, 18, 31]},
    {"resize_shorter": [20, 30, 25]},
    {"resize_longer": [40, 30, 50]},
    {
        "resize_x": [30, 30, 30],
        "resize_y": [30, 30, 30],
        "roi_start": [[1, 2], [0, 0], [3, 4]],
        "roi_end": [[15, 20], [17, 23], [30, 30]],
    },
]


@pytest.mark.parametrize("arguments", RESIZES)
def test_resize_crop_mirror(arguments: dict[str, Any]) -> None:
    def graph(library: Any) -> Any:
        given = {key: lists(library, *values) for key, values in arguments.items()}
        given |= {
            "crop_w": scalars(library, 10, 11, 12),
            "crop_h": scalars(library, 9, 8, 7),
            "crop_pos_y": scalars(library, 0.1, 0.5, 0.9),
            "crop_pos_x": scalars(library, 0.9, 0.5, 0.1),
            "mirror": scalars(library, 0, 1, 1, dtype="int32"),
        }
        return library.fn.resize_crop_mirror(photos(library), **given)

    check(graph, tolerance=1)
