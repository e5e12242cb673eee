"""Positions, sizes and old names of arguments of windows and mirrors, as NVIDIA DALI has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.conformance.graphs import check, feed, images

IMAGES = images((20, 31, 3), (41, 17, 3), (33, 35, 3))
VOLUMES = images((6, 20, 31, 3), (8, 41, 17, 3), (9, 33, 35, 3))
POSITIONS = [np.float32(value) for value in (0.0, 0.3, 1.0)]
EXTENTS = {
    "crop_d": [np.float32(value) for value in (2, 5, 3)],
    "crop_h": [np.float32(value) for value in (7, 20, 9)],
    "crop_w": [np.float32(value) for value in (6, 9, 17)],
}
OPERATORS = ["crop", "crop_mirror_normalize"]


def call(library: Any, operator: str, data: Any, **arguments: Any) -> Any:
    if operator == "crop_mirror_normalize":
        arguments["output_layout"] = ""  # that of the input
    return getattr(library.fn, operator)(data, **arguments)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("name", ["crop_pos_x", "crop_pos_y", "crop_pos_z"])
def test_positions_of_each_sample(operator: str, name: str) -> None:
    check(
        lambda library: call(
            library,
            operator,
            feed(library, VOLUMES, "DHWC"),
            crop=[4, 11, 13],
            **{name: feed(library, POSITIONS)},
        )
    )


@pytest.mark.parametrize("operator", OPERATORS)
def test_extents_of_each_sample(operator: str) -> None:
    def graph(library: Any) -> Any:
        extents = {name: feed(library, values) for name, values in EXTENTS.items()}
        return call(library, operator, feed(library, VOLUMES, "DHWC"), **extents)

    check(graph)


@pytest.mark.parametrize("operator", OPERATORS)
def test_constant_extents(operator: str) -> None:
    extents = {"crop_d": 3, "crop_h": 12, "crop_w": 10, "crop_pos_z": 0.7, "crop_pos_y": 0.2}
    check(lambda library: call(library, operator, feed(library, VOLUMES, "DHWC"), **extents))


@pytest.mark.parametrize("operator", OPERATORS)
def test_window_of_each_sample(operator: str) -> None:
    windows = [np.float32(window) for window in ([5, 7], [20, 3], [11, 33])]
    check(
        lambda library: call(
            library, operator, feed(library, IMAGES, "HWC"), crop=feed(library, windows)
        )
    )


@pytest.mark.parametrize("rounding", ["round", "truncate"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_rounding(operator: str, rounding: str) -> None:
    for position in (0.1, 0.5, 0.77):
        check(
            lambda library, p=position: call(
                library,
                operator,
                feed(library, IMAGES, "HWC"),
                crop=[12, 10],
                crop_pos_x=p,
                crop_pos_y=p,
                rounding=rounding,
            )
        )


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("operator", OPERATORS)
def test_old_arguments(operator: str) -> None:
    def graph(library: Any) -> Any:
        return call(
            library,
            operator,
            feed(library, IMAGES, "HWC"),
            crop=[12, 10],
            image_type=library.types.RGB,
            output_dtype=library.types.FLOAT,
        )

    check(graph)


def test_mirrored_along_depth() -> None:
    flags = [np.int32(value) for value in (1, 0, 1)]
    check(
        lambda library: library.fn.flip(
            feed(library, VOLUMES, "DHWC"), horizontal=0, depthwise=feed(library, flags)
        )
    )


def test_dimensions_of_each_sample() -> None:
    """The reference accepts per-sample `src_dims`, and ignores them unless they keep the order."""
    orders = [np.int32([0, 1, 2])] * 3
    check(
        lambda library: library.fn.reshape(
            feed(library, IMAGES), src_dims=feed(library, orders), layout="HWC"
        )
    )
    check(
        lambda library: library.fn.reinterpret(
            feed(library, IMAGES), src_dims=feed(library, orders), dtype=library.types.INT8
        )
    )


@pytest.mark.parametrize("layout", ["", "AB"])
def test_full(layout: str) -> None:
    shapes = [np.int32([i, 2]) for i in (1, 3, 2)]
    check(lambda library: library.fn.full(7, shape=feed(library, shapes), layout=layout or None))
    check(lambda library: library.fn.full(7, shape=[3, 2], layout=layout or None))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("dtype", ["INT32", "INT64", "UINT64", "FLOAT"])
def test_old_name_of_the_type_of_shapes(dtype: str) -> None:
    check(
        lambda library: library.fn.shapes(
            feed(library, IMAGES, "HWC"), type=getattr(library.types, dtype)
        )
    )
