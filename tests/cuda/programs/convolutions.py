"""Convolutions on a device are bitwise identical to the host."""

import os
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dali_core import fn, types
from tests.cuda.programs.image_operators import check
from tests.operators.neighbourhoods import LAYOUTS, NUMBER_TYPES
from tests.operators.suite import numbers

SETTINGS = settings(
    max_examples=int(os.environ.get("DALI_CORE_EXAMPLES", "25")),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
# Channels of pixels that a thread makes together, one by one, and in groups that overlap.
CHANNELS = [1, 2, 3, 3, 4, 5, 8]
BORDERS = ["reflect_101", "reflect_1001", "wrap", "clamp", "constant"]
USUAL_TYPES = ["uint8", "float32"]
ODD = st.integers(0, 6).map(lambda half: 2 * half + 1)
EXTENTS = st.integers(1, 21)


@st.composite
def batches(draw: st.DrawFn, layout: str, dtype: str) -> list[np.ndarray]:
    """Samples of several shapes, which have the same frames and depth."""
    common = {"F": draw(st.integers(0, 3)), "D": draw(st.integers(1, 5))}
    common["C"] = draw(st.sampled_from(CHANNELS))
    samples = []
    for number in range(draw(st.integers(1, 3))):
        shape = [common[letter] if letter in common else draw(EXTENTS) for letter in layout]
        samples.append(numbers(dtype, shape, number))
    return samples


def dtypes() -> st.SearchStrategy[str]:
    return st.sampled_from([*USUAL_TYPES * 5, *NUMBER_TYPES])


def result_types() -> st.SearchStrategy[dict[str, Any]]:
    return st.sampled_from([{}, {}, {"dtype": types.FLOAT}])


@SETTINGS
@given(data=st.data())
def check_gaussian_blur(data: st.DataObject) -> None:
    layout = data.draw(st.sampled_from(["HWC", "HWC", *LAYOUTS]))
    arguments = data.draw(result_types()) | {"window_size": data.draw(ODD), "sigma": 1.3}
    samples = data.draw(batches(layout, data.draw(dtypes())))
    check([lambda value: fn.gaussian_blur(value, **arguments)], samples, layout)


def check_tiles() -> None:
    """Images of several tiles, whose rows begin at any byte, and windows beyond all borders."""
    shapes = [(70, 45, 3), (33, 64, 3), (1, 40, 3), (66, 199, 1), (5, 96, 1), (40, 2, 1)]
    for windows in ([3, 3], [23, 5], [5, 23], [9, 1], [1, 9], [31, 31], [61, 61]):
        for dtype in (None, types.FLOAT):
            arguments = {"window_size": windows, "dtype": dtype}
            for some in (shapes[:3], shapes[3:]):
                samples = [numbers("uint8", shape, number) for number, shape in enumerate(some)]
                check([lambda v, a=arguments: fn.gaussian_blur(v, **a)], samples, "HWC")
    clip = numbers("uint8", (3, 35, 41, 3), 1)
    check([lambda value: fn.gaussian_blur(value, window_size=5)], [clip], "FHWC")


@SETTINGS
@given(data=st.data())
def check_laplacian(data: st.DataObject) -> None:
    layout = data.draw(st.sampled_from(["HWC", "HWC", *LAYOUTS]))
    arguments = data.draw(result_types()) | {"normalized_kernel": data.draw(st.booleans())}
    arguments["window_size"] = data.draw(ODD.filter(lambda size: size > 1))
    if data.draw(st.booleans()):
        arguments["smoothing_size"] = data.draw(ODD)
    samples = data.draw(batches(layout, data.draw(dtypes())))
    check([lambda value: fn.laplacian(value, **arguments)], samples, layout)


@SETTINGS
@given(data=st.data())
def check_filter(data: st.DataObject) -> None:
    layout = data.draw(st.sampled_from(["HWC", "HWC", "HW", "CHW", "FHWC", "FCHW", "DHWC"]))
    samples = data.draw(batches(layout, data.draw(dtypes())))
    num_axes = sum(letter in "DHW" for letter in layout)
    extents = [data.draw(st.integers(1, 6)) for _ in range(num_axes)]
    if data.draw(st.booleans()) and layout[0] == "F":
        extents.insert(0, samples[0].shape[0])
    weights = np.random.default_rng(len(samples)).uniform(-1, 1, extents).astype(np.float32)
    weights[np.abs(weights) < data.draw(st.sampled_from([0, 0.4]))] = 0
    arguments = data.draw(result_types()) | {
        "border": data.draw(st.sampled_from(BORDERS)),
        "mode": data.draw(st.sampled_from(["same", "same", "valid"])),
    }
    fill = data.draw(st.sampled_from([(), (3.5,)]))

    def filtered(value: Any) -> Any:
        on_device = value.device == "gpu"
        names = "F" * (len(extents) - num_axes) + "DHW"[3 - num_axes :]
        window = fn.external_source(source=lambda: [weights] * len(samples), layout=names)
        return fn.filter(value, window.gpu() if on_device else window, *fill, **arguments)

    check([filtered], samples, layout)


def check_special_numbers() -> None:
    """Infinite numbers, and those that are none, spread as far as on the host."""
    values = numbers("float32", (9, 14, 3), 1)
    values[4, 6, 1], values[0, 13, 2], values[8, 0, 0] = np.nan, np.inf, -0.0
    window = np.float32([[0, 1, 0], [1, -4, 1], [0, 1, 0]])

    def filtered(value: Any) -> Any:
        source = fn.external_source(source=lambda: [window])
        return fn.filter(value, source.gpu() if value.device == "gpu" else source)

    for step in (
        lambda value: fn.gaussian_blur(value, window_size=3),
        lambda value: fn.gaussian_blur(value, window_size=[1, 1], sigma=1.0),
        lambda value: fn.gaussian_blur(value, window_size=[5, 1], sigma=1.0),
        lambda value: fn.gaussian_blur(value, window_size=[1, 5], sigma=1.0),
        lambda value: fn.laplacian(value, smoothing_size=1),
        filtered,
    ):
        check([step], [values], "HWC")


def check_frames() -> None:
    """Frames have windows of their own, and the input is used again where it has none."""
    images = [numbers("uint8", (3, 7 + i, 12, 3), i) for i in range(2)]

    def framed(values: Any, layout: str = "F") -> Any:
        return fn.external_source(source=lambda: [np.asarray(values)] * 2, layout=layout)

    def filtered(value: Any) -> Any:
        windows = framed(np.random.default_rng(1).normal(size=(3, 3, 4)).astype(np.float32), "FHW")
        outside = framed(np.float32([1, 2, 3]))
        if value.device == "gpu":
            windows, outside = windows.gpu(), outside.gpu()
        return fn.filter(value, windows, outside, border="constant")

    sigmas = np.float32([[1, 2], [0.5, 1], [2, 3]])
    check([lambda value: fn.gaussian_blur(value, sigma=framed(sigmas, "FX"))], images, "FHWC")
    sizes = np.int32([3, 5, 7])
    check([lambda value: fn.laplacian(value, window_size=framed(sizes))], images, "FHWC")
    check([filtered], images, "FHWC")
    check([filtered], [image[0] for image in images], "HWC")
