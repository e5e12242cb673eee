"""Fused chains of operators: what is fused, and that results are bitwise identical."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dali_core import Pipeline, fn, types
from dali_core.errors import SampleError
from dali_core.testing.examples import list_of
from tests.generated_images import encode, jpeg, photo_like, sampled_jpeg

Step = Callable[[Any], Any]

SIZES = ((40, 56), (97, 31), (1, 1), (64, 64), (33, 130), (5, 200), (180, 150))
MEAN = [123.7, 116.3, 103.5]
STD = [58.4, 57.1, 57.4]


def files() -> list[np.ndarray]:
    """Make image files of several sizes, colour models and orientations."""
    made = []
    for number, (height, width) in enumerate(SIZES):
        image = photo_like(height, width, seed=number)
        if number % 3 == 2:
            data = encode(image, "PNG")
        else:
            exif = {"exif": _exif(number % 8 + 1)} if number % 2 else {}
            data = encode(image, "JPEG", quality=85, subsampling=number % 3, **exif)
        made.append(np.frombuffer(data, np.uint8))
    return made


def _exif(orientation: int) -> bytes:
    from PIL import Image

    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif.tobytes()


FILES = files()


def run(
    steps: Sequence[Step],
    data: Sequence[np.ndarray] = FILES,
    layout: str = "",
    **options: Any,
) -> tuple[list[np.ndarray], str, list[tuple[int, int]]]:
    """Run steps one after the other; return the samples, the layout and the counts of chains."""
    pipeline = Pipeline(batch_size=len(data), num_threads=2, device_id=None, seed=7, **options)
    with pipeline:
        value = fn.external_source(source=lambda: list(data), layout=layout or None)
        for step in steps:
            value = step(value)
        pipeline.set_outputs(value)
    try:
        (output,) = pipeline.run()
        counts = pipeline._run.runner.executor.fusion_counts()
        return [np.array(output.at(i)) for i in range(len(data))], output.layout(), counts
    finally:
        pipeline.close()


def error_of(*arguments: Any, **options: Any) -> str:
    """Return the error message of a run; empty if there is none."""
    try:
        run(*arguments, **options)
    except SampleError as error:
        return str(error)
    return ""


def check_same(
    steps: Sequence[Step], data: Sequence[np.ndarray] = FILES, layout: str = ""
) -> list[tuple[int, int]]:
    """Compare a fused run with an unfused one, or their errors; return the counts of chains."""
    error = error_of(steps, data, layout, optimize=False)
    if error:
        assert error_of(steps, data, layout) == error
        return []
    expected = run(steps, data, layout, optimize=False)
    fused, fused_layout, counts = run(steps, data, layout)
    assert expected[2] == []
    assert fused_layout == expected[1]
    for ours, reference in zip(fused, expected[0], strict=True):
        np.testing.assert_array_equal(ours, reference, strict=True)
    return counts


def normalize(value: Any, **arguments: Any) -> Any:
    return fn.crop_mirror_normalize(value, mean=MEAN, std=STD, **arguments)


def decode(value: Any) -> Any:
    return fn.decoders.image(value)


FUSED = {
    "classification": [
        decode,
        lambda x: fn.random_resized_crop(x, size=(24, 31)),
        lambda x: normalize(x, mirror=fn.random.coin_flip()),
    ],
    "antialiased": [
        decode,
        lambda x: fn.random_resized_crop(x, size=24, interp_type=types.INTERP_CUBIC),
        lambda x: fn.flip(x, horizontal=fn.random.coin_flip(), vertical=1),
    ],
    "validation": [
        decode,
        lambda x: fn.resize(x, resize_shorter=40),
        lambda x: normalize(x, crop=(32, 32)),
    ],
    "colours": [
        decode,
        lambda x: fn.resize(x, size=(30, 41)),
        lambda x: fn.color_twist(x, hue=fn.random.uniform(range=(-90.0, 90.0)), saturation=1.3),
        lambda x: fn.brightness_contrast(x, brightness=0.9, contrast=1.2, dtype=types.FLOAT),
        lambda x: normalize(x, crop=(20, 25), mirror=1, output_layout="HWC"),
    ],
    "steps that do nothing": [
        decode,
        lambda x: fn.crop(x, crop=(1, 1)),
        lambda x: fn.brightness(x, brightness=0.7),
        lambda x: fn.cast(x, dtype=types.UINT8),
        lambda x: fn.cast(x, dtype=types.FLOAT),
        lambda x: fn.brightness(x, brightness=1.0),
        lambda x: fn.brightness(x, brightness=0.5),
    ],
    "one operator for three": [
        lambda x: fn.decoders.image_crop(x, crop=(1, 1)),
        lambda x: fn.resize_crop_mirror(x, size=(30, 40), crop=(20, 21), mirror=3),
        lambda x: fn.crop_mirror_normalize(x, mirror=1),
    ],
    "windows": [
        decode,
        lambda x: fn.crop(x, crop=(1, 1), crop_pos_x=fn.random.uniform(range=(0.0, 1.0))),
        lambda x: fn.flip(x, vertical=1),
    ],
    "window before": [
        lambda x: fn.decoders.image_random_crop(x, seed=5),
        lambda x: fn.slice(x, rel_start=[0.1, 0.2], rel_end=[0.9, 1.0]),
        lambda x: fn.resize(x, resize_x=20, resize_y=30, dtype=types.FLOAT),
        lambda x: fn.crop(x, crop=(11, 12), crop_pos_y=0.9),
        lambda x: fn.flip(x),
    ],
    "grey": [
        lambda x: fn.decoders.image(x, output_type=types.GRAY),
        lambda x: fn.resize(x, size=(21, 22)),
        lambda x: fn.crop_mirror_normalize(x, crop=(15, 16), mirror=1, dtype=types.FLOAT16),
    ],
    "padded channels": [
        decode,
        lambda x: fn.resize(x, size=(21, 22)),
        lambda x: normalize(x, pad_output=True, mirror=fn.random.coin_flip()),
    ],
    "other types": [
        lambda x: fn.decoders.image(x, dtype=types.UINT16),
        lambda x: fn.resize(x, size=(21, 22), interp_type=types.INTERP_LANCZOS3),
        lambda x: fn.cast(x, dtype=types.INT32),
        lambda x: fn.cast(x, dtype=types.FLOAT),
    ],
    "nearest": [
        decode,
        lambda x: fn.resize(x, size=(50, 60), interp_type=types.INTERP_NN),
        lambda x: fn.crop(x, crop=(33, 34)),
        lambda x: fn.color_space_conversion(x, image_type=types.RGB, output_type=types.GRAY),
    ],
    "region": [
        decode,
        lambda x: fn.resize(
            x, size=(20, 24), roi_start=[0.9, 0.1], roi_end=[0.2, 0.8], roi_relative=True
        ),
        normalize,
    ],
}


@pytest.mark.parametrize("name", FUSED)
def test_fused_is_unfused(name: str) -> None:
    counts = check_same(FUSED[name])
    ((fused, refused),) = counts
    assert (fused, refused) == (2 * len(FILES), 0) or fused >= len(FILES)
    assert refused == 0


def test_images_in_memory_are_fused() -> None:
    data = [photo_like(height, width, seed=1) for height, width in SIZES]
    counts = check_same(
        [
            lambda x: fn.crop(x, crop=(1, 1)),
            lambda x: fn.resize(x, size=(13, 17)),
            lambda x: normalize(x, crop=(9, 9)),
        ],
        data,
        layout="HWC",
    )
    assert counts[0][0] >= len(data)
    assert counts[0][1] == 0


@pytest.mark.parametrize("layout", ["CHW", ""])
def test_other_layouts_give_the_same(layout: str) -> None:
    data = [photo_like(20, 30, seed=i).transpose(2, 0, 1) for i in range(3)]
    counts = check_same(
        [lambda x: fn.resize(x, size=(13, 17)), lambda x: fn.flip(x)], data, layout=layout
    )
    assert len(counts) == 1


def test_padding_runs_one_by_one() -> None:
    counts = check_same(
        [decode, lambda x: normalize(x, crop=(60, 60), out_of_bounds_policy="pad", fill_values=3)]
    )
    assert counts[0][1] > 0


def test_errors_are_those_of_the_operator() -> None:
    steps = [decode, lambda x: fn.resize(x, size=(30, 30)), lambda x: fn.crop(x, crop=(31, 30))]
    assert check_same(steps) == []
    with pytest.raises(SampleError, match=r"fn\.crop.*the window must lie inside"):
        run(steps)


def test_damaged_files_are_named() -> None:
    data = [*FILES[:3], np.frombuffer(jpeg(photo_like(50, 60))[:300], np.uint8)]
    with pytest.raises(SampleError, match=r"fn\.decoders\.image") as caught:
        run(FUSED["classification"], data)
    assert caught.value.sample == 3
    assert check_same(FUSED["classification"], data) == []


def sizes() -> st.SearchStrategy[tuple[int, int]]:
    return st.tuples(st.integers(1, 60), st.integers(1, 60))


def relative(x: float, y: float) -> dict[str, float]:
    return {"crop_pos_x": x, "crop_pos_y": y}


INTERPOLATIONS = st.sampled_from(
    [types.INTERP_NN, types.INTERP_LINEAR, types.INTERP_CUBIC, types.INTERP_TRIANGULAR]
)
UNIT = st.floats(0, 1, width=32)


@st.composite
def steps_of(draw: st.DrawFn) -> list[Step]:
    """Draw a graph: a chain of any fusible operators, in any order, some of them twice."""

    def resize() -> Step:
        size, kind, antialias = draw(sizes()), draw(INTERPOLATIONS), draw(st.booleans())
        dtype = draw(st.sampled_from([None, types.FLOAT]))
        arguments = {} if dtype is None else {"dtype": dtype}
        return lambda x: fn.resize(x, size=size, interp_type=kind, antialias=antialias, **arguments)

    def random_resized_crop() -> Step:
        size = draw(sizes())
        return lambda x: fn.random_resized_crop(x, size=size)

    def crop() -> Step:
        size, x_position, y_position = draw(sizes()), draw(UNIT), draw(UNIT)
        policy = draw(st.sampled_from(["error", "trim_to_shape", "pad", "edge"]))
        return lambda x: fn.crop(
            x, crop=size, out_of_bounds_policy=policy, **relative(x_position, y_position)
        )

    def slice_part() -> Step:
        start, end = draw(st.floats(0, 0.375, width=32)), draw(st.floats(0.5, 1, width=32))
        return lambda x: fn.slice(x, rel_start=[start], rel_end=[end], axes=[draw_axis])

    draw_axis = draw(st.integers(0, 1))

    def flip() -> Step:
        horizontal, vertical = draw(st.integers(0, 1)), draw(st.integers(0, 1))
        return lambda x: fn.flip(x, horizontal=horizontal, vertical=vertical)

    def flip_by_sample() -> Step:
        return lambda x: fn.flip(x, horizontal=fn.random.coin_flip())

    def twist() -> Step:
        hue, contrast = draw(st.floats(-180, 180)), draw(st.floats(0, 2))
        return lambda x: fn.color_twist(x, hue=hue, contrast=contrast)

    def brightness() -> Step:
        factor = draw(st.floats(0, 2))
        return lambda x: fn.brightness(x, brightness=factor)

    def cast() -> Step:
        dtype = draw(st.sampled_from([types.FLOAT, types.INT16, types.UINT8, types.FLOAT16]))
        return lambda x: fn.cast(x, dtype=dtype)

    def finish() -> Step:
        mirror, layout = draw(st.integers(0, 1)), draw(st.sampled_from(["CHW", "HWC"]))
        dtype = draw(st.sampled_from([types.FLOAT, types.FLOAT16, types.UINT8]))
        pad = draw(st.booleans())
        return lambda x: normalize(
            x, mirror=mirror, output_layout=layout, dtype=dtype, pad_output=pad
        )

    before = [crop, slice_part, flip, flip_by_sample]
    any_step = [*before, resize, random_resized_crop, twist, brightness, cast]
    steps = [draw(st.sampled_from(before)) for _ in range(draw(st.integers(0, 1)))]
    steps += [draw(st.sampled_from(any_step)) for _ in range(draw(st.integers(1, 4)))]
    if draw(st.booleans()):
        steps.append(finish)
    return [decode, *(step() for step in steps)]


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(steps_of())
def test_random_graphs_give_the_same_bits(steps: list[Step]) -> None:
    check_same(steps)


# What is fused


def plan_of(define: Callable[[], Any], **options: Any) -> str:
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None, **options)
    with pipeline:
        outputs = define()
        pipeline.set_outputs(*list_of(outputs))
    try:
        return pipeline.plan()
    finally:
        pipeline.close()


def source() -> Any:
    return fn.external_source(source=lambda: [FILES[0]])


def test_plan_shows_fused_operators() -> None:
    def define() -> Any:
        mirror = fn.random.coin_flip(name="coin")
        image = fn.decoders.image(source(), name="decode")
        image = fn.resize(image, size=8, name="resize")
        return fn.flip(image, horizontal=mirror, name="flip")

    lines = plan_of(define).splitlines()
    assert lines[2:] == [
        "stage 1: sample program",
        "  fn.random.coin_flip (coin)",
        "  fused:",
        "    fn.decoders.image (decode)",
        "    fn.resize (resize)",
        "    fn.flip (flip)",
    ]
    assert "fused" not in plan_of(define, optimize=False)


def test_values_with_several_consumers_end_a_chain() -> None:
    def used_twice() -> Any:
        image = fn.decoders.image(source())
        return fn.resize(image, size=8), fn.flip(image)

    def is_output() -> Any:
        image = fn.decoders.image(source())
        return image, fn.resize(image, size=8)

    def preserved() -> Any:
        return fn.resize(fn.decoders.image(source(), preserve=True), size=8)

    def read_in_python() -> Any:
        image = fn.decoders.image(source())
        return fn.resize(image, size=8), fn.python_function(image, function=np.copy)

    for define in (used_twice, is_output, preserved, read_in_python):
        assert "fused" not in plan_of(define)


def test_a_second_resize_begins_a_new_chain() -> None:
    def define() -> Any:
        image = fn.resize(fn.decoders.image(source()), size=20)
        return fn.flip(fn.resize(fn.flip(image), size=10))

    assert plan_of(define).count("fused:") == 2
    steps = [
        decode,
        lambda x: fn.resize(x, size=20),
        lambda x: fn.flip(x),
        lambda x: fn.resize(x, size=10),
        lambda x: fn.flip(x),
    ]
    assert len(check_same(steps)) == 2


def test_pixels_do_not_change_before_a_resize_of_the_same_chain() -> None:
    def define() -> Any:
        return fn.resize(fn.brightness(fn.decoders.image(source()), brightness=0.5), size=10)

    assert plan_of(define).count("fused:") == 1


# Decoding at a reduced size


def shrunk(
    size: int,
    *,
    scaled: bool,
    crop: int = 0,
    orientation: int = 1,
    photo: bytes | None = None,
    **options: Any,
) -> Any:
    """Resize and crop a photo; it may be decoded at a smaller size."""
    if photo is None:
        photo = encode(photo_like(203, 310, seed=2), "JPEG", quality=95, exif=_exif(orientation))
    steps: list[Step] = [
        lambda x: fn.decoders.image(x, scaled_decode=scaled),
        lambda x: fn.resize(x, resize_shorter=size),
    ]
    if crop:
        steps.append(lambda x: normalize(x, crop=(crop, crop), mirror=1))
    ((sample,), _, _) = run(steps, [np.frombuffer(photo, np.uint8)], **options)
    return sample.astype(np.float64)


@pytest.mark.parametrize("orientation", [1, 2, 6, 7])
@pytest.mark.parametrize("size", [100, 50, 25])
def test_scaled_decoding_changes_pixels_a_little(size: int, orientation: int) -> None:
    plain = shrunk(size, scaled=False, orientation=orientation)
    scaled = shrunk(size, scaled=True, orientation=orientation)
    assert scaled.shape == plain.shape
    # The filter has a sharp cutoff: edges differ, most of the image hardly does.
    assert np.abs(scaled - plain).mean() < 4
    assert np.abs(scaled - plain).max() > 0


def test_scaled_decoding_sees_the_same_part() -> None:
    plain = shrunk(50, scaled=False, crop=40)
    scaled = shrunk(50, scaled=True, crop=40)
    assert scaled.shape == plain.shape == (3, 40, 40)
    assert np.abs(scaled - plain).mean() < 0.1  # of a standard deviation


def test_scaled_decoding_of_files_that_our_own_decoder_leaves_or_begins() -> None:
    # A library takes them over, at a reduced size or not.
    sound = sampled_jpeg(203, 310, "420")
    damaged = bytearray(sound)
    damaged[len(damaged) * 3 // 4 : len(damaged) * 3 // 4 + 8] = b"\xff\0" * 4
    for photo in (sampled_jpeg(203, 310, "420", interleaved=False), bytes(damaged)):
        plain, scaled = (shrunk(50, scaled=one, crop=40, photo=photo) for one in (False, True))
        assert scaled.shape == plain.shape == (3, 40, 40)
        assert np.abs(scaled - plain).mean() < 0.1


def test_scaled_decoding_needs_a_chain_that_shrinks() -> None:
    np.testing.assert_array_equal(shrunk(150, scaled=True), shrunk(150, scaled=False))
    np.testing.assert_array_equal(
        shrunk(50, scaled=True, optimize=False), shrunk(50, scaled=False, optimize=False)
    )
