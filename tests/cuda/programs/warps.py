"""Affine warps on a device are bitwise identical to the host."""

import os
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dali_core import fn, types
from tests.cuda.programs.image_operators import check
from tests.operators.suite import numbers

SETTINGS = settings(
    max_examples=int(os.environ.get("DALI_CORE_EXAMPLES", "40")),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
# Wide enough for groups of pixels, and for several tiles of them.
EXTENTS = st.one_of(st.integers(1, 12), st.integers(30, 75))
# Pixels of usual types and channels go by groups.
TYPES = ["uint8", "uint8", "uint8", "float32", "float32", "int16", "uint16", "int32"]
CHANNELS = [1, 1, 3, 3, 3, 2, 4]


@st.composite
def samples(draw: st.DrawFn) -> list[np.ndarray]:
    """Images of one type; where several have one shape, they begin at any byte."""
    dtype, channels = draw(st.sampled_from(TYPES)), draw(st.sampled_from(CHANNELS))
    shape = (draw(EXTENTS), draw(EXTENTS), channels)
    if draw(st.booleans()):
        return [numbers(dtype, shape, number) for number in range(3)]
    return [numbers(dtype, (draw(EXTENTS), draw(EXTENTS), channels), n) for n in range(2)]


@st.composite
def options(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments that both operators have."""
    chosen: dict[str, Any] = {}
    chosen["fill_value"] = draw(st.sampled_from([None, 0, 3.5, 255, -1e9]))
    if draw(st.booleans()):
        chosen["size"] = [draw(EXTENTS), draw(EXTENTS)]
    linear = types.INTERP_LINEAR
    chosen["interp_type"] = draw(st.sampled_from([linear, linear, linear, types.INTERP_NN]))
    dtype = draw(st.sampled_from([None, None, types.FLOAT, types.UINT8]))
    return chosen if dtype is None else chosen | {"dtype": dtype}


@SETTINGS
@given(images=samples(), arguments=options(), angle=st.sampled_from([0.0, 90.0, 7.0, -123.4]))
def check_rotate(images: list[np.ndarray], arguments: dict[str, Any], angle: float) -> None:
    arguments["fill_value"] = arguments["fill_value"] or 0
    check([lambda value: fn.rotate(value, angle=angle, **arguments)], images, "HWC")


# Some map every pixel far away, or nowhere: such coordinates are no numbers of 32 bits.
MATRICES = [
    [1, 0, 0, 0, 1, 0],
    [1, 0, 2, 0, 1, -1],
    [0.5, 0.1, 3.25, -0.2, 0.7, 4],
    [-1, 0, 40, 0, 1, 0],
    [3, 0.5, -7, 0.25, 3, -5],
    [1e-30, 0, 0.5, 0, 1e-30, 0.5],
    [1e9, 0, 0, 0, 1, 0],
    [1, 0, 0, 0, -1e30, 5],
    [1, 0, 1e38, 0, 1, 1e38],
    [1e38, 0, 1e38, 0, 1, 0],
    [0, 0, 4194303.5, 0, 1, 0],
]


@SETTINGS
@given(images=samples(), arguments=options(), matrix=st.sampled_from(MATRICES))
def check_warp_affine(
    images: list[np.ndarray], arguments: dict[str, Any], matrix: list[float]
) -> None:
    check([lambda value: fn.warp_affine(value, matrix=matrix, **arguments)], images, "HWC")


def check_sequences() -> None:
    """Frames begin wherever those before them end, and have transforms of their own."""
    clip = numbers("uint8", (5, 37, 41, 3), 1)
    angles = np.float32([0, 10, 45, 90, 200])

    def rotated(value: Any) -> Any:
        source = fn.external_source(source=lambda: [angles], layout="F")
        return fn.rotate(value, angle=source, keep_size=True)

    check([rotated], [clip], "FHWC")
    check([lambda value: fn.rotate(value, angle=30, keep_size=True)], [clip[..., :1]], "FHWC")


def check_volumes() -> None:
    """Volumes go pixel by pixel."""
    for dtype, shape in {
        "uint8": (4, 5, 6, 3),
        "float32": (7, 3, 9, 1),
        "int16": (5, 6, 4, 2),
    }.items():
        volumes = [numbers(dtype, shape, number) for number in range(2)]
        for interpolation in (types.INTERP_LINEAR, types.INTERP_NN):
            arguments = {"angle": 30.0, "axis": [1.0, 2.0, 3.0], "interp_type": interpolation}
            check([lambda value, a=arguments: fn.rotate(value, **a)], volumes, "DHWC")


def check_long_rows() -> None:
    """Coordinates of long images are not whole numbers of a float's bits."""
    image = numbers("uint8", (2, (1 << 22) + 9, 1), 1)
    for shift in (0.0, 2.5):
        matrix = [1, 0, shift, 0, 1, 0.25]
        check([lambda value, m=matrix: fn.warp_affine(value, matrix=m)], [image], "HWC")
