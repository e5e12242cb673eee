"""Every per-sample argument of resize, compared with NVIDIA DALI."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.conformance.graphs import check, feed, images, reference

IMAGES = images((20, 31, 3), (41, 17, 3), (33, 35, 3))
FILTER_NUMBERS = {"INTERP_LINEAR": 1, "INTERP_CUBIC": 2, "INTERP_LANCZOS3": 3}
VOLUMES = images((6, 20, 31, 1), (3, 41, 17, 1), (9, 33, 35, 1))


@pytest.mark.parametrize("name", ["resize_x", "resize_y", "resize_shorter", "resize_longer"])
@pytest.mark.parametrize("antialias", [True, False])
def test_sizes(name: str, antialias: bool) -> None:
    values = [np.float32(value) for value in (25, 60.4, 13)]
    check(
        lambda library: library.fn.resize(
            feed(library, IMAGES, "HWC"), antialias=antialias, **{name: feed(library, values)}
        ),
        tolerance=1,
    )


@pytest.mark.parametrize("name", ["resize_x", "resize_y", "resize_z", "resize_shorter"])
def test_sizes_of_volumes(name: str) -> None:
    values = [np.float32(value) for value in (5, 12, 7)]
    check(
        lambda library: library.fn.resize(
            feed(library, VOLUMES, "DHWC"), **{name: feed(library, values)}
        ),
        tolerance=1,
    )


def test_all_sizes_together() -> None:
    def graph(library: Any) -> Any:
        sizes = {
            name: feed(library, [np.float32(value) for value in values])
            for name, values in {
                "resize_x": (20, 0, 9),
                "resize_y": (0, 30, 8),
                "resize_z": (4, 5, 6),
            }.items()
        }
        return library.fn.resize(feed(library, VOLUMES, "DHWC"), mode="stretch", **sizes)

    check(graph, tolerance=1)


@pytest.mark.parametrize("name", ["interp_type", "min_filter", "mag_filter"])
@pytest.mark.parametrize("size", [(50, 60), (12, 11), (10, 70)])
def test_filters(name: str, size: tuple[int, int]) -> None:
    """The reference expects tensors of an enumeration type, our library integers."""

    def graph(library: Any) -> Any:
        kinds = ("INTERP_LINEAR", "INTERP_CUBIC", "INTERP_LANCZOS3")
        filters = feed(library, [np.int32(FILTER_NUMBERS[kind]) for kind in kinds])
        if library is reference:
            filters = library.ops.Cast(dtype=library.types.INTERP_TYPE)(filters)
        return library.fn.resize(feed(library, IMAGES, "HWC"), size=size, **{name: filters})

    check(graph, tolerance=1)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_old_argument() -> None:
    check(
        lambda library: library.fn.resize(
            feed(library, IMAGES, "HWC"), size=[9, 40], image_type=library.types.RGB
        ),
        tolerance=1,
    )


def test_arguments_without_effect() -> None:
    check(
        lambda library: library.fn.resize(
            feed(library, IMAGES, "HWC"), size=[9, 40], minibatch_size=2, temp_buffer_hint=5000
        ),
        tolerance=1,
    )
