"""Chains that begin with decoded clips: what is fused, and that results are bitwise identical."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, types
from dali_core.errors import SampleError
from dali_core.testing.examples import list_of

pytest.importorskip("av", reason="not available: PyAV")

Step = Callable[[Any], Any]
Video = Callable[[str], Path]

# Sizes, depths, subsampling and rotations differ.
FILES = (
    "h264.mp4",
    "h264_444_odd.mov",
    "h264_10_bit.mp4",
    "h264_grey.mp4",
    "h264_rgb.mp4",
    "h264_quarter_turn.mp4",
    "h264_half_turn.mov",
    "h264_one_frame.mp4",
    "vp9_440.mkv",
)
MEAN = [123.7, 116.3, 103.5]
STD = [58.4, 57.1, 57.4]

CHAINS: dict[str, Step] = {
    "for training": lambda clip: fn.crop_mirror_normalize(
        fn.flip(
            fn.resize(
                fn.crop(clip, crop=(40, 45), crop_pos_x=fn.random.uniform(range=(0.0, 1.0))),
                size=(32, 36),
            ),
            horizontal=fn.random.coin_flip(),
        ),
        crop=(30, 33),
        mean=MEAN,
        std=STD,
        output_layout="FCHW",
    ),
    "cropped": lambda clip: fn.crop(clip, crop=(33, 31), crop_pos_y=0.9),
    "mirrored": lambda clip: fn.flip(fn.crop(clip, crop=(33, 31)), horizontal=1, vertical=1),
    "upside down": lambda clip: fn.flip(clip, vertical=1),
    "enlarged": lambda clip: fn.resize(clip, size=(71, 97), interp_type=types.INTERP_CUBIC),
    "shrunk upside down": lambda clip: fn.flip(fn.resize(clip, size=(9, 13)), vertical=1),
    "nearest": lambda clip: fn.resize(clip, size=(30, 21), interp_type=types.INTERP_NN),
    "random part": lambda clip: fn.random_resized_crop(clip, size=(20, 20), seed=3),
    "coloured": lambda clip: fn.hue(fn.brightness(clip, brightness=1.3), hue=20),
    "normalised": lambda clip: fn.crop_mirror_normalize(
        clip, mean=MEAN, std=STD, mirror=1, dtype=types.FLOAT16, output_layout="FHWC"
    ),
}
# The unfused reference.
LEFT_ALONE: dict[str, Step] = {
    "fewer frames": lambda clip: fn.crop(clip, crop=(2, 30, 30)),
    "frames inside": lambda clip: fn.crop_mirror_normalize(clip, output_layout="CFHW"),
}


def run(
    make: Callable[[], Any], size: int, *, batches: int = 1, **options: Any
) -> tuple[list[list[np.ndarray]], list[str], list[tuple[int, int]], str]:
    """Run a pipeline; return samples and layout of each output, counts of chains and the plan."""
    pipeline = Pipeline(batch_size=size, num_threads=2, device_id=None, seed=7, **options)
    with pipeline:
        outputs = make()
        pipeline.set_outputs(*list_of(outputs))
    try:
        samples: list[list[np.ndarray]] = []
        for _ in range(batches):
            results = pipeline.run()
            samples = samples or [[] for _ in results]
            for made, batch in zip(samples, results, strict=True):
                made += [np.array(batch.at(i)) for i in range(len(batch))]
        counts = pipeline._run.runner.executor.fusion_counts()
        return samples, [batch.layout() for batch in results], counts, str(pipeline.plan())
    finally:
        pipeline.close()


def check_same(make: Callable[[], Any], size: int, **options: Any) -> tuple[list[bool], str]:
    """Compare a pipeline with and without chains; return whether samples were fused, and not."""
    fused, layouts, counts, plan = run(make, size, **options)
    single, single_layouts, _, _ = run(make, size, optimize=False, **options)
    assert layouts == single_layouts
    for ours, theirs in zip(fused, single, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other, strict=True)
    return [any(numbers) for numbers in zip(*counts, strict=True)], plan


@pytest.mark.parametrize("name", [*CHAINS, *LEFT_ALONE])
def test_decoded_clips(name: str, video: Video) -> None:
    step = {**CHAINS, **LEFT_ALONE}[name]
    files = [np.frombuffer(video(file).read_bytes(), np.uint8) for file in FILES]

    def make() -> Any:
        encoded = fn.external_source(source=lambda: files)
        clip = fn.decoders.video(
            encoded, start_frame=0, sequence_length=3, stride=2, fill_value=[1, 2, 3]
        )
        return step(clip)

    done, plan = check_same(make, len(files))
    assert done == ([False, True] if name in LEFT_ALONE else [True, False])
    assert "fused:\n    fn.decoders.video" in plan


def reader(video: Video, names: Sequence[str], **arguments: Any) -> Any:
    filenames = [str(video(name)) for name in names]
    return fn.experimental.readers.video(filenames=filenames, **arguments)


@pytest.mark.parametrize("kind", [types.RGB, types.BGR, types.GRAY, types.YCbCr])
def test_read_clips(kind: types.DALIImageType, video: Video) -> None:
    def make() -> Any:
        clip = reader(
            video, FILES[:6], sequence_length=5, stride=3, pad_mode="reflect_101", image_type=kind
        )
        return fn.crop(fn.resize(clip, resize_shorter=30), crop=(25, 28))

    done, plan = check_same(make, 4, batches=3)
    assert done == [True, False]
    assert "fused:\n    fn.experimental.readers.video" in plan


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize(
    "name", ["for training", "cropped", "mirrored", "upside down", "enlarged", "nearest"]
)
def test_clips_of_floats(name: str, normalized: bool, video: Video) -> None:
    def make() -> Any:
        clip = fn.readers.video(
            filenames=[str(video(file)) for file in FILES],
            sequence_length=3,
            pad_sequences=True,
            dtype=types.FLOAT,
            normalized=normalized,
        )
        return CHAINS[name](clip)

    done, plan = check_same(make, 4, batches=4)
    assert done == [True, False]
    assert "fused:\n    fn.readers.video" in plan


# What may follow a reader that resizes.
BEHIND_RESIZING: dict[str, Step] = {
    name: CHAINS[name] for name in ("mirrored", "upside down", "coloured", "normalised")
}


@pytest.mark.parametrize("name", BEHIND_RESIZING)
@pytest.mark.parametrize("dtype", [types.UINT8, types.FLOAT])
def test_clips_that_their_reader_resizes(
    name: str, dtype: types.DALIDataType, video: Video
) -> None:
    def make() -> Any:
        clip, label = fn.readers.video_resize(
            filenames=[str(video(file)) for file in FILES],
            labels=[],
            sequence_length=3,
            pad_sequences=True,
            resize_shorter=fn.random.uniform(range=(36, 60), seed=2),
            interp_type=types.INTERP_CUBIC,
            dtype=dtype,
        )
        return BEHIND_RESIZING[name](clip), label

    done, plan = check_same(make, 4, batches=4)
    assert done == [True, False]
    assert "fused:\n    fn.readers.video_resize" in plan


@pytest.mark.parametrize("settings", [{"resize": True}, {"normalized": True}], ids=str)
def test_later_resizes_after_resizing_readers(settings: dict[str, bool], video: Video) -> None:
    """A second resize, and values that change after the first."""

    def make() -> Any:
        clip = fn.readers.video_resize(
            filenames=[str(video(file)) for file in FILES[:4]],
            sequence_length=3,
            size=(30, 40),
            **({"dtype": types.FLOAT, "normalized": True} if "normalized" in settings else {}),
        )
        if "resize" in settings:
            return fn.resize(clip, size=(20, 20))
        return fn.flip(fn.crop(clip, crop=(20, 20)))

    done, _ = check_same(make, 3)
    assert done[0] == ("normalized" in settings)


def test_other_outputs_of_clip_readers(video: Video) -> None:
    def make() -> Any:
        clip, label, number, seconds = reader(
            video,
            FILES[:4],
            labels=[4, 5, 6, 7],
            sequence_length=4,
            enable_frame_num="sequence",
            enable_timestamps=True,
        )
        doubled = label * 2
        return fn.flip(fn.crop(clip, crop=(30, 30)), vertical=1), label, number, seconds, doubled

    done, _ = check_same(make, 3, batches=4)
    assert done == [True, False]
    (_, label, number, _, doubled), _, _, _ = run(make, 3)
    assert [value.tolist() for value in label] == [[4], [4], [4]]
    assert [value.tolist() for value in doubled] == [[8], [8], [8]]
    assert [value.tolist() for value in number] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]


def test_arguments_from_other_outputs_of_clip_readers(video: Video) -> None:
    """They exist only after the reader has run, so their operator is not fused with it."""

    def make() -> Any:
        clip, label = reader(video, FILES[:3], labels=[0, 1, 2], sequence_length=4)
        cropped = fn.crop(clip, crop=(30, 30))
        return fn.flip(cropped, horizontal=fn.squeeze(label, axes=[0])), label

    done, plan = check_same(make, 3, batches=4)
    assert done == [True, False]
    fused = plan[plan.index("fused:") :].split("\n  fn.")[0]
    assert "fn.crop" in fused
    assert "fn.flip" not in fused


def test_two_readers_that_need_each_other(video: Video) -> None:
    def make() -> Any:
        first, label = reader(video, FILES[:2], labels=[0, 1], sequence_length=4, name="one")
        second, other = reader(video, FILES[:2], labels=[1, 0], sequence_length=4, name="two")
        return (
            fn.flip(fn.crop(first, crop=(30, 30)), horizontal=fn.squeeze(other, axes=[0])),
            fn.flip(fn.crop(second, crop=(30, 30)), vertical=fn.squeeze(label, axes=[0])),
            label + other,
        )

    done, _ = check_same(make, 4, batches=3)
    assert done == [True, False]


def test_clips_that_are_used_twice_are_made(video: Video) -> None:
    def make() -> Any:
        clip = reader(video, FILES[:2], sequence_length=4)
        return clip, fn.crop(clip, crop=(30, 30))

    _, plan = check_same(make, 3)
    assert "fused" not in plan


def test_damaged_clips_are_bad_samples(video: Video, tmp_path: Path) -> None:
    good = video("h264.mp4")
    bad = tmp_path / "bad.mp4"
    content = bytearray(good.read_bytes())
    content[len(content) // 3 : 2 * len(content) // 3] = bytes(len(content) // 3)
    bad.write_bytes(content)
    messages = []
    for optimize in (True, False):
        pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None, seed=7, optimize=optimize)
        with pipeline:
            clip = fn.experimental.readers.video(filenames=[str(bad)], sequence_length=20)
            pipeline.set_outputs(fn.crop(clip, crop=(30, 30)))
        try:
            with pytest.raises(SampleError) as caught:
                pipeline.run()
            messages.append((type(caught.value), str(caught.value)))
        finally:
            pipeline.close()
    assert messages[0] == messages[1]
    assert "bad.mp4" in messages[0][1]
