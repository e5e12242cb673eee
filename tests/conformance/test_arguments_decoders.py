"""Per-sample arguments of decoders, and those without effect on a CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.conformance.graphs import check, feed
from tests.generated_images import jpeg, photo_like, png, with_orientation

SIZES = ((37, 53), (60, 41), (48, 48))
FILES = [
    np.frombuffer(data, np.uint8)
    for data in (
        jpeg(photo_like(*SIZES[0])),
        png(photo_like(*SIZES[1])),
        with_orientation(jpeg(photo_like(*SIZES[2])), 6),
    )
]
WITHOUT_EFFECT: list[dict[str, Any]] = [
    {"affine": False},
    {"hw_decoder_load": 0.3, "hybrid_huffman_threshold": 1000},
    {"device_memory_padding": 1000, "device_memory_padding_jpeg2k": 1000},
    {"host_memory_padding": 1000, "host_memory_padding_jpeg2k": 1000},
    {"preallocate_width_hint": 100, "preallocate_height_hint": 100},
    {"jpeg_fancy_upsampling": True},
]
OLD = {"memory_stats": True, "split_stages": True, "use_chunk_allocator": True}
CACHE = {"cache_size": 0, "cache_threshold": 0, "cache_type": "", "cache_debug": False}
WINDOWS: dict[str, dict[str, Any]] = {
    "image": {},
    "image_crop": {"crop": [20, 30]},
    "image_slice": {"rel_start": [0.1, 0.2], "rel_shape": [0.5, 0.5]},
    # The whole image is the only window of this area and shape.
    "image_random_crop": {"random_area": [1.0, 1.0], "random_aspect_ratio": [1.0, 1.0]},
}
EVERY_DECODER = pytest.mark.parametrize("operator", WINDOWS)


def decode(library: Any, operator: str, **arguments: Any) -> Any:
    files = [FILES[2]] * 3 if operator == "image_random_crop" else FILES
    given = {
        name: getattr(library.types, value) if name in ("dtype", "output_type") else value
        for name, value in arguments.items()
    }
    return getattr(library.fn.decoders, operator)(
        feed(library, files), **{**WINDOWS[operator], **given}
    )


@pytest.mark.parametrize("arguments", WITHOUT_EFFECT)
@EVERY_DECODER
def test_without_effect(operator: str, arguments: dict[str, Any]) -> None:
    check(lambda library: decode(library, operator, **arguments))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@EVERY_DECODER
def test_old_arguments(operator: str) -> None:
    check(lambda library: decode(library, operator, **OLD))


def test_cache() -> None:
    check(lambda library: decode(library, "image", cache_batch_copy=False, **CACHE))


@pytest.mark.parametrize("output_type", ["RGB", "BGR", "GRAY", "YCbCr"])
@EVERY_DECODER
def test_colours(operator: str, output_type: str) -> None:
    check(lambda library: decode(library, operator, output_type=output_type))


@pytest.mark.parametrize("dtype", ["UINT8", "INT16", "UINT16", "FLOAT"])
@EVERY_DECODER
def test_types(operator: str, dtype: str) -> None:
    check(lambda library: decode(library, operator, dtype=dtype), relative=1e-6)


@pytest.mark.parametrize("adjust_orientation", [True, False])
@pytest.mark.parametrize("use_fast_idct", [True, False])
@EVERY_DECODER
def test_ways_of_decoding(operator: str, adjust_orientation: bool, use_fast_idct: bool) -> None:
    check(
        lambda library: decode(
            library,
            operator,
            adjust_orientation=adjust_orientation,
            use_fast_idct=use_fast_idct,
        )
    )


def test_random_windows_of_everything() -> None:
    check(lambda library: decode(library, "image_random_crop", num_attempts=3, seed=5))


@pytest.mark.parametrize("name", ["crop_pos_x", "crop_pos_y", "crop_pos_z"])
def test_positions_of_each_sample(name: str) -> None:
    positions = [np.float32(value) for value in (0.0, 0.4, 1.0)]
    check(lambda library: decode(library, "image_crop", **{name: feed(library, positions)}))


def test_windows_of_each_sample() -> None:
    windows = [np.float32(window) for window in ([20, 30], [37, 41], [8, 9])]
    check(lambda library: decode(library, "image_crop", crop=feed(library, windows)))
    check(
        lambda library: library.fn.decoders.image_crop(
            feed(library, FILES),
            crop_h=feed(library, [window[0] for window in windows]),
            crop_w=feed(library, [window[1] for window in windows]),
        )
    )


def test_depth_without_effect() -> None:
    depths = [np.float32(1)] * 3
    for depth in (lambda library: 1, lambda library: feed(library, depths)):
        check(
            lambda library, depth=depth: library.fn.decoders.image_crop(
                feed(library, FILES), crop_d=depth(library), crop_h=20, crop_w=20, crop_pos_z=0.5
            )
        )


@pytest.mark.parametrize(
    ("names", "values"),
    [
        (("start", "shape"), ([[3, 4], [0, 9], [20, 1]], [[20, 30], [11, 12], [8, 9]])),
        (("start", "end"), ([[3, 4], [0, 9], [20, 1]], [[20, 30], [11, 12], [28, 9]])),
    ],
)
def test_slices_of_each_sample(names: tuple[str, str], values: tuple[Any, Any]) -> None:
    def graph(library: Any) -> Any:
        arguments = {
            name: feed(library, [np.int32(value) for value in given])
            for name, given in zip(names, values, strict=True)
        }
        return library.fn.decoders.image_slice(feed(library, FILES), **arguments)

    check(graph)


def test_relative_slices_of_each_sample() -> None:
    starts = [np.float32(value) for value in ([0.1, 0.2], [0, 0.5], [0.3, 0])]

    def graph(library: Any, name: str, extents: list[Any]) -> Any:
        return library.fn.decoders.image_slice(
            feed(library, FILES),
            rel_start=feed(library, starts),
            **{name: feed(library, [np.float32(value) for value in extents])},
        )

    check(lambda library: graph(library, "rel_shape", [[0.5, 0.5], [1, 0.25], [0.7, 1]]))
    check(lambda library: graph(library, "rel_end", [[0.5, 0.5], [1, 0.75], [0.7, 1]]))


def test_axes_of_each_sample() -> None:
    check(
        lambda library: library.fn.decoders.image_slice(
            feed(library, FILES),
            start=[3, 4],
            shape=[20, 30],
            axes=feed(library, [np.int32(axes) for axes in ([0, 1], [1, 0], [0, 1])]),
        )
    )


@pytest.mark.parametrize("arguments", [{"axes": [1, 0]}, {"axis_names": "WH"}, {"axis_names": "W"}])
def test_axes(arguments: dict[str, Any]) -> None:
    start, shape = ([3], [20]) if arguments.get("axis_names") == "W" else ([3, 4], [20, 30])
    check(
        lambda library: library.fn.decoders.image_slice(
            feed(library, FILES), start=start, shape=shape, **arguments
        )
    )
