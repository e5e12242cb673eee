"""Operators on sequences: bitwise identical to processing frame by frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core.errors import SampleError
from tests.operators.suite import numbers, pipeline

Call = Callable[..., Any]

FRAMES = 4
KERNEL = np.float32([[1, 2, 1], [0, 1, 0], [2, 1, 0]]) / 8

# Calls for an image, which are the same for a sequence.
SAME: dict[str, Call] = {
    "crop": lambda x: fn.crop(x, crop=(10, 12), crop_pos_x=0.2),
    "crop padded": lambda x: fn.crop(x, crop=(40, 12), out_of_bounds_policy="pad", fill_values=7),
    "crop_mirror_normalize": lambda x: fn.crop_mirror_normalize(
        x, crop=(10, 12), mirror=1, mean=[1, 2, 3], std=[4, 5, 6], output_layout=""
    ),
    "resize": lambda x: fn.resize(x, size=(15, 17)),
    "resize with a region": lambda x: fn.resize(
        x,
        resize_shorter=15,
        interp_type=types.INTERP_CUBIC,
        roi_start=[2, 3],
        roi_end=[15, 20],
    ),
    "resize not larger": lambda x: fn.resize(x, size=(20, 20), mode="not_larger"),
    "resize_crop_mirror": lambda x: fn.resize_crop_mirror(
        x, resize_x=20, resize_y=21, crop=(10, 11), mirror=1
    ),
    "flip": lambda x: fn.flip(x, vertical=1),
    "slice": lambda x: fn.slice(x, start=[2, 3], shape=[10, 11], axis_names="HW"),
    "slice of the usual axes": lambda x: fn.slice(x, rel_start=[0.1, 0.2], rel_end=[0.5, 0.6]),
    "pad": lambda x: fn.pad(x, axis_names="HW", shape=[40, 50]),
    "brightness": lambda x: fn.brightness(x, brightness=1.2),
    "contrast": lambda x: fn.contrast(x, contrast=1.2),
    "brightness_contrast": lambda x: fn.brightness_contrast(x, contrast=1.2),
    "hue": lambda x: fn.hue(x, hue=30),
    "saturation": lambda x: fn.saturation(x, saturation=0.4),
    "hsv": lambda x: fn.hsv(x, hue=30, saturation=0.5, value=1.2),
    "color_twist": lambda x: fn.color_twist(x, hue=30, brightness=0.5),
    "rotate": lambda x: fn.rotate(x, angle=30, fill_value=1),
    "rotate with the same size": lambda x: fn.rotate(x, angle=30, keep_size=True),
    "warp_affine": lambda x: fn.warp_affine(x, matrix=[0.9, 0.1, 2, -0.1, 0.8, 3], fill_value=3),
    "gaussian_blur": lambda x: fn.gaussian_blur(x, sigma=1.2),
    "laplacian": lambda x: fn.laplacian(x, window_size=3),
    "filter": lambda x: fn.filter(x, KERNEL),
    "erase": lambda x: fn.erase(x, anchor=[2, 3], shape=[5, 6], axis_names="HW", fill_value=9),
    "grid_mask": lambda x: fn.grid_mask(x, tile=10),
    "cast": lambda x: fn.cast(x, dtype=types.FLOAT16),
    "normalize": lambda x: fn.normalize(x, axis_names="HW"),
    "reductions.mean": lambda x: fn.reductions.mean(x, axis_names="HW"),
    "reductions.sum": lambda x: fn.reductions.sum(x, axis_names="C"),
    "lookup_table": lambda x: fn.lookup_table(fn.cast(x, dtype=types.UINT8), keys=[1], values=[5]),
    "arithmetic": lambda x: x * 2 - 3,
    "comparison": lambda x: x > 100,
}
ONLY_UINT8: dict[str, Call] = {
    "color_space_conversion": lambda x: fn.color_space_conversion(
        x, image_type=types.RGB, output_type=types.YCbCr
    ),
    "to grey": lambda x: fn.color_space_conversion(x, image_type=types.RGB, output_type=types.GRAY),
    "equalize": lambda x: fn.equalize(x),
    "jpeg_compression_distortion": lambda x: fn.jpeg_compression_distortion(x, quality=30),
    "clahe": lambda x: fn.clahe(x, tiles_x=2, tiles_y=2, clip_limit=2.0),
    "paste": lambda x: fn.paste(x, ratio=1.5, fill_value=[1, 2, 3]),
    "sphere": lambda x: fn.sphere(x),
    "water": lambda x: fn.water(x, fill_value=3),
}
# One call for an image, another for a sequence.
DIFFERENT: dict[str, tuple[Call, Call]] = {
    "channels first": (
        lambda x: fn.crop_mirror_normalize(x, crop=(10, 12), output_layout="CHW"),
        lambda x: fn.crop_mirror_normalize(x, crop=(10, 12), output_layout="FCHW"),
    ),
    "channels padded": (
        lambda x: fn.crop_mirror_normalize(x, pad_output=True, output_layout="HWC"),
        lambda x: fn.crop_mirror_normalize(x, pad_output=True, output_layout="FHWC"),
    ),
    "transpose": (
        lambda x: fn.transpose(x, perm=[2, 0, 1]),
        lambda x: fn.transpose(x, perm=[0, 3, 1, 2]),
    ),
}
# The same with channels first.
OF_PLANES: dict[str, Call] = {
    name: SAME[name]
    for name in (
        "crop",
        "resize",
        "flip",
        "gaussian_blur",
        "slice",
        "pad",
        "erase",
        "reductions.mean",
    )
}


def run(call: Call, data: list[np.ndarray], layout: str, **options: Any) -> list[np.ndarray]:
    with pipeline(batch_size=len(data), **options) as made:
        with made:
            made.set_outputs(call(fn.external_source(source=lambda: data, layout=layout)))
        (batch,) = made.run()
        return [np.array(batch.at(i)) for i in range(len(data))]


def check(
    of_images: Call, of_sequences: Call, dtype: str, layout: str = "HWC", **options: Any
) -> None:
    sizes = {"H": 24, "W": 31, "C": 3}
    data = numbers(dtype, [FRAMES, *(sizes[letter] for letter in layout)], 5)
    expected = run(of_images, list(data), layout, **options)
    (result,) = run(of_sequences, [data], "F" + layout, **options)
    np.testing.assert_array_equal(result, np.stack(expected), strict=True)


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("name", SAME)
def test_every_frame_is_an_image(name: str, dtype: str) -> None:
    check(SAME[name], SAME[name], dtype)


@pytest.mark.parametrize("name", ONLY_UINT8)
def test_every_frame_is_an_image_of_bytes(name: str) -> None:
    check(ONLY_UINT8[name], ONLY_UINT8[name], "uint8")


@pytest.mark.parametrize("name", DIFFERENT)
def test_frames_come_first(name: str) -> None:
    check(*DIFFERENT[name], "uint8")


@pytest.mark.parametrize("name", OF_PLANES)
def test_planes_of_channels(name: str) -> None:
    check(OF_PLANES[name], OF_PLANES[name], "uint8", "CHW")


@pytest.mark.parametrize(
    "call",
    [
        lambda x: fn.random_resized_crop(x, size=(9, 10)),
        lambda x: fn.jitter(x),
        lambda x: fn.multi_paste(x, in_ids=[0], output_size=[40, 40]),
        lambda x: fn.crop(x, crop=(5, 5), crop_pos_x=fn.random.uniform(range=(0.0, 1.0))),
    ],
)
def test_frames_share_the_random_choice(call: Call) -> None:
    frame = numbers("uint8", (24, 31, 3), 1)
    (result,) = run(call, [np.stack([frame] * FRAMES)], "FHWC")
    (alone,) = run(call, [frame], "HWC")
    np.testing.assert_array_equal(result, np.stack([alone] * FRAMES), strict=True)


def test_frames_have_noise_of_their_own() -> None:
    grey = np.full((FRAMES, 20, 20, 3), 128, np.uint8)
    for call in (fn.noise.gaussian, fn.noise.shot):
        options = {"stddev": 9.0} if call is fn.noise.gaussian else {"factor": 9.0}
        (result,) = run(lambda x, call=call, options=options: call(x, **options), [grey], "FHWC")
        assert len({frame.tobytes() for frame in result}) == FRAMES


FACTORS = np.float32([0.5, 1, 1.5, 0])
ANGLES = np.float32([0, 30, 90, 200])
MATRICES = np.float32([[[1, 0, i], [0.1 * i, 1, 0]] for i in range(FRAMES)])
PER_FRAME: dict[str, tuple[Call, list[np.ndarray]]] = {
    "brightness": (lambda x, a: fn.brightness(x, brightness=a), [FACTORS]),
    "contrast": (lambda x, a: fn.contrast(x, contrast=a), [FACTORS]),
    "brightness_contrast": (
        lambda x, a, b: fn.brightness_contrast(x, contrast=a, brightness_shift=b),
        [FACTORS, FACTORS[::-1]],
    ),
    "hue": (lambda x, a: fn.hue(x, hue=a), [ANGLES]),
    "saturation": (lambda x, a: fn.saturation(x, saturation=a), [FACTORS]),
    "hsv": (lambda x, a, b: fn.hsv(x, hue=a, value=b), [ANGLES, FACTORS]),
    "color_twist": (lambda x, a: fn.color_twist(x, hue=a, dtype=types.FLOAT), [ANGLES]),
    "rotate": (lambda x, a: fn.rotate(x, angle=a, size=(20, 20)), [ANGLES]),
    "warp_affine": (lambda x, a: fn.warp_affine(x, a), [MATRICES]),
    "warp_affine with an argument": (lambda x, a: fn.warp_affine(x, matrix=a), [MATRICES]),
    "gaussian_blur": (lambda x, a: fn.gaussian_blur(x, sigma=a + 0.5), [FACTORS]),
    "filter": (lambda x, a: fn.filter(x, a), [np.stack([KERNEL * i for i in range(FRAMES)])]),
}


@pytest.mark.parametrize("name", PER_FRAME)
def test_arguments_of_each_frame(name: str) -> None:
    call, values = PER_FRAME[name]
    data = numbers("uint8", (FRAMES, 20, 20, 3), 2)

    expected = []
    for i in range(FRAMES):
        arguments = [value[i] for value in values]

        def of_one(frame: Any, arguments: list[Any] = arguments) -> Any:
            made = [fn.external_source(source=_always(np.asarray(value))) for value in arguments]
            return call(frame, *made)

        expected += run(of_one, [data[i]], "HWC")

    def of_all(frames: Any) -> Any:
        made = [fn.per_frame(fn.external_source(source=_always(value))) for value in values]
        return call(frames, *made)

    (result,) = run(of_all, [data], "FHWC")
    np.testing.assert_array_equal(result, np.stack(expected), strict=True)


def _always(value: np.ndarray) -> Callable[[], list[np.ndarray]]:
    return lambda: [value]


def brightness_of_each(values: np.ndarray, layout: str = "FHWC") -> np.ndarray:
    data = numbers("uint8", (FRAMES, 20, 20, 3)[-len(layout) :], 2)

    def call(frames: Any) -> Any:
        factors = fn.per_frame(fn.external_source(source=_always(values)))
        return fn.brightness(fn.flip(frames, horizontal=1), brightness=factors)

    (result,) = run(call, [data], layout)
    return result


def test_one_argument_serves_all_frames() -> None:
    one = brightness_of_each(np.float32([0.5]))
    np.testing.assert_array_equal(one, brightness_of_each(np.float32([0.5] * FRAMES)), strict=True)


@pytest.mark.parametrize(
    ("values", "layout", "message"),
    [
        (FACTORS[:3], "FHWC", r"one value for each of the 4 frames, or one for all \(got 3\)"),
        (FACTORS, "HWC", r"the input must be a sequence .* \(got layout \"HWC\"\)"),
        (FACTORS[:0], "FHWC", r"sequences of arguments must have a frame"),
    ],
)
def test_arguments_that_do_not_fit_the_frames(
    values: np.ndarray, layout: str, message: str
) -> None:
    with pytest.raises(SampleError, match=message):
        brightness_of_each(values, layout)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, a: fn.crop(x, crop=(5, 5), crop_pos_x=a / 2),
        lambda x, a: fn.flip(x, horizontal=a),
        lambda x, a: fn.resize(x, resize_x=a * 0 + 9),
    ],
)
def test_geometry_is_that_of_the_whole_sequence(call: Call) -> None:
    data = numbers("uint8", (FRAMES, 20, 20, 3), 2)

    def refused(frames: Any) -> Any:
        return call(frames, fn.per_frame(fn.external_source(source=_always(FACTORS))))

    with pytest.raises(SampleError, match=r"must be one number a sample \(got shape \(4,\)\)"):
        run(refused, [data], "FHWC")


CHAINS: dict[str, Call] = {
    "resampled": lambda x: fn.crop_mirror_normalize(
        fn.flip(fn.resize(fn.crop(x, crop=(20, 25)), size=(15, 37)), horizontal=1),
        crop=(12, 20),
        mean=[1, 2, 3],
        mirror=1,
        output_layout="FCHW",
    ),
    "resampled upside down": lambda x: fn.flip(fn.resize(x, size=(15, 12)), vertical=1),
    "cut": lambda x: fn.flip(fn.crop(x, crop=(20, 25)), vertical=1, horizontal=1),
    "cut and normalised": lambda x: fn.crop_mirror_normalize(
        fn.slice(x, start=[2, 3], shape=[10, 11], axis_names="HW"), output_layout=""
    ),
    "coloured": lambda x: fn.crop_mirror_normalize(
        fn.hue(fn.brightness(fn.crop(x, crop=(20, 25)), brightness=1.3), hue=20),
        dtype=types.FLOAT16,
        pad_output=True,
        output_layout="FCHW",
    ),
    "of floats": lambda x: fn.contrast(
        fn.resize(x, size=(15, 12), dtype=types.FLOAT), contrast=0.5
    ),
    "random": lambda x: fn.flip(
        fn.random_resized_crop(x, size=(9, 10)), horizontal=fn.random.coin_flip()
    ),
}
# The unfused reference.
LEFT_ALONE: dict[str, Call] = {
    "fewer frames": lambda x: fn.flip(fn.crop(x, crop=(2, 20, 25))),
    "frames cut": lambda x: fn.flip(fn.slice(x, start=[1], shape=[2], axis_names="F")),
    "numbers of axes": lambda x: fn.flip(fn.slice(x, start=[1], shape=[2], axes=[1])),
    "frames inside": lambda x: fn.crop_mirror_normalize(
        fn.crop(x, crop=(20, 25)), output_layout="CFHW"
    ),
    "beyond the border": lambda x: fn.flip(
        fn.crop(x, crop=(50, 50), out_of_bounds_policy="pad"), horizontal=1
    ),
}


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("name", [*CHAINS, *LEFT_ALONE])
def test_chains_of_clips(name: str, dtype: str) -> None:
    call = {**CHAINS, **LEFT_ALONE}[name]
    data = [numbers(dtype, (frames, 24, width, 3), width) for frames, width in ((4, 31), (1, 40))]
    if name in LEFT_ALONE:
        data = data[:1]
    runs = []
    counts = []
    for optimize in (True, False):
        with pipeline(batch_size=len(data), optimize=optimize) as made:
            with made:
                made.set_outputs(call(fn.external_source(source=lambda: data, layout="FHWC")))
            (batch,) = made.run()
            runs.append([np.array(batch.at(i)) for i in range(len(data))] + [batch.layout()])
            counts.append(made._run.runner.executor.fusion_counts())
    for fused, single in zip(*runs, strict=True):
        np.testing.assert_array_equal(fused, single, strict=True)
    assert counts[1] == []
    done, left = np.sum(counts[0], axis=0) > 0
    assert (done, left) == ((False, True) if name in LEFT_ALONE else (True, False))
